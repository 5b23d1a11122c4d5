// SPDX-License-Identifier: MIT
/* gsload_arrivals.c - computes when the next request comes */
#include "load/gsload_arrivals.h"

#include <math.h>
#include <time.h>

#include "basic/clock.h"
#include "basic/rng.h"

#define SPIN_NS 100000 /* in this time before an arrival, the wait spins instead of sleeping */
/* the longest sleep: a signal just before a sleep does not end it */
#define SLEEP_NS (100 * NS_PER_MS)

/* When the sequence begins again, set by gsload_arrive_anew(); 0: it goes on as it is. */
static volatile uint64_t anew_ns;

void gsload_arrive_anew(void)
{
	anew_ns = gs_now_ns();
}

struct gsload_schedule gsload_schedule_new(const struct gsload_options *o, uint64_t start_ns)
{
	return (struct gsload_schedule){
		.o = o,
		.rng = o->seed * 2654435769u + 1,
		.last_ns = start_ns,
		.start_ns = start_ns,
		.size = 1,
	};
}

static uint64_t due_by_trace(const struct gsload_schedule *s)
{
	const struct gs_arrivals *t = &s->o->trace;

	return s->next < t->n ? s->start_ns + gsload_real_ns(s->o, (double)t->at[s->next].ns / 1e3)
			      : GSLOAD_NEVER;
}

static uint64_t due(struct gsload_schedule *s)
{
	double period = s->o->period_us, gap;

	if (s->o->arrivals == GSLOAD_TRACE)
		return due_by_trace(s);
	if (s->o->arrivals == GSLOAD_PERIODIC)
		return s->last_ns + gsload_real_ns(s->o, period);
	gap = gs_rng_gap(&s->rng, period, s->o->cv);
	if (s->o->arrivals == GSLOAD_POISSON)
		return s->last_ns + gsload_real_ns(s->o, gap);
	return gs_now_ns() + gsload_real_ns(s->o, fmin(gap, 5 * period));
}

static void sleep_until(uint64_t at_ns)
{
	struct timespec t = { .tv_sec = (time_t)(at_ns / NS_PER_S),
			      .tv_nsec = (long)(at_ns % NS_PER_S) };

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
}

/* Returns false if the sequence has begun again meanwhile. A signal ends the sleep. */
static bool wait_until(const struct gsload_schedule *s, uint64_t at)
{
	uint64_t spin = s->o->arrivals == GSLOAD_CLOSED ? 0 : SPIN_NS;

	while (!gsload_stop && !anew_ns && gs_now_ns() < at) {
		uint64_t most = gs_now_ns() + SLEEP_NS;

		if (gs_now_ns() + spin < at)
			sleep_until(at - spin < most ? at - spin : most);
	}
	return !anew_ns || at < anew_ns;
}

uint64_t gsload_next_arrival(struct gsload_schedule *s)
{
	uint64_t at = due(s);

	if (at == GSLOAD_NEVER && s->o->seconds > 0)
		return at;
	while (!wait_until(s, at)) {
		*s = gsload_schedule_new(s->o, anew_ns);
		anew_ns = 0;
		at = due(s);
	}
	if (s->o->arrivals == GSLOAD_TRACE && s->next < s->o->trace.n)
		s->size = s->o->trace.at[s->next++].size;
	s->last_ns = s->o->arrivals == GSLOAD_CLOSED ? gs_now_ns() : at;
	return s->last_ns;
}

struct gsload_latency gsload_latency_of(uint64_t *inout_free_ns, uint64_t at, uint64_t begin,
					uint64_t done)
{
	uint64_t could = at > *inout_free_ns ? at : *inout_free_ns;
	uint64_t in_time = could + (done - begin);

	*inout_free_ns = in_time;
	return (struct gsload_latency){
		.gpu_ns = in_time - at,
		.late_ns = done > in_time ? done - in_time : 0,
	};
}
