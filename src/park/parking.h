/* SPDX-License-Identifier: MIT */
/*
 * parking.h - who is parked, and the shell around the laws (core.h): one call at a time, in the helper
 *
 * No call of RM's or libcuda's is made in the loop. The instance's end leaves parked what is
 * parked; the next instance finds it in the file, and asks each process's state.
 */
#ifndef GPUSCHED_PARK_PARKING_H
#define GPUSCHED_PARK_PARKING_H

#include <jansson.h>

#include "figures/figures.h"
#include "park/helper.h"
#include "park/idlers.h"
#include "park/newcomers.h"
#include "park/parked.h"
#include "park/progress.h"
#include "park/wished.h"

#define GS_PARK_GROWTH 120 /* looks at a GPU's memory, one each 5 s */

#define GS_PARK_DYING 8 /* helpers that have been left and have not ended yet */

/* What one GPU's programs used, to know how fast that grows. */
struct gs_park_use {
	uint64_t used[GS_PARK_GROWTH], as_of_ns[GS_PARK_GROWTH];
	size_t n, at;
};

#define GS_PARK_HUNG 16u

/* A user with a process that made the helper hang; the latest time. */
struct gs_parking_hung {
	uint32_t uid;
	uint64_t ns; /* 0: there is none */
};

struct gs_parking {
	struct gs_hub *hub;
	struct gs_figures *figures;
	struct gs_parked *all; /* in the order of parking */
	bool dirty;            /* the file is older */
	bool loaded;
	/* the helper */
	struct gs_park_helper helper, dying[GS_PARK_DYING]; /* pid 0: there is none */
	sd_event_source *answers, *due;
	bool greeted;      /* it has said whether libcuda has the calls */
	int usable;        /* ... 0: it has */
	uint64_t hello_ns; /* when it said so */
	uint32_t version;  /* of libcuda */
	bool busy;         /* it has been asked */
	struct gs_park_request asked;
	struct gs_parked *asked_of; /* NULL: HELLO, or it has ended since */
	uint64_t deadline_ns, began_ns;
	uint32_t seq;
	struct gs_parking_hung hung[GS_PARK_HUNG];
	struct gs_park_progress progress; /* of what it has been asked */
	struct gs_park_window window;     /* in which new programs wait at the gate */
	struct gs_park_use use[GS_PARK_GPUS];
	/* idlers.c's, idle.c's */
	struct gs_park_idler *idlers;
	unsigned int nidlers;
	uint64_t looked_ns;
	struct gs_park_wished wished; /* by the policy: wished.c's */
	/* sign.c's */
	struct gs_errand *probing; /* probes are being set; NULL: none are */
	bool probes_stale;         /* some may be of processes that are not parked any more */
	uint64_t sweep_ns;         /* not before */
	uint64_t settings_ns;      /* the minute of @nsettings began */
	unsigned int nsettings;
};

int gs_parking_new(struct gs_hub *hub, struct gs_figures *figures, struct gs_parking **ret);
/* Who is parked by now. One that only reads takes the file's word. */
int gs_parking_start(struct gs_parking *pk, struct gs_error *err);
/* What the helper does just now it may end, and it unlocks what is locked; that is waited for. */
void gs_parking_end(struct gs_parking *pk);
void gs_parking_free(struct gs_parking *pk);

/* A process to be parked: its records, of one pid. */
struct gs_park_ask {
	const struct gpusched_tsg *recs;
	size_t n;
	uint32_t by;       /* uid */
	uint64_t until_ns; /* 0: until unpark */
	bool by_itself;    /* nobody asks: it is idle, or ... */
	bool by_policy;    /* ... the policy wishes it */
	int32_t guest;     /* until this process has ended; 0: not so */
	uint64_t guest_start_ns;
};
/* *ret has a reference of the caller's. Refused with the reason: -ENOTSUP, -ENOMEM, -EBUSY. */
int gs_parking_out(struct gs_parking *pk, const struct gs_park_ask *ask, struct gs_parked **ret,
		   struct gs_error *err);
/* It is to run again; what waits for memory does so until there is enough. */
void gs_parking_in(struct gs_parking *pk, struct gs_parked *p);
/* It waits for memory no longer: it stays parked. */
void gs_parking_stay(struct gs_parking *pk, struct gs_parked *p);
/* The record of a process; NULL: it is not parked, nor on its way. */
struct gs_parked *gs_parking_find(const struct gs_parking *pk, int32_t pid);
/* What is free has to exceed what was taken by so much: what others' use grew by. */
uint64_t gs_park_margin(const struct gs_park_use *u, uint64_t now_ns);
void gs_park_use_add(struct gs_park_use *u, uint64_t used, uint64_t as_of_ns);

/* As observers. */
void gs_parking_record(void *self, const struct gpusched_tsg *rec);
void gs_parking_ended(void *self, const struct gs_end *end);
void gs_parking_beat(void *self);
void gs_parking_dispatched(void *self);

/* ---- parking_json.c -------------------------------------------------------------------------- */

json_t *gs_parked_json(const struct gs_parking *pk, const struct gs_parked *p);
/* "parked", "parking", "unparking", "waits", "lost" */
const char *gs_parked_state(const struct gs_parked *p);

/* ---- parking_calls.c: the helper's side; private to the room ---------------------------------- */

/* Asks the helper what comes next, if it has nothing to do. */
void gs_parking_go_on(struct gs_parking *pk);
int gs_parking_timer(struct gs_parking *pk, struct gs_error *err);
void gs_parking_leave_helper(struct gs_parking *pk, bool kill);
void gs_parking_reap(struct gs_parking *pk);
/* parking_where.c: what follows from where a process is. */
void gs_parking_settle(struct gs_parking *pk, struct gs_parked *p, enum gs_park_act act);
struct gs_park_facts gs_parking_facts(const struct gs_parking *pk, const struct gs_parked *p);
/* Its end is seen from here on. -ESRCH: it is gone, or another process has its pid. */
int gs_parking_watch(struct gs_parking *pk, struct gs_parked *p);
/* The engine leaves its TSGs alone, or no more. */
void gs_parking_aside(struct gs_parking *pk, struct gs_parked *p, bool aside);

#endif /* GPUSCHED_PARK_PARKING_H */
