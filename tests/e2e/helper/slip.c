// SPDX-License-Identifier: MIT
/*
 * slip.c - tries, as a client of the RM, to escape from the table or to slow down the daemon
 *
 *   helper inflight US       at a byte on stdin, sends its driver file over a socket and closes it;
 *                            at the next byte, receives the file and sets its TSG's slice to US
 *   helper compat [schedule] makes a TSG, and schedules it, by the 32-bit system call
 *   helper uring             makes a TSG on a file that io_uring opened; at each byte on stdin,
 *                            closes the file and starts again with another
 *   helper dups N            duplicates another client's file to nearly N descriptors below the
 *                            TSG's own; at each byte on stdin, the TSG's file gets another number
 *   helper slices N US       makes N TSGs with slices of US
 *   helper named NAME        takes that name and makes more objects than its quota
 */
#include <fcntl.h>
#include <linux/io_uring.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "helper.h"
#include "rm.h"

#define SYS_IOCTL_32 54

int verb_inflight(int nwords, char **words)
{
	int fd = open_ctl(O_CLOEXEC), pair[2];
	uint32_t client = new_client(fd, 0);
	char c;

	new_tsg(fd, client, RC_TSG);
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
		die("socketpair");
	printf("ready %d\n", (int)getpid());
	fflush(stdout);
	if (read(0, &c, 1) != 1)
		return 1;
	send_fd(pair[0], fd);
	close(fd);
	say("inflight");
	if (read(0, &c, 1) != 1)
		return 1;
	fd = take_fd(pair[1]);
	rc_timeslice(fd, client, RC_TSG, number(nwords, words, 0));
	say("back");
	return until_eof();
}

#ifndef __x86_64__
#define MAP_32BIT 0 /* where it is missing, 64-bit programs have no 32-bit calls */
#endif

/* Makes an ioctl() as a 32-bit program does; @low: its argument, at a 32-bit address. */
static long ioctl_32(int fd, unsigned int nr, unsigned int size, uint32_t *low)
{
	long r = -1;

#ifdef __x86_64__
	__asm__ volatile("int $0x80"
			 : "=a"(r)
			 : "a"(SYS_IOCTL_32), "b"(fd),
			   "c"(_IOC(_IOC_READ | _IOC_WRITE, 'F', nr, size)), "d"((uintptr_t)low)
			 : "memory");
#endif
	return r;
}

static void no_ioctl_32(int sig)
{
	static const char why[] = "no 32-bit calls on this machine\n";

	_exit(write(STDOUT_FILENO, why, sizeof(why) - 1) < 0 || sig != SIGSEGV);
}

int verb_compat(int nwords, char **words)
{
	uint32_t *low = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	int fd = open_ctl(O_CLOEXEC);
	uint32_t client = new_client(fd, 0), *params = low + 64;
	uint32_t made[12] = { client, RC_DEVICE, RC_TSG, 0xa06c };
	uint32_t scheduled[8] = { client, RC_TSG, 0xa06c0101, 0, 0, 0, 3 };
	uint64_t at = (uintptr_t)params;
	long r;

	if (low == MAP_FAILED)
		die("mmap");
	signal(SIGSEGV, no_ioctl_32); /* some hypervisors run 64-bit code only */
	params[3] = 1;
	memcpy(&made[4], &at, sizeof(at));
	r = ioctl_32(fd, 0x2b, sizeof(made), memcpy(low, made, sizeof(made)));
	if (!r && !low[10] && nwords) {
		params[0] = 1;
		memcpy(&scheduled[4], &at, sizeof(at));
		r = ioctl_32(fd, 0x2a, sizeof(scheduled),
			     memcpy(low, scheduled, sizeof(scheduled)));
	}
	if (r || low[nwords ? 7 : 10]) {
		printf("refused %ld 0x%x\n", r, low[nwords ? 7 : 10]);
		return 1;
	}
	return until_eof();
}

/* Makes one request in a new ring. Returns its result. */
static int by_uring(const struct io_uring_sqe *sqe)
{
	struct io_uring_params p = { 0 };
	int fd = (int)syscall(SYS_io_uring_setup, 1, &p), res = -1;
	size_t size = p.sq_off.array + p.sq_entries * sizeof(uint32_t);
	size_t cq = p.cq_off.cqes + p.cq_entries * sizeof(struct io_uring_cqe);
	struct io_uring_sqe *sqes;
	char *ring;

	if (fd < 0)
		die("io_uring_setup");
	size = size > cq ? size : cq;
	ring = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, IORING_OFF_SQ_RING);
	sqes = mmap(NULL, sizeof(*sqes), PROT_READ | PROT_WRITE, MAP_SHARED, fd, IORING_OFF_SQES);
	if (!(p.features & IORING_FEAT_SINGLE_MMAP) || ring == MAP_FAILED || sqes == MAP_FAILED)
		die("io_uring's memory");
	sqes[0] = *sqe;
	*(uint32_t *)(ring + p.sq_off.array) = 0;
	__atomic_store_n((uint32_t *)(ring + p.sq_off.tail), 1, __ATOMIC_RELEASE);
	if (syscall(SYS_io_uring_enter, fd, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0) != 1)
		die("io_uring_enter");
	res = ((struct io_uring_cqe *)(ring + p.cq_off.cqes))->res;
	munmap(ring, size);
	munmap(sqes, sizeof(*sqes));
	close(fd);
	return res;
}

int verb_uring(int nwords, char **words)
{
	char c;

	do {
		const struct io_uring_sqe open = { .opcode = IORING_OP_OPENAT,
						   .fd = AT_FDCWD,
						   .addr = (uintptr_t) "/dev/nvidiactl",
						   .open_flags = O_RDWR };
		int fd = by_uring(&open);

		if (fd < 0)
			die("/dev/nvidiactl by io_uring");
		new_tsg(fd, new_client(fd, 0), RC_TSG);
		printf("ready %d\n", (int)getpid());
		fflush(stdout);
		if (read(0, &c, 1) != 1)
			return 0;
		by_uring(&(struct io_uring_sqe){ .opcode = IORING_OP_CLOSE, .fd = fd });
	} while (1);
}

int verb_dups(int nwords, char **words)
{
	uint32_t n = number(nwords, words, 0);
	struct rlimit files = { n + 64, n + 64 };
	int fd = open_ctl(O_CLOEXEC), other = open_ctl(O_CLOEXEC), home, at, to;
	uint32_t client = new_client(fd, 0);
	char c;

	new_client(other, 0);
	new_tsg(fd, client, RC_TSG);
	if (setrlimit(RLIMIT_NOFILE, &files) && getrlimit(RLIMIT_NOFILE, &files))
		die("setrlimit");
	at = home = (int)(files.rlim_cur < n + 64 ? files.rlim_cur : n + 64) - 32;
	if (dup2(fd, at) != at)
		die("dup2");
	other = fcntl(other, F_DUPFD_CLOEXEC, at + 1);
	for (int i = 3; i < at; i++)
		if (dup2(other, i) != i)
			die("dup2");
	printf("ready %d\n", (int)getpid());
	fflush(stdout);
	while (read(0, &c, 1) == 1) {
		to = at == home ? home - 7 : home;
		if (dup2(at, to) != to || dup2(other, at) != at)
			die("dup2");
		at = to;
		say("moved");
	}
	return 0;
}

int verb_slices(int nwords, char **words)
{
	uint32_t n = number(nwords, words, 0), client = 0;
	int fd = open_ctl(O_CLOEXEC);

	for (uint32_t i = 0; i < n; i++) {
		if (i % 100 == 0)
			client = new_client(fd, 0);
		new_tsg_of(fd, client, RC_TSG + 2 * (i % 100), number(nwords, words, 1));
	}
	return until_eof();
}

int verb_named(int nwords, char **words)
{
	uint32_t params[14] = { 0 }, client, h;
	int fd = open_ctl(O_CLOEXEC);

	prctl(PR_SET_NAME, words[0]);
	client = new_client(fd, 0);
	new_tsg(fd, client, RC_TSG);
	for (uint32_t i = 0; i < 1100; i++) {
		h = 0x60000000 + i;
		must(rm_alloc(fd, client, client, &h, 0x80, params), "device");
	}
	return until_eof();
}
