// SPDX-License-Identifier: MIT
#include "park/wished.h"

#include <stdlib.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "basic/log.h"
#include "engine/aside.h"
#include "park/idle.h"
#include "park/parking.h"

#define AGAIN_NS (600 * NS_PER_S) /* pause between two wishes carried out for one process */
#define FAILED_NS (30 * NS_PER_S) /* pause after a parking that failed */
#define TELL_NS (10 * NS_PER_S)

bool gs_park_wish_take(struct gs_park_wished *w, uint64_t now_ns)
{
	uint64_t *oldest = &w->granted_ns[0];

	for (size_t i = 1; i < GS_PARK_A_MINUTE; i++)
		if (w->granted_ns[i] < *oldest)
			oldest = &w->granted_ns[i];
	if (*oldest && now_ns - *oldest < 60 * NS_PER_S)
		return false;
	*oldest = now_ns;
	return true;
}

/* Logs at most one refusal in 10 s, since a policy may repeat its wish in every round. */
static void refuse(struct gs_parking *pk, const struct gpusched_key *key, uint32_t pid,
		   const char *why)
{
	uint64_t now = gs_now_ns();

	if (pk->hub->engine)
		gs_engine_park_refused(pk->hub->engine, key);
	if (pk->wished.told_ns && now - pk->wished.told_ns < TELL_NS)
		return;
	pk->wished.told_ns = now;
	gs_log(LOG_NOTICE, "the policy wishes process %u parked: refused, %s", pid, why);
}

void gs_park_wish(struct gs_parking *pk, const struct gpusched_tsg *rec, uint32_t min)
{
	struct gs_park_wished *w = &pk->wished;

	for (size_t i = 0; i < w->n; i++)
		if (w->all[i].pid == rec->task.pid)
			return; /* the process is queued already, through another of its TSGs */
	if (w->n == GS_PARK_WISHES) {
		refuse(pk, &rec->key, rec->task.pid, "too many are wished at once");
		return;
	}
	w->all[w->n].key = rec->key;
	w->all[w->n].pid = rec->task.pid;
	w->all[w->n++].min = min;
}

/* Returns why the process must not be parked now, judged by its past parkings; NULL: it may be. */
static const char *objection(const struct gs_parking *pk, const struct gs_park_idler *i)
{
	uint64_t now = gs_now_ns();

	if (gs_parking_find(pk, i->process->pid))
		return "it is parked, or on its way";
	if (i->wished_ns && now - i->wished_ns < AGAIN_NS)
		return "a policy had it parked in the last 10 minutes";
	if (gs_park_again_in_vain(&i->again))
		return "twice it was wanted back at once";
	return gs_park_may_again(&i->again, now) ? NULL : "it is too soon after its last one";
}

static int park(struct gs_parking *pk, const struct gs_park_ask *ask, struct gs_error *err)
{
	struct gs_park_idler *i = gs_park_idler_remember(pk, ask->recs);
	const char *why = i ? objection(pk, i) : "there is no room for one more";
	struct gs_parked *p = NULL;
	int r;

	if (why)
		return gs_fail(err, -EBUSY, "%s", why);
	if (!gs_park_wish_take(&pk->wished, gs_now_ns()))
		return gs_fail(err, -EBUSY, "%u were parked in the last minute", GS_PARK_A_MINUTE);
	r = gs_parking_out(pk, ask, &p, err);
	if (r) {
		i->again.not_before_ns = gs_now_ns() + FAILED_NS;
		return r;
	}
	i->wished_ns = gs_now_ns();
	gs_count(pk->hub, GS_SVC_PARKED_WISHED);
	gs_log(LOG_INFO, "process %d (%s) is to be parked, as the policy wishes", i->process->pid,
	       i->process->comm);
	gs_parked_unref(p);
	return 0;
}

static void carry_out(struct gs_parking *pk, const struct gpusched_tsg *recs, size_t n, size_t k)
{
	struct gs_park_ask ask = { .by_itself = true, .by_policy = true };
	uint32_t pid = pk->wished.all[k].pid;
	struct gs_error err = { 0 };

	for (size_t i = 0; i < n; i++) {
		if (recs[i].task.pid != pid)
			continue;
		ask.recs = ask.n++ ? ask.recs : &recs[i];
	}
	if (!ask.n) /* the process has ended */
		return;
	ask.until_ns = gs_now_ns() + pk->wished.all[k].min * 60 * NS_PER_S;
	if (park(pk, &ask, &err))
		refuse(pk, &pk->wished.all[k].key, pid, err.text);
}

void gs_park_wished_beat(void *self)
{
	CLEANUP_FREE struct gpusched_tsg *recs = NULL;
	struct gs_parking *pk = self;
	size_t n = 0;

	if (!pk->wished.n || gs_park_idle_records(pk, &recs, &n))
		return;
	for (size_t k = 0; k < pk->wished.n; k++)
		carry_out(pk, recs, n, k);
	pk->wished.n = 0;
}
