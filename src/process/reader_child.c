// SPDX-License-Identifier: MIT
/*
 * reader_child.c - runs the child process that reads /proc, and passes its answers to the parent
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "basic/procfs.h"
#include "process/reader.h"
#include "process/process.h"
#include "process/waiters.h"

#define ENVIRON_SIZE (1u << 20)
#define MAPS_SIZE 32768 /* longer than any line, even one with a path full of escaped newlines */

/* ---- reading --------------------------------------------------------------------------------- */

static void read_exe(pid_t pid, char *ret, size_t size)
{
	static const char deleted[] = " (deleted)";
	char path[64];
	ssize_t n;

	snprintf(path, sizeof(path), "%s/%d/exe", gs_procfs(), (int)pid);
	n = readlink(path, ret, size - 1);
	ret[n > 0 ? n : 0] = '\0';
	n -= (ssize_t)sizeof(deleted) - 1;
	if (n > 0 && strcmp(ret + n, deleted) == 0)
		ret[n] = '\0';
}

static uint64_t read_pid_ns(pid_t pid)
{
	struct stat st;
	char path[64];

	snprintf(path, sizeof(path), "%s/%d/ns/pid", gs_procfs(), (int)pid);
	return stat(path, &st) ? 0 : st.st_ino;
}

static int read_args(pid_t pid, struct gs_program *ret)
{
	const uint32_t size = sizeof(ret->args) - 1;
	CLEANUP_FD int fd = -1;
	char path[64];
	ssize_t n = 1;

	snprintf(path, sizeof(path), "%s/%d/cmdline", gs_procfs(), (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	while (fd >= 0 && n > 0 && ret->nargs < size) {
		n = read(fd, ret->args + ret->nargs, size - ret->nargs);
		if (n > 0)
			ret->nargs += (uint32_t)n;
	}
	return fd < 0 || n < 0 ? -errno : 0;
}

/* The number in a variable that says how many ranks a job has; 0: it is another variable. */
static uint32_t ranks_in(const char *variable)
{
	static const char *const names[] = { "WORLD_SIZE=", "OMPI_COMM_WORLD_SIZE=", "PMI_SIZE=",
					     "SLURM_STEP_NUM_TASKS=" };

	for (size_t i = 0; i < GS_COUNT(names); i++) {
		size_t n = strlen(names[i]);
		long ranks = strncmp(variable, names[i], n) ? 0 : strtol(variable + n, NULL, 10);

		if (ranks > 0)
			return ranks < INT32_MAX ? (uint32_t)ranks : INT32_MAX;
	}
	return 0;
}

/* A process can say that its environment is as large as its address space: then it is not read. */
static void read_ranks(pid_t pid, struct gs_reader_answer *ret)
{
	CLEANUP_FREE char *text = malloc(ENVIRON_SIZE);
	CLEANUP_FD int fd = -1;
	size_t have = 0;
	char path[64];
	ssize_t n = 1;

	snprintf(path, sizeof(path), "%s/%d/environ", gs_procfs(), (int)pid);
	fd = text ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	while (fd >= 0 && n > 0 && have < ENVIRON_SIZE - 1) {
		n = read(fd, text + have, ENVIRON_SIZE - 1 - have);
		have += n > 0 ? (size_t)n : 0;
	}
	if (fd < 0 || n) {
		ret->code = n > 0 && fd >= 0 ? -EFBIG : -errno;
		return;
	}
	text[have] = '\0';
	for (size_t at = 0; at < have; at += strlen(text + at) + 1) {
		uint32_t ranks = ranks_in(text + at);

		ret->ranks = ranks > ret->ranks ? ranks : ret->ranks;
	}
}

static void read_program(pid_t pid, struct gs_reader_answer *ret)
{
	struct gs_program *p = &ret->program;

	p->start_ns = gs_proc_start_ns(pid);
	p->pid_ns = read_pid_ns(pid);
	p->life = gs_proc_has_life(pid);
	p->mps = gs_mps_read(pid);
	read_exe(pid, p->exe, sizeof(p->exe));
	ret->code = p->start_ns ? read_args(pid, p) : -ESRCH;
}

/*
 * Adds a mapping of libcuda. Opens the mapped file through map_files, since the path in the line
 * may name another file by now.
 */
static void add_map(pid_t pid, const char *line, struct gs_reader_answer *ret)
{
	struct gs_cuda_map *map = &ret->maps[ret->nmaps];
	char path[96];

	if (ret->nmaps == GS_READER_MAPS || ret->code || !gs_cuda_map_parse(line, map))
		return;
	snprintf(path, sizeof(path), "%s/%d/map_files/%llx-%llx", gs_procfs(), (int)pid,
		 (unsigned long long)map->start, (unsigned long long)map->end);
	map->place = open(path, O_PATH | O_CLOEXEC);
	if (map->place >= 0)
		ret->nmaps++;
	else if (errno != ENOENT && errno != ESRCH) /* these mean that the mapping was removed */
		ret->code = -errno;
}

static void read_maps(pid_t pid, struct gs_reader_answer *ret)
{
	CLEANUP_FD int fd = -1;
	char path[64], text[MAPS_SIZE];
	size_t have = 0;
	ssize_t n;

	snprintf(path, sizeof(path), "%s/%d/maps", gs_procfs(), (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		ret->code = -errno;
		return;
	}
	while ((n = read(fd, text + have, sizeof(text) - 1 - have)) > 0) {
		char *at = text, *end;

		have += (size_t)n;
		text[have] = '\0';
		for (; (end = strchr(at, '\n')); at = end + 1) {
			*end = '\0';
			add_map(pid, at, ret);
		}
		have -= (size_t)(at - text);
		memmove(text, at, have);
	}
	if (n < 0)
		ret->code = -errno;
}

void gs_reader_read(const struct gs_reader_request *rq, struct gs_reader_answer *ret)
{
	memset(ret, 0, sizeof(*ret));
	if (rq->what == GS_READER_PROGRAM)
		read_program(rq->pid, ret);
	else if (rq->what == GS_READER_WAITERS)
		ret->code = gs_waiters_read(rq->pid, &ret->waiters);
	else if (rq->what == GS_READER_RANKS)
		read_ranks(rq->pid, ret);
	else if (rq->what == GS_READER_ROOM)
		gs_cgroup_room(rq->pid, &ret->room);
	else
		read_maps(rq->pid, ret);
	if (ret->code)
		gs_reader_drop(ret);
}

void gs_reader_drop(struct gs_reader_answer *answer)
{
	for (uint32_t i = 0; i < answer->nmaps; i++)
		close(answer->maps[i].place);
	answer->nmaps = 0;
}

/* ---- answers, with descriptors ---------------------------------------------------------------- */

union control {
	struct cmsghdr align;
	char bytes[CMSG_SPACE(GS_READER_MAPS * sizeof(int))];
};

static void send_answer(int sock, struct gs_reader_answer *answer)
{
	size_t size = answer->nmaps * sizeof(int);
	struct iovec io = { answer, sizeof(*answer) };
	struct msghdr msg = { .msg_iov = &io, .msg_iovlen = 1 };
	union control control = { 0 };
	struct cmsghdr *c;

	if (answer->nmaps) {
		msg.msg_control = control.bytes;
		msg.msg_controllen = CMSG_SPACE(size);
		c = CMSG_FIRSTHDR(&msg);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(size);
		for (uint32_t i = 0; i < answer->nmaps; i++)
			memcpy(CMSG_DATA(c) + i * sizeof(int), &answer->maps[i].place, sizeof(int));
	}
	if (sendmsg(sock, &msg, MSG_NOSIGNAL) < 0)
		_exit(1);
}

int gs_reader_receive(int sock, struct gs_reader_answer *ret)
{
	struct iovec io = { ret, sizeof(*ret) };
	union control control;
	struct msghdr msg = {
		.msg_iov = &io,
		.msg_iovlen = 1,
		.msg_control = control.bytes,
		.msg_controllen = sizeof(control.bytes),
	};
	ssize_t n = recvmsg(sock, &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	struct cmsghdr *c = n == sizeof(*ret) ? CMSG_FIRSTHDR(&msg) : NULL;
	uint32_t came = c ? (uint32_t)((c->cmsg_len - CMSG_LEN(0)) / sizeof(int)) : 0;

	if (n != sizeof(*ret))
		return n < 0 ? -errno : -EPIPE;
	if (came < ret->nmaps)
		ret->code = -EMFILE; /* the kernel dropped descriptors: our table is full */
	ret->nmaps = came < ret->nmaps ? came : ret->nmaps;
	for (uint32_t i = 0; i < ret->nmaps; i++)
		memcpy(&ret->maps[i].place, CMSG_DATA(c) + i * sizeof(int), sizeof(int));
	if (ret->code)
		gs_reader_drop(ret);
	return 0;
}

/* ---- the child process ------------------------------------------------------------------------ */

static void __attribute__((noreturn)) serve(int sock)
{
	static struct gs_reader_answer answer;
	struct gs_reader_request rq;

	prctl(PR_SET_NAME, "gpusched-reader");
	setsid();
	if (chdir("/") || (sock > 0 && close_range(0, (unsigned int)sock - 1, 0)))
		_exit(1);
	close_range((unsigned int)sock + 1, ~0u, 0);
	gs_procfs_begin();
	while (recv(sock, &rq, sizeof(rq), 0) == sizeof(rq)) {
		gs_reader_read(&rq, &answer);
		send_answer(sock, &answer);
		gs_reader_drop(&answer);
	}
	_exit(0);
}

pid_t gs_reader_fork(int *ret_sock)
{
	/*
	 * The parent's death signal comes when the forking thread ends, not its process. So only
	 * children of the main thread use it.
	 */
	bool may_bind = (pid_t)syscall(SYS_gettid) == getpid();
	CLEANUP_FD int ours = -1;
	CLEANUP_FD int theirs = -1;
	int ends[2];
	pid_t child;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return -errno;
	ours = ends[0];
	theirs = ends[1];
	child = fork();
	if (child == 0) {
		if (may_bind)
			prctl(PR_SET_PDEATHSIG, SIGKILL);
		serve(theirs);
	}
	if (child < 0)
		return -errno;
	*ret_sock = TAKE_FD(ours);
	return child;
}
