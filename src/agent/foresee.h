/* SPDX-License-Identifier: MIT */
/*
 * foresee.h - does a launch follow what arrives? Pure: the caller brings the time
 *
 * For each kind of arrival (read, recv, accept, epoll, ...) the last ten cases are remembered. A case
 * begins with an arrival and ends well with a launch within 10 ms. After nine good ones of ten, the
 * next arrival foresees a launch. When that fails to come, the ten are forgotten.
 */
#ifndef GPUSCHED_AGENT_FORESEE_H
#define GPUSCHED_AGENT_FORESEE_H

#include <stdbool.h>
#include <stdint.h>

#define FORESEE_NS 10000000ull
#define FORESEE_CASES 10
#define FORESEE_GOOD 9

struct foresee {
	uint64_t since_ns; /* when the open case began; 0: none is open */
	uint16_t cases;    /* the last ten, the newest lowest; a bit each, 1: a launch came */
	uint8_t n;         /* how many of them there were */
	bool acted;        /* in the open case a launch was foreseen */
};

static inline void foresee_end(struct foresee *f, bool good)
{
	f->since_ns = 0;
	f->cases = (uint16_t)((f->cases << 1 | good) & ((1u << FORESEE_CASES) - 1));
	f->n = f->n < FORESEE_CASES ? f->n + 1 : FORESEE_CASES;
	if (!good && f->acted)
		f->n = 0;
	f->acted = false;
}

/* Something arrives. true: a launch is foreseen; once a case. */
static inline bool foresee_arrival(struct foresee *f, uint64_t now_ns)
{
	if (f->since_ns && now_ns - f->since_ns <= FORESEE_NS)
		return false; /* the same case: one request in several pieces */
	if (f->since_ns)
		foresee_end(f, false);
	f->since_ns = now_ns;
	f->acted = f->n == FORESEE_CASES && __builtin_popcount(f->cases) >= FORESEE_GOOD;
	return f->acted;
}

static inline void foresee_launch(struct foresee *f, uint64_t now_ns)
{
	if (f->since_ns)
		foresee_end(f, now_ns - f->since_ns <= FORESEE_NS);
}

#endif /* GPUSCHED_AGENT_FORESEE_H */
