/* SPDX-License-Identifier: MIT */
/*
 * observers.h - tells the observers of TSGs what happens, and ends TSGs
 *
 * The observers are one static table, which the service passes in (observed.c). Observers get facts
 * in the table's order, and ends in reverse order. So when a TSG ends, an observer may still use
 * the observers above it in the table. A TSG is known from the time its record is first settled
 * until its end. The event of an end is reported once, from any source: a tap, the sweep, or a check
 * of the table after events were lost.
 */
#ifndef GPUSCHED_HUB_OBSERVERS_H
#define GPUSCHED_HUB_OBSERVERS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "gpusched/abi.h"
#include "hub/processes.h"
#include "process/reader.h"

struct gs_engine_call;
struct gs_process;
struct gs_turn;

/* Where the end of a TSG was seen. */
enum gs_end_by {
	/* A call freed the TSG: a tap has written the event. It told the policy, or the sweep will. */
	GS_END_TAP,
	/* no process holds the TSG's file any more; the record is removed after this */
	GS_END_SWEEP,
	GS_END_DENIED, /* RM no longer has the TSG; the record is removed after this */
	/* The record is an MPS server's TSG under another handle; it is removed after this. */
	GS_END_ALIAS,
	GS_END_MISSED, /* the record is gone without a report: after a restore, or lost events */
	GS_END_MAX
};

struct gs_end {
	enum gs_end_by by;
	struct gpusched_key key;
	uint64_t id;
	uint32_t pid;
	/* The TSG's process, which may have ended before; NULL: it is not known. */
	struct gs_process *process;
};

/* A request of a process, with a known begin and end. */
struct gs_request_done {
	uint64_t id;          /* a TSG of the process, which stands for all of them */
	uint64_t end_ns;      /* CLOCK_MONOTONIC */
	uint64_t took_ns;     /* from the request's arrival to its end */
	uint64_t deadline_ns; /* 0: it had none */
};

/* The four parts of a request's time add up to it (figures/request_cost.h). */
struct gs_request_split {
	uint64_t id; /* as in struct gs_request_done */
	uint64_t begin_ns, end_ns;
	uint64_t itself_ns, others_ns, neither_ns, unknown_ns;
};

/* Each function may be NULL. */
struct gs_observer {
	const char *name;
	/* index into gs_observers.selves: the object that the functions get as @self */
	unsigned int self;
	/* A tap saw the event. Observers get it in the table's order. */
	void (*tapped)(void *self, const struct gpusched_event *ev);
	/*
	 * An event for people and for the history, from a tap or from the service. @rec: NULL for
	 * an event of a tap; else the TSG. Its record may be gone from the table.
	 */
	void (*told)(void *self, const struct gpusched_event *ev, const struct gpusched_tsg *rec);
	/* A TSG exists, or its class, GPU or cgroup may have changed. */
	void (*seen)(void *self, const struct gpusched_tsg *rec);
	/*
	 * Called after the TSG's last event, also for a TSG that `seen` never got. If a tap reports
	 * the end but leaves the record to the sweep, it is called twice: for the tap, and when the
	 * record is removed. A policy learns of that end at the second call. So a call for an
	 * unknown TSG must do nothing.
	 */
	void (*ended)(void *self, const struct gs_end *end);
	void (*called)(void *self, const struct gs_engine_call *call);
	/* A turn of the GPU is over. All turns known before it have been reported. */
	void (*turn)(void *self, const struct gs_turn *turn);
	void (*turns_read)(void *self);
	/* A request is over, and its begin and end are known. */
	void (*request)(void *self, const struct gs_request_done *done);
	/* The parts of a request are known, some 50 ms after its end. */
	void (*request_split)(void *self, const struct gs_request_split *split);
	/*
	 * A message to people about a process of user @owner; GS_NOBODY: about no process. @event
	 * is borrowed.
	 */
	void (*said)(void *self, json_t *event, uid_t owner);
	/* A program's agent reports how long each of its requests may take; 0: no deadline. */
	void (*deadline_told)(void *self, const struct gpusched_tsg *rec, uint64_t us);
	/* policy_changes: a policy is about to be started or stopped. policy_changed: it was. */
	void (*policy_changes)(void *self);
	void (*policy_changed)(void *self);
	/*
	 * A process is met, changed or ended (hub/processes.h). process_ended frees what the observer
	 * keeps in the process; TSGs of it may still be there, and end later.
	 */
	void (*process_met)(void *self, struct gs_process *p);
	void (*process_changed)(void *self, struct gs_process *p, enum gs_process_change what);
	void (*process_ended)(void *self, struct gs_process *p);
	/* Events about this process, which has TSGs, may have been lost. */
	void (*events_lost)(void *self, pid_t pid);
	/* A late answer from /proc is there (process/reader.h). */
	void (*answered)(void *self, enum gs_reader_what what, pid_t pid);
	/*
	 * beat: at each heartbeat. overtaken: after another process restored everything in place of
	 * this daemon.
	 */
	void (*beat)(void *self);
	void (*overtaken)(void *self);
	/* All settings were restored, and TSGs of ended processes were removed without events. */
	void (*restored)(void *self);
	/* Called after each source of the loop has run, in any part of the daemon. */
	void (*dispatched)(void *self);
};

struct gs_known;
struct gs_observers {
	const struct gs_observer *all;
	size_t n;
	void *const *selves;    /* the objects that observers get as @self, by gs_observer.self */
	struct gs_known *known; /* all known TSGs, by id */
};

void gs_observers_free(struct gs_observers *o);
/* Reports an event of the taps. The free of a TSG is its end. */
void gs_observers_tapped(struct gs_observers *o, const struct gpusched_event *ev);
/* Reports event @type about a record; no tap has written that event. */
void gs_observers_tell(struct gs_observers *o, const struct gpusched_tsg *rec, uint32_t type,
		       uint32_t arg);
/* Makes a TSG known: from now on its end is reported once, from whatever source. */
void gs_observers_know(struct gs_observers *o, const struct gpusched_tsg *rec);
/* Where the process of a known TSG is noted; NULL: the TSG is not known. */
struct gs_process **gs_observers_process_of(const struct gs_observers *o, uint64_t id);
void gs_observers_seen(struct gs_observers *o, const struct gpusched_tsg *rec);
/*
 * Ends the TSG of @rec; @by is not GS_END_TAP. Reports no event of the end if the record's flag
 * GONE is set, since a tap has written one. The observers' `ended` is called in any case.
 */
void gs_observers_end(struct gs_observers *o, const struct gpusched_tsg *rec, enum gs_end_by by);
void gs_observers_called(struct gs_observers *o, const struct gs_engine_call *call);
void gs_observers_turn(struct gs_observers *o, const struct gs_turn *turn);
void gs_observers_turns_read(struct gs_observers *o);
void gs_observers_request(struct gs_observers *o, const struct gs_request_done *done);
void gs_observers_request_split(struct gs_observers *o, const struct gs_request_split *split);
/* Calls the observers' `said`. Takes the reference to @event. */
#define GS_NOBODY ((uid_t)-1)
void gs_observers_say(struct gs_observers *o, json_t *event, uid_t owner);
void gs_observers_deadline_told(struct gs_observers *o, const struct gpusched_tsg *rec,
				uint64_t us);
void gs_observers_policy_changes(struct gs_observers *o);
void gs_observers_policy_changed(struct gs_observers *o);
void gs_observers_events_lost(struct gs_observers *o, pid_t pid);
void gs_observers_answered(struct gs_observers *o, enum gs_reader_what what, pid_t pid);
void gs_observers_beat(struct gs_observers *o);
void gs_observers_overtaken(struct gs_observers *o);
void gs_observers_restored(struct gs_observers *o);
void gs_observers_dispatched(struct gs_observers *o);

/*
 * Finds ends that were not reported, in two steps. gs_observers_miss() gets the whole table and
 * notes known TSGs that are not in it. It returns true if ends are under way, which are reported
 * later. gs_observers_end_missed() runs when all earlier events have been handled: noted TSGs that
 * are still known have ended.
 */
bool gs_observers_miss(struct gs_observers *o, const struct gpusched_tsg *recs, size_t n);
void gs_observers_end_missed(struct gs_observers *o);

#endif /* GPUSCHED_HUB_OBSERVERS_H */
