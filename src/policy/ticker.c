// SPDX-License-Identifier: MIT
/*
 * ticker.c - the tick's thread, and the watchdog that sees it overrun
 *
 * A BPF program that runs cannot be stopped. So the round runs in a thread that nobody waits for
 * without a limit, and the watchdog marks the policy stopped (the round then ends at its next TSG)
 * and wakes the main loop, which restores meanwhile.
 *
 * A tick costs one wait and one run of the program: the watchdog is not told of rounds, it looks at
 * the start stamp of the one under way, once per timeout while rounds go on. While a round could
 * change nothing none comes (rest.h); the main loop, which hears of every TSG, ends that by a nudge.
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
#include "policy/host.h"

/* Without a tick of its own a policy's failures are looked for this soon after a nudge. */
#define IDLE_PERIOD_NS (100 * NS_PER_MS)
/* A table without TSGs is walked this often; and a policy without a tick looked at. */
#define EMPTY_PERIOD_NS (GPUSCHED_REST_MAX_MS * NS_PER_MS)
/* Over a large table a round may take this part of the time: when it changed nothing, else. */
#define QUIET_PART 200
#define BUSY_PART 20
/* Longest wait for the end of a round that was told to end. */
#define STOP_LIMIT_NS (200 * NS_PER_MS)

static uint64_t scaled(uint64_t ns)
{
	return (uint64_t)((double)ns * gs_env()->dilate);
}

static uint64_t period_ns(const struct gs_policy *p)
{
	return p->info.tick_us ? scaled(p->info.tick_us * NS_PER_US) : IDLE_PERIOD_NS;
}

static struct timespec abstime(uint64_t ns)
{
	return (struct timespec){ .tv_sec = (time_t)(ns / NS_PER_S),
				  .tv_nsec = (long)(ns % NS_PER_S) };
}

static void wake_loop(struct gs_policy *p)
{
	uint64_t one = 1;

	if (write(p->event_fd, &one, sizeof(one)) < 0)
		gs_log(LOG_DEBUG, "policy %s: wake-up: %s", p->info.name, strerror(errno));
}

int gs_ticker_init(struct gs_policy *p, struct gs_error *err)
{
	pthread_condattr_t attr;

	pthread_mutex_init(&p->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&p->cond, &attr);
	pthread_cond_init(&p->ended, &attr);
	pthread_cond_init(&p->dog, &attr);
	pthread_condattr_destroy(&attr);
	p->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	return p->event_fd < 0 ? gs_fail(err, -errno, "no eventfd: %s", strerror(errno)) : 0;
}

void gs_ticker_free(struct gs_policy *p)
{
	pthread_mutex_destroy(&p->lock);
	pthread_cond_destroy(&p->cond);
	pthread_cond_destroy(&p->ended);
	pthread_cond_destroy(&p->dog);
	if (p->event_fd >= 0)
		close(p->event_fd);
}

/* It rests, and nothing that ends that has happened since the last round began. */
static bool is_idle(const struct gs_policy *p, uint64_t now)
{
	return gs_rest_is(&p->rest, now) && !p->nudged &&
	       p->activity == __atomic_load_n(&p->loaded.state->activity, __ATOMIC_RELAXED);
}

/* Its failure, or lines of its log. */
static bool has_news(const struct gs_policy *p)
{
	return __atomic_load_n(&p->loaded.state->failed, __ATOMIC_ACQUIRE) ||
	       __atomic_load_n(&p->loaded.state->log_seq, __ATOMIC_RELAXED) != p->log_seen;
}

/* One round, without the lock. Returns how long the next one must wait at least. */
static uint64_t round_of(struct gs_policy *p, uint64_t seq, uint64_t *ret_rest)
{
	struct gpusched_run run = { .op = GPUSCHED_RUN_TICK, .arg = seq << 32 | p->info.tick_us };
	bool large = p->large;
	uint64_t began = large ? gs_thread_cpu_ns() : 0;
	int r = gs_loaded_run(&p->loaded, &run);

	if (r == 0 && !run.visited)
		*ret_rest = EMPTY_PERIOD_NS;
	else
		*ret_rest = r ? 0 : scaled(gs_rest_ms(run.ret, run.changed) * NS_PER_MS);
	p->large = run.visited > 2 * GS_TICK_KEYS;
	if (r < 0)
		gs_log(LOG_WARNING, "policy %s: tick: %s", p->info.name, strerror(-r));
	if (r == 0 && run.changed)
		__atomic_fetch_add(&p->changed, (uint32_t)run.changed, __ATOMIC_ACQ_REL);
	if (run.changed || has_news(p))
		wake_loop(p);
	return large ? (gs_thread_cpu_ns() - began) * (run.changed ? BUSY_PART : QUIET_PART) : 0;
}

/* With the lock: a round begins at @now. The watchdog is woken only if it had gone to sleep. */
static void begin_round(struct gs_policy *p, uint64_t now)
{
	p->round_began = now;
	p->seq++;
	if (!p->dog_sleeps)
		return;
	p->dog_sleeps = false;
	pthread_cond_signal(&p->dog);
}

/* With the lock, which it gives up meanwhile. Returns when the next round may come. */
static uint64_t do_round(struct gs_policy *p, uint64_t now)
{
	uint64_t seq, rest = EMPTY_PERIOD_NS, wait = 0;

	p->nudged = false;
	p->activity = __atomic_load_n(&p->loaded.state->activity, __ATOMIC_RELAXED);
	if (p->info.tick_us) {
		begin_round(p, now);
		seq = p->seq;
		pthread_mutex_unlock(&p->lock);
		wait = round_of(p, seq, &rest);
		pthread_mutex_lock(&p->lock);
		p->round_began = 0;
		pthread_cond_broadcast(&p->ended);
	} else if (has_news(p)) {
		wake_loop(p);
	}
	p->rest.until_ns = now + rest;
	return now + wait;
}

static void *ticker_main(void *arg)
{
	struct gs_policy *p = arg;
	uint64_t next = gs_now_ns() + period_ns(p);
	bool orphan;

	pthread_mutex_lock(&p->lock);
	while (!p->quit) {
		uint64_t now = gs_now_ns(), may, at = next;
		struct timespec t;

		p->dozing = is_idle(p, now);
		if (p->dozing && p->rest.until_ns > at)
			at = p->rest.until_ns;
		t = abstime(at);
		if (p->paused) {
			pthread_cond_wait(&p->cond, &p->lock);
		} else if (now < at) {
			pthread_cond_timedwait(&p->cond, &p->lock, &t);
		} else {
			/* rounds that were missed are not made up for */
			next = now + period_ns(p) - (now - next) % period_ns(p);
			may = do_round(p, now);
			if (next < may)
				next = may;
		}
	}
	orphan = p->orphan;
	pthread_mutex_unlock(&p->lock);
	if (orphan) {
		gs_policy_unload(&p->loaded);
		gs_policy_info_free(&p->info);
		gs_ticker_free(p);
		free(p);
	}
	return NULL;
}

/* With the lock: when the watchdog is to look next; 0: when a round begins. Marks an overrun. */
static uint64_t watch(struct gs_policy *p, uint64_t *inout_seen)
{
	uint64_t limit = scaled(p->info.timeout_ms * NS_PER_MS), now = gs_now_ns();
	bool idle = !p->round_began && p->seq == *inout_seen;

	*inout_seen = p->seq;
	if (p->stalled || idle)
		return 0;
	if (!p->round_began)
		return now + limit;
	if (now < p->round_began + limit)
		return p->round_began + limit;
	__atomic_store_n(&p->loaded.state->stopped, 1u, __ATOMIC_SEQ_CST);
	__atomic_store_n(&p->stalled, 1, __ATOMIC_RELEASE);
	wake_loop(p);
	return 0;
}

static void *watchdog_main(void *arg)
{
	struct gs_policy *p = arg;
	uint64_t seen = 0;

	pthread_mutex_lock(&p->lock);
	while (!p->quit) {
		uint64_t next = watch(p, &seen);
		struct timespec t = abstime(next);

		p->dog_sleeps = !next && !p->stalled;
		if (next)
			pthread_cond_timedwait(&p->dog, &p->lock, &t);
		else
			pthread_cond_wait(&p->dog, &p->lock);
	}
	pthread_mutex_unlock(&p->lock);
	return NULL;
}

int gs_ticker_start(struct gs_policy *p, struct gs_error *err)
{
	int r = pthread_create(&p->ticker, NULL, ticker_main, p);

	if (r)
		return gs_fail(err, -r, "no thread for the tick: %s", strerror(r));
	r = pthread_create(&p->watchdog, NULL, watchdog_main, p);
	if (r) {
		pthread_mutex_lock(&p->lock);
		p->quit = true;
		pthread_cond_signal(&p->cond);
		pthread_mutex_unlock(&p->lock);
		pthread_join(p->ticker, NULL);
		return gs_fail(err, -r, "no thread for the tick's watchdog: %s", strerror(r));
	}
	p->started = true;
	return 0;
}

/* With the lock: true when no round is under way, false after the limit. */
static bool wait_round(struct gs_policy *p)
{
	struct timespec t = abstime(gs_now_ns() + STOP_LIMIT_NS);

	while (p->round_began)
		if (pthread_cond_timedwait(&p->ended, &p->lock, &t) == ETIMEDOUT)
			return !p->round_began;
	return true;
}

void gs_ticker_pause(struct gs_policy *p)
{
	pthread_mutex_lock(&p->lock);
	p->paused = true;
	wait_round(p);
	pthread_mutex_unlock(&p->lock);
}

void gs_ticker_resume(struct gs_policy *p)
{
	pthread_mutex_lock(&p->lock);
	p->paused = false;
	pthread_cond_signal(&p->cond);
	pthread_mutex_unlock(&p->lock);
}

void gs_ticker_nudge(struct gs_policy *p)
{
	pthread_mutex_lock(&p->lock);
	p->nudged = true;
	if (p->dozing)
		pthread_cond_signal(&p->cond);
	pthread_mutex_unlock(&p->lock);
}

bool gs_ticker_stop(struct gs_policy *p)
{
	bool ended;

	if (!p->started)
		return true;
	pthread_mutex_lock(&p->lock);
	p->quit = true;
	pthread_cond_signal(&p->cond);
	pthread_cond_signal(&p->dog);
	pthread_mutex_unlock(&p->lock);
	pthread_join(p->watchdog, NULL);
	pthread_mutex_lock(&p->lock);
	ended = wait_round(p);
	p->orphan = !ended;
	p->started = !ended;
	if (!ended)
		pthread_detach(p->ticker);
	pthread_mutex_unlock(&p->lock); /* an orphan's thread may free it from here on */
	if (ended)
		pthread_join(p->ticker, NULL);
	return ended;
}

void gs_ticker_logs(struct gs_policy *p)
{
	gs_loaded_logs(&p->loaded, p->info.name, "", &p->log_seen);
}
