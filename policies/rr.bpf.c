/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * rr - round robin in software: one best-effort TSG of a runlist runs at a time, for a quantum
 *
 * Does: lets one compute TSG of class be (a BE) run on each runlist, and suspends the others. Every
 * quantum_ms the next BE gets its turn. Users take turns; the turns of a user go to its processes
 * in order, and those of a process to its TSGs. A BE that is known to be idle gets no turn. A BE of
 * a process past its quota of the table gets a turn only while no other BE wants one.
 *
 * The BE that runs has a timeslice of slice_us, which is short, so that latency-critical TSGs
 * beside it wait little. These get lc_slice_us. So a request meets one BE, however many there are,
 * and no time is lost to switches between BE.
 *
 * With be_cta, a BE leaves the GPU when its running thread blocks end, not in the middle of them.
 * If blocks are short, that is quicker.
 *
 * Good for: one or more services of short requests beside several training or batch jobs.
 *
 * Known weaknesses:
 *  - A BE waits for the quanta of all the others: (n - 1) * quantum_ms without any progress. With
 *    more than 200 BE at 50 ms, the host's limit on suspension (10 s) ends waits early.
 *  - Where the daemon keeps account of GPU time, a BE counts as idle when it has not used its turns
 *    for idle_ms. Elsewhere, if launches are counted, a BE without a launch for idle_ms counts as
 *    idle, even while a longer kernel of it runs. (This policy does not ask for launches to be
 *    counted.) An idle BE runs with its own slice, beside the BE that has the turn. Where neither
 *    is known, every BE gets turns.
 *  - A person with several user ids gets the turns of several users.
 *  - Each change of turn costs two driver calls, about 1 ms in all. No BE runs meanwhile.
 *  - The policy does not know how long a BE's thread blocks are. Set be_cta only if you do.
 */
#include "gpusched/policy.bpf.h"
#include "gpusched/rotation.h"

GPUSCHED_POLICY(rr, 10000, 500, 0);
GPUSCHED_ABOUT("round robin: one best-effort TSG of a runlist at a time");
GPUSCHED_CLASSES("lc be");

GPUSCHED_OPTION_RANGE(gs_u32, quantum_ms, 50, 10, 5000, "how long a turn lasts");
GPUSCHED_OPTION_RANGE(gs_u32, slice_us, 1, 1, 100000000,
		      "timeslice of the be TSG whose turn it is, us");
GPUSCHED_OPTION_RANGE(gs_u32, lc_slice_us, 1000000, 1, 100000000, "timeslice of lc TSGs, us");
GPUSCHED_OPTION_RANGE(
	gs_u32, idle_ms, 1000, 0, 60000,
	"a be TSG that slept through its turns, or launched nothing, for this long is passed "
	"over; 0: never");
GPUSCHED_OPTION(gs_bool, be_cta, 0,
		"preempt be TSGs between thread blocks (CTA); harmful where blocks are long");

struct runlist {
	struct gpusched_rotation line;
	gs_u64 turn;   /* id of the TSG that has the turn; 0: none */
	gs_u64 number; /* number of that turn */
	gs_u64 since;  /* when that turn began */
	gs_u64 alive;  /* last round in which that TSG was met and had work */
	/* one account shared by all users that rr_users has no space for */
	struct gpusched_account others;
};
GPUSCHED_MAP(rr_runlists, HASH, gs_u32, struct runlist, 256);

/* A user (id: uid) or a process (id: pid), on one runlist. */
struct member {
	gs_u32 runlist, id;
};
GPUSCHED_MAP(rr_users, HASH, struct member, struct gpusched_account, 4096);
GPUSCHED_MAP(rr_processes, HASH, struct member, struct gpusched_account, 16384);
GPUSCHED_MAP(rr_tsgs, HASH, gs_u64, struct gpusched_account, GPUSCHED_MAX_TSGS);

/* Words of priv. */
#define NUMBER 0 /* number of the TSG's last turn */
/* begin of that turn; if its last turns were unused, begin of the first unused one */
#define BEGAN 1

GPUSCHED_INLINE int takes_part(const struct gpusched_task *t)
{
	return t->kind == GPUSCHED_KIND_COMPUTE && t->class_id == GPUSCHED_CLASS_BE;
}

GPUSCHED_INLINE int is_idle(const struct gpusched_task *t, gs_u64 now)
{
	if (!idle_ms)
		return 0;
	/* a suspended TSG cannot run, so only its own turns show whether it is idle */
	if (t->known & GPUSCHED_KNOWN_LAST_RUN)
		return t->priv[BEGAN] && t->last_run_ns < t->priv[BEGAN] &&
		       now > t->priv[BEGAN] + ((gs_u64)quantum_ms + idle_ms) * 1000000ull;
	if (!(t->known & GPUSCHED_KNOWN_LAUNCHES) || !t->launches)
		return 0;
	/*
	 * a suspended TSG soon stops launching because its queue is full, which does not mean that
	 * it is idle
	 */
	if ((t->want.valid & GPUSCHED_RUNNABLE) && !t->want.runnable)
		return 0;
	return now > t->last_launch_ns + (gs_u64)idle_ms * 1000000ull;
}

GPUSCHED_INLINE struct runlist *runlist_of(const struct gpusched_task *t)
{
	struct runlist fresh = { 0 };
	gs_u32 key = gpusched_runlist(t);

	return gpusched_lookup_or_add(rr_runlists, &key, &fresh);
}

GPUSCHED_INLINE struct gpusched_account *user_of(struct runlist *r, gs_u32 runlist, gs_u32 uid)
{
	struct member m = { runlist, uid };
	struct gpusched_account fresh = { 0 }, *a;

	a = gpusched_lookup_or_add(rr_users, &m, &fresh);
	return a ? a : &r->others; /* users without accounts take turns as if they were one user */
}

GPUSCHED_INLINE struct gpusched_account *process_of(gs_u32 runlist, gs_u32 pid)
{
	struct member m = { runlist, pid };
	struct gpusched_account fresh = { 0 };

	return gpusched_lookup_or_add(rr_processes, &m, &fresh);
}

GPUSCHED_INLINE struct gpusched_account *tsg_of(gs_u64 id)
{
	struct gpusched_account fresh = { 0 };

	return gpusched_lookup_or_add(rr_tsgs, &id, &fresh);
}

/* Puts a TSG in line. rr does not use jobs, so all TSGs have the same place on level JOB. */
GPUSCHED_INLINE void gather(struct runlist *r, const struct gpusched_task *t,
			    const struct gpusched_round *round)
{
	gs_u32 runlist = gpusched_runlist(t);
	struct gpusched_account *user, *process;
	struct gpusched_place place = { 0 };

	gpusched_rotation_begin(&r->line, round->seq);
	if (is_idle(t, round->now_ns))
		return;
	if (t->id == r->turn)
		r->alive = round->seq;
	user = user_of(r, runlist, t->uid);
	process = process_of(runlist, t->pid);
	place.past = gpusched_is_past_share(t);
	gpusched_place_at(&place, GPUSCHED_LEVEL_USER, &r->line.inner_v, user, t->uid);
	gpusched_place_at(&place, GPUSCHED_LEVEL_PROCESS, &user->inner_v, process, t->pid);
	gpusched_place_at(&place, GPUSCHED_LEVEL_TSG, process ? &process->inner_v : 0,
			  tsg_of(t->id), t->id);
	gpusched_rotation_stand(&r->line, &place);
}

/* Charges a whole turn to the first in line, even if the turn ends early. */
GPUSCHED_INLINE void charge(struct runlist *r, gs_u32 runlist)
{
	const struct gpusched_place *p = &r->line.first;
	gs_u64 ns = (gs_u64)quantum_ms * 1000000ull;
	struct gpusched_account *user = user_of(r, runlist, (gs_u32)p->who[GPUSCHED_LEVEL_USER]);
	struct gpusched_account *process =
		process_of(runlist, (gs_u32)p->who[GPUSCHED_LEVEL_PROCESS]);

	gpusched_place_charge(p, GPUSCHED_LEVEL_USER, &r->line.inner_v, user, ns, 100);
	gpusched_place_charge(p, GPUSCHED_LEVEL_PROCESS, &user->inner_v, process, ns, 100);
	gpusched_place_charge(p, GPUSCHED_LEVEL_TSG, process ? &process->inner_v : 0,
			      tsg_of(p->who[GPUSCHED_LEVEL_TSG]), ns, 100);
}

/*
 * Gives the turn to the next TSG if the present turn is over. Call this once per round and runlist.
 */
GPUSCHED_INLINE void advance(struct runlist *r, gs_u32 runlist, const struct gpusched_round *round)
{
	gs_u64 now = round->now_ns;

	if (r->alive == round->seq && now < r->since + (gs_u64)quantum_ms * 1000000ull)
		return;
	r->turn = r->line.first.who[GPUSCHED_LEVEL_TSG];
	r->since = now;
	r->alive = round->seq;
	r->number++;
	if (r->turn)
		charge(r, runlist);
}

GPUSCHED_TASK_INIT(t)
{
	struct runlist *r;

	if (t->kind != GPUSCHED_KIND_COMPUTE)
		return 0;
	if (t->class_id == GPUSCHED_CLASS_LC)
		gpusched_want_timeslice(t, lc_slice_us);
	if (!takes_part(t)) {
		gpusched_want_default(t, t->class_id == GPUSCHED_CLASS_LC
						 ? GPUSCHED_RUNNABLE | GPUSCHED_PREEMPT_MODE
						 : GPUSCHED_ALL_SETTINGS);
		return 0;
	}
	gpusched_want_timeslice(t, slice_us);
	if (be_cta)
		gpusched_want_preempt_mode(t, GPUSCHED_PREEMPT_CTA);
	r = runlist_of(t);
	if (!r)
		return 0;
	if (!r->turn) {
		r->turn = t->id;
		r->since = gpusched_now();
	}
	if (r->turn == t->id)
		gpusched_want_default(t, GPUSCHED_RUNNABLE);
	else
		gpusched_want_runnable(t, 0);
	return 0;
}

GPUSCHED_TASK_DESTROY(t)
{
	struct member process = { gpusched_runlist(t), t->pid };
	struct runlist *r = runlist_of(t);
	gs_u64 id = t->id;

	/* the TSG has ended, so the next round gives the turn to another TSG */
	if (r && r->turn == t->id)
		r->since = 0;
	gpusched_delete(rr_processes, &process);
	gpusched_delete(rr_tsgs, &id);
	return 0;
}

GPUSCHED_TICK_BEGIN(round)
{
	return 2;
}

GPUSCHED_TICK(t, round)
{
	struct runlist *r;

	if (!takes_part(t))
		return 0;
	r = runlist_of(t);
	if (!r)
		return 0;
	if (round->pass == 0) {
		gather(r, t, round);
		return 0;
	}
	advance(r, gpusched_runlist(t), round);
	if (r->turn == t->id && t->priv[NUMBER] != r->number) {
		t->priv[NUMBER] = r->number;
		if (!t->priv[BEGAN] || t->last_run_ns >= t->priv[BEGAN])
			t->priv[BEGAN] = r->since;
	}
	/*
	 * an idle TSG may wake up beside the one that has the turn: very short slices would only
	 * cause switches
	 */
	if (r->turn != t->id && is_idle(t, round->now_ns)) {
		gpusched_want_default(t, GPUSCHED_TIMESLICE | GPUSCHED_RUNNABLE);
		return 0;
	}
	gpusched_want_timeslice(t, slice_us);
	if (r->turn == t->id)
		gpusched_want_default(t, GPUSCHED_RUNNABLE);
	else
		gpusched_want_runnable(t, 0);
	return 0;
}
