// SPDX-License-Identifier: MIT
/*
 * The heartbeat while this process's loop is busy with one long thing: a policy that is compiled
 * and verified, a restore. Who reads the table must not take it for dead meanwhile.
 */
#include <errno.h>
#include <time.h>

#include "basic/clock.h"
#include "basic/log.h"
#include "service/internal.h"

#define BEAT_NS (250 * NS_PER_MS)

static void *beat(void *arg)
{
	struct gs_beating *b = arg;

	pthread_mutex_lock(&b->lock);
	while (!b->stop) {
		uint64_t next = gs_now_ns() + BEAT_NS;
		struct timespec t = { .tv_sec = (time_t)(next / NS_PER_S),
				      .tv_nsec = (long)(next % NS_PER_S) };

		gs_loop_beat(b->s);
		pthread_cond_timedwait(&b->cond, &b->lock, &t);
	}
	pthread_mutex_unlock(&b->lock);
	return NULL;
}

void gs_beating_start(struct gs_beating *b, struct gs_service *s)
{
	pthread_condattr_t attr;

	*b = (struct gs_beating){ .s = s };
	if (!s->opts.daemon)
		return;
	pthread_mutex_init(&b->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&b->cond, &attr);
	pthread_condattr_destroy(&attr);
	b->started = !pthread_create(&b->thread, NULL, beat, b);
	if (!b->started)
		gs_log(LOG_WARNING, "no thread for the heartbeat");
}

void gs_beating_stop(struct gs_beating *b)
{
	if (!b->s->opts.daemon)
		return;
	pthread_mutex_lock(&b->lock);
	b->stop = true;
	pthread_cond_signal(&b->cond);
	pthread_mutex_unlock(&b->lock);
	if (b->started)
		pthread_join(b->thread, NULL);
	pthread_cond_destroy(&b->cond);
	pthread_mutex_destroy(&b->lock);
	gs_loop_beat(b->s);
}
