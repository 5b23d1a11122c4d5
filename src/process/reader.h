/* SPDX-License-Identifier: MIT */
/*
 * reader.h - reads what may make its reader wait in another user's /proc, without waiting
 *
 * A user with a FUSE server that never answers can hold two locks of a process for any time.
 * One is that of the process's memory: to replace a mapping waits for the server. Reads of cmdline,
 * maps and map_files wait for it. The other is that of execve(), which takes the old mappings away.
 * On 6.18 stat, exe, maps, map_files, fd/N and pidfd_getfd wait for it. comm, status, cgroup,
 * mountinfo and the lists fd/ and task/ wait for neither. So forks of the daemon read what a
 * process is and what it maps. An answer that is not there at once comes later, or never. Without
 * gs_reader_begin() the caller reads by itself. Any thread may ask.
 */
#ifndef GPUSCHED_PROCESS_READER_H
#define GPUSCHED_PROCESS_READER_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "process/cuda_map.h"
#include "process/process.h"

#define GS_READER_MAPS 16 /* of one process, in one answer */

enum gs_reader_what { GS_READER_PROGRAM, GS_READER_CUDA_MAPS };

struct gs_program {
	uint64_t start_ns; /* as gs_proc_start_ns() */
	bool life;         /* as gs_proc_has_life() */
	bool mps;          /* as gs_reader_is_mps() */
	char exe[512];     /* "" unknown */
	char args[4096];   /* NUL after each, and one more */
	uint32_t nargs;    /* bytes of args */
};

/*
 * From here on no thread of this process waits longer than 20 ms for an answer, nor more than a
 * quarter of the time. @ret_fd is readable when gs_reader_dispatch() has something to do; it is not
 * the caller's.
 */
int gs_reader_begin(int *ret_fd);
/* Waits for nobody. Answers that have not come are lost. */
void gs_reader_end(void);

/* Calls fn for each answer that came late; asking for the same in fn gives that answer. */
typedef void (*gs_reader_fn)(enum gs_reader_what what, pid_t pid, void *user);
void gs_reader_dispatch(gs_reader_fn fn, void *user);

/* How many times since the beginning an answer was given up, or not asked for until later. */
uint64_t gs_reader_left(void);
/* Those of users since the last call, by user. For one thread. */
typedef void (*gs_reader_left_fn)(uid_t uid, uint64_t times, void *user);
void gs_reader_take_left(gs_reader_left_fn fn, void *user);

/*
 * 0; -ESRCH, or what the kernel says; -EAGAIN: it takes long, or waits for its turn, and
 * gs_reader_dispatch() will tell it; -EBUSY: it is not asked for, since too many of the same user wait.
 */
int gs_reader_program(pid_t pid, struct gs_program *ret);
/*
 * Calls fn for the code of each libcuda that a process maps, until it returns non-zero. -EAGAIN,
 * -EBUSY: as above.
 */
int gs_reader_maps(pid_t pid, int (*fn)(pid_t pid, const struct gs_cuda_map *map, void *user),
		   void *user);
/*
 * Does it run an installed MPS server or control daemon? By its executable, which must be that file
 * here as well, below folders that only root writes: a user can choose a name, but not that.
 * gs_reader_mps(): 1: it does; 0; as above, or -ESRCH of one that is ending: it is not known.
 */
int gs_reader_mps(pid_t pid);
bool gs_reader_is_mps(pid_t pid);

/* ---- private to the room; here for tests ----------------------------------------------------- */

struct gs_reader_answer {
	int code;       /* 0, or -errno */
	uint32_t nmaps; /* as many descriptors come with it */
	union {
		struct gs_program program;
		struct gs_cuda_map maps[GS_READER_MAPS];
	};
};
struct gs_reader_request {
	enum gs_reader_what what;
	pid_t pid;
};

/* reader_child.c: reads by itself, waiting as long as it takes. */
void gs_reader_read(const struct gs_reader_request *rq, struct gs_reader_answer *ret);
/* reader_child.c: a fork that answers on a socket; -errno, or its pid. */
pid_t gs_reader_fork(int *ret_sock);
/* reader_child.c: an answer that is there; -errno: the fork has ended. */
int gs_reader_receive(int sock, struct gs_reader_answer *ret);
void gs_reader_drop(struct gs_reader_answer *answer);

#endif /* GPUSCHED_PROCESS_READER_H */
