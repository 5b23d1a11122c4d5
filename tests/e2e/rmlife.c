// SPDX-License-Identifier: MIT
/*
 * rmlife.c - RM's clients with an unusual life, or with lies
 *
 *   rmlife fork           a child makes a TSG through the descriptor that it inherited
 *   rmlife pass           the maker gives the descriptor to another process, and is killed
 *   rmlife renumber       the descriptor's number is another file's by now
 *   rmlife exec NAME      exec of another program, which keeps the descriptor
 *   rmlife execclose NAME ... which does not
 *   rmlife leaderless     the main thread has ended, another one goes on
 *   rmlife threads N      N threads, each with a TSG, at the same time
 *   rmlife words          does as its input says: s one channel goes and another comes, f the
 *                         subdevice is freed; says "done" after each
 *   rmlife lie CLIENT TSG CHANNEL  failed calls that look like successful ones, in memory that a
 *                         thread rewrites: of its own objects, and of another's
 *
 * Prints "ready PID", PID being who holds the descriptor then, and waits for the end of its input.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rm_process.h"

#define LIES 6000

static int ready(void)
{
	char c;

	printf("ready %d\n", (int)getpid());
	fflush(stdout);
	while (read(0, &c, 1) > 0)
		;
	return 0;
}

static int life_fork(void)
{
	int fd = open_ctl(O_CLOEXEC);
	uint32_t client = new_client(fd, 0);
	pid_t child = fork();

	if (!child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		new_tsg(fd, client, RC_TSG);
		return ready();
	}
	waitpid(child, NULL, 0);
	return ready(); /* the TSG is ours now */
}

static void send_fd(int sock, int fd)
{
	char control[CMSG_SPACE(sizeof(int))] = { 0 }, byte = 0;
	struct iovec iov = { &byte, 1 };
	struct msghdr msg = { .msg_iov = &iov,
			      .msg_iovlen = 1,
			      .msg_control = control,
			      .msg_controllen = sizeof(control) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&msg);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	if (sendmsg(sock, &msg, 0) < 0)
		perror("rmlife: sendmsg");
}

static int take_fd(int sock)
{
	char control[CMSG_SPACE(sizeof(int))] = { 0 }, byte;
	struct iovec iov = { &byte, 1 };
	struct msghdr msg = { .msg_iov = &iov,
			      .msg_iovlen = 1,
			      .msg_control = control,
			      .msg_controllen = sizeof(control) };
	int fd = -1;

	if (recvmsg(sock, &msg, MSG_CMSG_CLOEXEC) < 1 || !CMSG_FIRSTHDR(&msg)) {
		fprintf(stderr, "rmlife: no descriptor came\n");
		exit(1);
	}
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&msg)), sizeof(fd));
	return fd;
}

static int life_pass(void)
{
	int pair[2], fd;
	pid_t maker;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
		return 1;
	maker = fork();
	if (!maker) {
		fd = open_ctl(O_CLOEXEC);
		new_tsg(fd, new_client(fd, 0), RC_TSG);
		send_fd(pair[1], fd);
		pause();
	}
	take_fd(pair[0]);
	kill(maker, SIGKILL);
	waitpid(maker, NULL, 0);
	return ready();
}

static int life_renumber(void)
{
	int fd = open_ctl(O_CLOEXEC), other;

	new_tsg(fd, new_client(fd, 0), RC_TSG);
	if (fcntl(fd, F_DUPFD_CLOEXEC, fd + 20) < 0)
		return 1;
	/* an NVIDIA file too, of a client that does not know the TSG */
	other = open_ctl(O_CLOEXEC);
	new_client(other, 0);
	if (dup2(other, fd) != fd)
		return 1;
	return ready();
}

static int life_exec(const char *name, int flags)
{
	int fd = open_ctl(flags);

	new_tsg(fd, new_client(fd, 0), RC_TSG);
	execlp(name, name, "hold", NULL);
	perror("rmlife: exec");
	return 1;
}

static void *go_on(void *arg)
{
	exit(ready());
	return arg;
}

static int life_leaderless(void)
{
	int fd = open_ctl(O_CLOEXEC);
	pthread_t thread;

	new_tsg(fd, new_client(fd, 0), RC_TSG);
	pthread_create(&thread, NULL, go_on, NULL);
	pthread_exit(NULL);
}

static int shared_fd;
static uint32_t shared_client;

static void *make_one(void *arg)
{
	new_tsg(shared_fd, shared_client, RC_TSG + 2 * (uint32_t)(uintptr_t)arg);
	return NULL;
}

static int life_threads(unsigned int n)
{
	pthread_t threads[64];

	shared_fd = open_ctl(O_CLOEXEC);
	shared_client = new_client(shared_fd, 0);
	for (unsigned int i = 0; i < n && i < 64; i++)
		pthread_create(&threads[i], NULL, make_one, (void *)(uintptr_t)i);
	for (unsigned int i = 0; i < n && i < 64; i++)
		pthread_join(threads[i], NULL);
	return ready();
}

static int life_words(void)
{
	int fd = open_ctl(O_CLOEXEC);
	uint32_t client = new_client(fd, 0), channel[128] = { 0 }, h = RC_TSG + 2;
	char word;

	new_tsg(fd, client, RC_TSG);
	must(rm_alloc(fd, client, RC_TSG, &h, 0xc86f, channel), "channel");
	printf("ready %d\n", (int)getpid());
	fflush(stdout);
	while (read(0, &word, 1) > 0) {
		if (word == 's') {
			rc_free(fd, client, RC_TSG, h++);
			must(rm_alloc(fd, client, RC_TSG, &h, 0xc86f, channel), "channel");
		} else if (word == 'f') {
			rc_free(fd, client, RC_DEVICE, RC_SUBDEVICE);
		} else {
			continue;
		}
		printf("done\n");
		fflush(stdout);
	}
	return 0;
}

/* ---- lies ------------------------------------------------------------------------------------ */

static volatile uint32_t words[12];
static volatile int stop;

/* An allocation's status is word 10, a control's word 7; neither matters to the other. */
static void *claim_success(void *arg)
{
	while (!stop) {
		words[10] = 0;
		words[7] = 0;
	}
	return arg;
}

static void lie_alloc(int fd, uint32_t root, uint32_t parent, uint32_t handle, uint32_t class_)
{
	static uint32_t params[128] = { 0, 0, 0, 1 };
	uint64_t p = (uintptr_t)params;

	words[0] = root;
	words[1] = parent;
	words[2] = handle;
	words[3] = class_;
	memcpy((void *)&words[4], &p, sizeof(p));
	words[8] = words[9] = words[11] = 0;
	rc_call(fd, 0x2b, (void *)words, 48);
}

static void lie_timeslice(int fd, uint32_t client, uint32_t tsg)
{
	static uint64_t us = 1;
	uint64_t p = (uintptr_t)&us;

	words[0] = client;
	words[1] = tsg;
	words[2] = 0xa06c0103;
	words[3] = 0;
	memcpy((void *)&words[4], &p, sizeof(p));
	words[6] = 7; /* a size that RM refuses */
	rc_call(fd, 0x2a, (void *)words, 32);
}

static int life_lie(uint32_t client, uint32_t tsg, uint32_t channel)
{
	int fd = open_ctl(O_CLOEXEC);
	uint32_t own = new_client(fd, 0), n = 0;
	pthread_t thread;

	new_tsg(fd, own, RC_TSG);
	pthread_create(&thread, NULL, claim_success, NULL);
	for (int i = 0; i < LIES; i++) {
		switch (i % 6) {
		case 0: /* the victim's TSG, in the victim's client */
			lie_alloc(fd, client, RC_DEVICE, tsg, 0xa06c);
			break;
		case 1: /* ... and a channel of it */
			lie_alloc(fd, client, tsg, channel, 0xc86f);
			break;
		case 2: /* TSGs of ours that do not exist: their parent does not */
			lie_alloc(fd, own, 0x7777, 0x60000000 + n++ % 100, 0xa06c);
			break;
		case 3: /* the victim's channel in our own TSG: a class that RM does not have there
			 */
			lie_alloc(fd, own, 0x7777, channel, 0xc86f);
			break;
		case 4:
			lie_timeslice(fd, client, tsg);
			break;
		default:
			lie_timeslice(fd, own, RC_TSG);
		}
	}
	stop = 1;
	pthread_join(thread, NULL);
	return ready();
}

static uint32_t number(int argc, char **argv, int i)
{
	return i < argc ? (uint32_t)strtoul(argv[i], NULL, 0) : 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (!strcmp(what, "fork"))
		return life_fork();
	if (!strcmp(what, "pass"))
		return life_pass();
	if (!strcmp(what, "renumber"))
		return life_renumber();
	if (!strcmp(what, "exec") && argc == 3)
		return life_exec(argv[2], 0);
	if (!strcmp(what, "execclose") && argc == 3)
		return life_exec(argv[2], O_CLOEXEC);
	if (!strcmp(what, "hold"))
		return ready();
	if (!strcmp(what, "leaderless"))
		return life_leaderless();
	if (!strcmp(what, "words"))
		return life_words();
	if (!strcmp(what, "threads"))
		return life_threads(number(argc, argv, 2));
	if (!strcmp(what, "lie"))
		return life_lie(number(argc, argv, 2), number(argc, argv, 3),
				number(argc, argv, 4));
	fprintf(stderr, "usage: rmlife fork | pass | renumber | exec NAME | execclose NAME | "
			"leaderless | words | threads N | lie CLIENT TSG CHANNEL\n");
	return 2;
}
