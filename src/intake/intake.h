/* SPDX-License-Identifier: MIT */
/*
 * intake.h - what the taps see, and what follows for a record or for the next look at the table
 */
#ifndef GPUSCHED_INTAKE_INTAKE_H
#define GPUSCHED_INTAKE_INTAKE_H

#include "hub/hub.h"
#include "intake/adoption.h"
#include "intake/aliases.h"
#include "intake/ends.h"
#include "intake/pods.h"
#include "intake/pools.h"
#include "intake/promises.h"
#include "intake/reap.h"
#include "intake/rescan.h"

/* The job of a process, for a while. */
struct gs_job_asked {
	pid_t pid;
	uint64_t start_ns, ns, job;
};

struct gs_intake {
	struct gs_hub *hub;
	sd_event_source *sweep, *events;
	sd_event_source *pods;   /* their names; NULL: nobody is told */
	bool draining;           /* throws away events from before this instance */
	uint64_t events_lost;    /* by the taps, as far as it was made up for */
	uint64_t losses_next_ns; /* not again before */
	uint64_t table_full;     /* what the taps had no room for, as far as it was told */
	uint64_t full_next_ns;   /* not told again before */
	uint64_t past_next_ns;   /* nobody past a share is looked for before */
	uint64_t unseen_ns;      /* a TSG that is not in the table ran last; 0: never */
	struct gs_ends ends;
	struct gs_sweeping sweeping;
	uint32_t denied_pid; /* of the record that ended last for that reason */
	struct gs_looking looking;
	struct gs_adopting adopting;
	struct gs_pools pools;
	struct gs_aliases aliases;
	struct gs_errand *asking;           /* for the GPU's ids of TSGs; NULL: none is */
	struct gs_hwid *hwids;              /* by id of the TSG */
	struct gs_job_asked jobs[GS_ASKED]; /* by pid */
	struct gs_promises promises;
	uint64_t begun_ns;
};

int gs_intake_new(struct gs_hub *hub, struct gs_intake **ret);
/* After its adoption and sweep have ended. */
void gs_intake_free(struct gs_intake *in);
/* No more events. */
void gs_intake_quiet(struct gs_intake *in);
/* Says which users fill a table that is full; costs one read of a counter when it is not. */
void gs_full_check(struct gs_intake *in);

/* Events from before this instance are thrown away: the table has what they told. */
int gs_intake_start(struct gs_intake *in, struct gs_error *err);
/* As an observer. */
void gs_intake_tapped(void *self, const struct gpusched_event *ev);
void gs_intake_answered(void *self, enum gs_reader_what what, pid_t pid);
void gs_intake_ended(void *self, const struct gs_end *end);
void gs_intake_beat(void *self);

#endif /* GPUSCHED_INTAKE_INTAKE_H */
