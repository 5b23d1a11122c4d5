/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * auto/probe.h - tests for 150 ms a minute whether a BE leaves the GPU sooner in CTA mode
 *
 * Pure: struct probe_seen goes in, struct probe comes out. With long thread blocks, CTA mode is far
 * worse than CILP. Separately, the daemon may want a trial, to learn how long the blocks are.
 */
#ifndef AUTO_PROBE_H
#define AUTO_PROBE_H

#include "gpusched/arith.h"

#define PROBE_NS (150 * GS_MS)
#define PROBE_EVERY_NS (60 * GS_S)
#define PROBE_GAIN_NS (10 * 1000ull)
/*
 * Longest trial for the daemon, in case the daemon does not end it; shortest and longest slice in
 * it.
 */
#define WISHED_NS (2500 * GS_MS)
#define WISHED_US 1000
#define WISHED_MAX_US 2000
/* After this many turns in the probe, drain_ns no longer reflects turns before the probe. */
#define PROBE_DRAINS 12

struct probe_seen {
	gs_u64 now_ns;
	gs_u64 drain_ns; /* recent time that the TSG takes to leave the GPU after its slice */
	gs_u64 drains;   /* number of such measurements so far */
	int known;       /* 1: the two values above are known */
};

/* State of one TSG; begins with zeroes. */
struct probe {
	gs_u64 until_ns; /* when the present probe ends; 0: no probe runs */
	gs_u64 next_ns;  /* when the next probe may begin */
	gs_u64 cilp_ns;  /* drain_ns in CILP mode, as it was before the last probe */
	gs_u64 drains;   /* probe_seen.drains when the last probe began */
	gs_u32 in_cta;   /* 1: the last probe found CTA mode better, so the TSG stays in it */
	gs_u32 pad;
	gs_u64 trial_ns; /* when the daemon's trial began; 0: the daemon wants none */
};

/*
 * The slice in a trial. It is long compared to a save, so that the log shows which turns the slice
 * ended.
 */
GPUSCHED_INLINE gs_u64 probe_slice_us(gs_u64 save_us)
{
	return gs_least(gs_most(8 * save_us, WISHED_US), WISHED_MAX_US);
}

/*
 * Returns 1 while the daemon wants a trial and it has not lasted too long. @wished: the daemon
 * wants it now. After a trial, a probe counts its drains from zero.
 */
GPUSCHED_INLINE int probe_trial(struct probe *p, const struct probe_seen *s, int wished)
{
	if (!wished) {
		p->trial_ns = 0;
		return 0;
	}
	if (!p->trial_ns)
		p->trial_ns = s->now_ns;
	p->until_ns = 0;
	p->drains = s->drains;
	return s->now_ns < p->trial_ns + WISHED_NS;
}

/* Returns 1 if the TSG should be in CTA mode now. */
GPUSCHED_INLINE int probe_cta(struct probe *p, const struct probe_seen *s)
{
	if (p->until_ns) {
		if (s->now_ns < p->until_ns)
			return 1;
		p->until_ns = 0;
		p->next_ns = s->now_ns + PROBE_EVERY_NS;
		p->in_cta = s->known && s->drains >= p->drains + PROBE_DRAINS &&
			    s->drain_ns + PROBE_GAIN_NS < p->cilp_ns;
		return (int)p->in_cta;
	}
	if (p->in_cta) {
		p->in_cta = !s->known || s->drain_ns < p->cilp_ns + PROBE_GAIN_NS;
		return (int)p->in_cta;
	}
	if (!s->known || s->now_ns < p->next_ns || s->drains < p->drains + PROBE_DRAINS)
		return 0;
	p->cilp_ns = s->drain_ns;
	p->drains = s->drains;
	p->until_ns = s->now_ns + PROBE_NS;
	return 1;
}

#endif /* AUTO_PROBE_H */
