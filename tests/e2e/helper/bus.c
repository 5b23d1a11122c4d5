// SPDX-License-Identifier: MIT
/*
 * bus.c - plays the system bus and a systemd that starts units
 *
 *   helper bus SOCKET PROGRAM
 *
 * Clients need DBUS_SYSTEM_BUS_ADDRESS=unix:path=SOCKET. To start unit NAME it runs "PROGRAM NAME".
 * The unit is "activating" while that runs, then "inactive". Units "fail@..." are refused. Each
 * call prints a line: "start NAME" or "ask NAME STATE".
 */
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <systemd/sd-bus.h>
#include <unistd.h>

#include "helper.h"

static const char *program;
static pid_t running;

static int start_unit(sd_bus_message *m)
{
	const char *name, *mode;

	if (sd_bus_message_read(m, "ss", &name, &mode) < 0)
		return -1;
	printf("start %s\n", name);
	if (!strncmp(name, "fail@", 5))
		return sd_bus_reply_method_errorf(m, "org.freedesktop.systemd1.NoSuchUnit",
						  "Unit %s not found.", name);
	running = fork();
	if (!running) {
		execl(program, program, name, NULL);
		_exit(127);
	}
	return sd_bus_reply_method_return(m, "o", "/org/freedesktop/systemd1/job/1");
}

static int unit_state(sd_bus_message *m)
{
	const char *state = "inactive";
	char *name = NULL;

	if (running > 0 && !waitpid(running, NULL, WNOHANG))
		state = "activating";
	sd_bus_path_decode(sd_bus_message_get_path(m), "/org/freedesktop/systemd1/unit", &name);
	printf("ask %s %s\n", name ? name : "?", state);
	free(name);
	return sd_bus_reply_method_return(m, "v", "s", state);
}

static int on_message(sd_bus_message *m, void *user, sd_bus_error *ret)
{
	int r = 0;

	(void)user, (void)ret;
	if (sd_bus_message_is_method_call(m, "org.freedesktop.DBus", "Hello"))
		r = sd_bus_reply_method_return(m, "s", ":1.1");
	else if (sd_bus_message_is_method_call(m, "org.freedesktop.systemd1.Manager", "StartUnit"))
		r = start_unit(m);
	else if (sd_bus_message_is_method_call(m, "org.freedesktop.DBus.Properties", "Get"))
		r = unit_state(m);
	fflush(stdout);
	return r < 0 ? r : 1;
}

static int serve(int fd)
{
	sd_id128_t id;
	sd_bus *bus;
	int r = sd_bus_new(&bus);

	if (r >= 0)
		r = sd_id128_randomize(&id);
	if (r >= 0)
		r = sd_bus_set_fd(bus, fd, fd);
	if (r >= 0)
		r = sd_bus_set_server(bus, 1, id);
	if (r >= 0)
		r = sd_bus_set_trusted(bus, 1);
	if (r >= 0)
		r = sd_bus_add_filter(bus, NULL, on_message, NULL);
	if (r >= 0)
		r = sd_bus_start(bus);
	while (r >= 0) {
		r = sd_bus_process(bus, NULL);
		if (!r)
			r = sd_bus_wait(bus, UINT64_MAX);
	}
	sd_bus_unref(bus);
	return 0;
}

VERB(bus)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), fd;

	snprintf(at.sun_path, sizeof(at.sun_path), "%s", words[0]);
	program = words[1];
	unlink(at.sun_path);
	if (s < 0 || bind(s, (struct sockaddr *)&at, sizeof(at)) || listen(s, 4))
		return 1;
	puts("ready");
	fflush(stdout);
	while ((fd = accept4(s, NULL, NULL, SOCK_CLOEXEC)) >= 0)
		serve(fd);
	return 1;
}
