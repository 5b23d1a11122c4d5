/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * common/work.h - tells a TSG that always has work from one that rests, by how its turns end
 *
 * Pure: struct gpusched_facts goes in, struct work comes out. A TSG that drained stays loaded while
 * no other is ready. So only turns beside other TSGs show whether it works: these end with its
 * slice, or because it drained. A TSG that was alone in its turns for long is therefore unknown.
 */
#ifndef COMMON_WORK_H
#define COMMON_WORK_H

#include "gpusched/arith.h"
#include "gpusched/policy_types.h"

/* So many ended turns are enough for a verdict; older ones count less and less. */
#define WORK_ENOUGH 6
#define WORK_MOST 48
/* A verdict that no turn has confirmed for this long is old: it must be seen again. */
#define WORK_OLD_NS (3000 * 1000000ull)
#define WORK_OLD_MAX_NS (12000 * 1000000ull)

enum work_verdict {
	WORK_UNKNOWN,
	WORK_ALWAYS, /* the slice ends nearly all of its turns */
	WORK_RESTS,  /* a good part of its turns end because it drained */
};

/* Knowledge about one TSG; begins with zeroes. */
struct work {
	gs_u64 since_ns, slice_ended, drained; /* the facts when turns were last counted */
	gs_u64 cut, dry; /* recent turns that ended with the slice, or by draining */
	gs_u64 seen_ns;  /* when such a turn was last seen */
	gs_u64 old_ns;   /* how long the verdict holds without such a turn */
	gs_u32 verdict;  /* enum work_verdict */
	gs_u32 pad;
};

GPUSCHED_INLINE void work_judge(struct work *w)
{
	gs_u64 all = w->cut + w->dry;
	gs_u32 before = w->verdict;

	if (all < WORK_ENOUGH)
		return;
	if (w->dry * (before == WORK_ALWAYS ? 8 : 10) > all)
		w->verdict = WORK_RESTS;
	else if (w->dry * (before == WORK_RESTS ? 16 : 10) <= all)
		w->verdict = WORK_ALWAYS;
	if (w->verdict != before)
		w->old_ns = WORK_OLD_NS;
}

/* Looks at the TSG in a round. */
GPUSCHED_INLINE void work_look(struct work *w, const struct gpusched_facts *f)
{
	gs_u64 cut = f->slice_ended - w->slice_ended, dry = f->drained - w->drained;
	int same = w->since_ns == f->since_ns;

	w->since_ns = f->since_ns;
	w->slice_ended = f->slice_ended;
	w->drained = f->drained;
	if (!same || cut + dry == 0)
		return;
	/* an old verdict that proves right holds for longer the next time */
	if (w->seen_ns && f->as_of_ns > w->seen_ns + w->old_ns && w->verdict == WORK_ALWAYS && !dry)
		w->old_ns = gs_least(2 * w->old_ns, WORK_OLD_MAX_NS);
	w->seen_ns = f->as_of_ns;
	w->cut += gs_least(cut, WORK_MOST);
	w->dry += gs_least(dry, WORK_MOST);
	work_judge(w);
	if (w->cut + w->dry > WORK_MOST) {
		w->cut /= 2;
		w->dry /= 2;
	}
}

/* True if the TSG is known to work all the time that it may. */
GPUSCHED_INLINE int work_is_known(const struct work *w)
{
	return w->verdict == WORK_ALWAYS;
}

/* True if no turn has confirmed that for too long. */
GPUSCHED_INLINE int work_is_old(const struct work *w, gs_u64 as_of_ns)
{
	return as_of_ns > w->seen_ns + w->old_ns;
}

#endif /* COMMON_WORK_H */
