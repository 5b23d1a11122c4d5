/* SPDX-License-Identifier: MIT */
/*
 * host.h - a running policy; for host.c and ticker.c
 */
#ifndef GPUSCHED_POLICY_HOST_H
#define GPUSCHED_POLICY_HOST_H

#include <pthread.h>

#include "policy/priv.h"
#include "policy/rest.h"

struct gs_policy {
	struct gs_table *observe;
	struct gs_policy_info info;
	struct gs_loaded loaded;
	int event_fd;
	uint64_t log_seen;

	/* the tick and its watchdog; all below @lock but @stalled and @changed */
	pthread_mutex_t lock;
	pthread_cond_t cond;  /* the tick's thread sleeps here */
	pthread_cond_t ended; /* a round's end, for who waits for it */
	pthread_cond_t dog;   /* the watchdog sleeps here */
	pthread_t ticker, watchdog;
	bool started, paused, quit, orphan;
	bool dog_sleeps;      /* no round went on: the next one wakes the watchdog */
	uint64_t round_began; /* 0: no round is under way */
	uint64_t seq;
	struct gs_rest rest; /* from the last round on */
	uint64_t activity;   /* as the last round found it */
	bool nudged;         /* since the last round began */
	bool dozing;         /* it sleeps as long as it rests */
	bool large;          /* the last round met very many; its thread's alone */
	int stalled;
	uint32_t changed;
};

int gs_ticker_init(struct gs_policy *p, struct gs_error *err);
int gs_ticker_start(struct gs_policy *p, struct gs_error *err);
/* Waits for the round under way, if any (it ends at the next TSG once stopped is set). */
void gs_ticker_pause(struct gs_policy *p);
void gs_ticker_resume(struct gs_policy *p);
/* Something happened to a TSG: a rest is over. */
void gs_ticker_nudge(struct gs_policy *p);
/* False: a round does not end; @p belongs to the tick's thread from here on, which frees it. */
bool gs_ticker_stop(struct gs_policy *p);
void gs_ticker_free(struct gs_policy *p);
/* New lines of gpusched_log() into our log. */
void gs_ticker_logs(struct gs_policy *p);

#endif /* GPUSCHED_POLICY_HOST_H */
