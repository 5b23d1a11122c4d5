/* SPDX-License-Identifier: MIT */
/*
 * launch.h - launches counted per TSG, by uprobes on every libcuda that processes with TSGs use
 *
 * The probes are pinned and stay when the daemon is gone, switched off by its guardian; the next one
 * takes them over. Counting begins and ends with all counts unknown: one with a gap in it is worse
 * than none.
 */
#ifndef GPUSCHED_LAUNCH_LAUNCH_H
#define GPUSCHED_LAUNCH_LAUNCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "basic/error.h"
#include "process/cuda_map.h"
#include "table/table.h"

struct gs_launches;

/*
 * May probes be set and removed here? -EPERM: a user could make every fork() of the machine wait for
 * that, with how. @trusted: the administrator says that none would. @why may be NULL.
 */
int gs_launches_allowed(bool trusted, struct gs_error *why);

/*
 * Loads the probes and attaches them to the libcuda in the usual places and to those of all
 * processes that use the driver. Kernels without uprobe_multi may take seconds for it, so a thread
 * of its own may do it. -ENOTSUP: no uprobes here, or none allowed, with the reason. Where none are
 * allowed any more those that are there count.
 */
int gs_launches_new(struct gs_table *t, bool trusted, struct gs_launches **ret,
		    struct gs_error *err);
/*
 * Counting ends and all counts become unknown. The probes go where that is allowed, in the kernel's
 * own time; else they stay and do nothing. It waits for grace periods of the kernel's, some 50 ms
 * and longer on large machines, so that any thread may do it. By class the counts are final then.
 * Nothing else is done with @l meanwhile but gs_launches_by_class(), and none begins anew.
 */
void gs_launches_end(struct gs_launches *l);
/* Ends it, too, unless that is done. NULL is fine. */
void gs_launches_free(struct gs_launches *l);

/* Ends the counting that a dead instance left behind; its counts become unknown. */
int gs_launches_forget(void);
/* Its probes go, where gs_launches_allowed(). */
int gs_launches_clear(bool trusted, struct gs_error *why);

/* Probes libraries too that came since counting began, while events went elsewhere. */
int gs_launches_catch_up(struct gs_launches *l);

/* A process made an RM client or a TSG: its libcuda is to be probed unless that is done. */
int gs_launches_process(struct gs_launches *l, pid_t pid);
/* It ended or executed another program: detaches from what nobody maps any more. */
void gs_launches_gone(struct gs_launches *l, pid_t pid);
/*
 * Its own agent counts its launches from now on, so that the probes count none: what they had is
 * unknown again. @told false: they count it, from now on. -E2BIG: too many do.
 */
int gs_launches_told(struct gs_launches *l, pid_t pid, bool told);
/* The same for all processes that ended unseen. */
void gs_launches_sweep(struct gs_launches *l);

/*
 * Setting the probes of a library may take seconds, since the kernel sets none while it removes
 * others: the work may be any thread's, one job at a time. NULL: there is none to be done. Until it is
 * done @l is not freed.
 */
struct gs_launch_job;
struct gs_launch_job *gs_launches_next(struct gs_launches *l);
void gs_launch_job_work(struct gs_launch_job *job);
/* Frees @job. */
void gs_launches_done(struct gs_launches *l, struct gs_launch_job *job);

/*
 * How many libraries were left alone since the last call (again for each look at a process).
 * Reasons: not root's, too many, no probes allowed, a file system that this kernel does not answer
 * for, no functions to probe. @ret_again: how often one was tried again.
 */
uint64_t gs_launches_left(struct gs_launches *l, uint64_t *ret_again);

/*
 * Libraries that were left for a reason that passes are tried again. When the next one is due
 * (UINT64_MAX: none), and one that is due now. gs_launches_next() says what to do with it.
 */
uint64_t gs_launches_due(const struct gs_launches *l);
void gs_launches_again(struct gs_launches *l);
/* Libraries and processes that are to be tried again. */
size_t gs_launches_waiting(const struct gs_launches *l);

struct gs_launch_lib {
	char path[256]; /* as seen where it was found first */
	uint64_t dev, ino;
	bool system; /* in one of the usual places: kept without users */
	unsigned int probes, processes;
	uint64_t attached_ns, attach_us; /* when all probes were in place; how long that took */
};
/* Both arrays are malloc'd. */
int gs_launches_libs(const struct gs_launches *l, struct gs_launch_lib **ret, size_t *ret_n);

/* Adds the launches since counting began to @inout, GPUSCHED_MAX_CLASSES of them by class id. */
int gs_launches_by_class(const struct gs_launches *l, uint64_t *inout);

/* A process with launches that count on no TSG. */
struct gs_launch_proc {
	pid_t pid;
	uint64_t launches, since_ns;
};
int gs_launches_unattributed(const struct gs_launches *l, struct gs_launch_proc **ret,
			     size_t *ret_n);

/*
 * Attach type for programs on launch functions and for what these call: BPF_TRACE_UPROBE_MULTI
 * where the kernel has it (GPUSCHED_UPROBES=single in the environment: as if it had not), else 0.
 */
int gs_launch_attach_type(void);

/* Launches per second x 1000 at @now: the record's is that of the last launch. */
uint64_t gs_launch_rate_mhz(const struct gpusched_task *t, uint64_t now);

#endif /* GPUSCHED_LAUNCH_LAUNCH_H */
