/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * admit - caps how many latency-critical and best-effort TSGs run on a GPU; the rest waits
 *
 * Does: admits at most max_lc compute TSGs of class lc, and max_be of class be, on each GPU. Any
 * further TSG waits when its owner schedules it; no call fails. When an admitted TSG ends, the next
 * tick admits the TSG that has waited longest. A MIG partition counts as a GPU.
 *
 * A job gets all its places, or none: its processes may wait for each other, on one GPU or on
 * several. So while one TSG of a job is admitted, the job's other TSGs are first in line. They are
 * admitted after 15 s even if no place is free. A job is the same as in auto.
 *
 * An lc TSG also waits while the admitted lc TSGs take more than max_lc_load percent of the GPU's
 * time, measured over load_ms. Before the next one is admitted, the load must fall load_slack below
 * the cap, and the load of the last newcomer must have been measured. Idle TSGs do not count as
 * load, and the first lc TSG of a GPU never waits for load.
 *
 * Load is the TSGs' GPU time where the host knows it. Elsewhere, with launch_us set, load is the
 * number of launches times launch_us. Otherwise load is the time that the TSGs worked while others
 * waited, as the GPU's log shows it. If only lc TSGs are on the GPU, load is at least what the
 * driver's samples say of the last second. Without a log, load is unknown and has no cap.
 *
 * With max_starts_per_s, at most that many TSGs of each class start on a GPU in any second that
 * begins with a start.
 *
 * Admitted TSGs get the slices that lcbe gives where several BE share a runlist. Other classes
 * always run.
 *
 * Good for: keeping a promise of latency to the TSGs that are admitted.
 *
 * Known weaknesses:
 *  - The host's limit on holds (10 minutes by default) admits a TSG that has waited that long, even
 *    if the GPU is full.
 *  - The caps hold for jobs: one that has a place gets further TSGs in within 15 s, any number.
 *  - Where there is no gate (BPF LSM), a held TSG is suspended right after it was scheduled. Its
 *    very first work may run for a moment.
 *  - On a stock driver, the log shows a TSG's whole load only while a be program always has work.
 *    The samples do not tell programs apart. So they count only while there is no be TSG and none
 *    of another class. Beside those, and on drivers without samples, load may be too low.
 *    launch_us helps there, but is a guess: it assumes that all launches are equally long. The
 *    policy makes gpusched count launches even without launch_us, which costs each launch about
 *    half a microsecond.
 *  - Load is measured over the last load_ms, so a longer pause looks like the end of the load. If
 *    the admitted TSGs later need more than the cap, none is thrown out.
 *  - Where load is known, a second lc TSG waits for at least load_ms, until the load of the first
 *    has been measured. By samples that takes 2 s.
 *  - Only lc has a cap on load, since a be TSG takes all the time that it gets. An idle TSG keeps
 *    its place among max_lc and max_be.
 */
#include "gpusched/policy.bpf.h"
#include "gpusched/rotation.h"

GPUSCHED_POLICY(admit, 50000, 500, GPUSCHED_F_WORK | GPUSCHED_F_FACTS);
GPUSCHED_ABOUT("caps how many lc and be TSGs run on a GPU; the rest waits");
GPUSCHED_CLASSES("lc be");

GPUSCHED_OPTION_RANGE(gs_u32, max_lc, 2, 0, 10000, "lc TSGs admitted per GPU");
GPUSCHED_OPTION_RANGE(gs_u32, max_be, 4, 0, 10000, "be TSGs admitted per GPU");
GPUSCHED_OPTION_RANGE(
	gs_u32, max_lc_load, 80, 0, 100,
	"percent of a GPU's time that lc TSGs take before others of lc wait; 0: no cap");
GPUSCHED_OPTION_RANGE(gs_u32, load_slack, 10, 0, 50,
		      "percent below max_lc_load that end the waiting");
GPUSCHED_OPTION_RANGE(gs_u32, load_ms, 1000, 100, 60000, "load is that of so many ms");
GPUSCHED_OPTION_RANGE(gs_u32, launch_us, 0, 0, 1000000,
		      "GPU time of a launch, us, where GPU time is not known; 0: nobody can tell");
GPUSCHED_OPTION_RANGE(gs_u32, max_starts_per_s, 0, 0, 10000,
		      "TSGs of lc, and of be, that start on a GPU in a second; 0: any number");
GPUSCHED_OPTION_RANGE(gs_u32, lc_slice_us, 1000000, 1, 100000000, "timeslice of lc TSGs, us");
GPUSCHED_OPTION_RANGE(gs_u32, be_slice_us, 800, 1, 100000000, "timeslice of be TSGs, us");

/* The TSGs of one class on one GPU (or MIG partition). */
struct place {
	gs_u64 seq;     /* number of the round to which the counted_ fields belong */
	gs_u64 in;      /* admitted TSGs: the count of the last round, updated since */
	gs_u64 waiting; /* waiting TSGs: counted like @in */
	gs_u64 counted_in, counted_waiting; /* counts that the current round has made so far */
	gs_u64 first;                       /* id of the TSG that is first in line */
	gs_u64 first_ns;                    /* when that TSG began to wait */
	gs_u64 first_joins;                 /* 1: another TSG of its job is admitted */
	gs_u64 used_ns;                     /* GPU time of the admitted TSGs since window_ns */
	gs_u64 window_ns;                   /* begin of the present window */
	gs_u64 newcomer_ns;                 /* begin of the last window with a newcomer */
	/* 1: a whole window has passed since the last admission, so load is known */
	gs_u64 settled;
	/* 1: load was above the cap, and has not yet fallen below it by load_slack */
	gs_u64 loaded;
	gs_u64 judged, counted_judged; /* number of admitted TSGs with a known load */
	/* begin of the present second, and the number of starts in it */
	gs_u64 second_ns, starts;
};
GPUSCHED_MAP(admit_places, HASH, gs_u64, struct place, 512);
/* A job, on all its GPUs. */
struct job_key {
	gs_u64 user, job;
};
struct job {
	gs_u64 seq;        /* as in struct place */
	gs_u64 in;         /* admitted TSGs, counted like place.in */
	gs_u64 counted_in; /* the same so far in this round */
};
GPUSCHED_MAP(admit_jobs, HASH, struct job_key, struct job, 8192);
/* For so long a TSG waits for a place while another TSG of its job is admitted. */
#define JOIN_NS (15000 * 1000000ull)
/* After so long, samples of a second that are asked for once a second are of no earlier time. */
#define SAMPLED_NS (2100 * 1000000ull)
/* Stands for all classes but lc and be. */
#define OTHERS (~0u)

/* Buffer for facts, which are too large for the stack. */
GPUSCHED_MAP(admit_facts, ARRAY, gs_u32, struct gpusched_facts, 1);
GPUSCHED_MAP(admit_start, ARRAY, gs_u32, gs_u64, 1); /* when the policy started */

/* Words of priv. */
#define STATE 0 /* 0, or one of the states below */
#define SINCE 1 /* when the TSG began to wait */
#define USED 2  /* GPU time of the TSG at the last round, + 1; 0: not read yet */
/* States. 0: not scheduled by its owner yet, which may take many ticks. */
#define ADMITTED 1
#define WAITS 2
#define RUNS 3 /* was scheduled before the policy began, so it needs no admission */

GPUSCHED_INLINE int takes_part(const struct gpusched_task *t)
{
	return t->kind == GPUSCHED_KIND_COMPUTE &&
	       (t->class_id == GPUSCHED_CLASS_LC || t->class_id == GPUSCHED_CLASS_BE);
}

GPUSCHED_INLINE gs_u64 limit_of(const struct gpusched_task *t)
{
	return t->class_id == GPUSCHED_CLASS_LC ? max_lc : max_be;
}

GPUSCHED_INLINE gs_u64 place_key(const struct gpusched_task *t, gs_u32 class_id)
{
	return (gs_u64)gpusched_runlist(t) << 32 | class_id;
}

GPUSCHED_INLINE struct place *place_of(const struct gpusched_task *t)
{
	struct place fresh = { 0 };
	gs_u64 key = place_key(t, takes_part(t) ? t->class_id : OTHERS);

	return gpusched_lookup_or_add(admit_places, &key, &fresh);
}

GPUSCHED_INLINE struct job_key job_key_of(const struct gpusched_task *t)
{
	return (struct job_key){ gpusched_user_of(t), gpusched_job_of(t, gpusched_job(t)) };
}

GPUSCHED_INLINE struct job *job_of(const struct gpusched_task *t)
{
	struct job_key key = job_key_of(t);
	struct job fresh = { 0 };

	return gpusched_lookup_or_add(admit_jobs, &key, &fresh);
}

/* True if another TSG of @t's job is admitted, which may wait for @t. */
GPUSCHED_INLINE int joins(const struct gpusched_task *t)
{
	struct job_key key = job_key_of(t);
	const struct job *j = gpusched_lookup(admit_jobs, &key);

	return j && j->in;
}

/* Returns the GPU time of @t so far, + 1; 0: unknown. */
GPUSCHED_INLINE gs_u64 used_by(const struct gpusched_task *t)
{
	if (t->known & GPUSCHED_KNOWN_GPU_TIME)
		return t->gpu_time_ns + 1;
	if (launch_us && (t->known & GPUSCHED_KNOWN_LAUNCHES))
		return t->launches * launch_us * 1000 + 1;
	return 0;
}

GPUSCHED_INLINE int has_load_cap(const struct gpusched_task *t)
{
	return t->class_id == GPUSCHED_CLASS_LC && max_lc_load;
}

/* True if the load of the admitted TSGs leaves no room for @t. */
GPUSCHED_INLINE int is_loaded(const struct place *p, const struct gpusched_task *t)
{
	if (!has_load_cap(t) || !p->in || (!p->judged && !used_by(t) && !launch_us))
		return 0;
	return p->loaded || !p->settled;
}

/*
 * Begins to measure load anew. @settled is 0 if a TSG was just admitted, since that TSG's load is
 * known only after a whole window.
 */
GPUSCHED_INLINE void begin_window(struct place *p, gs_u64 now, int settled)
{
	p->window_ns = now;
	p->used_ns = 0;
	p->settled = settled;
	if (!settled)
		p->newcomer_ns = now;
}

/*
 * Returns the time that @t worked while others waited, + 1; 0: unknown. The GPU's log shows no
 * other work. So this is all the work of @t only if another program always has work.
 */
GPUSCHED_INLINE gs_u64 contended_by(const struct gpusched_task *t)
{
	gs_u32 zero = 0;
	struct gpusched_facts *f = gpusched_lookup(admit_facts, &zero);

	return f && gpusched_facts(t, f) >= 0 ? f->contended_ns + 1 : 0;
}

GPUSCHED_INLINE void add_load(struct place *p, struct gpusched_task *t)
{
	gs_u64 used = used_by(t), before = t->priv[USED];

	if (!used)
		used = contended_by(t);

	t->priv[USED] = used;
	if (!used)
		return;
	p->counted_judged++;
	if (before && used > before)
		p->used_ns += used - before;
}

/* True if this round has counted an admitted TSG in the place. */
GPUSCHED_INLINE int is_used(const struct gpusched_task *t, gs_u32 class_id, gs_u64 seq)
{
	gs_u64 key = place_key(t, class_id);
	const struct place *p = gpusched_lookup(admit_places, &key);

	return p && p->seq == seq && p->counted_in;
}

/*
 * Returns for how many percent of the last second the GPU worked, + 1, if all that work is of lc
 * TSGs; 0: unknown.
 */
GPUSCHED_INLINE gs_u64 sampled(const struct gpusched_task *t, gs_u64 seq)
{
	struct gpusched_gpu g;

	if ((t->known & GPUSCHED_KNOWN_GPU_TIME) || is_used(t, GPUSCHED_CLASS_BE, seq) ||
	    is_used(t, OTHERS, seq) || gpusched_gpu(t, &g) < 0 || !(g.known & GPUSCHED_GPU_BUSY))
		return 0;
	return g.busy_x100 / 100 + 1;
}

GPUSCHED_INLINE void judge_load(struct place *p, const struct gpusched_task *t,
				const struct gpusched_round *round)
{
	gs_u64 now = round->now_ns, percent, busy;

	if (!has_load_cap(t) || now < p->window_ns + (gs_u64)load_ms * 1000000ull)
		return;
	busy = sampled(t, round->seq);
	if (busy && now < p->newcomer_ns + SAMPLED_NS)
		return;
	percent = gpusched_div(p->used_ns * 100, now - p->window_ns);
	if (busy && percent < busy - 1)
		percent = busy - 1;
	if (percent > max_lc_load && !p->loaded) {
		gpusched_log("lc takes more than max_lc_load, others wait; percent", percent);
		p->loaded = 1;
	} else if (percent + load_slack < max_lc_load || percent == 0) {
		p->loaded = 0;
	}
	begin_window(p, now, 1);
}

/* Returns 1, and counts a start, if max_starts_per_s allows one more start now. */
GPUSCHED_INLINE int take_start(struct place *p, gs_u64 now)
{
	if (!max_starts_per_s)
		return 1;
	if (now >= p->second_ns + 1000000000ull) {
		p->second_ns = now;
		p->starts = 0;
	}
	if (p->starts >= max_starts_per_s)
		return 0;
	gpusched_add(&p->starts, 1ull);
	return 1;
}

GPUSCHED_INLINE void let_in(struct gpusched_task *t)
{
	struct job *j = t->priv[STATE] == ADMITTED ? 0 : job_of(t);

	if (j) {
		gpusched_add(&j->in, 1ull);
		gpusched_add(&j->counted_in, 1ull);
	}
	t->priv[STATE] = ADMITTED;
	gpusched_admit(t);
	gpusched_want_timeslice(t, t->class_id == GPUSCHED_CLASS_LC ? lc_slice_us : be_slice_us);
}

GPUSCHED_INIT()
{
	gs_u64 now = gpusched_now();
	gs_u32 key = 0;

	gpusched_update(admit_start, &key, &now);
	return 0;
}

/*
 * Counts a TSG that already runs as admitted. The first round would be too late, since another TSG
 * may ask for admission before it.
 */
GPUSCHED_INLINE void give_place(struct gpusched_task *t)
{
	struct place *p = place_of(t);

	if (!p)
		return;
	gpusched_add(&p->in, 1ull);
	gpusched_add(&p->counted_in, 1ull);
	begin_window(p, gpusched_now(), 0);
	let_in(t);
}

GPUSCHED_TASK_INIT(t)
{
	gs_u32 key = 0;
	gs_u64 *start = gpusched_lookup(admit_start, &key);

	if (!t->priv[STATE] && (t->assumed || (start && t->created_ns < *start)))
		t->priv[STATE] = RUNS;
	if (takes_part(t)) {
		if (t->priv[STATE] == RUNS)
			give_place(t);
		return 0;
	}
	if (t->priv[STATE])
		t->priv[STATE] = RUNS;
	gpusched_want_default(t, GPUSCHED_ALL_SETTINGS);
	return 0;
}

/*
 * Takes a place if one is free. If two CPUs take the last place at the same time, one of them gives
 * it back.
 */
GPUSCHED_INLINE int take_place(struct place *p, gs_u64 limit)
{
	gpusched_add(&p->in, 1ull);
	if (*(volatile gs_u64 *)&p->in <= limit) {
		gpusched_add(&p->counted_in, 1ull);
		return 1;
	}
	gpusched_add(&p->in, (gs_u64)-1);
	return 0;
}

GPUSCHED_SCHEDULE(t)
{
	struct place *p;

	if (t->priv[STATE] == ADMITTED)
		return GPUSCHED_ADMIT;
	p = place_of(t);
	if (!p || !takes_part(t)) {
		t->priv[STATE] = RUNS;
		return GPUSCHED_ADMIT;
	}
	/* called again for the same TSG, since each of its channels is scheduled separately */
	if (t->priv[STATE] == WAITS)
		return GPUSCHED_HOLD;
	/* update the current round's counts too: that round may have passed this TSG already */
	if ((!p->waiting || joins(t)) && !is_loaded(p, t) && take_place(p, limit_of(t))) {
		if (take_start(p, gpusched_now())) {
			begin_window(p, gpusched_now(), 0);
			let_in(t);
			return GPUSCHED_ADMIT;
		}
		gpusched_add(&p->in, (gs_u64)-1);
		gpusched_add(&p->counted_in, (gs_u64)-1);
	}
	gpusched_add(&p->waiting, 1ull);
	gpusched_add(&p->counted_waiting, 1ull);
	t->priv[STATE] = WAITS;
	t->priv[SINCE] = gpusched_now();
	return GPUSCHED_HOLD;
}

/* Frees the TSG's place at once, so that a TSG which comes before the next round can have it. */
GPUSCHED_TASK_DESTROY(t)
{
	struct place *p = takes_part(t) ? place_of(t) : 0;
	struct job_key key = job_key_of(t);
	struct job *j = gpusched_lookup(admit_jobs, &key);

	if (j && t->priv[STATE] == ADMITTED && j->in > 1)
		gpusched_add(&j->in, (gs_u64)-1);
	else if (j && (t->priv[STATE] == ADMITTED || !j->in))
		gpusched_delete(admit_jobs, &key); /* a round adds it again if it has other TSGs */

	if (p && t->priv[STATE] == ADMITTED && p->in)
		gpusched_add(&p->in, (gs_u64)-1);
	if (p && t->priv[STATE] == WAITS && p->waiting)
		gpusched_add(&p->waiting, (gs_u64)-1);
	return 0;
}

GPUSCHED_TICK_BEGIN(round)
{
	return 2;
}

/* Counts a TSG for its job. */
GPUSCHED_INLINE void count_job(const struct gpusched_task *t, gs_u64 seq)
{
	struct job *j = job_of(t);

	if (!j)
		return;
	if (j->seq != seq) {
		j->seq = seq;
		j->in = j->counted_in;
		j->counted_in = 0;
	}
	j->counted_in += t->priv[STATE] == ADMITTED;
}

/* Puts a waiting TSG in line. TSGs that joins() is true for come first, then the oldest. */
GPUSCHED_INLINE void line_up(struct place *p, const struct gpusched_task *t)
{
	gs_u64 joining = (gs_u64)joins(t), since = t->priv[SINCE];

	if (p->first && joining < p->first_joins)
		return;
	if (p->first && joining == p->first_joins &&
	    (since > p->first_ns || (since == p->first_ns && t->id > p->first)))
		return;
	p->first = t->id;
	p->first_ns = since;
	p->first_joins = joining;
}

GPUSCHED_INLINE void count(struct place *p, struct gpusched_task *t,
			   const struct gpusched_round *round)
{
	if (p->seq != round->seq) {
		p->seq = round->seq;
		p->counted_in = 0;
		p->counted_waiting = 0;
		p->counted_judged = 0;
		p->first = 0;
		p->first_ns = 0;
		p->first_joins = 0;
	}
	/*
	 * the policy's suspension is gone: the host's limit on holds, or root, has admitted the TSG
	 */
	if (t->priv[STATE] == WAITS && !(t->want.valid & GPUSCHED_RUNNABLE))
		t->priv[STATE] = RUNS;
	if (t->priv[STATE] == RUNS) {
		t->priv[STATE] = ADMITTED;
		begin_window(p, round->now_ns, 0);
	}
	if (t->priv[STATE] == ADMITTED) {
		gpusched_add(&p->counted_in, 1ull);
		add_load(p, t);
	}
	count_job(t, round->seq);
	if (t->priv[STATE] != WAITS)
		return;
	gpusched_add(&p->counted_waiting, 1ull);
	line_up(p, t);
}

/* Counts a TSG of a class that the policy leaves alone. */
GPUSCHED_INLINE void count_other(struct place *p, const struct gpusched_task *t,
				 const struct gpusched_round *round)
{
	if (p->seq != round->seq)
		p->counted_in = 0;
	p->seq = round->seq;
	p->counted_in += t->priv[STATE] == RUNS;
}

/* Pass 1: true if the waiting TSG is to be admitted now. */
GPUSCHED_INLINE int may_come_in(struct place *p, const struct gpusched_task *t, gs_u64 now)
{
	if (now >= t->priv[SINCE] + JOIN_NS && joins(t))
		return 1;
	return p->first == t->id && p->in < limit_of(t) && !is_loaded(p, t) && take_start(p, now);
}

/*
 * Pass 0 counts the admitted TSGs and their load anew, and finds the TSG that has waited longest.
 * Pass 1 admits this TSG if a place is free: one TSG per round.
 */
GPUSCHED_TICK(t, round)
{
	struct place *p;

	if (t->kind != GPUSCHED_KIND_COMPUTE)
		return 0;
	p = place_of(t);
	if (!p)
		return 0;
	if (!takes_part(t)) {
		count_other(p, t, round);
		return 0;
	}
	if (round->pass == 0) {
		count(p, t, round);
		return 0;
	}
	p->in = p->counted_in;
	p->waiting = p->counted_waiting;
	p->judged = p->counted_judged;
	judge_load(p, t, round);
	if (t->priv[STATE] == ADMITTED) {
		let_in(t);
	} else if (t->priv[STATE] == WAITS && may_come_in(p, t, round->now_ns)) {
		begin_window(p, round->now_ns, 0);
		gpusched_add(&p->counted_in, 1ull);
		gpusched_add(&p->counted_waiting, (gs_u64)-1);
		if (p->first == t->id)
			p->first = 0;
		let_in(t);
		if (p->counted_waiting)
			gpusched_kick(); /* do not wait for the tick to admit the next TSG */
	}
	return 0;
}
