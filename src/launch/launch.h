/* SPDX-License-Identifier: MIT */
/*
 * launch.h - counts launches per TSG, by uprobes on every libcuda that processes with TSGs use
 *
 * The probes are pinned: they stay when the daemon is gone, but its guardian switches them off, and
 * the next daemon takes them over. When counting begins or ends, all counts become unknown: a count
 * with a gap in it is worse than none.
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
 * Whether probes may be set and removed here. -EPERM: a user could make every fork() of the machine
 * wait for that; @why says how. @trusted: the administrator says that no user would. @why may be
 * NULL.
 */
int gs_launches_allowed(bool trusted, struct gs_error *why);

/*
 * Begins counting: loads the probes, and attaches them to each libcuda in the usual places and in
 * processes that use the driver. Without uprobe_multi in the kernel this may take seconds, so a
 * thread may call it. If no new probes are allowed, those that exist count. -ENOTSUP with the
 * reason: no uprobes here, or none allowed.
 */
int gs_launches_new(struct gs_table *t, bool trusted, struct gs_launches **ret,
		    struct gs_error *err);
/*
 * Ends counting; all counts become unknown. The probes are removed if that is allowed, at a time
 * that the kernel chooses; otherwise they stay and do nothing. This waits for grace periods of the
 * kernel, 50 ms and longer on large machines, so any thread may call it. Afterwards the counts by
 * class are final. Meanwhile use @l for gs_launches_by_class() alone, and begin no counting.
 */
void gs_launches_end(struct gs_launches *l);
/* Frees. Ends counting first if gs_launches_end() was not called. @l may be NULL. */
void gs_launches_free(struct gs_launches *l);

/* Ends the counting of a dead instance; its counts become unknown. */
int gs_launches_forget(void);
/* Removes the probes of a dead instance, if gs_launches_allowed(). */
int gs_launches_clear(bool trusted, struct gs_error *why);

/* Also probes libraries that came after counting began, while events went elsewhere. */
int gs_launches_catch_up(struct gs_launches *l);

/* A process has made an RM client or a TSG: probes its libcuda if it is not probed. */
int gs_launches_process(struct gs_launches *l, pid_t pid);
/*
 * The process has ended or executed another program. Removes the probes of libraries that no
 * process maps any more.
 */
void gs_launches_gone(struct gs_launches *l, pid_t pid);
/*
 * @told: the process's own agent counts its launches from now on, and the probes do not. False: the
 * probes count them again. Counts become unknown in both cases. -E2BIG: too many agents count.
 */
int gs_launches_told(struct gs_launches *l, pid_t pid, bool told);
/* gs_launches_gone() for all processes that ended unseen. */
void gs_launches_sweep(struct gs_launches *l);

/*
 * A job sets the probes of one library. That may take seconds, since the kernel sets none while it
 * removes others. So a thread may do it, one job at a time. gs_launches_next() returns NULL if
 * there is nothing to do. Do not free @l before the job is done.
 */
struct gs_launch_job;
struct gs_launch_job *gs_launches_next(struct gs_launches *l);
void gs_launch_job_work(struct gs_launch_job *job);
/* Takes over the job's result, and frees @job. */
void gs_launches_done(struct gs_launches *l, struct gs_launch_job *job);

/*
 * How many libraries were left alone since the last call; a library counts at each look at a
 * process. Reasons: the file is not root's, there are too many, no probes are allowed, this kernel
 * does not serve the file system itself, or there is no function to probe. @ret_again: number of
 * repeated tries.
 */
uint64_t gs_launches_left(struct gs_launches *l, uint64_t *ret_again);

/*
 * A library that was left alone for a reason that may pass is tried again. gs_launches_due()
 * returns when the next one is due (UINT64_MAX: none). The second function tries one that is due;
 * then gs_launches_next() has a job for it.
 */
uint64_t gs_launches_due(const struct gs_launches *l);
void gs_launches_again(struct gs_launches *l);
/* Number of libraries and processes that are to be tried again. */
size_t gs_launches_waiting(const struct gs_launches *l);

struct gs_launch_lib {
	char path[256]; /* its path in the process where it was found first */
	uint64_t dev, ino;
	bool system; /* it is in one of the usual places: kept even without users */
	unsigned int probes, processes;
	uint64_t attached_ns, attach_us; /* when all probes were in place; how long that took */
};
/* Both arrays are malloc'd. */
int gs_launches_libs(const struct gs_launches *l, struct gs_launch_lib **ret, size_t *ret_n);

/* Adds the launches since counting began to @inout, GPUSCHED_MAX_CLASSES numbers by class id. */
int gs_launches_by_class(const struct gs_launches *l, uint64_t *inout);

/* A process with launches that count for no TSG. */
struct gs_launch_proc {
	pid_t pid;
	uint64_t launches, since_ns;
};
int gs_launches_unattributed(const struct gs_launches *l, struct gs_launch_proc **ret,
			     size_t *ret_n);

/*
 * Attach type for programs on launch functions and for the programs that they call.
 * BPF_TRACE_UPROBE_MULTI if the kernel has it, else 0. (0 also with GPUSCHED_UPROBES=single in the
 * environment.)
 */
int gs_launch_attach_type(void);

/* Launches per second x 1000 at @now. The rate in the record is that of the last launch. */
uint64_t gs_launch_rate_mhz(const struct gpusched_task *t, uint64_t now);

#endif /* GPUSCHED_LAUNCH_LAUNCH_H */
