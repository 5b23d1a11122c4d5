// SPDX-License-Identifier: MIT
/*
 * hinted.c - checks which arrivals an agent sees, and which calls end a pre-switch
 *
 *   hinted ways|ends|threads
 *
 * Asks the agent in this process for the number and the time of pre-switches. Run it by `gpusched
 * run --agent --class lc`, and `ways` with --hint=auto, too.
 */
#include <dlfcn.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "gpusched/hint.h"
#include "wire/agent.h"

typedef int (*launch_fn)(void *, unsigned int, unsigned int, unsigned int, unsigned int,
			 unsigned int, unsigned int, unsigned int, void *, void **, void **);

static void *lib, *context;
static launch_fn launch;

/* ---- the agent's own figures ----------------------------------------------------------------- */

static struct gs_agent_facts facts(void)
{
	static struct {
		struct gs_agent_answer head;
		struct gpusched_tsg room[GS_AGENT_TSGS];
	} a;
	const struct gs_agent_request rq = { .ask = GS_AGENT_LIST };
	static int fd = -1;

	if (fd < 0)
		fd = gs_agent_way_connect(getpid());
	if (fd < 0 || gs_agent_way_ask(fd, &rq, &a.head, sizeof(a), NULL)) {
		puts("no agent");
		exit(1);
	}
	return a.head.facts;
}

static void use_cuda(void)
{
	int (*init)(unsigned int), (*create)(void **, unsigned int, int);

	lib = dlopen("libcuda.so.1", RTLD_NOW);
	if (!lib)
		exit(3);
	*(void **)&init = dlsym(lib, "cuInit");
	*(void **)&create = dlsym(lib, "cuCtxCreate_v2");
	*(void **)&launch = dlsym(lib, "cuLaunchKernel");
	if (init(0) || create(&context, 0, 0))
		exit(4);
	for (int i = 0; i < 500; i++) { /* until the agent listens */
		int fd = gs_agent_way_connect(getpid());

		if (fd >= 0) {
			close(fd);
			return;
		}
		usleep(10000);
	}
}

/* ---- ways: each call by which a server may learn of a request -------------------------------- */

ssize_t __read_chk(int fd, void *buf, size_t n, size_t room);
ssize_t __recv_chk(int fd, void *buf, size_t n, size_t room, int flags);
ssize_t __recvfrom_chk(int fd, void *buf, size_t n, size_t room, int flags, struct sockaddr *from,
		       socklen_t *len);
int __poll_chk(struct pollfd *fds, nfds_t n, int ms, size_t room);
int __ppoll_chk(struct pollfd *fds, nfds_t n, const struct timespec *t, const sigset_t *mask,
		size_t room);

static char text[16];
static struct iovec iov = { text, sizeof(text) };
static int epoll = -1;

/* Receives in a way that the agent does not see, for ways that only announce a request. */
static ssize_t take(int fd)
{
	return syscall(SYS_read, fd, text, sizeof(text));
}

static ssize_t by_msg(int fd)
{
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1 };

	return recvmsg(fd, &m, 0);
}

static ssize_t by_mmsg(int fd)
{
	struct mmsghdr m = { .msg_hdr = { .msg_iov = &iov, .msg_iovlen = 1 } };

	return recvmmsg(fd, &m, 1, 0, NULL);
}

static ssize_t by_accept(int fd, bool four)
{
	static const struct sockaddr any = { .sa_family = AF_UNIX };
	int listener = socket(AF_UNIX, SOCK_STREAM, 0), asks = socket(AF_UNIX, SOCK_STREAM, 0), got;
	struct sockaddr_storage at;
	socklen_t len = sizeof(at);

	(void)bind(listener, &any, sizeof(any.sa_family)); /* the kernel chooses a name */
	listen(listener, 1);
	getsockname(listener, (struct sockaddr *)&at, &len);
	(void)connect(asks, (struct sockaddr *)&at, len);
	got = four ? accept4(listener, NULL, NULL, SOCK_CLOEXEC) : accept(listener, NULL, NULL);
	close(got);
	close(asks);
	close(listener);
	return take(fd);
}

/* @how: 0 epoll_wait, 1 epoll_pwait, 2 epoll_pwait2 */
static ssize_t by_epoll(int fd, int how)
{
	struct epoll_event ev = { .events = EPOLLIN };
	const struct timespec t = { .tv_sec = 5 };

	if (epoll < 0)
		epoll = epoll_create1(EPOLL_CLOEXEC);
	epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &ev);
	if (how == 0)
		epoll_wait(epoll, &ev, 1, 5000);
	else if (how == 1)
		epoll_pwait(epoll, &ev, 1, 5000, NULL);
	else
		epoll_pwait2(epoll, &ev, 1, &t, NULL);
	return take(fd);
}

static ssize_t by_poll(int fd, int how)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	const struct timespec t = { .tv_sec = 5 };

	if (how == 0)
		poll(&p, 1, 5000);
	else if (how == 1)
		ppoll(&p, 1, &t, NULL);
	else if (how == 2)
		__poll_chk(&p, 1, 5000, sizeof(p));
	else
		__ppoll_chk(&p, 1, &t, NULL, sizeof(p));
	return take(fd);
}

static ssize_t by_select(int fd, bool p)
{
	const struct timespec t = { .tv_sec = 5 };
	struct timeval v = { .tv_sec = 5 };
	fd_set set;

	FD_ZERO(&set);
	FD_SET(fd, &set);
	if (p)
		pselect(fd + 1, &set, NULL, NULL, &t, NULL);
	else
		select(fd + 1, &set, NULL, NULL, &v);
	return take(fd);
}

/* X(name of the way, expression that waits for or reads @fd) */
#define WAYS(X) \
	X(read, read(fd, text, sizeof(text))) \
	X(readv, readv(fd, &iov, 1)) \
	X(__read_chk, __read_chk(fd, text, sizeof(text), sizeof(text))) \
	X(recv, recv(fd, text, sizeof(text), 0)) \
	X(recvfrom, recvfrom(fd, text, sizeof(text), 0, NULL, NULL)) \
	X(recvmsg, by_msg(fd)) \
	X(recvmmsg, by_mmsg(fd)) \
	X(__recv_chk, __recv_chk(fd, text, sizeof(text), sizeof(text), 0)) \
	X(__recvfrom_chk, __recvfrom_chk(fd, text, sizeof(text), sizeof(text), 0, NULL, NULL)) \
	X(accept, by_accept(fd, false)) \
	X(accept4, by_accept(fd, true)) \
	X(epoll_wait, by_epoll(fd, 0)) \
	X(epoll_pwait, by_epoll(fd, 1)) \
	X(epoll_pwait2, by_epoll(fd, 2)) \
	X(poll, by_poll(fd, 0)) \
	X(ppoll, by_poll(fd, 1)) \
	X(__poll_chk, by_poll(fd, 2)) \
	X(__ppoll_chk, by_poll(fd, 3)) \
	X(select, by_select(fd, false)) \
	X(pselect, by_select(fd, true)) \
	X(none, take(fd))

#define X(name, call) \
	static ssize_t way_##name(int fd) \
	{ \
		return call; \
	}
WAYS(X)
#undef X

static const struct {
	const char *name;
	ssize_t (*fn)(int fd);
} ways[] = {
#define X(name, call) { #name, way_##name },
	WAYS(X)
#undef X
};

/* Makes fifteen requests, each with a launch. Returns how many pre-switches the agent made. */
static uint64_t requests(ssize_t (*hear)(int fd), int from, int to)
{
	uint64_t before = facts().holds;

	for (int i = 0; i < 15; i++) {
		if (write(to, "x", 1) != 1 || hear(from) != 1)
			exit(5);
		launch(NULL, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL);
		usleep(3000); /* the pre-switch has ended by then */
	}
	if (epoll >= 0) {
		close(epoll);
		epoll = -1;
	}
	return facts().holds - before;
}

/* Prints a line for each way: 1 if the agent made pre-switches for its requests. */
static int mode_ways(void)
{
	int socket[2], pipes[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, socket) || pipe(pipes))
		return 1;
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		printf("%s %d\n", ways[i].name, requests(ways[i].fn, socket[0], socket[1]) > 0);
	/* the agent must not take data from a pipe for a request */
	printf("pipe:read %d\n", requests(way_read, pipes[0], pipes[1]) > 0);
	printf("pipe:poll %d\n", requests(way_poll, pipes[0], pipes[1]) > 0);
	printf("pipe:select %d\n", requests(way_select, pipes[0], pipes[1]) > 0);
	return 0;
}

/* ---- ends: calls that end a pre-switch ------------------------------------------------------- */

static void *module, *stream, *function, *graph, *graph_exec;
static void *memory, *host;

static void *cuda(const char *name)
{
	void *p = dlsym(lib, name);

	if (!p) {
		printf("no %s\n", name);
		exit(6);
	}
	return p;
}

#define CU(name, ...) ((int (*)(const void *, ...))cuda(#name))(__VA_ARGS__)

static const char ptx[] = ".version 6.0\n.target sm_50\n.address_size 64\n"
			  ".visible .entry one()\n{\n\tret;\n}\n";

static void load(void)
{
	if (CU(cuModuleLoadData, &module, ptx) || CU(cuModuleGetFunction, &function, module, "one"))
		exit(7);
}

static void launch_one(void)
{
	launch(function, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL);
}

static void make_graph(void)
{
	if (CU(cuStreamBeginCapture_v2, stream, 1) || (launch_one(), 0) ||
	    CU(cuStreamEndCapture, stream, &graph) ||
	    CU(cuGraphInstantiateWithFlags, &graph_exec, graph, 0ull))
		exit(8);
}

/*
 * Begins a pre-switch (retrying until the agent allows another one), then makes @call. Prints
 * @words and 1 if the call ended it, 0 if not, -1 if no pre-switch began.
 */
#define ENDS(words, call) \
	do { \
		uint64_t was = facts().held_ns; \
		bool on = false; \
		for (int i_ = 0; i_ < 2000 && !(on = gpusched_hint_coming()); i_++) \
			usleep(5000); \
		call; \
		printf("%s %d\n", words, on ? facts().held_ns != was : -1); \
		gpusched_hint_done(); \
	} while (0)

/* Calls that would wait for a pre-switch, which must end it, and some others. */
static int mode_ends(void)
{
	if (CU(cuStreamCreate, &stream, 1u) || CU(cuMemAlloc_v2, &memory, (size_t)4096) ||
	    CU(cuMemHostAlloc, &host, (size_t)4096, 0u))
		return 1;
	gpusched_hint_coming(); /* makes the agent watch launches from now on */
	gpusched_hint_done();
	load();
	ENDS("first launch", launch_one());
	ENDS("second launch", launch_one());
	ENDS("cooperative launch",
	     CU(cuLaunchCooperativeKernel, function, 1, 1, 1, 1, 1, 1, 0, stream, NULL));
	ENDS("cooperative launch again",
	     CU(cuLaunchCooperativeKernel, function, 1, 1, 1, 1, 1, 1, 0, stream, NULL));
	ENDS("capture", make_graph());
	ENDS("first graph launch", CU(cuGraphLaunch, graph_exec, stream));
	ENDS("second graph launch", CU(cuGraphLaunch, graph_exec, stream));
	ENDS("cuGraphExecDestroy", CU(cuGraphExecDestroy, graph_exec));
	launch_one();
	ENDS("launch", launch_one());
	ENDS("cuStreamSynchronize", CU(cuStreamSynchronize, stream));
	ENDS("cuMemAlloc", CU(cuMemAlloc_v2, &memory, (size_t)4096));
	ENDS("cuMemFree", CU(cuMemFree_v2, memory));
	ENDS("cuMemHostRegister", CU(cuMemHostRegister_v2, ptx, sizeof(ptx), 0u));
	ENDS("cuMemHostUnregister", CU(cuMemHostUnregister, ptx));
	ENDS("cuMemFreeHost", CU(cuMemFreeHost, host));
	ENDS("cuMemUnmap", CU(cuMemUnmap, NULL, (size_t)0));
	ENDS("cuMemPoolTrimTo", CU(cuMemPoolTrimTo, NULL, (size_t)0));
	ENDS("cuMemPoolDestroy", CU(cuMemPoolDestroy, NULL));
	ENDS("cuIpcCloseMemHandle", CU(cuIpcCloseMemHandle, NULL));
	ENDS("cuArrayDestroy", CU(cuArrayDestroy, NULL));
	ENDS("cuMipmappedArrayDestroy", CU(cuMipmappedArrayDestroy, NULL));
	ENDS("cuCtxSynchronize", CU(cuCtxSynchronize, NULL));
	ENDS("cuCtxSetLimit", CU(cuCtxSetLimit, 0, (size_t)4096));
	ENDS("launch after cuCtxSetLimit", launch_one());
	ENDS("another launch after cuCtxSetLimit", launch_one());
	ENDS("cuModuleUnload", CU(cuModuleUnload, module));
	ENDS("cuModuleLoadData", load());
	ENDS("launch after cuModuleUnload", launch_one());
	ENDS("cuCtxDestroy", CU(cuCtxDestroy_v2, context));
	printf("without a context %d\n", gpusched_hint_coming());
	if (CU(cuCtxCreate_v2, &context, 0, 0))
		return 1;
	ENDS("in another context, cuCtxSynchronize", CU(cuCtxSynchronize, NULL));
	return 0;
}

/*
 * ---- threads: requests of several threads at once, each with its own stream --------------------
 */

#define THREADS 8
#define REQUESTS 100

static void *serve(void *unused)
{
	void *own;
	long bad = CU(cuCtxSetCurrent, context) || CU(cuStreamCreate, &own, 1u);

	for (int i = 0; i < REQUESTS && !bad; i++) {
		gpusched_hint_coming();
		bad = launch(function, 1, 1, 1, 1, 1, 1, 0, own, NULL, NULL);
		gpusched_hint_here();
		bad = bad || CU(cuStreamSynchronize, own);
		gpusched_hint_done();
	}
	return (void *)bad;
}

static int mode_threads(void)
{
	struct gs_agent_facts before, after;
	pthread_t t[THREADS];
	long bad = 0;
	void *r;

	load();
	before = facts();
	for (int i = 0; i < THREADS; i++)
		pthread_create(&t[i], NULL, serve, NULL);
	for (int i = 0; i < THREADS; i++) {
		pthread_join(t[i], &r);
		bad += (long)r;
	}
	after = facts();
	printf("failed %ld, hints %d, launches %d, some switched %d, more than asked %d\n", bad,
	       (int)(after.hints - before.hints), (int)(after.launches - before.launches),
	       after.holds > before.holds, after.holds - before.holds > after.hints - before.hints);
	return 0;
}

int main(int argc, char **argv)
{
	use_cuda();
	if (argc == 2 && !strcmp(argv[1], "ways"))
		return mode_ways();
	if (argc == 2 && !strcmp(argv[1], "threads"))
		return mode_threads();
	return argc == 2 && !strcmp(argv[1], "ends") ? mode_ends() : 2;
}
