/* SPDX-License-Identifier: MIT */
/*
 * way.h - operations on a TSG, and the ways by which they reach the driver
 *
 * A way is one file. way_borrow.c calls through a copy of the owner's descriptor, wire/way.c asks
 * the agent in the owner, and way_module.c asks gpusched.ko. In a service, gs_way_of() alone
 * decides which way a TSG's operations take. A restore after the daemon's death borrows, since that
 * needs no other process's help. Thread safe.
 */
#ifndef GPUSCHED_RM_WAY_H
#define GPUSCHED_RM_WAY_H

#include "rm/rm.h"
#include "rm/wait.h"

/* Facts that a call needs; the engine fills them in from the table. */
struct gs_rm_tsg {
	pid_t pid;
	uid_t uid;         /* the owner's user */
	uint64_t start_ns; /* owner's start_boottime as in gpusched_tsg; 0: do not compare */
	/* the owner's descriptor, as seen last: if it is another file by now, @find is asked */
	int fd;
	uint64_t file; /* identity of the client's open file, as in gpusched_tsg: for @find */
	/*
	 * Returns the descriptor that is @file in process @pid, or -EBADF. @finder is its first
	 * argument. NULL: only @fd is tried.
	 */
	int (*find)(void *finder, pid_t pid, uint64_t file);
	void *finder;
	/* When the process with this pid started. 0, -ESRCH, or -errno. Does not wait. */
	int (*started)(pid_t pid, uint64_t *ret_ns);
	uint32_t client, tsg, subdevice;
	unsigned int branch;
	unsigned int nchannels;
	struct gpusched_channel channels[GPUSCHED_MAX_CHANNELS];
	struct gpusched_settings own; /* the owner's settings, for a restore */
	uint32_t class_id, weight;    /* of its process, for a policy in the kernel */
	/* The MIG partition, also for a policy in the kernel: as in struct gpusched_module_tell. */
	uint32_t gpu_instance, compute_instance;
	/* limits waits for the owner; it belongs to the calling thread. NULL: no limit */
	struct gs_wait *wait;
};

/* One line per operation: symbol, name in output and counters. */
#define GS_RM_OPS(X) \
	X(GET_TIMESLICE, "get-timeslice") \
	X(SET_TIMESLICE, "set-timeslice") \
	X(SET_INTERLEAVE, "set-interleave") \
	X(SET_PREEMPT_MODE, "set-preempt-mode") \
	X(PREEMPT, "preempt") \
	X(SUSPEND, "suspend") \
	X(RESUME, "resume") \
	X(SCHEDULE, "schedule")

enum gs_rm_op {
#define X(sym, name) GS_RM_##sym,
	GS_RM_OPS(X)
#undef X
		GS_RM_OP_MAX
};

/* How long PREEMPT waits if its argument is 0. */
#define GS_RM_PREEMPT_US 100000u

/* Number of channels that one call suspends or resumes. A TSG with more needs several calls. */
#define GS_RM_SUSPEND_BATCH 64u

const char *gs_rm_op_name(enum gs_rm_op op);

struct gs_rm_result {
	/*
	 * Zero, or an error. The owner has ended: -ESRCH. The TSG has ended: -ENOENT. RM refused,
	 * and @status says why: -EREMOTEIO. No right to do that: -EPERM. The owner has no
	 * descriptor of the client's file any more: -EBADF. Nothing was called, since the owner
	 * holds the lock of its execve(): -ETIMEDOUT. Not begun, or given up: -ECANCELED. The
	 * module was busy, or our heartbeat came too late for it: -EAGAIN.
	 */
	int err;
	uint32_t status; /* RM status of the failed or last call */
	bool denied;     /* RM has no such TSG on any file */
	uint64_t ns;     /* wall time of the borrow and the calls */
	uint32_t value;  /* GET_TIMESLICE: us (capped) */
	int fd;          /* the owner's descriptor that worked, for the next call */
	unsigned int
		calls; /* number of RM controls; through the module 1, since it does not tell */
};

struct gs_rm_step {
	enum gs_rm_op op;
	uint32_t arg;
	bool clear; /* for an agent: @arg is the program's own value, so the agent drops its wish */
	struct gs_rm_result res;
};

struct gs_way {
	const char *name;
	/* True if this way can reach the TSG now. Cheap, and does not wait. */
	bool (*reaches)(const struct gs_rm_tsg *tsg);
	/*
	 * Does the steps in order; stops at the first failure and returns its errno. SUSPEND,
	 * RESUME and SET_PREEMPT_MODE give RM channels, not the TSG. So before each of these a
	 * GET_TIMESLICE proves that the descriptor's client has the TSG. SUSPEND and RESUME are
	 * made in batches; if a later batch fails, the earlier ones are undone. On a GPU, each step
	 * blocks for 0.2 to 1 ms.
	 */
	int (*take)(const struct gs_rm_tsg *tsg, struct gs_rm_step *steps, size_t n);
};

extern const struct gs_way gs_way_borrow;
extern const struct gs_way gs_way_module; /* module.h has its other functions */

/* The first way that reaches the TSG; the last one, borrowing, always does. */
const struct gs_way *gs_way_of(const struct gs_rm_tsg *tsg);

/*
 * Copies the owner's descriptor @number of the control file. For adoption, which makes calls other
 * than the operations above. The caller closes the copy right after its calls. -ETIMEDOUT: the
 * owner holds the lock of its execve().
 */
int gs_rm_borrow(pid_t pid, uid_t uid, uint64_t start_ns, int number, int *ret_fd,
		 struct gs_error *err);

#endif /* GPUSCHED_RM_WAY_H */
