/* SPDX-License-Identifier: MIT */
/*
 * reader.h - reads files in another user's /proc that could block the reader for ever
 *
 * A user with a FUSE server that never answers can hold two locks of a process as long as they
 * like. The memory lock is held while a mapping is replaced, which waits for the server. Reads of
 * cmdline, maps and map_files wait for that lock. The execve() lock is held while execve() removes
 * the old mappings. On 6.18, stat, exe, maps, map_files, ns, fd/N and pidfd_getfd wait for that
 * lock. comm, status, cgroup, uid_map, mountinfo and the lists fd/ and task/ wait for neither lock.
 *
 * So forks of the daemon ("readers") read the files that can block. An answer may come late, or
 * never. Before gs_reader_begin(), the caller reads the files itself. Thread safe.
 */
#ifndef GPUSCHED_PROCESS_READER_H
#define GPUSCHED_PROCESS_READER_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "process/cgroup.h"
#include "process/cuda_map.h"
#include "process/process.h"

#define GS_READER_MAPS 16 /* mappings of one process, in one answer */

enum gs_reader_what {
	GS_READER_PROGRAM,
	GS_READER_CUDA_MAPS,
	GS_READER_WAITERS,
	GS_READER_RANKS,
	GS_READER_ROOM,
};

struct gs_program {
	uint64_t start_ns; /* like gs_proc_start_ns() */
	uint64_t pid_ns;   /* inode of its pid namespace; 0: unknown */
	bool life;         /* like gs_proc_has_life() */
	bool mps;          /* like gs_reader_is_mps() */
	char exe[512];     /* "": unknown */
	char args[4096];   /* each argument ends with a NUL; another NUL follows the last one */
	uint32_t nargs;    /* bytes of @args that are used */
};

/*
 * Begins to use forks. From now on, callers wait at most 20 ms for an answer, and in total at most
 * a quarter of the time. @ret_fd becomes readable when the caller should call
 * gs_reader_dispatch(); the caller does not close it.
 */
int gs_reader_begin(int *ret_fd);
/* Kills all readers, and waits for them at most 50 ms. Late answers are lost. */
void gs_reader_end(void);

/*
 * Calls @fn for each late answer. @fn can get the answer by making the same request again.
 */
typedef void (*gs_reader_fn)(enum gs_reader_what what, pid_t pid, void *user);
void gs_reader_dispatch(gs_reader_fn fn, void *user);

/* How often an answer was given up, or a request was refused or had to wait for a slow user. */
uint64_t gs_reader_left(void);
/* Reports these counts by user since the last call. Only one thread may call this. */
typedef void (*gs_reader_left_fn)(uid_t uid, uint64_t times, void *user);
void gs_reader_take_left(gs_reader_left_fn fn, void *user);

/*
 * Gets the program and arguments of a process. Returns -ESRCH, or another error of the kernel.
 * -EAGAIN: the answer is not there yet. gs_reader_dispatch() will report it. -EBUSY: too many
 * requests about processes of that user are queued.
 */
int gs_reader_program(pid_t pid, struct gs_program *ret);
/*
 * Calls @fn for each mapping of a libcuda's code in the process, until @fn returns non-zero.
 * -EAGAIN and -EBUSY as in gs_reader_program().
 */
int gs_reader_maps(pid_t pid, int (*fn)(pid_t pid, const struct gs_cuda_map *map, void *user),
		   void *user);
/* Counts threads that seem to wait in libcuda (waiters.h). -EAGAIN and -EBUSY as above. */
int gs_reader_waiters(pid_t pid, uint32_t *ret);
/*
 * Gets how many processes the process's job has, by the variables that torchrun, mpirun, PMI and
 * srun set; 0: none of them is set. Returns -EFBIG for an environment of 1 MiB or more, another
 * error of the kernel, or -EAGAIN and -EBUSY as above.
 */
int gs_reader_ranks(pid_t pid, uint32_t *ret);
/* gs_cgroup_room(); -EAGAIN and -EBUSY as above. */
int gs_reader_room(pid_t pid, struct gs_cgroup_room *ret);
/*
 * Say whether the process runs an installed MPS server or control daemon. The name alone proves
 * nothing, since users can choose it. So the executable's path must name the same file in our own
 * mount namespace, below folders that only root can write. gs_reader_mps() returns 1 or 0, or an
 * error as in gs_reader_program(). It also returns -ESRCH for a process that is exiting.
 */
int gs_reader_mps(pid_t pid);
bool gs_reader_is_mps(pid_t pid);

/* ---- private to src/process; declared here for tests ----------------------------------------- */

struct gs_reader_answer {
	int code;       /* 0, or -errno */
	uint32_t nmaps; /* number of descriptors that come with the answer */
	union {
		struct gs_program program;
		struct gs_cuda_map maps[GS_READER_MAPS];
		uint32_t waiters;
		uint32_t ranks;
		struct gs_cgroup_room room;
	};
};
struct gs_reader_request {
	enum gs_reader_what what;
	pid_t pid;
};

/* In reader_child.c: reads the files in this process; may block for ever. */
void gs_reader_read(const struct gs_reader_request *rq, struct gs_reader_answer *ret);
/* In reader_child.c: forks a reader, which answers on a socket. Returns its pid, or -errno. */
pid_t gs_reader_fork(int *ret_sock);
/* In reader_child.c: receives an answer when @sock is readable. -errno: the reader has ended. */
int gs_reader_receive(int sock, struct gs_reader_answer *ret);
/* Closes the descriptors in an answer. */
void gs_reader_drop(struct gs_reader_answer *answer);

#endif /* GPUSCHED_PROCESS_READER_H */
