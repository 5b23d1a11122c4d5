/* SPDX-License-Identifier: MIT */
/*
 * intake.h - handles what the taps see: settles records, and plans sweeps and rescans
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

struct gs_intake {
	struct gs_hub *hub;
	sd_event_source *sweep, *events;
	sd_event_source *pods;      /* watches for names of pods; NULL: they are read when needed */
	uint64_t pods_unwatched_ns; /* when the kernel had no watch to give; 0: it had */
	bool draining;              /* throws away events from before this instance */
	/* The taps' count of lost events up to which the table was read again. */
	uint64_t events_lost;
	uint64_t losses_next_ns; /* no read of the table for lost events before this time */
	uint64_t table_full;     /* the taps' count of TSGs that found no room, as last reported */
	uint64_t full_next_ns;   /* no look whether the table is full before this time */
	uint64_t past_next_ns;   /* no check for processes past a quota before this time */
	/* at the last check gs_past was empty, and the taps' count of TSGs that went into it */
	bool past_none;
	uint64_t past_counted;
	uint64_t unseen_ns; /* when a TSG that is not in the table last ran; 0: never */
	struct gs_ends ends;
	struct gs_reap sweeping;
	uint32_t denied_pid; /* process of the record that ended last because RM denied it */
	struct gs_rescan looking;
	struct gs_adopting adopting;
	struct gs_pools pools;
	struct gs_aliases aliases;
	/* The task that asks for the GPU's ids of TSGs; NULL: none. */
	struct gs_task *asking;
	struct gs_hwid *hwids; /* by id of the TSG */
	struct gs_promises promises;
	uint64_t begun_ns;
};

int gs_intake_new(struct gs_hub *hub, struct gs_intake **ret);
/* Call it after its adoption and sweep have ended. */
void gs_intake_free(struct gs_intake *in);
/* From here on no more events are handled. */
void gs_intake_quiet(struct gs_intake *in);
/* Logs which users fill a full table. Costs one read of a counter if the table is not full. */
void gs_full_check(struct gs_intake *in);

/*
 * Begins to handle events. Throws away those from before this instance: the table holds what they
 * reported.
 */
int gs_intake_start(struct gs_intake *in, struct gs_error *err);
/* The observer's function for events of the taps. */
void gs_intake_tapped(void *self, const struct gpusched_event *ev);
void gs_intake_answered(void *self, enum gs_reader_what what, pid_t pid);
void gs_intake_ended(void *self, const struct gs_end *end);
void gs_intake_beat(void *self);

#endif /* GPUSCHED_INTAKE_INTAKE_H */
