// SPDX-License-Identifier: MIT
/* serve.c - serves the agent's socket, for its own user and root, one message at a time */
#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "agent/agent.h"
#include "agent/hold.h"
#include "agent/launches.h"
#include "basic/cleanup.h"

#define PEERS 8
#define LOOK_MS 1000 /* time between two checks whether this is the last thread */

static struct {
	struct gs_agent_answer head;
	struct gpusched_tsg room[GS_AGENT_TSGS];
} answer;

static void fill_facts(struct gs_agent_facts *f)
{
	f->pid = (uint32_t)getpid();
	launches_counts(&f->launches, &f->graph_launches);
	hold_counts(&f->holds, &f->held_ns);
	hints_counts(&f->hints, &f->deadline_us);
	memcpy(f->class_, agent_settings.class_, sizeof(f->class_));
	memcpy(f->blind, agent_settings.blind, sizeof(f->blind));
}

/* ---- the socket ------------------------------------------------------------------------------ */

static char path[sizeof(((struct sockaddr_un *)0)->sun_path)];

/* The socket's file is removed with the program. After a crash, `gpusched list` removes it. */
static void __attribute__((destructor)) remove_socket(void)
{
	int saved = errno;

	if (path[0] && agent_thread_is_up())
		unlink(path);
	errno = saved;
}

static int open_socket(void)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	CLEANUP_FD int fd = -1;
	char dir[80];
	int r;

	r = gs_agent_way_dir_check(gs_agent_way_dir(dir, sizeof(dir)), 1);
	if (r)
		return r;
	snprintf(sun.sun_path, sizeof(sun.sun_path), "%s/agent-%d", dir, (int)getpid());
	unlink(sun.sun_path); /* left by the program that this process ran before an exec() */
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0 || bind(fd, (struct sockaddr *)&sun, sizeof(sun)))
		return -errno;
	memcpy(path, sun.sun_path, sizeof(path));
	if (chmod(path, 0700) || listen(fd, PEERS))
		return -errno;
	return TAKE_FD(fd);
}

static bool may_ask(int fd)
{
	struct ucred cred = { 0 };
	socklen_t len = sizeof(cred);

	return !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len) &&
	       (cred.uid == 0 || cred.uid == geteuid());
}

/* ---- requests -------------------------------------------------------------------------------- */

static void send_answer(int fd, int page)
{
	union {
		struct cmsghdr align;
		char room[CMSG_SPACE(sizeof(int))];
	} control = { 0 };
	struct iovec iov = { &answer,
			     sizeof(answer.head) + answer.head.n * sizeof(answer.room[0]) };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	struct cmsghdr *c;

	if (page >= 0) {
		msg.msg_control = control.room;
		msg.msg_controllen = sizeof(control.room);
		c = CMSG_FIRSTHDR(&msg);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(page));
		memcpy(CMSG_DATA(c), &page, sizeof(page));
	}
	sendmsg(fd, &msg, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void do_request(int fd, const struct gs_agent_request *rq)
{
	struct gs_agent_answer *a = &answer.head;
	CLEANUP_FD int page = -1;

	*a = (struct gs_agent_answer){ .magic = GS_AGENT_MAGIC };
	switch (rq->magic == GS_AGENT_MAGIC ? rq->ask : 0) {
	case GS_AGENT_LIST:
		fill_facts(&a->facts);
		a->n = agent_tsgs_list(answer.room, GS_AGENT_TSGS, &a->facts.more);
		break;
	case GS_AGENT_CALL:
		if (agent_tsgs_call(rq, a))
			agent_page_yield();
		break;
	case GS_AGENT_PAGE:
		page = agent_page_open();
		a->err = page < 0 ? page : 0;
		break;
	default:
		a->err = -EPROTO;
	}
	send_answer(fd, page);
}

/* Returns false if the peer has closed, or its message is invalid. */
static bool hear(int fd)
{
	struct gs_agent_request rq;
	ssize_t n = recv(fd, &rq, sizeof(rq), MSG_DONTWAIT | MSG_TRUNC);

	if (n < 0)
		return errno == EAGAIN || errno == EINTR;
	if (n != sizeof(rq))
		return false;
	do_request(fd, &rq);
	return true;
}

/* ---- the thread ------------------------------------------------------------------------------ */

struct peers {
	struct pollfd p[1 + PEERS]; /* the first is the socket that accepts connections */
};

static void take_peer(struct peers *s)
{
	CLEANUP_FD int fd = accept4(s->p[0].fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (fd < 0 || !may_ask(fd))
		return;
	for (unsigned int i = 1; i <= PEERS; i++) {
		if (s->p[i].fd >= 0)
			continue;
		s->p[i] = (struct pollfd){ .fd = TAKE_FD(fd), .events = POLLIN };
		return;
	}
}

static void round_of(struct peers *s)
{
	if (poll(s->p, 1 + PEERS, LOOK_MS) <= 0)
		return;
	for (unsigned int i = 1; i <= PEERS; i++) {
		if (s->p[i].fd < 0 || !s->p[i].revents || hear(s->p[i].fd))
			continue;
		close(s->p[i].fd);
		s->p[i].fd = -1;
	}
	if (s->p[0].revents)
		take_peer(s);
}

/*
 * True if only agent threads are left. After pthread_exit() in the main thread, a program ends with
 * its last other thread. The agent's threads would keep the program alive, so the agent then calls
 * exit().
 */
static bool is_last(void)
{
	char stat[64], *state;
	CLEANUP_FILE FILE *f = fopen("/proc/self/stat", "re");
	struct dirent *e;
	CLEANUP_DIR DIR *tasks = NULL;
	bool others = false;

	if (!f || !fgets(stat, sizeof(stat), f))
		return false;
	state = strrchr(stat, ')');
	if (!state || strncmp(state, ") Z", 3))
		return false;
	tasks = opendir("/proc/self/task");
	while (tasks && !others && (e = readdir(tasks))) {
		pid_t tid = atoi(e->d_name);
		char comm[64], name[32] = "";
		CLEANUP_FILE FILE *c = NULL;

		if (tid <= 0 || tid == getpid())
			continue;
		snprintf(comm, sizeof(comm), "/proc/self/task/%d/comm", (int)tid);
		c = fopen(comm, "re");
		others = c && fgets(name, sizeof(name), c) && strncmp(name, "gpusched-", 9);
	}
	return tasks && !others;
}

/*
 * exit() flushes output and runs handlers, which need the program's own descriptors. So an ending
 * main thread leaves behind a thread that shares these descriptors and only calls exit().
 */
static _Atomic uint32_t last;

static void *end_program(void *unused)
{
	pthread_setname_np(pthread_self(), "gpusched-last");
	while (!last)
		syscall(SYS_futex, &last, FUTEX_WAIT, 0, NULL, NULL, 0);
	exit(0);
}

void agent_serve_leave_last(void)
{
	agent_thread(end_program);
}

EXPORT void pthread_exit(void *value)
{
	void (*real)(void *) = (void (*)(void *))agent_real_next("pthread_exit");

	if (agent_thread_is_up() && syscall(SYS_gettid) == getpid())
		agent_serve_leave_last();
	real(value);
	__builtin_unreachable();
}

void *agent_serve(void *unused)
{
	struct peers s;

	if (agent_thread_begin("gpusched-agent"))
		return NULL;
	for (unsigned int i = 0; i <= PEERS; i++)
		s.p[i] = (struct pollfd){ .fd = -1, .events = POLLIN };
	agent_page_make();
	s.p[0].fd = open_socket();
	for (;;) { /* goes on without a socket too, since it has to end the program */
		struct gs_agent_facts facts = { 0 };

		fill_facts(&facts);
		/*
		 * Comes before the first request, so that a daemon's probes do not count the same
		 * launches.
		 */
		agent_sheet_turn(&facts);
		round_of(&s);
		if (!is_last())
			continue;
		last = 1;
		syscall(SYS_futex, &last, FUTEX_WAKE, 1, NULL, NULL, 0);
	}
}
