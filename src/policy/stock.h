/* SPDX-License-Identifier: MIT */
/*
 * stock.h - defines the state of a policy on the stock host, for host_stock.c and ticker.c
 */
#ifndef GPUSCHED_POLICY_STOCK_H
#define GPUSCHED_POLICY_STOCK_H

#include <pthread.h>

#include "policy/host.h"

struct gs_stock {
	struct gs_policy p;
	int event_fd;
	uint64_t log_seen; /* number of the last log line that was read */
	uint64_t said_ns;  /* when that line was read */

	/*
	 * State of the tick and its watchdog. @lock protects it, and p.seq and p.rest, but not
	 * @stalled and @changed, which are atomic.
	 */
	pthread_mutex_t lock;
	pthread_cond_t cond;  /* the tick's thread sleeps on it */
	pthread_cond_t ended; /* the end of a round, for threads that wait for it */
	pthread_cond_t dog;   /* the watchdog sleeps on it */
	pthread_t ticker, watchdog;
	bool made, started, paused, quit, orphan;
	bool dog_sleeps;      /* the watchdog sleeps, and the next round must wake it */
	uint64_t round_began; /* 0: no round is under way */
	uint64_t activity;    /* the policy's count of activity at the last round */
	uint64_t kicks;       /* the policy's count of kicks at the last round */
	uint64_t kick_ns;     /* gpusched_kick() causes no round before this time */
	bool nudged;          /* gs_ticker_nudge() was called since the last round began */
	bool dozing;          /* the tick's thread sleeps for as long as the policy rests */
	/* The last round made more than 2048 calls; only the tick's thread uses this. */
	bool large;
	int stalled;
	uint32_t changed;
	/* only the main loop uses these */
	uint64_t refused_all;
	bool refused_rose;
	uint32_t refused_seen[GS_KICK_USERS];

	/* TSGs that must still get task_init; under @lock while the thread runs */
	struct gpusched_key *unmet;
	size_t nunmet;
};

static inline struct gs_stock *gs_stock_of(const struct gs_policy *p)
{
	return (struct gs_stock *)(uintptr_t)p; /* p is its first member */
}

void gs_ticker_free(struct gs_stock *s);

/* Calls task_init for the @n TSGs of @keys, except those that the policy has already seen. */
int gs_ticker_meet(struct gs_stock *s, const struct gpusched_key *keys, size_t n);

int gs_ticker_init(struct gs_stock *s, struct gs_error *err);
int gs_ticker_start(struct gs_stock *s, struct gs_error *err);
/*
 * Waits until no round is under way, but at most 0.2 s. Set gs_pstate.stopped first, which ends a
 * round at its next TSG.
 */
void gs_ticker_pause(struct gs_stock *s);
void gs_ticker_resume(struct gs_stock *s);
/* True if the tick rests, and nothing has happened to any TSG since the last round. */
bool gs_ticker_rests(struct gs_stock *s);
/* Ends a rest, since something happened to a TSG. */
void gs_ticker_nudge(struct gs_stock *s);
/* Returns false if a round does not end: the tick's thread then owns @s and frees it. */
bool gs_ticker_stop(struct gs_stock *s);
/* Copies new lines of gpusched_log() into the daemon's log. */
void gs_ticker_logs(struct gs_stock *s);

#endif /* GPUSCHED_POLICY_STOCK_H */
