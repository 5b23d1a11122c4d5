/* SPDX-License-Identifier: MIT */
/*
 * stock.h - the state of a policy on the stock host; for host_stock.c and ticker.c
 */
#ifndef GPUSCHED_POLICY_STOCK_H
#define GPUSCHED_POLICY_STOCK_H

#include <pthread.h>

#include "policy/host.h"

struct gs_stock {
	struct gs_policy p;
	int event_fd;
	uint64_t log_seen;
	uint64_t said_ns; /* when its last log line was seen */

	/*
	 * State of the tick and its watchdog, beside p.seq and p.rest. @lock protects all of it
	 * except @stalled and @changed.
	 */
	pthread_mutex_t lock;
	pthread_cond_t cond;  /* the tick's thread sleeps on it */
	pthread_cond_t ended; /* the end of a round, for threads that wait for it */
	pthread_cond_t dog;   /* the watchdog sleeps on it */
	pthread_t ticker, watchdog;
	bool made, started, paused, quit, orphan;
	bool dog_sleeps;      /* no round is under way: the next one wakes the watchdog */
	uint64_t round_began; /* 0: no round is under way */
	uint64_t activity;    /* the policy's count of activity at the last round */
	uint64_t kicks;       /* the policy's count of kicks at the last round */
	uint64_t kick_ns;     /* before this time no round runs that the policy asks for */
	bool nudged;          /* a nudge came since the last round began */
	bool dozing;          /* the tick's thread sleeps for as long as the policy rests */
	/* The last round met very many TSGs; used by the tick's thread alone. */
	bool large;
	int stalled;
	uint32_t changed;
	uint32_t refused_seen[GS_KICK_USERS]; /* used by the loop alone */

	/* TSGs that still have to get task_init; under @lock while the thread runs */
	struct gpusched_key *unmet;
	size_t nunmet;
};

static inline struct gs_stock *gs_stock_of(const struct gs_policy *p)
{
	return (struct gs_stock *)(uintptr_t)p; /* p is its first member */
}

void gs_stock_free(struct gs_stock *s);

/* Calls task_init for @n TSGs of @keys that it has not seen. */
int gs_stock_meet(struct gs_stock *s, const struct gpusched_key *keys, size_t n);

int gs_ticker_init(struct gs_stock *s, struct gs_error *err);
int gs_ticker_start(struct gs_stock *s, struct gs_error *err);
/* Waits until no round is under way; a round ends at its next TSG once stopped is set. */
void gs_ticker_pause(struct gs_stock *s);
void gs_ticker_resume(struct gs_stock *s);
/* Ends a rest: something happened to a TSG. */
void gs_ticker_nudge(struct gs_stock *s);
/* Returns false if a round does not end: then the tick's thread owns @s and frees it. */
bool gs_ticker_stop(struct gs_stock *s);
/* Copies new lines of gpusched_log() into our log. */
void gs_ticker_logs(struct gs_stock *s);

#endif /* GPUSCHED_POLICY_STOCK_H */
