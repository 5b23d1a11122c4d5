// SPDX-License-Identifier: MIT
#include "account/lane.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "basic/clock.h"

struct gs_lane {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t asked, done;
	gs_lane_fn fn; /* NULL: no call is waiting */
	void *user, *params;
	int code;
	gs_lane_fn last; /* the call to make at the end */
	void *last_user;
	bool ends, over; /* ends: no further call; over: the thread is done */
	bool left;       /* nobody waits for the thread: it frees this */
	bool late;       /* a wait timed out: calls fail at once until the thread is idle */
};

static void lane_free(struct gs_lane *lane)
{
	pthread_cond_destroy(&lane->asked);
	pthread_cond_destroy(&lane->done);
	pthread_mutex_destroy(&lane->lock);
	free(lane->params);
	free(lane);
}

/* Returns the call to make next; NULL: none. After gs_lane_end() that is @last, once. */
static gs_lane_fn take_next(struct gs_lane *lane, void **ret_user)
{
	gs_lane_fn fn = lane->fn;

	*ret_user = lane->user;
	if (!fn && lane->ends) {
		fn = lane->last;
		*ret_user = lane->last_user;
		lane->last = NULL;
	}
	return fn;
}

static void *lane_main(void *arg)
{
	struct gs_lane *lane = arg;
	gs_lane_fn fn;
	void *user;
	bool left;

	pthread_mutex_lock(&lane->lock);
	while ((fn = take_next(lane, &user)) || !lane->ends) {
		int code;

		if (!fn) {
			pthread_cond_wait(&lane->asked, &lane->lock);
			continue;
		}
		pthread_mutex_unlock(&lane->lock);
		code = fn(user, lane->params);
		pthread_mutex_lock(&lane->lock);
		lane->code = code;
		lane->fn = NULL;
		pthread_cond_signal(&lane->done);
	}
	lane->over = true;
	left = lane->left;
	pthread_cond_signal(&lane->done);
	pthread_mutex_unlock(&lane->lock);
	if (left)
		lane_free(lane);
	return NULL;
}

static int init(struct gs_lane *lane)
{
	pthread_condattr_t attr;
	int r = pthread_condattr_init(&attr);

	if (r)
		return r;
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_mutex_init(&lane->lock, NULL);
	pthread_cond_init(&lane->asked, NULL);
	pthread_cond_init(&lane->done, &attr);
	pthread_condattr_destroy(&attr);
	return pthread_create(&lane->thread, NULL, lane_main, lane);
}

int gs_lane_new(struct gs_lane **ret)
{
	struct gs_lane *lane = calloc(1, sizeof(*lane));
	int r = lane ? init(lane) : ENOMEM;

	if (r) {
		free(lane);
		return -r;
	}
	*ret = lane;
	return 0;
}

static struct timespec after(uint64_t ns)
{
	uint64_t at = gs_now_ns() + ns;

	return (struct timespec){ .tv_sec = (time_t)(at / NS_PER_S),
				  .tv_nsec = (long)(at % NS_PER_S) };
}

/* Waits until the thread has nothing to do. Returns false if @until comes before. */
static bool wait_idle(struct gs_lane *lane, const struct timespec *until)
{
	while (lane->fn)
		if (pthread_cond_timedwait(&lane->done, &lane->lock, until))
			break;
	return !lane->fn;
}

static int call(struct gs_lane *lane, gs_lane_fn fn, void *user, void *params, size_t size,
		const struct timespec *until)
{
	void *copy;

	if (!wait_idle(lane, until))
		return -EBUSY;
	copy = malloc(size + 1);
	if (!copy)
		return -ENOMEM;
	if (size)
		memcpy(copy, params, size);
	free(lane->params);
	lane->params = copy;
	lane->user = user;
	lane->fn = fn;
	pthread_cond_signal(&lane->asked);
	if (!wait_idle(lane, until))
		return -EINPROGRESS;
	if (size)
		memcpy(params, lane->params, size);
	return lane->code;
}

int gs_lane_call(struct gs_lane *lane, gs_lane_fn fn, void *user, void *params, size_t size,
		 uint64_t wait_ns)
{
	struct timespec until;
	int r;

	pthread_mutex_lock(&lane->lock);
	lane->late &= lane->fn != NULL;
	until = after(lane->late ? 0 : wait_ns);
	r = call(lane, fn, user, params, size, &until);
	lane->late |= wait_ns && (r == -EBUSY || r == -EINPROGRESS);
	pthread_mutex_unlock(&lane->lock);
	return r;
}

void gs_lane_end(struct gs_lane *lane, gs_lane_fn last, void *user, uint64_t wait_ns)
{
	struct timespec until = after(wait_ns);
	bool over;

	pthread_mutex_lock(&lane->lock);
	lane->ends = true;
	lane->last = last;
	lane->last_user = user;
	pthread_cond_signal(&lane->asked);
	while (!lane->over)
		if (pthread_cond_timedwait(&lane->done, &lane->lock, &until))
			break;
	over = lane->over;
	lane->left = !over;
	if (!over)
		pthread_detach(lane->thread);
	pthread_mutex_unlock(&lane->lock);
	if (!over)
		return;
	pthread_join(lane->thread, NULL);
	lane_free(lane);
}
