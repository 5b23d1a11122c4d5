/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * rests.h - detects when a program without an agent begins a request, from its launches and waits
 *
 * The probes call these functions in the program's threads, for processes that the daemon watches.
 * A rest is a time without launches and waits; a long rest ends a request, as src/agent/requests.c
 * says. Plain C, for the BPF programs and for tests.
 */
#ifndef GPUSCHED_LAUNCH_RESTS_H
#define GPUSCHED_LAUNCH_RESTS_H

#include "basic/quiet_bins.h"
#include "gpusched/abi.h"

#define GS_MAX_RESTS 256 /* most processes that are watched */
/* If a program has not waited for this long, the time between its launches counts as rest. */
#define GS_REST_BLIND_NS 1000000000ull
/* Least time between two events of a process. */
#define GS_REST_EVENT_NS 5000000ull

#define GS_RESTS static inline __attribute__((always_inline))

/* One process. */
struct gs_rests {
	gs_u64 launches;
	gs_u64 rest_ns;   /* since when it rests; 0: it does not rest */
	gs_u64 waited_ns; /* end of its last wait */
	gs_u64 event_ns;  /* time of the last event */
	gs_u32 waiting;   /* number of threads that wait */
	gs_u32 begins;    /* number of requests that began */
	gs_u32 dropped;   /* begins without an event, since the last event was too recent */
	struct gs_quiet rests;
};

/*
 * Called at a launch, or when a thread begins to wait (@waits). Returns the length of the rest that
 * has ended; 0: the process did not rest.
 */
GS_RESTS gs_u64 gs_rests_worked(struct gs_rests *s, gs_u64 now, int waits)
{
	int blind = !waits && !s->waiting && now - s->waited_ns > GS_REST_BLIND_NS;
	gs_u64 waited = s->waited_ns;
	gs_u64 since = __sync_lock_test_and_set(&s->rest_ns, blind ? now : 0);
	gs_u64 rest = since && now > since ? now - since : 0;

	/* short times between launches without a wait are no rests */
	if (rest && (since == waited || rest >= GS_QUIET_FIRST_US * 1000ull))
		gs_quiet_add(&s->rests, rest);
	if (waits)
		__sync_fetch_and_add(&s->waiting, 1);
	return rest;
}

/* Called when a thread's wait is over: if no other thread waits, the process rests from now on. */
GS_RESTS void gs_rests_waited(struct gs_rests *s, gs_u64 now)
{
	gs_u32 were = __sync_fetch_and_add(&s->waiting, -1);

	if (were > 1)
		return;
	if (!were) /* this wait began before the process was watched */
		s->waiting = 0;
	s->waited_ns = now;
	s->rest_ns = now;
}

/*
 * True if a request may begin after a rest of @rest_ns. The first request may begin after any rest,
 * however short, since a program with too much work never rests long.
 */
GS_RESTS int gs_rests_may_begin(const struct gs_rests *s, gs_u64 rest_ns)
{
	return rest_ns && (!s->begins || rest_ns >= GS_QUIET_LEAST_US * 1000ull);
}

/* True if a request begins after a rest of @rest_ns, and the daemon must get an event for it. */
GS_RESTS int gs_rests_begins(struct gs_rests *s, gs_u64 rest_ns, gs_u32 quiet_us, gs_u64 now)
{
	if (!quiet_us || !rest_ns || (s->begins && rest_ns < quiet_us * 1000ull))
		return 0;
	__sync_fetch_and_add(&s->begins, 1);
	if (now - s->event_ns < GS_REST_EVENT_NS) {
		__sync_fetch_and_add(&s->dropped, 1);
		return 0;
	}
	s->event_ns = now;
	return 1;
}

#endif /* GPUSCHED_LAUNCH_RESTS_H */
