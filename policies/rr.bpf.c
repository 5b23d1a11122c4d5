/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * rr - round robin in software: the best-effort TSGs of one job run at a time, for a quantum
 *
 * Does: lets the compute TSGs of class be (BE) of one job run on each runlist, and suspends the
 * others. Every quantum_ms the next job gets its turn; later if the calls for that would take more
 * than 3 % of the time. Users take turns, and the turns of a user go to its jobs in order. A job is
 * the same as in auto, and has its turns on all its GPUs at once. A BE that is known to be idle
 * gets no turn. A BE of a process past its quota of the table gets a turn only while no other BE
 * wants one. A BE that was without a turn for 1.8 s runs for a moment beside the others.
 *
 * Beside latency-critical TSGs (LC) that run, a BE has a timeslice of slice_us, which is short, so
 * that they wait little, and 800 us if several BE share a turn. LC get lc_slice_us. So a request
 * meets one job, however many there are, and no time is lost to switches between jobs.
 *
 * While no LC runs, nobody is suspended for a BE that is not known to work, as in auto. A BE that
 * often drains runs beside the turns of others. In its own turn, another job runs too.
 *
 * Good for: one or more services of short requests beside several training or batch jobs.
 *
 * Known weaknesses:
 *  - A BE waits for the quanta of all the other jobs, up to 1.8 s without any progress. With more
 *    than 36 jobs at 50 ms, some run beside the one that has the turn.
 *  - A request waits for a round of all BE of the job that has the turn.
 *  - Where nothing is known of a BE's work, as without the daemon's account, turns are taken only
 *    beside LC that run.
 *  - If several jobs have work on several GPUs, one of them at a time has its turn on all of them.
 *  - Where the daemon keeps account of GPU time, a BE counts as idle when it has not used its turns
 *    for idle_ms. Elsewhere, if launches are counted, a BE without a launch for idle_ms counts as
 *    idle, even while a longer kernel of it runs. (This policy does not ask for launches to be
 *    counted.) An idle BE runs with its own slice, beside the BE that has the turn. Where neither
 *    is known, every BE gets turns.
 *  - A person with several user ids gets the turns of several users.
 *  - Each change of turn costs two driver calls, about 1 ms in all. No BE runs meanwhile.
 */
#include "gpusched/policy.bpf.h"
#include "gpusched/rotation.h"

GPUSCHED_POLICY(rr, 10000, 500, GPUSCHED_F_FACTS);
GPUSCHED_ABOUT("round robin: the best-effort TSGs of one job at a time");
GPUSCHED_CLASSES("lc be");

GPUSCHED_OPTION_RANGE(gs_u32, quantum_ms, 50, 10, 5000, "how long a turn lasts");
GPUSCHED_OPTION_RANGE(gs_u32, slice_us, 1, 1, 100000000,
		      "timeslice of the be TSG whose turn it is, us");
GPUSCHED_OPTION_RANGE(gs_u32, lc_slice_us, 1000000, 1, 100000000, "timeslice of lc TSGs, us");
GPUSCHED_OPTION_RANGE(
	gs_u32, idle_ms, 1000, 0, 60000,
	"a be TSG that slept through its turns, or launched nothing, for this long is passed "
	"over; 0: never");

#include "common/work.h"
#include "rr/state.h"
#include "rr/turns.h"

/* The slice of BE that share a turn, beside LC. */
#define SHARED_SLICE_US 800
/* An LC that has not run for this long does not count. */
#define STALE_NS (5 * GS_S)
#define SHARE_NS (250 * GS_MS)

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

/* Pass 0: looks at how a BE works, and puts it in line if it wants turns. */
GPUSCHED_INLINE void look(const struct gpusched_task *t, struct tsg *s, struct runlist *r,
			  gs_u64 now)
{
	const struct gpusched_facts *f = &s->now;

	s->sighted = gpusched_facts(t, &s->now) == 0;
	if (s->sighted)
		work_look(&s->work, f);
	if (s->sighted && f->as_of_ns > s->share_ns + SHARE_NS) {
		s->share_permille = gpusched_div((f->held_ns - s->share_held) * 1000,
						 f->as_of_ns - s->share_ns);
		s->share_ns = f->as_of_ns;
		s->share_held = f->held_ns;
	}
	if (!is_idle(t, now))
		gather(t, s, r);
}

/* The slice of a BE: a short one only where LC gains by that. */
GPUSCHED_INLINE void want_slice(struct gpusched_task *t, const struct tsg *s,
				const struct runlist *r)
{
	if (!r->lc)
		gpusched_want_default(t, GPUSCHED_TIMESLICE);
	else
		gpusched_want_timeslice(
			t, s->mates > 1 && slice_us < SHARED_SLICE_US ? SHARED_SLICE_US : slice_us);
}

/* Pass 1: lets the BE run, or suspends it. */
GPUSCHED_INLINE void decide(struct gpusched_task *t, struct tsg *s, struct runlist *r, gs_u64 now)
{
	want_slice(t, s, r);
	if (has_turn(t, s, r) || runs_beside(t, s, r, now)) {
		gpusched_want_default(t, GPUSCHED_RUNNABLE);
		s->off_ns = 0;
		return;
	}
	gpusched_want_runnable(t, 0);
	if (!s->off_ns || now >= s->off_ns + OFF_MOST_NS + OFF_RUN_NS)
		s->off_ns = now;
	else if (now >= s->off_ns + OFF_MOST_NS && !gpusched_is_past_share(t))
		gpusched_want_default(t, GPUSCHED_RUNNABLE);
}

GPUSCHED_TASK_INIT(t)
{
	struct runlist *r;
	struct tsg *s;

	if (t->kind != GPUSCHED_KIND_COMPUTE)
		return 0;
	if (t->class_id == GPUSCHED_CLASS_LC)
		gpusched_want_timeslice(t, lc_slice_us);
	if (!takes_part(t)) {
		gpusched_want_default(t, t->class_id == GPUSCHED_CLASS_LC ? GPUSCHED_RUNNABLE
									  : GPUSCHED_ALL_SETTINGS);
		return 0;
	}
	r = runlist_of(t);
	s = tsg_of(t);
	if (!r || !s)
		return 0;
	if (!r->turn_id) {
		r->turn_id = t->id;
		r->since = gpusched_now();
	}
	decide(t, s, r, gpusched_now());
	return 0;
}

GPUSCHED_TASK_DESTROY(t)
{
	struct runlist *r = takes_part(t) ? runlist_of(t) : 0;
	gs_u64 id = t->id;
	struct tsg *s = gpusched_lookup(rr_tsgs, &id);

	/* the TSG has ended, so the next round gives the turn to another job */
	if (r && s && has_turn(t, s, r) && r->alive < 2)
		r->turn.any = r->turn_id = 0;
	if (s)
		leave(s);
	gpusched_delete(rr_tsgs, &id);
	return 0;
}

GPUSCHED_TICK_BEGIN(round)
{
	begin_turns(round->now_ns, (gs_u64)quantum_ms * GS_MS);
	return 2;
}

GPUSCHED_TICK(t, round)
{
	struct runlist *r;
	struct tsg *s;

	if (t->kind != GPUSCHED_KIND_COMPUTE)
		return 0;
	r = takes_part(t) || t->class_id == GPUSCHED_CLASS_LC ? runlist_of(t) : 0;
	if (!r)
		return 0;
	if (round->pass == 0)
		begin_runlist(r, round->seq);
	if (!takes_part(t)) {
		if (round->pass == 0 && (!(t->known & GPUSCHED_KNOWN_LAST_RUN) ||
					 round->now_ns < t->last_run_ns + STALE_NS))
			r->g_lc = 1;
		return 0;
	}
	s = tsg_of(t);
	if (!s)
		return 0;
	if (round->pass == 0) {
		look(t, s, r, round->now_ns);
		return 0;
	}
	if (r->settled != round->seq) {
		r->settled = round->seq;
		advance(r, gpusched_runlist(t), round->now_ns);
	}
	if (has_turn(t, s, r) && t->priv[NUMBER] != r->number) {
		t->priv[NUMBER] = r->number;
		if (!t->priv[BEGAN] || t->last_run_ns >= t->priv[BEGAN])
			t->priv[BEGAN] = r->since;
	}
	/*
	 * an idle TSG may wake up beside the job that has the turn: very short slices would only
	 * cause switches
	 */
	if (!has_turn(t, s, r) && is_idle(t, round->now_ns)) {
		gpusched_want_default(t, GPUSCHED_TIMESLICE | GPUSCHED_RUNNABLE);
		s->off_ns = 0;
		return 0;
	}
	decide(t, s, r, round->now_ns);
	return 0;
}
