/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * rr - round robin in software: one best-effort TSG of a runlist runs at a time, for a quantum
 *
 * Does: lets one compute TSG of class be run on a runlist and suspends the others. Every quantum_ms
 * the next one gets its turn. Turns go round the users, within a user round the processes, and
 * within a process round its TSGs. A BE that is known to be idle has no turn, and one whose process is
 * past its share of the table has one only while nobody else wants it. The one that runs has
 * a timeslice of slice_us, short enough for latency-critical TSGs beside it, which get lc_slice_us.
 * So a request meets one BE however many there are, and no time is lost to switches between BE.
 * With be_cta a BE is stopped at the end of its running thread blocks. Where blocks are short, that
 * is quicker than in the middle of them.
 *
 * Good for: one or more services of short requests beside several training or batch jobs.
 *
 * Known weaknesses:
 *  - A BE waits for the quanta of all the others: (n - 1) * quantum_ms without any progress. With
 *    more than 200 BE at 50 ms, the host's limit on suspension (10 s) ends waits early.
 *  - Where the daemon keeps account of GPU time, a BE is known to be idle when it has slept through
 *    its turns of idle_ms. Elsewhere launches tell, if they are counted (somebody else asked for
 *    that; this policy does not), and a kernel longer than idle_ms looks idle. An idle BE runs
 *    beside the one whose turn it is, with its own slice. Where nothing is known, every BE that
 *    exists has turns.
 *  - Somebody with several user ids has the turns of several users.
 *  - Each change of turn costs two driver calls (about 1 ms in all) and one round of them without
 *    any BE.
 *  - It does not know how long a BE's thread blocks are. Set be_cta only if you do.
 */
#include "gpusched/policy.bpf.h"

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

/* A TSG that may be the next: the lowest numbers are, in this order. */
struct candidate {
	gs_u64 past;               /* its process is past its share of the table */
	gs_u64 user, process, tsg; /* number of the last turn of each; 0: none yet */
	gs_u64 id;                 /* 0: no candidate */
	gs_u32 uid, pid;
};

struct runlist {
	gs_u64 seq;
	gs_u64 turn;   /* id of the TSG whose turn it is; 0 none */
	gs_u64 number; /* of that turn */
	gs_u64 since;  /* when it began */
	gs_u64 alive;  /* the one whose turn it is was met in this round */
	gs_u64 others; /* number of the last turn of a user for whom there was no room below */
	struct candidate next;
};
GPUSCHED_MAP(rr_runlists, HASH, gs_u32, struct runlist, 256);

/* Number of the last turn of a user's, or of a process's, TSGs on a runlist. */
struct member {
	gs_u32 runlist, id;
};
GPUSCHED_MAP(rr_users, HASH, struct member, gs_u64, 4096);
GPUSCHED_MAP(rr_processes, HASH, struct member, gs_u64, 16384);

#define NUMBER 0 /* priv: of its last turn */
#define BEGAN 1  /* priv: when it began, or the first one through which it has slept since */

GPUSCHED_INLINE int takes_part(const struct gpusched_task *t)
{
	return t->kind == GPUSCHED_KIND_COMPUTE && t->class_id == GPUSCHED_CLASS_BE;
}

GPUSCHED_INLINE int is_idle(const struct gpusched_task *t, gs_u64 now)
{
	if (!idle_ms)
		return 0;
	/* a suspended one cannot run: what it did in its turns counts, once that is known */
	if (t->known & GPUSCHED_KNOWN_LAST_RUN)
		return t->priv[BEGAN] && t->last_run_ns < t->priv[BEGAN] &&
		       now > t->priv[BEGAN] + ((gs_u64)quantum_ms + idle_ms) * 1000000ull;
	if (!(t->known & GPUSCHED_KNOWN_LAUNCHES) || !t->launches)
		return 0;
	/* a suspended one cannot launch for long: its queue is full */
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

GPUSCHED_INLINE gs_u64 last_turn_of_user(const struct runlist *r, const struct gpusched_task *t)
{
	struct member m = { gpusched_runlist(t), t->uid };
	gs_u64 *number = gpusched_lookup(rr_users, &m);

	return number ? *number : r->others;
}

GPUSCHED_INLINE gs_u64 last_turn_of_process(const struct gpusched_task *t)
{
	struct member m = { gpusched_runlist(t), t->pid };
	gs_u64 *number = gpusched_lookup(rr_processes, &m);

	return number ? *number : 0;
}

GPUSCHED_INLINE int is_before(const struct candidate *a, const struct candidate *b)
{
	if (a->past != b->past)
		return a->past < b->past;
	if (a->user != b->user)
		return a->user < b->user;
	if (a->process != b->process)
		return a->process < b->process;
	if (a->tsg != b->tsg)
		return a->tsg < b->tsg;
	return a->id < b->id;
}

GPUSCHED_INLINE void gather(struct runlist *r, const struct gpusched_task *t,
			    const struct gpusched_round *round)
{
	struct candidate c = { 0 };

	if (r->seq != round->seq) {
		r->seq = round->seq;
		r->next.id = 0;
		r->alive = 0;
	}
	if (is_idle(t, round->now_ns))
		return;
	if (t->id == r->turn)
		r->alive = 1;
	c.past = gpusched_is_past_share(t);
	c.user = last_turn_of_user(r, t);
	c.process = last_turn_of_process(t);
	c.tsg = t->priv[NUMBER];
	c.id = t->id;
	c.uid = t->uid;
	c.pid = t->pid;
	if (!r->next.id || is_before(&c, &r->next))
		r->next = c;
}

/* Once per round and runlist, at the first TSG of the second pass. */
GPUSCHED_INLINE void advance(struct runlist *r, gs_u32 runlist, gs_u64 now)
{
	struct member user = { runlist, r->next.uid }, process = { runlist, r->next.pid };

	if (r->alive && now < r->since + (gs_u64)quantum_ms * 1000000ull)
		return;
	r->turn = r->next.id;
	r->since = now;
	r->alive = 1;
	r->number++;
	if (!r->turn)
		return;
	if (gpusched_update(rr_users, &user, &r->number))
		r->others = r->number; /* they take turns as one */
	gpusched_update(rr_processes, &process, &r->number);
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

	/* its time is over: the next round passes the turn on */
	if (r && r->turn == t->id)
		r->since = 0;
	gpusched_delete(rr_processes, &process);
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
	advance(r, gpusched_runlist(t), round->now_ns);
	if (r->turn == t->id && t->priv[NUMBER] != r->number) {
		t->priv[NUMBER] = r->number;
		if (!t->priv[BEGAN] || t->last_run_ns >= t->priv[BEGAN])
			t->priv[BEGAN] = r->since;
	}
	/* an idle one may wake before the next round: no short slice beside the busy one's */
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
