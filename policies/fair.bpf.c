/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * fair - shares of the GPU by weight: by slices, or by turns where slices leave somebody behind
 *
 * Does: shares each GPU by the time that programs work on it. Users have equal parts (each of
 * root's cgroups counts as a user). A user's jobs share the user's part by weight, and a job's
 * processes share the job's. A job is a cgroup; else the processes that one `gpusched run` or
 * `class set` began; else a tree of processes. A part that is not wanted goes to the others.
 *
 * The TSG with the smallest part gets a timeslice of slice_us, and the others longer ones in
 * proportion. A slow correction, within a factor of two, fits each slice to the work that its TSG
 * did. While all of them always have work, slices are 64 times the cost of a switch, so switches
 * take less than 2 % of the time. Slices are shorter if all together would take more than 40 ms:
 * for so long a program that comes may wait for its first one. A limit, or a job with several
 * programs on any GPUs, keeps slices short, since such programs may wait for each other.
 *
 * A program that waits for each of its steps, or launches kernel by kernel, leaves its slices
 * unused: it falls behind, whatever its slice is. Such a program wants every round, and works less
 * than 0.9 of its part, or loses 0.15 of that part to switches. Where the driver's samples show that
 * the GPU is free for some time, it does so three times in a row. While there is one, or where
 * weights are too far apart for slices, jobs take turns of turn_ms: one runs, the others are
 * suspended. A program that slept through its turn, or that wants less than half of its part, runs
 * beside the one that has the turn.
 *
 * Every 4 to 16 s, and at most 4 s after a TSG came or went, all TSGs run for half a second. That
 * shows whether turns are still needed. The work of each program in this time is charged to its
 * account.
 *
 * No program gains by having slept, by forking, or by having many processes.
 *
 * A class, or a program, with a request has at least that part of a GPU's time while it has work,
 * or its part by weight if that is larger. The others share the rest by weight.
 *
 * A class, or a program, with a limit has at most that part of a GPU's time, even while others are
 * idle. It is suspended some seven times a second. A job that works on several GPUs is suspended
 * on all of them, while it is past the limit on one or waits for its turn there. Its processes may
 * wait for each other.
 *
 * The daemon's log says when programs begin and cease to take turns.
 *
 * Good for: several training or batch jobs on one GPU, of whatever kind. Each of n programs of
 * equal weight has at least 0.9/n of what it does alone.
 *
 * Known weaknesses:
 *  - While turns are taken, a program waits for the turns of all the others: (n - 1) * turn_ms
 *    without progress. A latency-critical program among them waits as well: use auto or lcbe.
 *    It waits for 1.8 s at most. A job with more than 8 TSGs on a GPU has turns TSG by TSG, and its
 *    TSGs wait for longer.
 *  - The policy needs the daemon's account of GPU time. Without one, there are slices by weight,
 *    without correction and without turns, and nothing is charged; the log says so.
 *  - Time for which a program holds the GPU alone counts as work, since the log does not show
 *    whether it works. That matters only until another program wants the GPU.
 *  - A program that falls behind is seen after half a second, so a newcomer loses that much.
 *  - While turns are taken, a program that rests now and then leaves the GPU idle for the rest of
 *    its turn. If all rest, there are no turns.
 *  - A person with several user ids has the parts of several users.
 *  - A limit counts the time for which a program holds the GPU. A program that is alone, and works
 *    little, is paused as if it worked. While the GPU's log does not show a program, nothing is
 *    charged, and its limit is not kept.
 */
#include "gpusched/policy.bpf.h"
#include "gpusched/rotation.h"

GPUSCHED_POLICY(fair, 10000, 500, GPUSCHED_F_FACTS);
GPUSCHED_ABOUT("shares of the GPU by weight: by slices, or by turns where needed");

GPUSCHED_OPTION_RANGE(gs_u32, slice_us, 2000, 200, 100000,
		      "timeslice of who has the smallest part, us; longer where all always work");
GPUSCHED_OPTION_RANGE(gs_u32, min_slice_us, 800, 100, 100000,
		      "shortest timeslice, us; at least 4 switch costs");
GPUSCHED_OPTION_RANGE(gs_u32, max_slice_us, 50000, 100, 1000000, "longest timeslice, us");
GPUSCHED_OPTION_RANGE(gs_u32, turn_ms, 50, 20, 1000, "how long a turn lasts");
GPUSCHED_OPTION(gs_bool, turns, 1, "take turns where slices leave somebody behind");

#include "common/limits.h"
#include "common/work.h"
#include "fair/state.h"
#include "fair/members.h"
#include "fair/look.h"
#include "fair/promises.h"
#include "fair/turns.h"

GPUSCHED_INLINE void begin_runlist(const struct gpusched_task *t, struct runlist *r,
				   const struct gpusched_round *round)
{
	if (r->seq == round->seq)
		return;
	r->seq = round->seq;
	r->least_ppm = r->g_least_ppm;
	r->rest = r->g_rest;
	r->g_rest = 0;
	r->g_users = r->g_ready = r->g_unknown = r->g_work = r->g_turns = r->g_alive = 0;
	r->g_all_turns = 0;
	r->g_as_of = r->g_lifted_ppm = r->g_lifted_due_ppm = r->g_promise = 0;
	r->most_ppm = r->g_most_ppm;
	r->g_least_ppm = PPM;
	r->g_most_ppm = 0;
	gpusched_rotation_begin(&r->line, round->seq);
	gpusched_gpu(t, &r->gpu);
	r->cost_ns = turn_cost_ns(&r->gpu);
}

/*
 * The slice of the smallest part. Where all TSGs always have work, nobody gains by short slices,
 * and each costs a switch. So then slices follow that cost, as long as a newcomer waits for less than
 * COMER_US. A limit pauses its TSGs often: they would not keep it as well.
 */
#define COST_SHARE 64 /* a slice has so many times the cost of a switch */
#define COMER_US 40000ull
#define H200_COST_US 184ull
GPUSCHED_INLINE gs_u64 least_slice_us(const struct runlist *r)
{
	const gs_u32 needs = GPUSCHED_GPU_SWITCH | GPUSCHED_GPU_SAVE;
	gs_u64 cost = H200_COST_US;

	if (r->rest || r->mode != SLICES || r->limits.tsgs)
		return slice_us;
	if ((r->gpu.known & needs) == needs)
		cost = r->gpu.switch_us + r->gpu.save_us;
	return gs_most(slice_us, gs_least(COST_SHARE * cost, COMER_US * r->least_ppm / PPM));
}

/*
 * Sets a slice in proportion to the TSG's part. Skips changes of less than a sixteenth, which would
 * cost a call and make no difference.
 */
GPUSCHED_INLINE void want_slice(struct gpusched_task *t, const struct tsg *s,
				const struct runlist *r)
{
	gs_u64 least_ppm = r->least_ppm ? r->least_ppm : s->due_ppm, us;
	gs_u64 base = gpusched_div(max_slice_us * least_ppm, gs_most(r->most_ppm, least_ppm));

	base = gs_least(base, cycle_us() * least_ppm / PPM);
	base = gs_most(gs_least(least_slice_us(r), base), min_slice_us);
	us = gpusched_div(base * s->due_ppm, gs_most(least_ppm, 1));
	if (s->factor)
		us = us * s->factor / 1024;
	us = gs_most(gs_least(us, max_slice_us), min_slice_us);
	if (t->want.valid & GPUSCHED_TIMESLICE) {
		gs_u64 now = t->want.timeslice_us;

		if (us * 16 > now * 15 && us * 16 < now * 17)
			us = now;
	}
	gpusched_want_timeslice(t, (gs_u32)us);
}

GPUSCHED_INLINE void decide(struct gpusched_task *t, struct tsg *s, struct runlist *r, gs_u64 now)
{
	int waits = waits_for_turn(t, s, r, now);

	if (waits)
		note_turn(&s->limited, r->seq);
	waits |= must_pause(&s->limited);
	want_slice(t, s, r);
	if (waits)
		gpusched_want_runnable(t, 0);
	else
		gpusched_want_default(t, GPUSCHED_RUNNABLE);
}

GPUSCHED_INLINE void say(struct tsg *s, const struct runlist *r, gs_u64 now)
{
	if (is_capped(&s->limited, now)) {
		s->says.means = PAUSED;
		s->says.why = AT_ITS_LIMIT;
	} else if (r->mode == TURNS) {
		s->says.means = BY_TURNS;
		s->says.why = r->why;
	} else {
		s->says.means = BY_SLICES;
		s->says.why = NOBODY_FALLS_BEHIND;
	}
	s->says.due_permille = (s->due_ppm + 500) / 1000;
}

/*
 * Called again when class or weight change. A TSG that comes while turns are taken waits for its
 * turn.
 */
GPUSCHED_TASK_INIT(t)
{
	struct runlist *r = runlist_of(t);
	struct tsg *s = tsg_of(t);

	if (!r || !s)
		return 0;
	join(t, s);
	if (!s->looked)
		r->joined = 1;
	s->active = 1;
	if (!s->due_ppm)
		s->due_ppm = r->least_ppm ? r->least_ppm : PPM;
	decide(t, s, r, gpusched_now());
	return 0;
}

GPUSCHED_TASK_DESTROY(t)
{
	gs_u64 id = t->id;
	struct runlist *r = runlist_of(t);
	struct tsg *s = gpusched_lookup(fair_tsgs, &id);

	if (r && r->turn_id == id)
		r->turn_id = 0;
	if (r)
		r->joined = 1;
	if (s) {
		leave_limit(&s->limited);
		leave_promise(s);
		leave(s);
	}
	gpusched_delete(fair_tsgs, &id);
	return 0;
}

/*
 * Pass 0 looks at all TSGs. Pass 1 decides; the first TSG of each runlist triggers the decision for
 * the runlist.
 */
GPUSCHED_TICK_BEGIN(round)
{
	gs_u32 zero = 0;
	struct whole *w = gpusched_lookup(fair_whole, &zero);

	if (w)
		w->sleep_ms = GPUSCHED_REST_MAX_MS;
	return 2;
}

GPUSCHED_TICK(t, round)
{
	struct runlist *r = runlist_of(t);
	struct tsg *s = tsg_of(t);
	gs_u64 now = round->now_ns;
	int counts;

	if (!r || !s)
		return 0;
	if (round->pass == 0) {
		begin_runlist(t, r, round);
		s->done = look(t, s, r, now);
		count_limit(t, &s->limited, &r->limits, round, s->held,
			    s->sighted ? s->now.as_of_ns : 0);
		look_promise(t, s, r, now);
		join(t, s);
		r->g_rest += s->active && may_spin(s);
		if (!wants_turns(s, now))
			return 0;
		if (!is_capped(&s->limited, now))
			count_member(t, s, r);
		line_up(t, s, r);
		return 0;
	}
	if (r->settled != round->seq) {
		r->settled = round->seq;
		settle(r, gpusched_runlist(t), round->seq, now);
	}
	counts = wants_turns(s, now) && !is_capped(&s->limited, now);
	s->due_ppm = promised_ppm(s, r, due_ppm(t, s, r), counts);
	if (counts) {
		r->g_least_ppm = gs_least(r->g_least_ppm, s->due_ppm);
		r->g_most_ppm = gs_most(r->g_most_ppm, s->due_ppm);
	}
	if (r->mode == TURNS && r->shared_ns)
		charge_work(s, r, s->done);
	if (r->judging == round->seq)
		judge(s, r);
	else if (r->mode == TURNS && !r->shared_ns)
		watch_light(s, r);
	keep_limit(&s->limited, round->seq, s->sighted, now);
	take_turn(t, s, r, now);
	decide(t, s, r, now);
	say(s, r, now);
	return 0;
}

/* Returns the time until the next round, in ms. It is longer if there is less to watch. */
GPUSCHED_TICK_END(round)
{
	gs_u32 zero = 0;
	struct whole *w = gpusched_lookup(fair_whole, &zero);

	return w ? (int)w->sleep_ms : 0;
}
