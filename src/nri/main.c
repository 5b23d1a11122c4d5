// SPDX-License-Identifier: MIT
/*
 * main.c - gpusched-nri: reports to the daemon what pods request by their annotations
 *
 * It is an NRI plugin of the container runtime, and changes nothing there. If it fails, pods start
 * as if it were not there.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <linux/capability.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "basic/env.h"
#include "basic/error.h"
#include "basic/log.h"
#include "nri/pods.h"
#include "nri/session.h"
#include "nri/teller.h"

#define RUNTIME_SOCKET "/var/run/nri/nri.sock"
#define INDEX "90"
#define AGAIN_MS 1000 /* pause before another try to connect to the runtime */
/* If the runtime has not configured us, or completed a message, after this time, connect anew. */
#define CONFIGURES_NS (10 * NS_PER_S)
#define ENDS_NS (2 * NS_PER_S)
#define WAIT_MS 6 /* less than the 10 ms that the runtime waits for our answer to a pod's start */

struct options {
	const char *runtime, *index;
};

static int connect_to(const char *path)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	CLEANUP_FD int fd = -1;

	if (strlen(path) >= sizeof(to.sun_path))
		return -ENAMETOOLONG;
	strcpy(to.sun_path, path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0 || connect(fd, (const struct sockaddr *)&to, sizeof(to)))
		return -errno;
	return TAKE_FD(fd);
}

static int send_some(int fd, struct gs_nri_session *s)
{
	struct gs_nri_bytes *out = &s->frames.out;
	ssize_t n = out->n ? send(fd, out->at, out->n, MSG_NOSIGNAL) : 0;

	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -errno;
	gs_nri_frames_sent(&s->frames, (size_t)n);
	return 0;
}

/* Returns the number of bytes, or an error; -ECONNRESET: the runtime has closed the connection. */
static int receive_some(int fd, struct gs_nri_session *s)
{
	uint8_t buf[16384];
	ssize_t n = recv(fd, buf, sizeof(buf), 0);
	int r;

	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -errno;
	r = n ? gs_nri_session_in(s, buf, (size_t)n) : -ECONNRESET;
	return r ? r : (int)n;
}

static bool is_waiting(const struct gs_nri_session *s)
{
	return !s->configured || gs_nri_frames_is_torn(&s->frames) || s->frames.out.n;
}

/* Serves until the connection is lost or cannot be used any more; returns the error. */
static int serve(int fd, struct gs_nri_session *s)
{
	uint64_t since_ns = gs_now_ns();

	for (;;) {
		struct pollfd p = { .fd = fd, .events = POLLIN | (s->frames.out.n ? POLLOUT : 0) };
		int n, r = send_some(fd, s);

		if (r)
			return r;
		n = poll(&p, 1, is_waiting(s) ? AGAIN_MS : -1);
		r = n > 0 ? receive_some(fd, s) : 0;
		if (r < 0)
			return r;
		if (r > 0)
			since_ns = gs_now_ns();
		if (is_waiting(s) &&
		    gs_now_ns() - since_ns > (s->configured ? ENDS_NS : CONFIGURES_NS))
			return -ETIMEDOUT;
	}
}

/* Connects to the runtime and serves it. Returns the error that ended this. */
static int attend(const struct options *o, struct gs_nri_pods *pods, bool *inout_missed)
{
	CLEANUP_FD int fd = connect_to(o->runtime);
	struct gs_nri_session s;
	int r = fd < 0 ? fd : gs_nri_session_begin(&s, pods, o->index);

	if (fd < 0)
		return r;
	s.wait_ms = WAIT_MS;
	gs_log(LOG_INFO, "connected to the runtime at %s", o->runtime);
	*inout_missed = false;
	if (!r)
		r = serve(fd, &s);
	if (r == -EACCES)
		gs_log(LOG_ERR, "the runtime refuses the plugin: %s", s.refused);
	gs_log(LOG_INFO, "%llu calls, of which %llu were not understood",
	       (unsigned long long)s.calls, (unsigned long long)s.unread);
	gs_nri_session_end(&s);
	return r;
}

/* ---- privilege ------------------------------------------------------------------------------- */

/* Drops all capabilities, since root needs none of them to use sockets that belong to root. */
static void drop_capabilities(void)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = { { 0 } };

	for (int cap = 0; cap <= 63; cap++)
		prctl(PR_CAPBSET_DROP, cap, 0, 0, 0);
	syscall(SYS_capset, &head, none);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

/* ---- options --------------------------------------------------------------------------------- */

static int usage(void)
{
	puts("Usage: gpusched-nri [--runtime SOCKET] [--index NN]\n\n"
	     "Tells gpuschedd what pods ask for by their annotations (gpusched.io/class, weight,\n"
	     "limit, request), as a plugin of containerd or CRI-O.\n\n"
	     "  --runtime SOCKET       of the runtime (" RUNTIME_SOCKET ")\n"
	     "  --index NN             place among other plugins, two digits (" INDEX ")\n"
	     "  --version              print the version and exit\n"
	     "  --help                 print this and exit");
	return GS_EXIT_OK;
}

static int complain(int code, const char *text)
{
	fprintf(stderr, "gpusched-nri: %s\n", text);
	return gs_error_exit(code);
}

static bool is_index(const char *text)
{
	return strlen(text) == 2 && isdigit((unsigned char)text[0]) &&
	       isdigit((unsigned char)text[1]);
}

/* Returns -1 to go on, else the exit status. */
static int parse(int argc, char **argv, struct options *ret)
{
	static const struct option options[] = { { "runtime", required_argument, NULL, 'r' },
						 { "index", required_argument, NULL, 'i' },
						 { "version", no_argument, NULL, 'V' },
						 { "help", no_argument, NULL, 'h' },
						 { 0 } };
	int c;

	while ((c = getopt_long(argc, argv, "r:i:Vh", options, NULL)) != -1) {
		if (c == 'h')
			return usage();
		if (c == 'V')
			return printf("gpusched-nri %s\n", GPUSCHED_VERSION) < 0;
		if (c == 'r')
			ret->runtime = optarg;
		else if (c == 'i')
			ret->index = optarg;
		else
			return GS_EXIT_USAGE;
	}
	if (optind < argc)
		return complain(-EINVAL, "no arguments but options: see --help");
	if (!is_index(ret->index))
		return complain(-EINVAL, "--index: two digits");
	return -1;
}

int main(int argc, char **argv)
{
	struct options o = { RUNTIME_SOCKET, INDEX };
	struct gs_nri_pods *pods = NULL;
	struct gs_error err = { 0 };
	bool missed = false;
	pthread_t teller;
	int r = parse(argc, argv, &o);

	if (r >= 0)
		return r;
	r = gs_env_check(&err);
	if (r)
		return complain(r, err.text);
	gs_log_sink(gs_log_to_stderr, "gpusched-nri", LOG_INFO);
	signal(SIGPIPE, SIG_IGN);
	drop_capabilities();
	r = gs_nri_pods_new(&pods);
	if (!r)
		r = -pthread_create(&teller, NULL, gs_nri_teller, pods);
	if (r)
		return complain(r, "out of memory");
	for (;;) {
		r = attend(&o, pods, &missed);
		if (!missed)
			gs_log(LOG_WARNING, "no runtime at %s (%s): it is asked again each second",
			       o.runtime, strerror(-r));
		missed = true;
		poll(NULL, 0, AGAIN_MS);
	}
}
