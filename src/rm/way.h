/* SPDX-License-Identifier: MIT */
/*
 * way.h - performs operations on a TSG, by one of several ways to the driver
 *
 * Each way is one file. way_borrow.c calls through a copy of the owner's descriptor, wire/way.c
 * asks the agent in the owner, and way_module.c asks gpusched.ko. In a service, gs_way_of() alone
 * chooses the way. A restore after the daemon's death borrows, since that needs no help from
 * another process. Thread safe.
 */
#ifndef GPUSCHED_RM_WAY_H
#define GPUSCHED_RM_WAY_H

#include "rm/rm.h"
#include "rm/wait.h"

/* A TSG and its owner, as far as calls need them; the engine fills it in from the table. */
struct gs_rm_tsg {
	pid_t pid;
	uid_t uid;         /* the owner's user */
	uint64_t start_ns; /* owner's start_boottime as in gpusched_tsg; 0: do not compare */
	/* the owner's descriptor of the client's file, as last seen; if stale, @find is called */
	int fd;
	uint64_t file; /* identity of the client's open file, as in gpusched_tsg: for @find */
	/*
	 * Returns process @pid's descriptor number for the open file @file, or -EBADF. NULL: only
	 * @fd is tried.
	 */
	int (*find)(void *finder, pid_t pid, uint64_t file);
	void *finder; /* first argument of @find */
	/* Reads when process @pid started. Returns 0, -ESRCH, or -errno. Does not wait. */
	int (*started)(pid_t pid, uint64_t *ret_ns);
	uint32_t client, tsg, subdevice;
	unsigned int branch;
	unsigned int nchannels;
	struct gpusched_channel channels[GPUSCHED_MAX_CHANNELS];
	struct gpusched_settings own; /* the owner's settings, for a restore */
	uint32_t class_id, weight;    /* the owner's; only for a policy in the kernel */
	/* MIG partition, as in struct gpusched_module_tell; only for a policy in the kernel */
	uint32_t gpu_instance, compute_instance;
	/* the calling thread's wait state, by which it can be given up (wait.h); NULL: it cannot */
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

/*
 * SUSPEND with argument 0 waits in GSP until the TSG has left the GPU. With argument 1 it does not
 * wait: in CILP mode the TSG has left within 2 ms.
 */

/* How long the operation PREEMPT waits for the GPU, in us, if its argument is 0. */
#define GS_RM_PREEMPT_US 100000u

/* Number of channels that one call suspends or resumes. A TSG with more needs several calls. */
#define GS_RM_SUSPEND_BATCH 64u

const char *gs_rm_op_name(enum gs_rm_op op);
struct gs_rm_result {
	/*
	 * 0, or an error:
	 * -ESRCH: the owner has ended; -ENOENT: the TSG has ended;
	 * -EREMOTEIO: RM answered an error, @status (gs_rm_ops_refused()); -EPERM: no permission;
	 * -EBADF: the owner no longer has a descriptor of the client's file;
	 * -ETIMEDOUT: no call was made, since the owner holds its execve() lock;
	 * -ECANCELED: the step was not begun, or its thread was given up;
	 * -EAGAIN: the module made no call, as it had no heartbeat from us for too long;
	 * -EINPROGRESS: the module may still make the call.
	 */
	int err;
	bool partly;         /* with an error: a part of the operation was made, and maybe undone */
	uint32_t status;     /* RM's status for the call that failed, or else for the last call */
	bool denied;         /* RM has no such TSG on any file, so the TSG has ended */
	uint64_t ns;         /* wall time of the borrow and the calls */
	uint64_t proof_ns;   /* the part of it that proved the TSG's owner; 0: none, or unknown */
	uint64_t preempt_ns; /* the part of a suspension that held the lock of its GPU only */
	uint32_t value;      /* result of GET_TIMESLICE in us, capped at UINT32_MAX */
	int fd;              /* the owner's descriptor that worked, for the next call */
	/* number of RM controls made; always 1 through the module, which does not report it */
	unsigned int calls;
};

struct gs_rm_step {
	enum gs_rm_op op;
	uint32_t arg;
	bool clear; /* for an agent: @arg is the owner's own value, so it stops overriding that */
	struct gs_rm_result res;
};

/*
 * True if the failed step surely changed nothing. After any other error the setting is unknown: RM
 * answers some errors after GSP has applied the change.
 */
bool gs_rm_ops_refused(const struct gs_rm_step *step);

struct gs_way {
	const char *name;
	/* True if calls can reach the TSG's driver this way now. Cheap, and does not wait. */
	bool (*reaches)(const struct gs_rm_tsg *tsg);
	/*
	 * Performs the steps in order; stops at the first failure and returns its -errno. SUSPEND,
	 * RESUME and SET_PREEMPT_MODE name channels to RM, not the TSG. So a GET_TIMESLICE first
	 * proves that the descriptor's client has the TSG. SUSPEND and RESUME work in batches; if
	 * one of SUSPEND fails, all channels are enabled again. A step blocks for 0.2 to 1 ms on real GPUs.
	 */
	int (*take)(const struct gs_rm_tsg *tsg, struct gs_rm_step *steps, size_t n);
};

extern const struct gs_way gs_way_borrow;
extern const struct gs_way gs_way_module; /* module.h has its other functions */

/* The first way that reaches the TSG. Borrowing comes last, and reaches every TSG. */
const struct gs_way *gs_way_of(const struct gs_rm_tsg *tsg);

/*
 * Why no descriptor of the process can be borrowed, though it lives; NULL: it can, or the process is
 * not there. Waits for nobody.
 */
const char *gs_rm_borrow_unreachable(pid_t pid);
/* The same as the property of a kernel: NULL if descriptors of each thread can be borrowed. */
const char *gs_rm_borrow_unreachable_here(void);

/*
 * Copies descriptor @number, which must be the control file, from process @pid. Adoption uses this
 * to make calls that are not among the operations above. The caller closes the copy right after its
 * calls. -ETIMEDOUT: the owner holds its execve() lock.
 */
int gs_rm_borrow(pid_t pid, uid_t uid, uint64_t start_ns, int number, int *ret_fd,
		 struct gs_error *err);

#endif /* GPUSCHED_RM_WAY_H */
