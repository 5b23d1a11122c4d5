/* SPDX-License-Identifier: MIT */
/*
 * launch.h - counts launches per TSG, by uprobes on every libcuda that processes with TSGs use
 *
 * The probes are pinned, so they stay when the daemon dies. The guardian then switches them off,
 * and the next daemon takes them over. When counting begins or ends, all counts become unknown,
 * since a count with a gap in it would mislead.
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
 * Checks whether probes may be set and removed here. While the kernel does so, every fork() of the
 * machine waits. -EPERM: a user could make that take for ever; @why (may be NULL) says how.
 * @trusted: the administrator states that no user would do this.
 */
int gs_launches_allowed(bool trusted, struct gs_error *why);

/*
 * Begins counting: loads the probes, and attaches them to each libcuda in the usual places and in
 * processes that use the driver. Without uprobe_multi in the kernel this may take seconds, so it
 * may be called in a separate thread. If probes must not be set, existing probes of an earlier
 * daemon are used. -ENOTSUP with the reason: no uprobes here, or none allowed.
 */
int gs_launches_new(struct gs_table *t, bool trusted, struct gs_launches **ret,
		    struct gs_error *err);
/*
 * Ends counting; all counts become unknown. If gs_launches_allowed(), the kernel removes the probes
 * a little later; otherwise they stay and do nothing. This waits for grace periods of the kernel,
 * 50 ms and longer on large machines, so it may be called in a separate thread. While it runs, use
 * @l only for gs_launches_by_class(), and begin no counting. Afterwards the counts by class are
 * final.
 */
void gs_launches_end(struct gs_launches *l);
/* Frees @l (may be NULL). Ends counting first if gs_launches_end() was not called. */
void gs_launches_free(struct gs_launches *l);

/* Ends the counting of a daemon that has died; all counts become unknown. */
int gs_launches_forget(void);
/* Removes the probes of a daemon that has died, if gs_launches_allowed(). */
int gs_launches_clear(bool trusted, struct gs_error *why);

/*
 * Looks at all processes that have the driver open, for libraries that are not probed yet. Needed
 * after a time in which gs_launches_process() was not called for new processes.
 */
int gs_launches_catch_up(struct gs_launches *l);

/* Called when a process has made an RM client or a TSG: probes its libcuda if it is not probed. */
int gs_launches_process(struct gs_launches *l, pid_t pid);
/*
 * Called when the process has ended or executed another program. Removes the probes of libraries
 * that no process maps any more.
 */
void gs_launches_gone(struct gs_launches *l, pid_t pid);
/*
 * @told: true: the process's own agent counts its launches from now on, and the probes do not; the
 * process's counts become unknown. False: the probes count again. -E2BIG: there are too many such
 * agents.
 */
int gs_launches_told(struct gs_launches *l, pid_t pid, bool told);
/* Does the same as gs_launches_gone() for all processes that ended unnoticed. */
void gs_launches_sweep(struct gs_launches *l);

/*
 * A job sets the probes of one library. That may take seconds, since the kernel sets no probes
 * while it removes others. So gs_launch_job_work() may run in a separate thread, one job at a time.
 * gs_launches_next() returns NULL if there is nothing to do. Do not free @l before the job is done.
 */
struct gs_launch_job;
struct gs_launch_job *gs_launches_next(struct gs_launches *l);
void gs_launch_job_work(struct gs_launch_job *job);
/* Takes over the job's result, and frees @job. */
void gs_launches_done(struct gs_launches *l, struct gs_launch_job *job);

/*
 * Returns how often a library was left without probes since the last call. A library counts anew
 * for each process that is looked at. The file may not be root's, there may be too many libraries,
 * or no probes may be allowed. Or this kernel does not serve the file system itself, or there is no
 * function to probe. @ret_again: number of repeated tries.
 */
uint64_t gs_launches_left(struct gs_launches *l, uint64_t *ret_again);

/*
 * If the reason why a library has no probes may pass, the library is tried again. gs_launches_due()
 * returns when the next try is due (UINT64_MAX: none). gs_launches_again() looks again at one
 * process that is due; gs_launches_next() may then have a job.
 */
uint64_t gs_launches_due(const struct gs_launches *l);
void gs_launches_again(struct gs_launches *l);
/* Returns the number of libraries and processes that will be tried again. */
size_t gs_launches_waiting(const struct gs_launches *l);

/* A libcuda for which launches are counted. */
struct gs_launch_lib {
	char path[256]; /* its path in the process where it was found first */
	uint64_t dev, ino;
	bool system; /* it is in one of the usual places, so it stays even if no process uses it */
	unsigned int probes, processes;
	uint64_t attached_ns, attach_us; /* when all probes were in place; how long that took */
};
/* The arrays that this function and gs_launches_unattributed() return are malloc'd. */
int gs_launches_libs(const struct gs_launches *l, struct gs_launch_lib **ret, size_t *ret_n);

/* Adds the launches since counting began to @inout: GPUSCHED_MAX_CLASSES numbers, by class id. */
int gs_launches_by_class(const struct gs_launches *l, uint64_t *inout);

/* A process with launches that count for no TSG. */
struct gs_launch_proc {
	pid_t pid;
	uint64_t launches, since_ns;
};
int gs_launches_unattributed(const struct gs_launches *l, struct gs_launch_proc **ret,
			     size_t *ret_n);

/*
 * Returns the attach type for the launch probes and for the programs that they call:
 * BPF_TRACE_UPROBE_MULTI if the kernel has it, else 0. (0 also with GPUSCHED_UPROBES=single in the
 * environment.)
 */
int gs_launch_attach_type(void);

/* Returns launches per second x 1000 at @now. (The record has the rate at the last launch.) */
uint64_t gs_launch_rate_mhz(const struct gpusched_task *t, uint64_t now);

#endif /* GPUSCHED_LAUNCH_LAUNCH_H */
