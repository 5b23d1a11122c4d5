/* SPDX-License-Identifier: MIT */
/*
 * stock.h - a policy on the stock host; for host_stock.c and ticker.c
 */
#ifndef GPUSCHED_POLICY_STOCK_H
#define GPUSCHED_POLICY_STOCK_H

#include <pthread.h>

#include "policy/host.h"

struct gs_stock {
	struct gs_policy p;
	int event_fd;
	uint64_t log_seen;
	uint64_t said_ns; /* when its last line was seen */

	/* the tick and its watchdog, with p.seq and p.rest; all below @lock but @stalled, @changed */
	pthread_mutex_t lock;
	pthread_cond_t cond;  /* the tick's thread sleeps here */
	pthread_cond_t ended; /* a round's end, for its waiters */
	pthread_cond_t dog;   /* the watchdog sleeps here */
	pthread_t ticker, watchdog;
	bool made, started, paused, quit, orphan;
	bool dog_sleeps;      /* no round went on: the next one wakes the watchdog */
	uint64_t round_began; /* 0: no round is under way */
	uint64_t activity;    /* as the last round found it */
	uint64_t kicks;       /* as the last round found them */
	uint64_t kick_ns;     /* the next round that the policy asks for may come then */
	bool nudged;          /* since the last round began */
	bool dozing;          /* it sleeps as long as it rests */
	bool large;           /* the last round met very many; its thread's alone */
	int stalled;
	uint32_t changed;
	uint32_t refused_seen[GS_KICK_USERS]; /* the loop's */

	/* TSGs that task_init is still to be called for; under @lock while the thread runs */
	struct gpusched_key *unmet;
	size_t nunmet;
};

static inline struct gs_stock *gs_stock_of(const struct gs_policy *p)
{
	return (struct gs_stock *)(uintptr_t)p; /* its first member */
}

void gs_stock_free(struct gs_stock *s);

/* task_init for @n of @keys, if it has not seen them. */
int gs_stock_meet(struct gs_stock *s, const struct gpusched_key *keys, size_t n);

int gs_ticker_init(struct gs_stock *s, struct gs_error *err);
int gs_ticker_start(struct gs_stock *s, struct gs_error *err);
/* Waits for the round under way, if any (it ends at the next TSG once stopped is set). */
void gs_ticker_pause(struct gs_stock *s);
void gs_ticker_resume(struct gs_stock *s);
/* Something happened to a TSG: a rest is over. */
void gs_ticker_nudge(struct gs_stock *s);
/* False: a round does not end; @s belongs to the tick's thread from here on, which frees it. */
bool gs_ticker_stop(struct gs_stock *s);
/* New lines of gpusched_log() into our log. */
void gs_ticker_logs(struct gs_stock *s);

#endif /* GPUSCHED_POLICY_STOCK_H */
