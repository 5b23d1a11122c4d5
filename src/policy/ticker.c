// SPDX-License-Identifier: MIT
/*
 * ticker.c - runs the tick's thread, and a watchdog that notices if a round takes too long
 *
 * A running BPF program cannot be stopped. So the rounds run in a separate thread, and every wait
 * for that thread has a limit. On an overrun the watchdog marks the policy stopped, so that the
 * round ends at its next TSG, and wakes the main loop, which restores at once.
 *
 * A tick must be cheap: it costs one wait and one run of the program. So rounds do not signal the
 * watchdog; while there are rounds, it checks the start time of the present round once per timeout.
 * While rounds would change nothing, none run (rest.h). The main loop, which gets all events of
 * TSGs, ends such a rest by gs_ticker_nudge().
 */
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "basic/env.h"
#include "basic/log.h"
#include "policy/slots.h"
#include "policy/stock.h"

/* Period of checks for a failure, for a policy without a tick that does not rest. */
#define IDLE_PERIOD_NS (100 * NS_PER_MS)
/* How often a table without TSGs is walked, and a policy without a tick is checked. */
#define EMPTY_PERIOD_NS (GPUSCHED_REST_MAX_MS * NS_PER_MS)
/*
 * Rounds over a large table may take 1/QUIET_PART of the time if they change nothing, otherwise
 * 1/BUSY_PART. If the policy asks for the longest rest, 1/RESTING_PART.
 */
#define RESTING_PART 20000
#define QUIET_PART 200
#define BUSY_PART 20
/* The number of TSGs that one round calls task_init for. */
#define MEET_KEYS 128u
/* Longest wait for the end of a round after the policy was marked stopped. */
#define STOP_LIMIT_NS (200 * NS_PER_MS)

static uint64_t scaled(uint64_t ns)
{
	return (uint64_t)((double)ns * gs_env()->dilate);
}

static uint64_t period_ns(const struct gs_stock *s)
{
	return s->p.info.tick_us ? scaled(s->p.info.tick_us * NS_PER_US) : IDLE_PERIOD_NS;
}

static struct timespec abstime(uint64_t ns)
{
	return (struct timespec){ .tv_sec = (time_t)(ns / NS_PER_S),
				  .tv_nsec = (long)(ns % NS_PER_S) };
}

static void wake_loop(struct gs_stock *s)
{
	uint64_t one = 1;

	if (write(s->event_fd, &one, sizeof(one)) < 0)
		gs_log(LOG_DEBUG, "policy %s: wake-up: %s", s->p.info.name, strerror(errno));
}

int gs_ticker_init(struct gs_stock *s, struct gs_error *err)
{
	pthread_condattr_t attr;

	pthread_mutex_init(&s->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&s->cond, &attr);
	pthread_cond_init(&s->ended, &attr);
	pthread_cond_init(&s->dog, &attr);
	pthread_condattr_destroy(&attr);
	s->made = true;
	s->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	return s->event_fd < 0 ? gs_fail(err, -errno, "no eventfd: %s", strerror(errno)) : 0;
}

void gs_ticker_free(struct gs_stock *s)
{
	if (s->made) {
		pthread_mutex_destroy(&s->lock);
		pthread_cond_destroy(&s->cond);
		pthread_cond_destroy(&s->ended);
		pthread_cond_destroy(&s->dog);
	}
	if (s->made && s->event_fd >= 0)
		close(s->event_fd);
	gs_slots_leave(&s->p);
	gs_polobj_unload(&s->p);
	free(s->unmet);
	free(s);
}

/* True if the tick rests, and no event since the last round ends the rest. */
static bool is_idle(const struct gs_stock *s, uint64_t now)
{
	return gs_rest_is(&s->p.rest, now) && !s->nudged &&
	       s->activity == __atomic_load_n(&s->p.loaded.state->activity, __ATOMIC_RELAXED);
}

bool gs_ticker_rests(struct gs_stock *s)
{
	bool rests;

	pthread_mutex_lock(&s->lock);
	rests = is_idle(s, gs_now_ns());
	pthread_mutex_unlock(&s->lock);
	return rests;
}

/* True if the policy has asked for a round since the last one began. */
static bool is_kicked(const struct gs_stock *s)
{
	return s->p.info.tick_us &&
	       s->kicks != __atomic_load_n(&s->p.loaded.state->kicks, __ATOMIC_RELAXED);
}

/* True if the policy has failed, or has written log lines. */
static bool has_news(const struct gs_stock *s)
{
	return __atomic_load_n(&s->p.loaded.state->failed, __ATOMIC_ACQUIRE) ||
	       __atomic_load_n(&s->p.loaded.state->log_seq, __ATOMIC_RELAXED) != s->log_seen;
}

/* Runs one round, without the lock. Returns how long the next round must wait at least. */
static uint64_t round_of(struct gs_stock *s, uint64_t seq, bool kicked, uint64_t *ret_rest)
{
	struct gpusched_run run = { .op = GPUSCHED_RUN_TICK, .arg = seq << 32 | s->p.info.tick_us };
	bool large = s->large;
	uint64_t began = large || kicked ? gs_thread_cpu_ns() : 0, took;
	int r = gs_loaded_ask(&s->p.loaded, &run);

	if (r == 0 && !run.visited)
		*ret_rest = EMPTY_PERIOD_NS;
	else
		*ret_rest = r ? 0 : scaled(gs_rest_ms(run.ret, run.changed) * NS_PER_MS);
	s->large = run.visited > 2 * GS_TICK_KEYS;
	if (r < 0)
		gs_log(LOG_WARNING, "policy %s: tick: %s", s->p.info.name, strerror(-r));
	if (r == 0 && run.changed)
		__atomic_fetch_add(&s->changed, (uint32_t)run.changed, __ATOMIC_ACQ_REL);
	if (run.changed || has_news(s))
		wake_loop(s);
	took = began ? gs_thread_cpu_ns() - began : 0;
	if (*ret_rest == scaled(EMPTY_PERIOD_NS) && took * RESTING_PART > *ret_rest)
		*ret_rest = took * RESTING_PART;
	if (kicked)
		s->kick_ns = gs_now_ns() + took * BUSY_PART;
	return large ? took * (run.changed ? BUSY_PART : QUIET_PART) : 0;
}

/* With the lock: records that a round begins at @now, and wakes the watchdog if it sleeps. */
static void begin_round(struct gs_stock *s, uint64_t now)
{
	s->round_began = now;
	s->p.seq++;
	if (!s->dog_sleeps)
		return;
	s->dog_sleeps = false;
	pthread_cond_signal(&s->dog);
}

/* Runs a round, with the lock released meanwhile. Returns when the next round may come. */
static uint64_t do_round(struct gs_stock *s, uint64_t now)
{
	uint64_t seq, rest = EMPTY_PERIOD_NS, wait = 0;
	bool kicked = is_kicked(s);

	s->nudged = false;
	s->activity = __atomic_load_n(&s->p.loaded.state->activity, __ATOMIC_RELAXED);
	s->kicks = __atomic_load_n(&s->p.loaded.state->kicks, __ATOMIC_RELAXED);
	if (s->p.info.tick_us) {
		begin_round(s, now);
		seq = s->p.seq;
		pthread_mutex_unlock(&s->lock);
		wait = round_of(s, seq, kicked, &rest);
		pthread_mutex_lock(&s->lock);
		s->round_began = 0;
		pthread_cond_broadcast(&s->ended);
	} else if (has_news(s)) {
		wake_loop(s);
	}
	s->p.rest.until_ns = now + rest;
	return now + wait;
}

int gs_ticker_meet(struct gs_stock *s, const struct gpusched_key *keys, size_t n)
{
	int r = 0;

	for (size_t i = 0; i < n && !r; i++) {
		struct gpusched_run run = { .op = GPUSCHED_RUN_TASK_INIT,
					    .key = keys[i],
					    .arg = GS_INIT_ONCE };

		r = gs_loaded_ask(&s->p.loaded, &run);
	}
	return r;
}

/* Runs a round that calls task_init, not tick, for some TSGs, with the lock released meanwhile. */
static void meet_some(struct gs_stock *s, uint64_t now)
{
	size_t n = s->nunmet < MEET_KEYS ? s->nunmet : MEET_KEYS;
	int r;

	begin_round(s, now);
	pthread_mutex_unlock(&s->lock);
	r = gs_ticker_meet(s, s->unmet + s->nunmet - n, n);
	if (r < 0)
		gs_log(LOG_WARNING, "policy %s: task_init: %s", s->p.info.name, strerror(-r));
	__atomic_fetch_add(&s->changed, (uint32_t)n, __ATOMIC_ACQ_REL);
	pthread_mutex_lock(&s->lock);
	s->nunmet -= n;
	s->round_began = 0;
	pthread_cond_broadcast(&s->ended);
	if (!s->nunmet || has_news(s))
		wake_loop(s);
}

static void *ticker_main(void *arg)
{
	struct gs_stock *s = arg;
	uint64_t next = gs_now_ns() + period_ns(s);
	bool orphan;

	pthread_mutex_lock(&s->lock);
	while (!s->quit) {
		uint64_t now = gs_now_ns(), may, at = next;
		struct timespec t;

		s->dozing = is_idle(s, now);
		if (s->dozing && s->p.rest.until_ns > at)
			at = s->p.rest.until_ns;
		if (is_kicked(s) && s->kick_ns < at)
			at = s->kick_ns;
		t = abstime(at);
		if (s->paused) {
			pthread_cond_wait(&s->cond, &s->lock);
		} else if (s->nunmet) {
			meet_some(s, now);
		} else if (now < at) {
			pthread_cond_timedwait(&s->cond, &s->lock, &t);
		} else {
			/* missed rounds are skipped, not run later */
			if (next <= now)
				next = now + period_ns(s) - (now - next) % period_ns(s);
			may = do_round(s, now);
			if (next < may)
				next = may;
		}
	}
	orphan = s->orphan;
	pthread_mutex_unlock(&s->lock);
	if (orphan)
		gs_ticker_free(s);
	return NULL;
}

/*
 * With the lock: checks for an overrun, and marks it. Returns when to check next; 0: when the next
 * round begins.
 */
static uint64_t watch(struct gs_stock *s, uint64_t *inout_seen)
{
	uint64_t limit = scaled(s->p.info.timeout_ms * NS_PER_MS), now = gs_now_ns();
	bool idle = !s->round_began && s->p.seq == *inout_seen;

	*inout_seen = s->p.seq;
	if (s->stalled || idle)
		return 0;
	if (!s->round_began)
		return now + limit;
	if (now < s->round_began + limit)
		return s->round_began + limit;
	__atomic_store_n(&s->p.loaded.state->stopped, 1u, __ATOMIC_SEQ_CST);
	__atomic_store_n(&s->stalled, 1, __ATOMIC_RELEASE);
	wake_loop(s);
	return 0;
}

static void *watchdog_main(void *arg)
{
	struct gs_stock *s = arg;
	uint64_t seen = 0;

	pthread_mutex_lock(&s->lock);
	while (!s->quit) {
		uint64_t next = watch(s, &seen);
		struct timespec t = abstime(next);

		s->dog_sleeps = !next && !s->stalled;
		if (next)
			pthread_cond_timedwait(&s->dog, &s->lock, &t);
		else
			pthread_cond_wait(&s->dog, &s->lock);
	}
	pthread_mutex_unlock(&s->lock);
	return NULL;
}

int gs_ticker_start(struct gs_stock *s, struct gs_error *err)
{
	int r = pthread_create(&s->ticker, NULL, ticker_main, s);

	if (r)
		return gs_fail(err, -r, "no thread for the tick: %s", strerror(r));
	r = pthread_create(&s->watchdog, NULL, watchdog_main, s);
	if (r) {
		pthread_mutex_lock(&s->lock);
		s->quit = true;
		pthread_cond_signal(&s->cond);
		pthread_mutex_unlock(&s->lock);
		pthread_join(s->ticker, NULL);
		return gs_fail(err, -r, "no thread for the tick's watchdog: %s", strerror(r));
	}
	s->started = true;
	return 0;
}

/* With the lock: returns true when no round is under way, false after the limit. */
static bool wait_round(struct gs_stock *s)
{
	struct timespec t = abstime(gs_now_ns() + STOP_LIMIT_NS);

	while (s->round_began)
		if (pthread_cond_timedwait(&s->ended, &s->lock, &t) == ETIMEDOUT)
			return !s->round_began;
	return true;
}

void gs_ticker_pause(struct gs_stock *s)
{
	pthread_mutex_lock(&s->lock);
	s->paused = true;
	wait_round(s);
	pthread_mutex_unlock(&s->lock);
}

void gs_ticker_resume(struct gs_stock *s)
{
	pthread_mutex_lock(&s->lock);
	s->paused = false;
	pthread_cond_signal(&s->cond);
	pthread_mutex_unlock(&s->lock);
}

void gs_ticker_nudge(struct gs_stock *s)
{
	pthread_mutex_lock(&s->lock);
	s->nudged = true;
	if (s->dozing || is_kicked(s))
		pthread_cond_signal(&s->cond);
	pthread_mutex_unlock(&s->lock);
}

bool gs_ticker_stop(struct gs_stock *s)
{
	bool ended;

	if (!s->started)
		return true;
	pthread_mutex_lock(&s->lock);
	s->quit = true;
	pthread_cond_signal(&s->cond);
	pthread_cond_signal(&s->dog);
	pthread_mutex_unlock(&s->lock);
	pthread_join(s->watchdog, NULL);
	pthread_mutex_lock(&s->lock);
	ended = wait_round(s);
	s->orphan = !ended;
	s->started = !ended;
	if (!ended) {
		/* empty the slots now, since the table may be closed before the thread ends */
		gs_slots_leave(&s->p);
		pthread_detach(s->ticker);
	}
	/* from here on, a thread that was left behind may free @s */
	pthread_mutex_unlock(&s->lock);
	if (ended)
		pthread_join(s->ticker, NULL);
	return ended;
}

void gs_ticker_logs(struct gs_stock *s)
{
	uint64_t seen = s->log_seen;

	gs_loaded_logs(&s->p.loaded, s->p.info.name, "", &s->log_seen);
	if (s->log_seen != seen)
		s->said_ns = gs_now_ns();
}
