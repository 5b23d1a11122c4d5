// SPDX-License-Identifier: MIT
#include "intake/past_share.h"

#include "basic/clock.h"
#include "basic/env.h"
#include "basic/log.h"
#include "gate/gate.h"
#include "intake/adoption.h"
#include "intake/intake.h"
#include "table/events.h"
#include "table/past.h"

#define AT_ONCE 64
#define UNSEEN_NS (3 * NS_PER_S)

void gs_past_told(const struct gpusched_event *ev)
{
	char of_user[32] = "";
	uid_t uid;

	if (!gs_event_uid(ev, &uid))
		snprintf(of_user, sizeof(of_user), " of user %u", uid);
	gs_log(LOG_NOTICE,
	       "process %u (%.*s)%s has all of its share of the table, or of its user's: with "
	       "more it is held back",
	       ev->pid, GPUSCHED_COMM_LEN, ev->comm, of_user);
}

/* Adopts TSGs of processes that were past their quota, if there is room now. */
static void take_in(struct gs_intake *in)
{
	struct gs_past_tsg all[AT_ONCE];
	size_t n = gs_past_fitting(in->hub->table, all, AT_ONCE);

	for (size_t i = 0; i < n; i++)
		gs_adopting_seen(in, &(struct gpusched_event){ .pid = (uint32_t)all[i].pid,
							       .key = all[i].key,
							       .ns = gs_now_ns() });
}

/*
 * True if a TSG that is not in the table is possibly running. It stays true for UNSEEN_NS after
 * that: each change of the answer makes the engine evaluate all TSGs, and a program could otherwise
 * cause many such changes. @none: all TSGs are in the table.
 */
static bool may_run_unseen(struct gs_intake *in, bool none, uint64_t now)
{
	if (!none && gs_past_runs(in->hub->table))
		in->unseen_ns = now;
	return in->unseen_ns && now - in->unseen_ns < UNSEEN_NS;
}

/*
 * True if all TSGs are in the table. The taps count each one that is not, so the map is searched
 * only while it has entries, and after that counter has changed: a search of an empty map takes as
 * long as of a full one.
 */
static bool all_are_in(struct gs_intake *in)
{
	uint64_t n;

	if (gs_events_counter(in->hub->table, GPUSCHED_CNT_PAST_SHARE, &n))
		return false;
	if (!in->past_none || n != in->past_counted)
		in->past_none = gs_past_is_empty(in->hub->table);
	in->past_counted = n;
	return in->past_none;
}

void gs_past_check(struct gs_intake *in)
{
	const struct gs_hub *hub = in->hub;
	uint64_t now = gs_now_ns();
	bool none;

	if (!hub->engine || now < in->past_next_ns)
		return;
	in->past_next_ns = now + GS_BEATS_SECOND_NS;
	none = all_are_in(in);
	if (!none)
		take_in(in);
	gs_gate_limit(hub->table, (uint64_t)((double)hub->config->hold_limit_ms * NS_PER_MS *
					     gs_env()->dilate));
	gs_engine_unseen(hub->engine, may_run_unseen(in, none, now));
}
