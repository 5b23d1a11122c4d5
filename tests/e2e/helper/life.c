// SPDX-License-Identifier: MIT
/*
 * life.c - lives in unusual ways as a client of the RM, or forges its calls
 *
 * The process that prints "ready" is the one that holds the driver's file then.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "helper.h"
#include "rm.h"
#include "sim/ring.h"
#include "sim/rm_abi.h"

#define LIES 6000

int verb_fork(int nwords, char **words)
{
	int fd = open_ctl(O_CLOEXEC);
	uint32_t client = new_client(fd, 0);
	pid_t child = fork();

	if (!child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		new_tsg(fd, client, RC_TSG);
		return until_eof();
	}
	waitpid(child, NULL, 0);
	return until_eof(); /* the TSG is this process's now */
}

/* Queues work for a minute, which the simulated GPU does even after its maker's death. */
static void give_work(int fd, uint32_t client, uint32_t channel)
{
	struct sim_ring_attach a = {
		.version = SIM_RING_VERSION,
		.memfd = memfd_create("ring", MFD_CLOEXEC | MFD_ALLOW_SEALING),
		.eventfd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK),
	};
	struct sim_ring *ring;

	if (ftruncate(a.memfd, sizeof(*ring)) || fcntl(a.memfd, F_ADD_SEALS, F_SEAL_SHRINK) ||
	    ioctl(fd, SIM_RING_ATTACH, &a))
		die("ring");
	ring = mmap(NULL, sizeof(*ring), PROT_READ | PROT_WRITE, MAP_SHARED, a.memfd, 0);
	if (ring == MAP_FAILED)
		die("ring");
	for (unsigned int i = 0; i < 600; i++)
		ring->entry[i] = (struct sim_ring_entry){ .client = client,
							  .channel = channel,
							  .kind = SIM_RING_KERNEL,
							  .blocks = 1,
							  .block_ns = 100000000,
							  .stamp = SIM_RING_NO_STAMP };
	__atomic_store_n(&ring->head, 600, __ATOMIC_RELEASE);
	if (eventfd_write(a.eventfd, 1))
		die("doorbell");
}

int verb_pass(int nwords, char **words)
{
	uint32_t client;

	int pair[2], fd;
	pid_t maker;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
		return 1;
	maker = fork();
	if (!maker) {
		fd = open_ctl(O_CLOEXEC);
		client = new_client(fd, 0);
		new_tsg(fd, client, RC_TSG);
		if (nwords)
			give_work(fd, client, RC_TSG + 1);
		send_fd(pair[1], fd);
		pause();
	}
	take_fd(pair[0]);
	kill(maker, SIGKILL);
	waitpid(maker, NULL, 0);
	return until_eof();
}

static void make_memory(int fd, uint32_t client, uint64_t mib)
{
	uint64_t p[SIM_MEMORY_PARAMS_MAX / 8] = { [SIM_MEMORY_SIZE_AT / 8] = mib << 20 };
	uint32_t handle = RC_TSG + 8;

	must(rm_alloc(fd, client, RC_DEVICE, &handle, SIM_CLASS_MEM_LOCAL, p), "memory");
}

/* Prints the maker's pid, then waits for a word. */
int verb_bequeath(int nwords, char **words)
{
	int pair[2], fd;
	uint32_t client;
	char line[8];
	pid_t maker;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
		return 1;
	maker = fork();
	if (!maker) {
		prctl(PR_SET_NAME, "maker");
		fd = open_ctl(O_CLOEXEC);
		client = new_client(fd, 0);
		make_memory(fd, client, number(nwords, words, 0));
		if (!strcmp(words[1], "tsg"))
			new_tsg(fd, client, RC_TSG);
		send_fd(pair[1], fd);
		pause();
	}
	take_fd(pair[0]);
	printf("%d\n", maker);
	fflush(stdout);
	if (!fgets(line, sizeof(line), stdin))
		return 1;
	kill(maker, SIGKILL);
	waitpid(maker, NULL, 0);
	return until_eof();
}

int verb_renumber(int nwords, char **words)
{
	int fd = open_ctl(O_CLOEXEC), other;

	new_tsg(fd, new_client(fd, 0), RC_TSG);
	if (fcntl(fd, F_DUPFD_CLOEXEC, fd + 20) < 0)
		return 1;
	/* the old number gets another file of the driver, whose client does not have the TSG */
	other = open_ctl(O_CLOEXEC);
	new_client(other, 0);
	if (dup2(other, fd) != fd)
		return 1;
	return until_eof();
}

static int life_exec(const char *name, int flags)
{
	int fd = open_ctl(flags);

	new_tsg(fd, new_client(fd, 0), RC_TSG);
	execlp(name, name, "hold", NULL);
	die(name);
}

int verb_exec(int nwords, char **words)
{
	return life_exec(words[0], 0);
}

int verb_execclose(int nwords, char **words)
{
	return life_exec(words[0], O_CLOEXEC);
}

int verb_hold(int nwords, char **words)
{
	return until_eof();
}

static void *go_on(void *arg)
{
	exit(until_eof());
	return arg;
}

int verb_leaderless(int nwords, char **words)
{
	int fd = open_ctl(O_CLOEXEC);
	pthread_t thread;

	new_tsg(fd, new_client(fd, 0), RC_TSG);
	pthread_create(&thread, NULL, go_on, NULL);
	pthread_exit(NULL);
}

static int shared_fd;
static uint32_t shared_client;

int verb_late(int nwords, char **words)
{
	int fd = open_ctl(O_CLOEXEC), memory = memfd_create("late", MFD_CLOEXEC);

	if (memory < 0 || fallocate(memory, 0, 0, (off_t)number(nwords, words, 0) << 20))
		die("memory");
	new_tsg(fd, new_client(fd, 0), RC_TSG);
	return until_eof();
}

static void *make_one(void *arg)
{
	uint32_t tsg = RC_TSG + 2 * (uint32_t)(uintptr_t)arg;

	new_tsg(shared_fd, shared_client, tsg);
	printf("thread %d 0x%08x\n", (int)gettid(), tsg);
	return NULL;
}

int verb_threads(int nwords, char **words)
{
	unsigned int n = number(nwords, words, 0);
	pthread_t threads[64];

	shared_fd = open_ctl(O_CLOEXEC);
	shared_client = new_client(shared_fd, 0);
	for (unsigned int i = 0; i < n && i < 64; i++)
		pthread_create(&threads[i], NULL, make_one, (void *)(uintptr_t)i);
	for (unsigned int i = 0; i < n && i < 64; i++)
		pthread_join(threads[i], NULL);
	return until_eof();
}

int verb_words(int nwords, char **words)
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
		say("done");
	}
	return 0;
}

/* ---- lies ------------------------------------------------------------------------------------ */

static volatile uint32_t call[12];
static volatile int stop;

/* Overwrites the status with success: word 10 of an allocation, word 7 of a control call. */
static void *claim_success(void *arg)
{
	while (!stop) {
		call[10] = 0;
		call[7] = 0;
	}
	return arg;
}

static void lie_alloc(int fd, uint32_t root, uint32_t parent, uint32_t handle, uint32_t class_)
{
	static uint32_t params[128] = { 0, 0, 0, 1 };
	uint64_t p = (uintptr_t)params;

	call[0] = root;
	call[1] = parent;
	call[2] = handle;
	call[3] = class_;
	memcpy((void *)&call[4], &p, sizeof(p));
	call[8] = call[9] = call[11] = 0;
	rc_call(fd, 0x2b, (void *)call, 48);
}

static void lie_timeslice(int fd, uint32_t client, uint32_t tsg)
{
	static uint64_t us = 1;
	uint64_t p = (uintptr_t)&us;

	call[0] = client;
	call[1] = tsg;
	call[2] = 0xa06c0103;
	call[3] = 0;
	memcpy((void *)&call[4], &p, sizeof(p));
	call[6] = 7; /* a size that the RM refuses */
	rc_call(fd, 0x2a, (void *)call, 32);
}

int verb_lie(int nwords, char **words)
{
	uint32_t client = number(nwords, words, 0), tsg = number(nwords, words, 1);
	uint32_t channel = number(nwords, words, 2);
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
		case 1: /* a channel of the victim's TSG */
			lie_alloc(fd, client, tsg, channel, 0xc86f);
			break;
		case 2: /* own TSGs, which are not made: their parent does not exist */
			lie_alloc(fd, own, 0x7777, 0x60000000 + n++ % 100, 0xa06c);
			break;
		case 3: /* the victim's channel in an own client, below a missing parent */
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
	return until_eof();
}

int verb_stopthread(int n, char **words)
{
	pid_t tid = atoi(words[0]);

	if (ptrace(PTRACE_SEIZE, tid, NULL, NULL) || ptrace(PTRACE_INTERRUPT, tid, NULL, NULL)) {
		perror("ptrace");
		return 1;
	}
	waitpid(tid, NULL, __WALL);
	puts("stopped");
	fflush(stdout);
	for (;;)
		pause();
}

static bool is_at_call(pid_t tid, long nr)
{
	struct __ptrace_syscall_info info;

	return ptrace(PTRACE_GET_SYSCALL_INFO, tid, sizeof(info), &info) > 0 &&
	       info.op == PTRACE_SYSCALL_INFO_ENTRY && info.entry.nr == (uint64_t)nr;
}

int verb_holdcall(int n, char **words)
{
	pid_t pid = atoi(words[0]), tid;
	long nr = atol(words[1]), signal;
	bool holds = false;
	int status;

	if (ptrace(PTRACE_SEIZE, pid, NULL, PTRACE_O_TRACECLONE | PTRACE_O_TRACESYSGOOD)) {
		perror("ptrace");
		return 1;
	}
	puts("ready");
	fflush(stdout);
	while ((tid = waitpid(-1, &status, __WALL)) > 0) {
		if (!WIFSTOPPED(status))
			continue;
		signal = status >> 16 || WSTOPSIG(status) & 0x80 ? 0 : WSTOPSIG(status);
		if (!holds && tid != pid && is_at_call(tid, nr)) {
			holds = true;
			puts("held");
			fflush(stdout);
			continue;
		}
		ptrace(tid == pid || holds ? PTRACE_CONT : PTRACE_SYSCALL, tid, NULL, signal);
	}
	return 0;
}
