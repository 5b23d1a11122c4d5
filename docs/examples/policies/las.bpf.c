/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * las - least attained service: the TSG that had the least of the GPU so far goes first
 *
 * Does: puts each TSG on one of seven levels by the GPU time that it has had. The first level ends
 * at first_ms, and each further one at twice the time of the one before. On each runlist the TSGs
 * of the lowest level run, and the others are suspended. So short jobs are done soon, although the
 * policy does not know which are short. Long ones go on when there are no short ones. Good for:
 * many jobs of very different and unknown lengths. Known weaknesses: while short jobs keep coming,
 * long ones wait, for the host's limit on suspension (10 s) at most. Jobs that come as ever new
 * processes are always new.
 */
#include <gpusched/policy.bpf.h>

GPUSCHED_POLICY(las, 20000, 200, GPUSCHED_F_WORK | GPUSCHED_F_FACTS);
GPUSCHED_ABOUT("least attained service first, in seven levels");

GPUSCHED_OPTION_RANGE(gs_u32, first_ms, 500, 50, 60000, "GPU time until a TSG leaves level 0, ms");

#define LEVELS 7
#define QUIET_NS 20000000ull

/*
 * Words of priv: the TSG's level; whether it has work; the time that it has had; held_ns and
 * since_ns of its facts at the last round; the word that gpusched_is_busy() keeps.
 */
enum word { LEVEL, WANTS, HAD, HELD, SINCE, BUSY };

/* A runlist's lowest level with a TSG that has work, in round @seq. */
struct lowest {
	gs_u64 seq, level;
	gs_u64 first; /* a TSG of that level */
	gs_u64 told;  /* the last such TSG that was logged */
};
GPUSCHED_MAP(las_lowest, HASH, gs_u32, struct lowest, 256);
/* Room for data too large for the stack. One entry is enough, since rounds never overlap. */
GPUSCHED_MAP(las_other, ARRAY, gs_u32, struct gpusched_task, 1);
GPUSCHED_MAP(las_facts, ARRAY, gs_u32, struct gpusched_facts, 1);

GPUSCHED_INLINE gs_u64 level_of(gs_u64 had_ns)
{
	gs_u64 level = 0, end = first_ms * 1000000ull;
	int i;

	for (i = 0; i < LEVELS - 1; i++) {
		level += had_ns >= end;
		end *= 2;
	}
	return level;
}

/*
 * Adds the time that the TSG held the GPU while it had work; alone, a TSG holds the GPU even
 * without work. A suspended TSG looks idle, so it counts as having the work that it had before.
 */
GPUSCHED_INLINE void look(struct gpusched_task *t, const struct gpusched_facts *f, gs_u64 now)
{
	gs_u64 held = t->priv[SINCE] == f->since_ns ? f->held_ns - t->priv[HELD] : 0;

	if (!(t->want.valid & GPUSCHED_RUNNABLE) || t->want.runnable)
		t->priv[WANTS] = (gs_u64)gpusched_is_busy(t, now, QUIET_NS, &t->priv[BUSY]);
	if (t->priv[WANTS])
		t->priv[HAD] += held;
	t->priv[HELD] = f->held_ns;
	t->priv[SINCE] = f->since_ns;
	t->priv[LEVEL] = level_of(t->priv[HAD]);
}

/* Logs the TSG that is first now. Only its id is known here, so its record is looked up. */
GPUSCHED_INLINE void tell(struct lowest *l)
{
	gs_u32 zero = 0;
	struct gpusched_task *other = gpusched_lookup(las_other, &zero);

	if (!other || l->told == l->first || gpusched_find(l->first, other))
		return;
	l->told = l->first;
	gpusched_log("first now: process", other->pid);
}

GPUSCHED_TICK_BEGIN(round)
{
	return 2;
}

GPUSCHED_TICK(t, round)
{
	struct lowest none = { 0, 0, 0, 0 }, *l;
	gs_u32 runlist = gpusched_runlist(t), zero = 0;
	struct gpusched_facts *f = gpusched_lookup(las_facts, &zero);

	if (t->kind != GPUSCHED_KIND_COMPUTE)
		return 0;
	l = gpusched_lookup_or_add(las_lowest, &runlist, &none);
	if (!l || !f)
		return 0;
	if (l->seq != round->seq) {
		l->seq = round->seq;
		l->level = LEVELS;
	}
	if (gpusched_facts(t, f) < 0) { /* a new one has had nothing */
		gpusched_want_default(t, GPUSCHED_RUNNABLE);
		return 0;
	}
	if (round->pass == 0) {
		look(t, f, round->now_ns);
		if (t->priv[LEVEL] < l->level && t->priv[WANTS]) {
			l->level = t->priv[LEVEL];
			l->first = t->id;
		}
		return 0;
	}
	if (l->level < LEVELS)
		tell(l);
	if (t->priv[LEVEL] > l->level && t->priv[WANTS])
		gpusched_want_runnable(t, 0);
	else
		gpusched_want_default(t, GPUSCHED_RUNNABLE);
	return 0;
}
