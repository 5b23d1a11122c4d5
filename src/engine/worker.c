// SPDX-License-Identifier: MIT
/*
 * worker.c - makes each GPU's calls in a separate thread, so that no GPU delays another
 *
 * The worker's thread is called its hand. While the hand borrows a descriptor from a TSG's owner,
 * the owner can make it wait. Then the hand is left behind with its job, and another hand goes on.
 * An ordinary call needs no new thread.
 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>
#include <utlist.h>

#include "basic/clock.h"
#include "engine/internal.h"
#include "engine/ops.h"

/*
 * Runs before the call that changes something: after a crash in between, restore undoes the change.
 */
static int mark_changed(struct gs_worker *w, const struct gs_job *job)
{
	struct gpusched_poke poke = {
		.key = job->plan.key,
		.id = job->plan.id,
		.what = GPUSCHED_POKE_CHANGED,
	};

	if (!(job->plan.bits & ~job->plan.changed))
		return 0;
	poke.rec.changed = job->plan.changed | job->plan.bits;
	return gs_engine_ops.poke(w->o, &poke);
}

/*
 * True if the loop has given this worker up: meanwhile the owners' settings may have been restored.
 */
static bool is_abandoned(struct gs_worker *w)
{
	bool abandoned;

	pthread_mutex_lock(&w->lock);
	abandoned = w->abandoned;
	pthread_mutex_unlock(&w->lock);
	return abandoned;
}

/* True if another process has restored in our place: earlier plans are no longer valid. */
static bool is_overtaken(struct gs_worker *w, const struct gs_job *job)
{
	struct gpusched_cfg cfg;

	return !gs_engine_ops.cfg(w->o, &cfg) && cfg.epoch != job->epoch;
}

struct gs_hand {
	struct gs_wait wait;
	struct gs_worker *w;
	struct gs_job *job; /* protected by w->lock */
	pthread_t thread;
};

/* Returns false if the thread was left behind, and must touch nothing but the job and itself. */
static bool run(struct gs_hand *hand, struct gs_job *job)
{
	struct gs_worker *w = hand->w;
	struct gpusched_channels ch;
	const struct gs_way *way;
	bool called = false;

	for (unsigned int i = 0; i < job->plan.nsteps; i++)
		job->plan.steps[i].res = (struct gs_rm_result){ .err = -ECANCELED };
	if (is_overtaken(w, job))
		return true;
	job->plan.err = mark_changed(w, job);
	if (job->plan.err)
		return true;
	if (!gs_engine_ops.channels(w->o, &job->plan.key, &ch))
		gs_fill_channels(&job->tsg, &ch);
	job->tsg.wait = &hand->wait;
	way = job->plan.check ? gs_engine_ops.restore_way : gs_engine_ops.way_of(&job->tsg);
	/* if one setting is refused, the others are still tried */
	for (unsigned int i = 0; i < job->plan.nsteps && !is_abandoned(w) && !is_overtaken(w, job);
	     i++) {
		const struct gs_rm_result *res = &job->plan.steps[i].res;

		called = true;
		way->take(&job->tsg, &job->plan.steps[i], 1);
		if (gs_wait_is_given_up(&hand->wait))
			return false;
		/* the file may have moved to another descriptor */
		job->tsg.fd = res->fd;
		if (gs_is_gone(res->err) || res->err == -ETIMEDOUT)
			break;
	}
	/*
	 * our last call may have come after the other process's restore: mark the TSG, so that it
	 * is restored if we die now
	 */
	if (called && !is_abandoned(w) && is_overtaken(w, job)) {
		job->plan.changed = 0;
		mark_changed(w, job);
	}
	return true;
}

static void deliver(struct gs_results *r, struct gs_job *job)
{
	uint64_t one = 1;

	pthread_mutex_lock(&r->lock);
	job->next = NULL;
	*r->last = job;
	r->last = &job->next;
	pthread_mutex_unlock(&r->lock);
	if (write(r->fd, &one, sizeof(one)) != sizeof(one))
		return; /* the counter is full: the loop is awake anyway */
}

struct gs_job *gs_results_take(struct gs_results *r)
{
	struct gs_job *job;

	pthread_mutex_lock(&r->lock);
	job = r->first;
	if (job) {
		r->first = job->next;
		if (!r->first)
			r->last = &r->first;
	}
	pthread_mutex_unlock(&r->lock);
	return job;
}

void gs_results_again(struct gs_results *r)
{
	uint64_t one = 1;
	bool more;

	pthread_mutex_lock(&r->lock);
	more = r->first;
	pthread_mutex_unlock(&r->lock);
	if (more && write(r->fd, &one, sizeof(one)) < 0)
		return; /* the counter is full: the loop is awake anyway */
}

static void unqueue(struct gs_worker *w, struct gs_job *job)
{
	HASH_DEL(w->queued, job);
	DL_DELETE2(w->queue[job->plan.order], job, queue_prev, queue_next);
}

/* Takes the next job. Users whose calls keep others waiting come last. */
static struct gs_job *take(struct gs_worker *w)
{
	struct gs_job *job, *slow = NULL;

	for (unsigned int i = 0; i < GS_PLAN_ORDERS; i++)
		DL_FOREACH2(w->queue[i], job, queue_next)
		{
			if (!gs_wait_is_slow(job->tsg.uid)) {
				unqueue(w, job);
				return job;
			}
			slow = slow ? slow : job;
		}
	if (slow)
		unqueue(w, slow);
	return slow;
}

static void *work(void *arg)
{
	struct gs_hand *hand = arg;
	struct gs_worker *w = hand->w;

	pthread_mutex_lock(&w->lock);
	while (!w->stop && w->hand == hand) {
		struct gs_job *job = take(w);

		if (!job) {
			pthread_cond_wait(&w->wake, &w->lock);
			continue;
		}
		hand->job = job;
		w->busy_since = gs_now_ns();
		pthread_mutex_unlock(&w->lock);
		if (!run(hand, job)) {
			free(job);
			free(hand);
			return NULL;
		}
		pthread_mutex_lock(&w->lock);
		w->busy_since = 0;
		if (w->abandoned) {
			free(job);
			break;
		}
		deliver(w->results, job);
	}
	pthread_mutex_unlock(&w->lock);
	return NULL;
}

/* The caller holds w->lock, and the new thread first waits for it. */
static int hand_new(struct gs_worker *w, struct gs_hand **ret)
{
	struct gs_hand *hand = calloc(1, sizeof(*hand));
	int r;

	if (!hand)
		return -ENOMEM;
	hand->w = w;
	r = -pthread_create(&hand->thread, NULL, work, hand);
	if (r)
		free(hand);
	else
		*ret = hand;
	return r;
}

int gs_worker_start(struct gs_worker *w, struct gs_table *o, struct gs_results *results)
{
	int r;

	pthread_mutex_init(&w->lock, NULL);
	pthread_cond_init(&w->wake, NULL);
	w->o = o;
	w->results = results;
	pthread_mutex_lock(&w->lock);
	r = hand_new(w, &w->hand);
	pthread_mutex_unlock(&w->lock);
	return r;
}

/* Copies the job for the loop. The step under way gets the result -ETIMEDOUT. */
static struct gs_job *copy_of(const struct gs_job *job)
{
	struct gs_job *copy = malloc(sizeof(*copy));
	unsigned int i = 0;

	if (!copy)
		return NULL;
	*copy = *job;
	while (i < copy->plan.nsteps && copy->plan.steps[i].res.err != -ECANCELED)
		i++;
	if (i < copy->plan.nsteps)
		copy->plan.steps[i].res.err = -ETIMEDOUT;
	return copy;
}

struct gs_job *gs_worker_replace(struct gs_worker *w)
{
	struct gs_hand *hand, *spare = NULL;
	struct gs_job *job = NULL;

	pthread_mutex_lock(&w->lock);
	hand = w->hand;
	if (w->busy_since && gs_wait_is_long(&hand->wait) && !hand_new(w, &spare)) {
		pthread_t thread = hand->thread;

		job = copy_of(hand->job);
		if (job && gs_wait_give_up(&hand->wait, gs_wait_patience())) {
			pthread_detach(thread);
			w->hand = spare;
			w->busy_since = 0;
			spare = NULL;
		} else { /* the thread that hung has come back */
			free(job);
			job = NULL;
		}
	}
	pthread_mutex_unlock(&w->lock);
	if (spare) {
		pthread_join(spare->thread, NULL);
		free(spare);
	}
	return job;
}

/* The plan's order puts longer slices and suspensions first, and resumes last. */
void gs_worker_push(struct gs_worker *w, struct gs_job *job)
{
	pthread_mutex_lock(&w->lock);
	HASH_ADD(hh, w->queued, plan.key, sizeof(job->plan.key), job);
	DL_APPEND2(w->queue[job->plan.order], job, queue_prev, queue_next);
	pthread_cond_signal(&w->wake);
	pthread_mutex_unlock(&w->lock);
}

struct gs_job *gs_worker_cancel(struct gs_worker *w, const struct gpusched_key *key)
{
	struct gs_job *job = NULL;

	pthread_mutex_lock(&w->lock);
	HASH_FIND(hh, w->queued, key, sizeof(*key), job);
	if (job)
		unqueue(w, job);
	pthread_mutex_unlock(&w->lock);
	return job;
}

uint64_t gs_worker_busy_since(struct gs_worker *w)
{
	uint64_t since;

	pthread_mutex_lock(&w->lock);
	since = w->busy_since;
	pthread_mutex_unlock(&w->lock);
	return since;
}

bool gs_worker_stop(struct gs_worker *w)
{
	struct gs_job *job, *next;
	struct timespec until;

	pthread_mutex_lock(&w->lock);
	w->stop = true;
	pthread_cond_signal(&w->wake);
	HASH_ITER(hh, w->queued, job, next) {
		unqueue(w, job);
		free(job);
	}
	pthread_mutex_unlock(&w->lock);
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += 1;
	if (pthread_clockjoin_np(w->hand->thread, NULL, CLOCK_MONOTONIC, &until)) {
		pthread_mutex_lock(&w->lock);
		w->abandoned = true;
		pthread_mutex_unlock(&w->lock);
		pthread_detach(w->hand->thread);
		if (!gs_wait_give_up(&w->hand->wait, 0))
			return false;
	} else {
		free(w->hand);
	}
	pthread_cond_destroy(&w->wake);
	pthread_mutex_destroy(&w->lock);
	return true;
}
