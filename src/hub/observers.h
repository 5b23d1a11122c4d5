/* SPDX-License-Identifier: MIT */
/*
 * observers.h - the observers of TSGs, and the one way in which a TSG ends
 *
 * The observers are one static table, which the service hands down (observed.c). They get each fact
 * in the table's order, and ends in the reverse of it: the last to learn is the first to forget. A
 * TSG is known from the moment when its record was first settled until its end. Each end is
 * reported once, from any source: a tap, the sweep, or a look at the table after word of it was
 * lost.
 */
#ifndef GPUSCHED_HUB_OBSERVERS_H
#define GPUSCHED_HUB_OBSERVERS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "gpusched/abi.h"
#include "process/reader.h"

struct gs_engine_call;
struct gs_turn;

/* The source of a TSG's end. */
enum gs_end_by {
	GS_END_TAP,   /* a call that freed it: the tap has asked the policy and written the event */
	GS_END_SWEEP, /* nobody holds its file any more; its record goes next */
	GS_END_DENIED, /* RM does not have it any more; its record goes next */
	GS_END_ALIAS,  /* it is an MPS server's TSG under another handle; its record goes next */
	GS_END_MISSED, /* its record is gone, and nobody said so: a restore, lost events */
	GS_END_MAX
};

struct gs_end {
	enum gs_end_by by;
	struct gpusched_key key;
	uint64_t id;
	uint32_t pid;
};

/* A request of a process, both ends of which are known. */
struct gs_request_done {
	uint64_t id;      /* a TSG of the process, always the same while that one is there */
	uint64_t took_ns; /* from arrival to end */
	uint64_t deadline_ns;
};

/* Each function may be NULL. */
struct gs_observer {
	const char *name;
	unsigned int self; /* which of gs_observers.selves it is given */
	/* The taps saw it. Before and after are decided by the order of the observers. */
	void (*tapped)(void *self, const struct gpusched_event *ev);
	/*
	 * To be told to people and kept: what the taps saw and what we found out. @rec: of ours, whose
	 * record may be gone from the table by now; else NULL.
	 */
	void (*told)(void *self, const struct gpusched_event *ev, const struct gpusched_tsg *rec);
	/* A TSG is there, or its class, GPU or cgroup may have changed. */
	void (*seen)(void *self, const struct gpusched_tsg *rec);
	/* Once, after its event was told; also of a TSG that was never seen. */
	void (*ended)(void *self, const struct gs_end *end);
	void (*called)(void *self, const struct gs_engine_call *call);
	/* A turn of the GPU is over; those that were known have all been told. */
	void (*turn)(void *self, const struct gs_turn *turn);
	void (*turns_read)(void *self);
	/* One that had a deadline. */
	void (*request)(void *self, const struct gs_request_done *done);
	/* For people, about a process of user @owner; GS_NOBODY: about none. Borrowed. */
	void (*said)(void *self, json_t *event, uid_t owner);
	/* The agent in its program says within what time its requests want to be done; 0: no wish. */
	void (*deadline_told)(void *self, const struct gpusched_tsg *rec, uint64_t us);
	/* Another policy is about to act, or none; it does. */
	void (*policy_changes)(void *self);
	void (*policy_changed)(void *self);
	/* Events about a process that has TSGs may have been lost. */
	void (*process_met)(void *self, pid_t pid);
	/* An answer from /proc came late. */
	void (*answered)(void *self, enum gs_reader_what what, pid_t pid);
	/* At each heartbeat; when somebody had put everything back in place of this daemon. */
	void (*beat)(void *self);
	void (*overtaken)(void *self);
	/* Everything was put back, and TSGs of processes that have ended swept without a word. */
	void (*restored)(void *self);
	/* After each source of the loop, whosever it is. */
	void (*dispatched)(void *self);
};

struct gs_known;
struct gs_observers {
	const struct gs_observer *all;
	size_t n;
	void *const *selves;    /* the rooms, by gs_observer.self */
	struct gs_known *known; /* TSGs, by id */
};

void gs_observers_free(struct gs_observers *o);
/* An event of the taps. The free of a TSG is its end. */
void gs_observers_tapped(struct gs_observers *o, const struct gpusched_event *ev);
/* Event @type about a record, which no tap has written. */
void gs_observers_tell(struct gs_observers *o, const struct gpusched_tsg *rec, uint32_t type,
		       uint32_t arg);
/* From here on its end will be reported, from any source. */
void gs_observers_know(struct gs_observers *o, const struct gpusched_tsg *rec);
void gs_observers_seen(struct gs_observers *o, const struct gpusched_tsg *rec);
/* @rec has ended; @by: not GS_END_TAP. The flag GONE says that a tap has reported the end. */
void gs_observers_end(struct gs_observers *o, const struct gpusched_tsg *rec, enum gs_end_by by);
void gs_observers_called(struct gs_observers *o, const struct gs_engine_call *call);
void gs_observers_turn(struct gs_observers *o, const struct gs_turn *turn);
void gs_observers_turns_read(struct gs_observers *o);
void gs_observers_request(struct gs_observers *o, const struct gs_request_done *done);
/* Takes @event. */
#define GS_NOBODY ((uid_t)-1)
void gs_observers_say(struct gs_observers *o, json_t *event, uid_t owner);
void gs_observers_deadline_told(struct gs_observers *o, const struct gpusched_tsg *rec,
				uint64_t us);
void gs_observers_policy_changes(struct gs_observers *o);
void gs_observers_policy_changed(struct gs_observers *o);
void gs_observers_process_met(struct gs_observers *o, pid_t pid);
void gs_observers_answered(struct gs_observers *o, enum gs_reader_what what, pid_t pid);
void gs_observers_beat(struct gs_observers *o);
void gs_observers_overtaken(struct gs_observers *o);
void gs_observers_restored(struct gs_observers *o);
void gs_observers_dispatched(struct gs_observers *o);

/*
 * Ends that nobody told. First @recs, the whole table: known TSGs that are not in it are noted.
 * Returns true if ends are under way, which will be told or be missed later. Then, when all events
 * of before have been handled, those noted that are still known have ended.
 */
bool gs_observers_miss(struct gs_observers *o, const struct gpusched_tsg *recs, size_t n);
void gs_observers_end_missed(struct gs_observers *o);

#endif /* GPUSCHED_HUB_OBSERVERS_H */
