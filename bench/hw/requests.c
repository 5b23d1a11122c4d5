// SPDX-License-Identifier: MIT
/*
 * requests.c - serve requests and ask them, to test automatic hints; uses nothing of gpusched
 *
 *   requests serve SOCKET KERNEL-US LEAD-US ITERATIONS-PER-US
 *       waits in epoll for requests of one message each. For each request, it computes for LEAD-US
 *       on the CPU, launches one kernel of KERNEL-US that fills the GPU, waits for the kernel, and
 *       answers with the time since the launch
 *   requests ask SOCKET SECONDS MEAN-GAP-US
 *       sends one request at a time, with exponential gaps; prints percentiles of the service time
 *       and of the whole latency, without the first second
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "basic/clock.h"
#include "basic/sample.h"
#include "load/gsload_cuda.h"

#define THREADS 256
#define BLOCKS_PER_SM 8
#define MOST 1000000u

static int open_socket(const char *path, int serve)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	snprintf(sun.sun_path, sizeof(sun.sun_path), "%s", path);
	if (serve)
		unlink(path);
	if (fd < 0 || (serve ? bind(fd, (struct sockaddr *)&sun, sizeof(sun)) || listen(fd, 8)
			     : connect(fd, (struct sockaddr *)&sun, sizeof(sun)))) {
		perror(path);
		exit(1);
	}
	return fd;
}

static void spin(double us)
{
	uint64_t until = gs_now_ns() + (uint64_t)(us * 1e3);

	while (gs_now_ns() < until)
		;
}

static double answer(struct gsload_cuda *c, uint32_t iterations)
{
	void *parameters[] = { &c->out, &iterations };
	uint64_t t = gs_now_ns();

	gsload_check(c,
		     c->launch(c->function, (unsigned int)c->multiprocessors * BLOCKS_PER_SM, 1, 1,
			       THREADS, 1, 1, 0, c->stream, parameters, NULL),
		     "launching a kernel");
	gsload_check(c, c->stream_synchronize(c->stream), "waiting for the GPU");
	return (double)(gs_now_ns() - t) / 1e3;
}

static int serve(char **argv)
{
	double kernel_us = atof(argv[1]), lead_us = atof(argv[2]), per_us = atof(argv[3]);
	uint32_t iterations = (uint32_t)(kernel_us * per_us);
	struct gsload_cuda c = { 0 };
	struct epoll_event ev = { .events = EPOLLIN };
	int listener, ep = epoll_create1(EPOLL_CLOEXEC);

	if (gsload_cuda_open(&c, 0, 1))
		return 1;
	answer(&c, iterations);
	listener = open_socket(argv[0], 1);
	ev.data.fd = listener;
	epoll_ctl(ep, EPOLL_CTL_ADD, listener, &ev);
	for (;;) {
		char text[64];

		if (epoll_wait(ep, &ev, 1, -1) != 1)
			continue;
		if (ev.data.fd == listener) {
			ev.data.fd = accept(listener, NULL, NULL);
			epoll_ctl(ep, EPOLL_CTL_ADD, ev.data.fd, &ev);
			continue;
		}
		if (recv(ev.data.fd, text, sizeof(text), 0) <= 0) {
			close(ev.data.fd);
			continue;
		}
		spin(lead_us);
		snprintf(text, sizeof(text), "%.1f", answer(&c, iterations));
		send(ev.data.fd, text, strlen(text) + 1, MSG_NOSIGNAL);
	}
}

static double part(double *v, size_t n, double q)
{
	gs_sample_sort(v, n);
	return v[gs_quantile_at(n, q)];
}

static int ask(char **argv)
{
	double seconds = atof(argv[1]), gap_us = atof(argv[2]);
	double *service = calloc(MOST, sizeof(*service)), *whole = calloc(MOST, sizeof(*whole));
	uint64_t begun = gs_now_ns() + NS_PER_S, end = begun + (uint64_t)(seconds * 1e9);
	int fd = open_socket(argv[0], 0);
	size_t n = 0;

	srand48(1);
	while (gs_now_ns() < end && n < MOST && service && whole) {
		char text[64] = "";
		uint64_t t;

		usleep((useconds_t)fmin(-gap_us * log(1 - drand48()), 5 * gap_us));
		t = gs_now_ns();
		if (send(fd, "x", 1, MSG_NOSIGNAL) != 1 || recv(fd, text, sizeof(text), 0) <= 0)
			break;
		if (t < begun)
			continue;
		whole[n] = (double)(gs_now_ns() - t) / 1e3;
		service[n++] = atof(text);
	}
	if (!n)
		return 1;
	printf("{\"n\":%zu,\"service_p50_us\":%.1f,\"service_p99_us\":%.1f,\"p50_us\":%.1f,"
	       "\"p99_us\":%.1f}\n",
	       n, part(service, n, 0.5), part(service, n, 0.99), part(whole, n, 0.5),
	       part(whole, n, 0.99));
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 6 && !strcmp(argv[1], "serve"))
		return serve(argv + 2);
	if (argc == 5 && !strcmp(argv[1], "ask"))
		return ask(argv + 2);
	fprintf(stderr, "usage: requests serve SOCKET KERNEL-US LEAD-US ITERATIONS-PER-US | "
			"requests ask SOCKET SECONDS MEAN-GAP-US\n");
	return 2;
}
