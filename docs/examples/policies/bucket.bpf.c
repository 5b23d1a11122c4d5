/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * bucket - a token bucket: GPU time comes in at a rate, and is saved up for bursts
 *
 * Does: each best-effort TSG has a bucket of GPU time, which fills at rate_pct of real time, up to
 * burst_ms. While the bucket is empty, the TSG is suspended. A limit of fair saves up nothing; a
 * bucket lets a program that rested have the GPU for burst_ms. Good for: notebooks and tests, which
 * work in bursts, beside one long job. Known weaknesses: the GPU's log is up to 67 ms late, so a
 * bucket can go below zero by that; the debt is paid first. The time for which a TSG holds the GPU
 * alone counts. Without the log no TSG is suspended.
 */
#include <gpusched/policy.bpf.h>

GPUSCHED_POLICY(bucket, 10000, 200, GPUSCHED_F_FACTS);
GPUSCHED_ABOUT("a token bucket of GPU time for each be TSG");
GPUSCHED_CLASSES("be");

GPUSCHED_OPTION_RANGE(gs_u32, rate_pct, 20, 1, 100, "GPU time that comes in, percent of real time");
GPUSCHED_OPTION_RANGE(gs_u32, burst_ms, 1000, 50, 60000, "that may be saved up, ms");

struct bucket {
	gs_u64 since_ns, held_ns, as_of_ns; /* of the facts that were looked at last */
	gs_u64 got_ns, spent_ns;            /* what came in, and went; sums */
};
GPUSCHED_MAP(bucket_of, HASH, gs_u64, struct bucket, GPUSCHED_MAX_TSGS);

/* The TSG's bucket as of its facts. */
GPUSCHED_INLINE void fill(struct bucket *b, const struct gpusched_facts *f)
{
	gs_u64 burst = burst_ms * 1000000ull;

	if (b->since_ns == f->since_ns && b->as_of_ns) {
		b->got_ns += (f->as_of_ns - b->as_of_ns) * rate_pct / 100;
		b->spent_ns += f->held_ns - b->held_ns;
	}
	if (b->got_ns > b->spent_ns + burst)
		b->got_ns = b->spent_ns + burst;
	b->since_ns = f->since_ns;
	b->held_ns = f->held_ns;
	b->as_of_ns = f->as_of_ns;
}

GPUSCHED_TICK(t, round)
{
	struct bucket fresh = { .got_ns = burst_ms * 1000000ull }, *b;
	struct gpusched_facts f;
	gs_u64 id = t->id;

	if (t->kind != GPUSCHED_KIND_COMPUTE || t->class_id != GPUSCHED_CLASS_BE) {
		gpusched_want_default(t, GPUSCHED_RUNNABLE);
		return 0;
	}
	b = gpusched_lookup_or_add(bucket_of, &id, &fresh);
	if (!b || gpusched_facts(t, &f) < 0)
		return 0;
	fill(b, &f);
	if (b->got_ns <= b->spent_ns)
		gpusched_want_runnable(t, 0);
	else if (b->got_ns > b->spent_ns + 20000000ull) /* not for every drop */
		gpusched_want_default(t, GPUSCHED_RUNNABLE);
	return 0;
}

GPUSCHED_TASK_DESTROY(t)
{
	gs_u64 id = t->id;

	gpusched_delete(bucket_of, &id);
	return 0;
}
