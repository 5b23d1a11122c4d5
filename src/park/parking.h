/* SPDX-License-Identifier: MIT */
/*
 * parking.h - the parked processes, and the shell around core.h: one call at a time, in the helper
 *
 * The loop itself calls neither RM nor libcuda. When the instance ends, parked processes stay
 * parked; the next instance reads them from the file, and asks the state of each.
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

#define GS_PARK_GROWTH 120 /* samples of a GPU's memory, one each 5 s */

#define GS_PARK_DYING 8 /* helpers that we gave up and that have not ended yet */

/* Ring of samples of one GPU's used memory, to tell how fast it grows. */
struct gs_park_use {
	uint64_t used[GS_PARK_GROWTH], as_of_ns[GS_PARK_GROWTH];
	size_t n, at;
};

#define GS_PARK_HUNG 16u

/* A user whose process made the helper hang, and when that last happened. */
struct gs_parking_hung {
	uint32_t uid;
	uint64_t ns; /* 0: the entry is free */
};

struct gs_parking {
	struct gs_hub *hub;
	struct gs_figures *figures;
	struct gs_parked *all; /* in the order in which they were parked */
	bool dirty;            /* the file has to be written */
	bool loaded;
	/* the helper */
	struct gs_park_helper helper, dying[GS_PARK_DYING]; /* pid 0: none */
	sd_event_source *answers, *due;
	bool greeted;      /* the helper has said whether libcuda has the calls */
	int usable;        /* 0: libcuda has the calls */
	uint64_t hello_ns; /* when the helper said so */
	uint32_t version;  /* of libcuda */
	bool busy;         /* a request to the helper is under way */
	struct gs_park_request asked;
	/* the process of that request; NULL: HELLO, or the process has ended */
	struct gs_parked *asked_of;
	uint64_t deadline_ns, began_ns;
	uint32_t seq;
	struct gs_parking_hung hung[GS_PARK_HUNG];
	struct gs_park_progress progress; /* of that request */
	struct gs_park_window window;     /* the time in which new programs wait at the gate */
	struct gs_park_use use[GS_PARK_GPUS];
	/* idlers.c's, idle.c's */
	struct gs_park_idler *idlers;
	unsigned int nidlers;
	uint64_t looked_ns;
	struct gs_park_wished wished; /* wished.c's: parkings that the policy wishes */
	/* sign.c's */
	struct gs_errand *probing; /* the thread that sets probes; NULL: none runs */
	bool probes_stale;         /* processes that are not parked any more may have probes */
	uint64_t sweep_ns;         /* no sweep of old probes before then */
	uint64_t settings_ns;      /* start of the minute that @nsettings counts */
	unsigned int nsettings;
};

int gs_parking_new(struct gs_hub *hub, struct gs_figures *figures, struct gs_parking **ret);
/* Loads the parked processes. A read-only instance believes the states in the file. */
int gs_parking_start(struct gs_parking *pk, struct gs_error *err);
/* Lets the helper finish its current call and unlock what is locked, and waits for that. */
void gs_parking_end(struct gs_parking *pk);
void gs_parking_free(struct gs_parking *pk);

/* A request to park one process, the owner of all of @recs. */
struct gs_park_ask {
	const struct gpusched_tsg *recs;
	size_t n;
	uint32_t by;       /* uid */
	uint64_t until_ns; /* 0: until somebody unparks it */
	bool by_itself;    /* no user asked: the process is idle, or @by_policy */
	bool by_policy;    /* the policy wished it */
	int32_t guest;     /* pid: the process is brought back when that one has ended; 0: none */
	uint64_t guest_start_ns;
};
/*
 * Begins to park a process; the caller owns a reference to *ret. -ENOTSUP, -ENOMEM, -EBUSY:
 * refused, with the reason.
 */
int gs_parking_out(struct gs_parking *pk, const struct gs_park_ask *ask, struct gs_parked **ret,
		   struct gs_error *err);
/* Begins to bring @p back. If GPU memory is short, it waits until there is enough. */
void gs_parking_in(struct gs_parking *pk, struct gs_parked *p);
/* Stops waiting for memory: @p stays parked. */
void gs_parking_stay(struct gs_parking *pk, struct gs_parked *p);
/* NULL: the process is neither parked nor on its way. */
struct gs_parked *gs_parking_find(const struct gs_parking *pk, int32_t pid);
/*
 * Bytes that must be free besides a restore's own: the most that others' use grew in 10 s lately.
 */
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

/* Makes the next call, if the helper is idle. */
void gs_parking_go_on(struct gs_parking *pk);
int gs_parking_timer(struct gs_parking *pk, struct gs_error *err);
void gs_parking_leave_helper(struct gs_parking *pk, bool kill);
void gs_parking_reap(struct gs_parking *pk);
/* parking_where.c: acts on where a process is. */
void gs_parking_settle(struct gs_parking *pk, struct gs_parked *p, enum gs_park_act act);
struct gs_park_facts gs_parking_facts(const struct gs_parking *pk, const struct gs_parked *p);
/* From here on we see the end of @p. -ESRCH: it has ended, or another process has its pid. */
int gs_parking_watch(struct gs_parking *pk, struct gs_parked *p);
/* @aside: the engine leaves the TSGs of @p alone; else it schedules them again. */
void gs_parking_aside(struct gs_parking *pk, struct gs_parked *p, bool aside);

#endif /* GPUSCHED_PARK_PARKING_H */
