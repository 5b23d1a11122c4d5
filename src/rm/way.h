/* SPDX-License-Identifier: MIT */
/*
 * way.h - operations on a TSG, and the ways by which they reach the driver
 *
 * A way is one file. way_borrow.c calls through a copy of the owner's descriptor, way_agent.c asks
 * the agent in the owner, and way_module.c asks gpusched.ko. In a service, gs_way_of() alone
 * decides which way a TSG's operations take. Restore always borrows, since that needs no other
 * process's help. Thread safe.
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
	/* a hint: if another file is there by now, the right one is looked for */
	int fd;
	uint64_t file; /* the client's open file, as @find names it */
	/*
	 * Returns the number of @file in the process, or -EBADF. Gets @finder. NULL: only @fd is
	 * tried.
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
	int err; /* 0; -ESRCH owner gone; -ENOENT TSG gone; -EREMOTEIO refused by RM: status;
		    -EPERM; -EBADF no descriptor of it left; -ETIMEDOUT nothing was called, since the
		    owner holds the lock of its execve(); -ECANCELED not begun, or given up;
		    -EAGAIN the module was busy, or had not heard us for too long */
	uint32_t status;    /* RM status of the failed or last call */
	bool denied;        /* RM has no such TSG on any file */
	uint64_t ns;        /* wall time of the borrow and the calls */
	uint32_t value;     /* GET_TIMESLICE: us (capped) */
	int fd;             /* the owner's descriptor that worked: the next hint */
	unsigned int calls; /* number of RM controls; through the module: one or more */
};

struct gs_rm_step {
	enum gs_rm_op op;
	uint32_t arg;
	bool clear; /* for an agent: the value is the program's own again, and no wish */
	struct gs_rm_result res;
};

struct gs_way {
	const char *name;
	/* True if this way can reach the TSG now. Cheap, and does not wait. */
	bool (*reaches)(const struct gs_rm_tsg *tsg);
	/*
	 * Does the steps in order; stops at the first failure and returns its errno. SUSPEND and
	 * RESUME first prove with GET_TIMESLICE that the TSG exists on the same descriptor. They
	 * list one client's channels only, and undo what they did if a later part fails.
	 * SET_PREEMPT_MODE proves the TSG in the same way, and names its first channel. On a GPU,
	 * each step blocks for 0.2 to 1 ms.
	 */
	int (*take)(const struct gs_rm_tsg *tsg, struct gs_rm_step *steps, size_t n);
};

extern const struct gs_way gs_way_borrow;
extern const struct gs_way gs_way_module; /* module.h */

/* The first way that reaches the TSG. If none does: borrowing, which reports why. */
const struct gs_way *gs_way_of(const struct gs_rm_tsg *tsg);

/*
 * Copies the owner's descriptor @number of the control file, for adoption: it makes other calls
 * than the operations above. The caller closes the copy right after its calls. -ETIMEDOUT: the
 * owner holds the lock of its execve().
 */
int gs_rm_borrow(pid_t pid, uid_t uid, uint64_t start_ns, int number, int *ret_fd,
		 struct gs_error *err);

#endif /* GPUSCHED_RM_WAY_H */
