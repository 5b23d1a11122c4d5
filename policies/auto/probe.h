/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * auto/probe.h - whether a BE leaves the GPU sooner in CTA mode: tried for 150 ms a minute
 *
 * Pure: struct probe_seen goes in, struct probe comes out. Where thread blocks are long CTA is
 * worse, by far.
 */
#ifndef AUTO_PROBE_H
#define AUTO_PROBE_H

#include "gpusched/arith.h"

#define PROBE_NS (150 * GS_MS)
#define PROBE_EVERY_NS (60 * GS_S)
#define PROBE_GAIN_NS (10 * 1000ull)
/* A trial that the daemon wishes, whether it ends it or not. */
#define WISHED_NS (2500 * GS_MS)
#define WISHED_US 1000
#define WISHED_MAX_US 2000
#define PROBE_DRAINS 12 /* of which the figure consists of what was seen in the probe */

struct probe_seen {
	gs_u64 now_ns;
	gs_u64 drain_ns; /* how long after its slice the TSG leaves the GPU, lately */
	gs_u64 drains;   /* so often that was seen so far */
	int known;       /* both are known */
};

/* Begins with zeroes. */
struct probe {
	gs_u64 until_ns; /* a probe lasts until then; 0: there is none */
	gs_u64 next_ns;  /* the next one begins at the earliest then */
	gs_u64 cilp_ns;  /* drain_ns in CILP mode, before the last probe */
	gs_u64 drains;   /* so many when the last probe began */
	gs_u32 in_cta;   /* the last probe found CTA better: the TSG is kept in it */
	gs_u32 pad;
	gs_u64 trial_ns; /* when the wished trial began; 0: none is wished */
};

/* The slice of a trial. Its end has to show in a turn's length: so it is long against a save. */
GPUSCHED_INLINE gs_u64 probe_slice_us(gs_u64 save_us)
{
	return gs_least(gs_most(8 * save_us, WISHED_US), WISHED_MAX_US);
}

/* 1: a trial is wished, and is not too long yet. A probe needs drains after it. */
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

/* 1: the TSG should be in CTA mode. */
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
