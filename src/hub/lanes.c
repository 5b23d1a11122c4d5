// SPDX-License-Identifier: MIT
#include "hub/lanes.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>
#include <utlist.h>

#include "basic/cleanup.h"
#include "basic/clock.h"

#define LANES 288 /* more than the connections of all users */
#define STACK_SIZE (256u << 10)
#define TICK_MS 1000
#define END_S 1

struct gs_lane {
	struct gs_lane *prev, *next; /* these, @uid and @refs are the loop's alone */
	struct gs_lanes *lanes;
	uid_t uid;
	unsigned int refs;
	_Atomic(struct gs_lane_job *) given; /* the last given first */
	_Atomic bool ends, left;             /* @left: the loop makes no more use of it */
	int epoll, wake;                     /* both are the daemon's alone */
	/* used by the thread alone */
	struct gs_lane_job *jobs; /* the first given first */
	struct gs_lane_watch *watches;
	uint64_t ticked_ns;
};

/*
 * No lock: a lane's thread may wait for a processor for long, and the loop must not wait for it.
 */
struct gs_lanes {
	struct gs_lane *all;
	_Atomic unsigned int n;
};

static _Atomic uint64_t left; /* see gs_lanes_left() */

/* ---- the thread ------------------------------------------------------------------------------ */

static struct gs_lane_job *take(struct gs_lane *lane)
{
	struct gs_lane_job *given, *next, *job;

	if (!lane->jobs)
		for (given = atomic_exchange(&lane->given, NULL); given; given = next) {
			next = given->next;
			given->next = lane->jobs;
			lane->jobs = given;
		}
	job = lane->jobs;
	if (job)
		lane->jobs = job->next;
	return job;
}

/* Events come one by one: a watch may end with each. */
static void wait_for_event(struct gs_lane *lane)
{
	struct epoll_event ev;
	uint64_t count;

	if (epoll_wait(lane->epoll, &ev, 1, lane->watches ? TICK_MS : -1) == 1) {
		struct gs_lane_watch *w = ev.data.ptr;

		if (!w && read(lane->wake, &count, sizeof(count)) < 0)
			return;
		if (w)
			w->ready(w, ev.events);
	}
}

static void tick(struct gs_lane *lane)
{
	struct gs_lane_watch *w, *next;
	uint64_t now = gs_now_ns();

	if (now - lane->ticked_ns < TICK_MS * NS_PER_MS)
		return;
	lane->ticked_ns = now;
	DL_FOREACH_SAFE(lane->watches, w, next)
		w->tick(w);
}

static void *lane_thread(void *user)
{
	struct gs_lane *lane = user;
	struct gs_lanes *lanes = lane->lanes;
	struct gs_lane_job *job;

	pthread_setname_np(pthread_self(), "gpusched-lane");
	if (lane->uid && getpriority(PRIO_PROCESS, 0) < 0)
		setpriority(PRIO_PROCESS, 0, 0); /* of this thread: users' work is not the loop's */
	for (;;) {
		bool ends = lane->ends; /* no job is given after this */

		job = take(lane);
		if (job)
			job->run(job);
		else if (ends)
			break;
		else
			wait_for_event(lane);
		tick(lane);
	}
	while (!lane->left)
		gs_sleep_ns(NS_PER_MS);
	close(lane->epoll);
	close(lane->wake);
	free(lane);
	lanes->n--;
	return NULL;
}

int gs_lane_watch(struct gs_lane *lane, struct gs_lane_watch *w)
{
	struct epoll_event ev = { .events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET };

	ev.data.ptr = w;
	DL_APPEND(lane->watches, w);
	for (unsigned int i = 0; i < GS_COUNT(w->fds); i++)
		if (epoll_ctl(lane->epoll, EPOLL_CTL_ADD, w->fds[i], &ev))
			return -errno;
	return 0;
}

void gs_lane_unwatch(struct gs_lane *lane, struct gs_lane_watch *w)
{
	for (unsigned int i = 0; i < GS_COUNT(w->fds); i++)
		epoll_ctl(lane->epoll, EPOLL_CTL_DEL, w->fds[i], NULL);
	DL_DELETE(lane->watches, w);
}

/* ---- for the loop ---------------------------------------------------------------------------- */

static void wake(struct gs_lane *lane)
{
	uint64_t one = 1;

	if (write(lane->wake, &one, sizeof(one)) < 0)
		return; /* it has been woken 2^64 times, and has not looked yet */
}

static int begin_thread(struct gs_lane *lane)
{
	sigset_t all, before;
	pthread_attr_t attr;
	pthread_t thread;
	int r;

	sigfillset(&all);
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attr, STACK_SIZE);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	r = -pthread_create(&thread, &attr, lane_thread, lane);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
	return r;
}

static struct gs_lane *lane_new(struct gs_lanes *lanes, uid_t uid)
{
	struct epoll_event ev = { .events = EPOLLIN };
	struct gs_lane *lane = calloc(1, sizeof(*lane));

	if (!lane)
		return NULL;
	*lane = (struct gs_lane){ .lanes = lanes, .uid = uid };
	lane->epoll = epoll_create1(EPOLL_CLOEXEC);
	lane->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (lane->epoll >= 0 && lane->wake >= 0 &&
	    !epoll_ctl(lane->epoll, EPOLL_CTL_ADD, lane->wake, &ev)) {
		lanes->n++;
		if (!begin_thread(lane)) {
			DL_APPEND(lanes->all, lane);
			return lane;
		}
		lanes->n--;
	}
	if (lane->epoll >= 0)
		close(lane->epoll);
	if (lane->wake >= 0)
		close(lane->wake);
	free(lane);
	return NULL;
}

static struct gs_lane *find(struct gs_lanes *lanes, uid_t uid)
{
	struct gs_lane *lane;

	DL_FOREACH(lanes->all, lane)
		if (lane->uid == uid)
			return lane;
	return NULL;
}

/* The newest lane that is not root's: users do not delay root. */
static struct gs_lane *shared(struct gs_lanes *lanes)
{
	struct gs_lane *lane, *last = NULL;

	DL_FOREACH(lanes->all, lane)
		if (lane->uid)
			last = lane;
	return last;
}

struct gs_lane *gs_lane_get(struct gs_lanes *lanes, uid_t uid)
{
	struct gs_lane *lane = find(lanes, uid);

	if (!lane && (lanes->n < LANES || !uid))
		lane = lane_new(lanes, uid);
	if (!lane) {
		left++;
		lane = shared(lanes);
	}
	if (lane)
		lane->refs++;
	return lane;
}

void gs_lane_put(struct gs_lane *lane)
{
	if (!lane || --lane->refs)
		return;
	DL_DELETE(lane->lanes->all, lane);
	lane->ends = true;
	wake(lane);
	lane->left = true;
}

void gs_lane_do(struct gs_lane *lane, struct gs_lane_job *job)
{
	struct gs_lane_job *before = lane->given;

	do {
		job->next = before;
	} while (!atomic_compare_exchange_weak(&lane->given, &before, job));
	/* the job may have run already, and may be gone */
	if (!before)
		wake(lane);
}

struct closing {
	struct gs_lane_job job;
	int fd;
};

static void run_close(struct gs_lane_job *job)
{
	struct closing *c = (struct closing *)job;

	close(c->fd);
	free(c);
}

void gs_lanes_close(struct gs_lanes *lanes, uid_t uid, int fd)
{
	struct closing *c = calloc(1, sizeof(*c));
	struct gs_lane *lane = c ? gs_lane_get(lanes, uid) : NULL;

	if (!lane) {
		left += !c;
		close(fd);
		free(c);
		return;
	}
	c->job.run = run_close;
	c->fd = fd;
	gs_lane_do(lane, &c->job);
	gs_lane_put(lane);
}

uint64_t gs_lanes_left(void)
{
	return left;
}

/* ---- life ------------------------------------------------------------------------------------ */

int gs_lanes_new(struct gs_lanes **ret)
{
	*ret = calloc(1, sizeof(**ret));
	return *ret ? 0 : -ENOMEM;
}

void gs_lanes_free(struct gs_lanes *lanes)
{
	uint64_t until = gs_now_ns() + END_S * NS_PER_S;

	if (!lanes)
		return;
	while (lanes->n && gs_now_ns() < until)
		gs_sleep_ns(NS_PER_MS);
	if (!lanes->n) /* otherwise a thread still uses it */
		free(lanes);
}
