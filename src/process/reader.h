/* SPDX-License-Identifier: MIT */
/*
 * reader.h - reads files in another user's /proc that may make their reader wait, without waiting
 *
 * A user with a FUSE server that never answers can hold two locks of a process for any time. One is
 * the lock of the process's memory. It is held while a mapping is replaced, and that waits for the
 * server. Reads of cmdline, maps and map_files wait for that lock. The other is the lock of
 * execve(), held while it removes the old mappings. On 6.18 stat, exe, maps, map_files, fd/N and
 * pidfd_getfd wait for it. comm, status, cgroup, mountinfo and the lists fd/ and task/ wait for
 * neither. So forks of the daemon read such files. An answer may come later, or never. Without
 * gs_reader_begin() the caller reads the files itself. Any thread may ask.
 */
#ifndef GPUSCHED_PROCESS_READER_H
#define GPUSCHED_PROCESS_READER_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "process/cuda_map.h"
#include "process/process.h"

#define GS_READER_MAPS 16 /* mappings of one process, in one answer */

enum gs_reader_what { GS_READER_PROGRAM, GS_READER_CUDA_MAPS, GS_READER_WAITERS };

struct gs_program {
	uint64_t start_ns; /* like gs_proc_start_ns() */
	bool life;         /* like gs_proc_has_life() */
	bool mps;          /* like gs_reader_is_mps() */
	char exe[512];     /* "": unknown */
	char args[4096];   /* each argument ends with a NUL; one more NUL ends all */
	uint32_t nargs;    /* used bytes of args */
};

/*
 * Begins to use forks. From here on no thread of this process waits longer than 20 ms for an
 * answer, nor more than a quarter of the time. @ret_fd is readable when gs_reader_dispatch() has
 * something to do; the caller does not close it.
 */
int gs_reader_begin(int *ret_fd);
/* Does not wait. Answers that have not come are lost. */
void gs_reader_end(void);

/*
 * Calls fn for each answer that came late. If fn makes the same request again, it gets that answer.
 */
typedef void (*gs_reader_fn)(enum gs_reader_what what, pid_t pid, void *user);
void gs_reader_dispatch(gs_reader_fn fn, void *user);

/* How many times an answer was given up, or a request was put off. */
uint64_t gs_reader_left(void);
/* How many times since the last call, by user. Call it from one thread only. */
typedef void (*gs_reader_left_fn)(uid_t uid, uint64_t times, void *user);
void gs_reader_take_left(gs_reader_left_fn fn, void *user);

/*
 * Program and arguments of a process. 0; -ESRCH, or the kernel's error. -EAGAIN: the answer takes
 * long or waits for its turn; gs_reader_dispatch() will report it. -EBUSY: too many requests of the
 * same user wait.
 */
int gs_reader_program(pid_t pid, struct gs_program *ret);
/*
 * Calls fn for each mapping of a libcuda's code in the process, until fn returns non-zero. -EAGAIN,
 * -EBUSY: as in gs_reader_program().
 */
int gs_reader_maps(pid_t pid, int (*fn)(pid_t pid, const struct gs_cuda_map *map, void *user),
		   void *user);
/* How many threads seem to wait in libcuda (waiters.h). -EAGAIN, -EBUSY: as above. */
int gs_reader_waiters(pid_t pid, uint32_t *ret);
/*
 * Whether the process runs an installed MPS server or control daemon. The name does not count,
 * since a user can choose it: the executable must be the same file here, below folders that only
 * root can write. gs_reader_mps() returns 1 or 0, or an error as in gs_reader_program(); -ESRCH
 * also for a process that is ending, since nothing is known of that.
 */
int gs_reader_mps(pid_t pid);
bool gs_reader_is_mps(pid_t pid);

/* ---- private to the room; here for tests ----------------------------------------------------- */

struct gs_reader_answer {
	int code;       /* 0, or -errno */
	uint32_t nmaps; /* number of descriptors that come with the answer */
	union {
		struct gs_program program;
		struct gs_cuda_map maps[GS_READER_MAPS];
		uint32_t waiters;
	};
};
struct gs_reader_request {
	enum gs_reader_what what;
	pid_t pid;
};

/* In reader_child.c: reads in this process, and waits for as long as it takes. */
void gs_reader_read(const struct gs_reader_request *rq, struct gs_reader_answer *ret);
/* In reader_child.c: makes a fork that answers on a socket. Returns its pid, or -errno. */
pid_t gs_reader_fork(int *ret_sock);
/* In reader_child.c: receives an answer that has come. -errno: the fork has ended. */
int gs_reader_receive(int sock, struct gs_reader_answer *ret);
void gs_reader_drop(struct gs_reader_answer *answer);

#endif /* GPUSCHED_PROCESS_READER_H */
