/* SPDX-License-Identifier: MIT */
/*
 * foresee.h - predicts whether a launch follows an arrival. Pure: the caller brings the time
 *
 * For each kind of arrival (read, recv, accept, epoll, ...) the last ten cases are remembered. A
 * case begins with an arrival, and is good if a launch comes within 10 ms. If nine of the last ten
 * cases were good, the next arrival predicts a launch. If that launch does not come, the ten cases
 * are forgotten.
 */
#ifndef GPUSCHED_AGENT_FORESEE_H
#define GPUSCHED_AGENT_FORESEE_H

#include <stdbool.h>
#include <stdint.h>

#define FORESEE_NS 10000000ull
#define FORESEE_CASES 10
#define FORESEE_GOOD 9

struct foresee {
	uint64_t since_ns; /* when the open case began; 0: no case is open */
	/* One bit for each of the last ten cases, the newest lowest; 1: a launch came. */
	uint16_t cases;
	uint8_t n;  /* number of cases in @cases */
	bool acted; /* the open case predicted a launch */
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

/* Data arrives. Returns true if a launch is predicted, once per case. */
static inline bool foresee_arrival(struct foresee *f, uint64_t now_ns)
{
	if (f->since_ns && now_ns - f->since_ns <= FORESEE_NS)
		return false; /* the same case: a request may come in several pieces */
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
