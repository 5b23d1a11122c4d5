/* SPDX-License-Identifier: MIT */
/*
 * rescan.h - records gone through anew: class, GPU, cgroup
 */
#ifndef GPUSCHED_INTAKE_RESCAN_H
#define GPUSCHED_INTAKE_RESCAN_H

#include "basic/slices.h"
#include "table/table.h"

struct gs_intake;

struct gs_looked_pid {
	pid_t pid;
	bool known; /* its class */
	uint32_t class_id, weight;
};
/* A look at records that is under way. */
struct gs_looking {
	struct gs_sliced sliced;
	struct gs_looked_for {
		bool all, lost; /* lost: since events were */
		bool anew;      /* all are new to the policy */
		struct gs_looked_pid *pids;
		size_t n;
	} round, next;             /* next: asked for meanwhile */
	struct gpusched_tsg *recs; /* those that were asked for, by process */
	size_t n, at;
	struct gpusched_event met; /* the last one's process */
};

/* All records: before there is a loop; in slices. */
void gs_records_settle(struct gs_intake *in);
void gs_records_look(struct gs_intake *in);
/* All records, since events were lost. */
void gs_records_look_lost(struct gs_intake *in);
/* As an observer: somebody had put everything back in place of this daemon. */
void gs_looking_overtaken(void *self);
/* The class of @pid anew, and soon after that of its records, and its name there. */
void gs_process_reclassify(struct gs_intake *in, pid_t pid);
bool gs_looking_is_over(const struct gs_intake *in);
void gs_looking_free(struct gs_intake *in);

#endif /* GPUSCHED_INTAKE_RESCAN_H */
