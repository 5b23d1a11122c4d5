// SPDX-License-Identifier: MIT
/*
 * fuzz_api.c - the API's HTTP and JSON: arbitrary bytes on its socket, and arbitrary bodies of
 * requests
 *
 * The first byte chooses: 0 for bytes, else a verb for a body, or a path that is got and what comes
 * after. Behind it is stub_api.c in place of a service.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <systemd/sd-event.h>
#include <unistd.h>

#include "basic/env.h"
#include "basic/error.h"
#include "daemon/daemon.h"

void stub_go_on(void); /* what waits has what it waits for */

static sd_event *event;
static struct api *api;

static void begin(void)
{
	struct gs_error err = { 0 };
	const char *tmp = getenv("TMPDIR");
	char dir[64], run[80];

	snprintf(dir, sizeof(dir), "%s/gpusched-fuzz.XXXXXX", tmp ? tmp : "/tmp");
	if (!mkdtemp(dir))
		abort();
	snprintf(run, sizeof(run), "%s/run", dir);
	if (mkdir(run, 0700) || setenv("GPUSCHED_SIM", dir, 1) || sd_event_default(&event) < 0 ||
	    api_new(event, NULL, &api, &err)) {
		fprintf(stderr, "the API does not begin: %s\n", err.text);
		abort();
	}
}

static void turns(int n)
{
	while (n-- && sd_event_run(event, 0) > 0)
		;
}

static size_t request(const uint8_t *data, size_t n, char *out, size_t size)
{
	static const char *const verbs[] = { "set", "suspend", "policy_start", "none" };
	static const char *const paths[] = { "/metrics", "/v1/trace", "/v1/watch", "/v1/set" };
	int head;

	if (!data[0])
		return (size_t)snprintf(out, size, "%.*s", (int)n - 1, (const char *)data + 1);
	if (data[0] & 4) {
		head = snprintf(out, size, "GET %s HTTP/1.1\r\nHost: fuzz\r\n\r\n",
				paths[data[0] % 4]);
		memcpy(out + head, data + 1, n - 1);
		return (size_t)head + n - 1;
	}
	head = snprintf(out, size,
			"POST /v1/%s HTTP/1.1\r\nHost: fuzz\r\nContent-Length: %zu\r\n\r\n",
			verbs[data[0] % 4], n - 1);
	memcpy(out + head, data + 1, n - 1);
	return (size_t)head + n - 1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	static char out[1 << 16];
	int fd;

	if (!n || n > sizeof(out) / 2)
		return 0;
	if (!api)
		begin();
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	snprintf(sun.sun_path, sizeof(sun.sun_path), "%s", gs_env()->socket);
	if (fd < 0 || connect(fd, (struct sockaddr *)&sun, sizeof(sun)))
		abort(); /* whoever is gone must have been forgotten */
	n = request(data, n, out, sizeof(out));
	if (send(fd, out, n, MSG_NOSIGNAL) != (ssize_t)n)
		abort();
	turns(20);
	if (n % 4) /* else it is closed while its answer is waited for */
		stub_go_on();
	turns(4);
	while (recv(fd, out, sizeof(out), 0) > 0)
		turns(4);
	close(fd);
	turns(20);
	stub_go_on();
	turns(4);
	return 0;
}
