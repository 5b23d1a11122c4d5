/* SPDX-License-Identifier: MIT */
/*
 * parking.h - parks processes and brings them back, by one helper call at a time
 *
 * core.h decides which call is next; the helper makes it, so the event loop itself calls neither RM
 * nor libcuda. When the daemon ends, parked processes stay parked. The next daemon reads them from
 * the file, and asks libcuda for the state of each.
 */
#ifndef GPUSCHED_PARK_PARKING_H
#define GPUSCHED_PARK_PARKING_H

#include <jansson.h>

#include "basic/share.h"
#include "figures/figures.h"
#include "park/claims.h"
#include "park/helper.h"
#include "park/idlers.h"
#include "park/newcomers.h"
#include "park/parked.h"
#include "park/progress.h"
#include "park/turns.h"
#include "park/wished.h"

#define GS_PARK_GROWTH 120 /* samples of a GPU's memory, one each 5 s */

#define GS_PARK_DYING 8 /* most helpers that we gave up and that have not ended yet */

/* Ring of samples of one GPU's used memory, which show how fast that grows. */
struct gs_park_use {
	uint64_t used[GS_PARK_GROWTH], as_of_ns[GS_PARK_GROWTH];
	size_t n, at;
};

#define GS_PARK_ASIDE 8u /* most copies that go on in helpers of their own */

/*
 * A copy that takes too long, with its helper. A helper in a copy is never killed, since nobody
 * knows what would become of the process. So it stays at it, and another helper makes the next
 * call.
 */
struct gs_park_aside {
	struct gs_parking *room;
	struct gs_park_helper helper; /* pid 0: the place is free */
	sd_event_source *answers;
	struct gs_park_request asked;
	struct gs_parked *asked_of; /* NULL: the process has ended */
	uint64_t began_ns;
	uint32_t uid;
};

struct gs_parking {
	struct gs_hub *hub;
	struct gs_figures *figures;
	struct gs_parked *all; /* in the order in which they were parked */
	bool dirty;            /* the list has changed since the file was written */
	bool loaded;
	/* the helper */
	struct gs_park_helper helper, dying[GS_PARK_DYING]; /* pid 0: none */
	sd_event_source *answers, *due;
	bool greeted;      /* the helper has answered HELLO: @usable and @version are valid */
	int usable;        /* 0: libcuda has the checkpoint calls; else -errno */
	uint64_t hello_ns; /* when the helper answered HELLO, or died before it could */
	uint32_t version;  /* of libcuda */
	bool busy;         /* a request to the helper is under way */
	struct gs_park_request asked;
	/* the process of request @asked; NULL: @asked is HELLO, or the process has ended */
	struct gs_parked *asked_of;
	uint32_t asked_uid;             /* owner of the process, also after its end */
	size_t asked_places;            /* places that the request may take if it hangs */
	uint64_t deadline_ns, began_ns; /* of request @asked */
	uint32_t seq;                   /* number of the last request */
	struct gs_park_turns turns;
	struct gs_park_aside aside[GS_PARK_ASIDE];
	struct gs_park_progress progress; /* of request @asked */
	struct gs_park_claims claims;     /* of programs that were promised GPU memory */
	struct gs_park_window window;     /* the time in which new programs wait at the gate */
	struct gs_park_use use[GS_PARK_GPUS];
	/* for idlers.c and idle.c */
	struct gs_park_idler *idlers;
	uint64_t looked_ns;
	struct gs_park_wished wished; /* for wished.c: the policy's calls of gpusched_park() */
	/* for sign.c */
	struct gs_task *probing; /* the thread that sets probes; NULL: none runs */
	bool probes_stale;       /* processes that are no longer parked may have probes */
	uint64_t sweep_ns;       /* old probes are not removed before this time */
	uint64_t settings_ns;    /* start of the minute that @settings counts */
	struct gs_shares settings;
};

int gs_parking_new(struct gs_hub *hub, struct gs_figures *figures, struct gs_parking **ret);
/* Loads the parked processes. A read-only instance takes their states from the file, unchecked. */
int gs_parking_start(struct gs_parking *pk, struct gs_error *err);
/* Waits until the helper has finished its current call and unlocked all locked processes. */
void gs_parking_end(struct gs_parking *pk);
void gs_parking_free(struct gs_parking *pk);

/* A request to park one process, the owner of all of @recs. */
struct gs_park_ask {
	const struct gpusched_tsg *recs;
	size_t n;
	uint32_t by;       /* uid */
	uint64_t until_ns; /* 0: until somebody unparks it */
	bool by_itself;    /* no user asked: the process is idle, or @by_policy */
	bool by_policy;    /* the policy asked: gpusched_park() */
	bool forced;       /* a person wants it though it is not known whether it is alone */
	int32_t guest;     /* pid: the end of this process brings the parked one back; 0: none */
	uint64_t guest_start_ns;
};
/*
 * Begins to park a process; the caller owns a reference to *ret. -ENOTSUP, -ENOMEM, -EBUSY:
 * refused, with the reason.
 */
int gs_parking_out(struct gs_parking *pk, const struct gs_park_ask *ask, struct gs_parked **ret,
		   struct gs_error *err);
/* Begins to bring @p back. If GPU memory is short, @p waits until there is enough. */
void gs_parking_in(struct gs_parking *pk, struct gs_parked *p);
/* Stops waiting for memory: @p stays parked. */
void gs_parking_stay(struct gs_parking *pk, struct gs_parked *p);
/* NULL: the process is neither parked nor about to be. */
struct gs_parked *gs_parking_find(const struct gs_parking *pk, int32_t pid);
/*
 * Returns the bytes that must be free in addition to what a restore needs: the most that other
 * programs' use grew within 10 s in the last 10 min, but at least 1 GiB.
 */
uint64_t gs_park_margin(const struct gs_park_use *u, uint64_t now_ns);
void gs_park_use_add(struct gs_park_use *u, uint64_t used, uint64_t as_of_ns);

/* Callbacks of struct gs_observer. */
void gs_parking_record(void *self, const struct gpusched_tsg *rec);
void gs_parking_ended(void *self, const struct gs_end *end);
void gs_parking_beat(void *self);
void gs_parking_dispatched(void *self);

/* ---- parking_json.c -------------------------------------------------------------------------- */

json_t *gs_parked_json(const struct gs_parking *pk, const struct gs_parked *p);
/* "parked", "parking", "unparking", "waits", "lost" */
const char *gs_parked_state(const struct gs_parked *p);

/* ---- parking_calls.c: requests to the helper; private to src/park ---------------------------- */

/* Makes the next call, if the helper is idle. */
void gs_parking_go_on(struct gs_parking *pk);
int gs_parking_timer(struct gs_parking *pk, struct gs_error *err);
void gs_parking_leave_helper(struct gs_parking *pk, bool kill);
void gs_parking_reap(struct gs_parking *pk);
/* The instance ends: helpers that were set aside end after their copy. */
void gs_parking_leave_aside(struct gs_parking *pk);
/* parking_where.c: updates @p and the list once @p is parked, runs, or is lost. */
void gs_parking_settle(struct gs_parking *pk, struct gs_parked *p, enum gs_park_act act);
struct gs_park_facts gs_parking_facts(const struct gs_parking *pk, const struct gs_parked *p);
/*
 * Watches for the end of @p. -ESRCH: @p has ended, or another process has its pid. If that is
 * unknown, returns -EAGAIN unless @is_out: a process that is out has to be brought back.
 */
int gs_parking_watch(struct gs_parking *pk, struct gs_parked *p, bool is_out);
/* @aside: the engine stops scheduling the TSGs of @p; else it schedules them again. */
void gs_parking_aside(struct gs_parking *pk, struct gs_parked *p, bool aside);

#endif /* GPUSCHED_PARK_PARKING_H */
