/* SPDX-License-Identifier: MIT */
/*
 * rescan.h - settles records again: class, GPU, cgroup
 */
#ifndef GPUSCHED_INTAKE_RESCAN_H
#define GPUSCHED_INTAKE_RESCAN_H

#include "basic/slices.h"
#include "classify/grants.h"
#include "table/table.h"

struct gs_intake;

struct gs_rescan_pid {
	pid_t pid;
	bool known; /* its class is known */
	uint32_t class_id, weight, slice_us;
	struct gs_grants grants;
};
/* A rescan of records that is under way. */
struct gs_rescan {
	struct gs_sliced sliced;
	struct gs_rescan_for {
		bool all, lost; /* lost: asked for because events were lost */
		bool anew;      /* the policy sees all TSGs as new */
		struct gs_rescan_pid *pids;
		size_t n;
	} round, next;             /* next: asked for while a round is under way */
	struct gpusched_tsg *recs; /* the records that were asked for, sorted by process */
	size_t n, at;
	struct gpusched_event met; /* the process of the last record */
};

/*
 * gs_rescan_at_once() settles all records at once, before there is a loop. gs_rescan_all() does
 * so in slices.
 */
void gs_rescan_at_once(struct gs_intake *in);
void gs_rescan_all(struct gs_intake *in);
/* Settles all records, since events were lost. */
void gs_rescan_lost(struct gs_intake *in);
/* Observer's function: another process restored everything in place of this daemon. */
void gs_rescan_overtaken(void *self);
/*
 * Looks up the class of @pid again, and soon afterwards updates the class and name of its records.
 */
void gs_rescan_process(struct gs_intake *in, pid_t pid);
/*
 * Call this after a new record is settled. Since its process has the TSG, a rule with kind= may
 * match: then the process's other records follow.
 */
void gs_rescan_new(struct gs_intake *in, const struct gpusched_tsg *rec);
bool gs_rescan_is_over(const struct gs_intake *in);
void gs_rescan_free(struct gs_intake *in);

#endif /* GPUSCHED_INTAKE_RESCAN_H */
