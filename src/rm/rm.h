/* SPDX-License-Identifier: MIT */
/*
 * rm.h - NVIDIA resource-manager calls on somebody else's TSG, through a borrowed descriptor
 *
 * RM checks its caller by open file, so a copy of the owner's nvidiactl
 * descriptor may do what the owner may. Order, always: pidfd_open, compare start time, pidfd_getfd,
 * check the device number (or the registered simulated file), call, close. No policy, no state.
 * Thread safe: nothing is shared between calls but counters.
 */
#ifndef GPUSCHED_RM_RM_H
#define GPUSCHED_RM_RM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "basic/error.h"
#include "gpusched/abi.h"

/* RM status codes that we name (the driver's nvstatuscodes; gs_rm_status_name() knows more). */
#define GS_NV_OK 0x00u
#define GS_NV_INSUFFICIENT_PERMISSIONS 0x1bu
#define GS_NV_INVALID_ARGUMENT 0x1fu
#define GS_NV_INVALID_CLIENT 0x23u
#define GS_NV_NOT_SUPPORTED 0x56u
#define GS_NV_OBJECT_NOT_FOUND 0x57u

/* "NV_ERR_INVALID_CLIENT"; NULL for an unknown number. */
const char *gs_rm_status_name(uint32_t status);

/* Raw calls on a descriptor. 0 or -errno of the ioctl; *ret_status is RM's own answer. */
int gs_rm_control(int fd, uint32_t client, uint32_t object, uint32_t cmd, void *params,
		  uint32_t size, uint32_t *ret_status);
int gs_rm_alloc(int fd, uint32_t client, uint32_t parent, uint32_t *inout_handle, uint32_t class_,
		void *params, uint32_t size, uint32_t *ret_status);
int gs_rm_free(int fd, uint32_t client, uint32_t parent, uint32_t object, uint32_t *ret_status);

/* Our own descriptor of the driver's file, close() it; -ENODEV: what is there is not the driver's.
 */
int gs_rm_open_control(void);
int gs_rm_open_gpu(unsigned int minor);
/* Driver branch (580, ...) and full version string; -ENODEV without a driver. */
int gs_rm_driver(unsigned int *ret_branch, char *ret_version, size_t size, struct gs_error *err);

/* ---- GPUs ---------------------------------------------------------------------------------- */

struct gs_gpu {
	unsigned int index; /* as nvidia-smi counts: PCI order */
	unsigned int minor; /* /dev/nvidiaMINOR */
	uint32_t gpu_id, dev_instance, sub_instance;
	char pci[20];  /* 00000000:3B:00.0 */
	char uuid[48]; /* GPU-...; "" unknown */
	char name[80]; /* "" unknown */
};

/* All GPUs by a client of our own, closed again. free() the array. -ENODEV: no driver. */
int gs_gpus_read(struct gs_gpu **ret, size_t *ret_n, struct gs_error *err);
/* SELECTOR: index, UUID (or unique start of it), PCI id; NULL when none or several match. */
const struct gs_gpu *gs_gpu_find(const struct gs_gpu *gpus, size_t n, const char *selector);

/* ---- one TSG --------------------------------------------------------------------------------- */

/* What a call needs to know; filled from the table by the engine. */
struct gs_rm_tsg {
	pid_t pid;
	uint64_t start_ns; /* owner's start_boottime as in gpusched_tsg; 0: do not compare */
	int fd; /* hint; others of the process are tried when it is another file by now */
	uint32_t client, tsg, subdevice;
	unsigned int branch;
	unsigned int nchannels;
	struct gpusched_channel channels[GPUSCHED_MAX_CHANNELS];
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

const char *gs_rm_op_name(enum gs_rm_op op);

struct gs_rm_result {
	int err; /* 0; -ESRCH owner gone; -ENOENT TSG gone; -EREMOTEIO refused by RM: status;
		    -EPERM; -EBADF no descriptor of it left */
	uint32_t status;    /* RM status of the failed or last call */
	uint64_t ns;        /* wall time of the borrow and the calls */
	uint32_t value;     /* GET_TIMESLICE: us (saturated) */
	int fd;             /* the number in the owner that worked: the next hint */
	unsigned int calls; /* RM controls issued */
};

/*
 * Does @op on the TSG. SUSPEND and RESUME first prove the TSG with GET_TIMESLICE on the same
 * borrowed descriptor, list one client only, and undo what they did when a later part fails.
 * SET_PREEMPT_MODE is proved likewise and names the TSG's first channel.
 * Blocks for 0.2 to 1 ms on a GPU. Returns res->err.
 */
int gs_rm_do(const struct gs_rm_tsg *tsg, enum gs_rm_op op, uint32_t arg, struct gs_rm_result *res);

/* Several operations through one borrow, in order; stops at the first failure. */
struct gs_rm_step {
	enum gs_rm_op op;
	uint32_t arg;
	struct gs_rm_result res;
};
int gs_rm_do_all(const struct gs_rm_tsg *tsg, struct gs_rm_step *steps, size_t n);

/*
 * From here on this thread's calls wait 0.3 s at most for an owner who holds the lock of his execve(), and
 * fail with -ETIMEDOUT. It costs a thread for each, up to 0.3 ms. Returns what was before.
 */
bool gs_rm_limit_waits(bool on);

/*
 * A copy of the owner's descriptor that RM accepts for @client; the caller closes it at once after
 * its calls (law 3). Used by adoption as well. Limits its waits.
 */
int gs_rm_borrow(pid_t pid, uint64_t start_ns, int fd_hint, int *ret_fd, struct gs_error *err);

#endif /* GPUSCHED_RM_RM_H */
