/* SPDX-License-Identifier: MIT */
/*
 * processes.h - knows each process that uses a GPU, from its first sight to its end
 *
 * A process is met by its first TSG, or by a room that learns of it earlier. It ends when a tap sees
 * its exit, when its pid belongs to another process, or when a check finds it gone. It also ends
 * when it has no TSG any more and no room needs it. Rooms keep their state of a process in `of`, and
 * free it in the observer process_ended. Past GS_PROCESSES_MAX, or a user's share of it, a process
 * is not met. Its TSGs have all else: class, budget, restore.
 */
#ifndef GPUSCHED_HUB_PROCESSES_H
#define GPUSCHED_HUB_PROCESSES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <uthash.h>

#include "basic/share.h"
#include "gpusched/abi.h"

#define GS_PROCESSES_MAX 4096u

struct gs_hub;
struct gs_end;

/* Index into gs_process.of: the files that keep state of a process. */
enum gs_process_room {
	GS_PROCESS_AGENT,   /* control/agents.c */
	GS_PROCESS_COUNTED, /* control/counted_requests.c */
	GS_PROCESS_IDLER,   /* park/idlers.c */
	GS_PROCESS_START,   /* means/starts.c */
	GS_PROCESS_UNFIT,   /* park/parking_calls.c: set if libcuda has refused to park it */
	/* The state from here on is dropped with the last TSG. */
	GS_PROCESS_KEEPERS,
	GS_PROCESS_FAILURE = GS_PROCESS_KEEPERS, /* figures/calls.c */
	GS_PROCESS_JOB,                          /* intake/settle.c */
	GS_PROCESS_LEDGER,                       /* figures/ledger.c */
	GS_PROCESS_ROOMS
};

/* A process's change. */
enum gs_process_change {
	GS_PROCESS_EXEC, /* it runs another program; its user may be another, too */
	GS_PROCESS_UID,
	GS_PROCESS_CLASS,
	GS_PROCESS_CGROUP,
};

struct gs_process {
	UT_hash_handle hh;              /* by pid */
	struct gs_process *prev, *next; /* in gs_processes.busy or .checked */
	pid_t pid;
	uid_t uid, charged_uid;
	uint64_t start_ns;
	char comm[GPUSCHED_COMM_LEN];
	uint32_t class_id; /* of its last TSG that was seen; 0: none, or unknown */
	uint32_t ntsgs;
	uint64_t cgroup_id;
	bool ended;   /* its last TSGs are still to end */
	bool watched; /* it is checked although it has TSGs */
	bool hashed;
	bool root_passed; /* as in gs_class_answer */
	void *of[GS_PROCESS_ROOMS];
};

/* All processes of an instance. All 0 at first. */
struct gs_processes {
	struct gs_process *by_pid;
	struct gs_process *busy;    /* the sweep of their TSGs finds their end, if no tap does */
	struct gs_process *checked; /* the next to be checked comes first */
	struct gs_shares shares;
};

struct gs_process_who {
	pid_t pid;
	uid_t uid;
	uint64_t start_ns;
	const char *comm; /* NULL: unknown */
};

/* NULL: no such process is known, or it has ended. */
struct gs_process *gs_processes_find(const struct gs_hub *hub, pid_t pid);
/*
 * The one function that meets a process. If its pid was another process's, that one has ended. NULL:
 * too many are known (processes_left counts that), or it has ended already.
 */
struct gs_process *gs_processes_meet(struct gs_hub *hub, const struct gs_process_who *who);
/* The one function that ends a process. @p may be freed. */
void gs_processes_end(struct gs_hub *hub, struct gs_process *p);
/* @watched: from now on @p is checked within 2 s although it has TSGs. */
void gs_processes_watch(struct gs_hub *hub, struct gs_process *p, bool watched);
/* Ends all: observers free what they keep. Call this while their rooms exist. */
void gs_processes_free(struct gs_hub *hub);

/* Observers. */
void gs_processes_tapped(void *self, const struct gpusched_event *ev);
void gs_processes_seen(void *self, const struct gpusched_tsg *rec);
void gs_processes_ended(void *self, const struct gs_end *end);
void gs_processes_events_lost(void *self, pid_t pid);
void gs_processes_beat(void *self);

#endif /* GPUSCHED_HUB_PROCESSES_H */
