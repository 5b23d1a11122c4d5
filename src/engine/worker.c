// SPDX-License-Identifier: MIT
/*
 * worker.c - makes each GPU's calls in a separate thread, and all suspensions in another
 *
 * No GPU delays another, and a suspension that does not return delays no resume. A suspension
 * begins only when no longer slice and no resume is queued or under way, on any GPU.
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

	for (unsigned int i = 0; i < job->plan.nsteps; i++)
		if (job->plan.steps[i].op == GS_RM_SUSPEND)
			poke.flags_mask = GPUSCHED_TSG_ENABLE_DUE;
	poke.flags_mask &= ~job->plan.flags;
	if (!(job->plan.bits & ~job->plan.changed) && !poke.flags_mask)
		return 0;
	poke.what |= poke.flags_mask ? GPUSCHED_POKE_FLAGS : 0;
	poke.rec.flags = poke.flags_mask;
	poke.rec.changed = job->plan.changed | job->plan.bits;
	return gs_engine_ops.poke(w->all->o, &poke);
}

/*
 * True if the loop has given this worker up: meanwhile the owners' settings may have been restored.
 */
static bool is_abandoned(struct gs_worker *w)
{
	bool abandoned;

	pthread_mutex_lock(&w->all->lock);
	abandoned = w->abandoned;
	pthread_mutex_unlock(&w->all->lock);
	return abandoned;
}

/* True if another process has restored in our place: earlier plans are no longer valid. */
static bool is_overtaken(struct gs_worker *w, const struct gs_job *job)
{
	struct gpusched_cfg cfg;

	return !gs_engine_ops.cfg(w->all->o, &cfg) && cfg.epoch != job->epoch;
}

/*
 * True if step @i is a suspension and a mode that comes before it is not in force: the suspension
 * might wait for the end of thread blocks.
 */
static bool lacks_mode(const struct gs_plan *plan, unsigned int i)
{
	if (plan->steps[i].op != GS_RM_SUSPEND)
		return false;
	while (i-- > 0)
		if (plan->steps[i].op == GS_RM_SET_PREEMPT_MODE && plan->steps[i].res.err)
			return true;
	return false;
}

struct gs_hand {
	struct gs_wait wait;
	struct gs_worker *w;
	struct gs_job *job; /* protected by the workers' lock */
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
	if (!gs_engine_ops.channels(w->all->o, &job->plan.key, &ch))
		gs_fields_fill_channels(&job->tsg, &ch);
	job->tsg.wait = &hand->wait;
	way = job->plan.check ? gs_engine_ops.restore_way : gs_engine_ops.way_of(&job->tsg);
	/* if one setting is refused, the others are still tried */
	for (unsigned int i = 0; i < job->plan.nsteps && !is_abandoned(w) && !is_overtaken(w, job);
	     i++) {
		const struct gs_rm_result *res = &job->plan.steps[i].res;

		if (lacks_mode(&job->plan, i))
			continue;
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
		job->plan.changed = job->plan.flags = 0;
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

struct gs_job *gs_worker_take_results(struct gs_results *r)
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

void gs_worker_results_again(struct gs_results *r)
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

static struct gs_worker *suspender(struct gs_workers *all)
{
	return &all->workers[all->n - 1];
}

static bool is_first(const struct gs_job *job)
{
	return job->plan.order <= GS_ORDER_RESUME && !gs_wait_is_slow(job->tsg.uid);
}

/*
 * True if @w has calls that come before any suspension of the host. Not if they are stuck, or if
 * their user keeps others waiting: that user must not put off suspensions.
 */
static bool has_first(const struct gs_worker *w)
{
	const struct gs_job *job;

	if (w->busy_since && !w->stuck && is_first(w->hand->job))
		return true;
	for (unsigned int i = 0; i <= GS_ORDER_RESUME; i++)
		DL_FOREACH2(w->queue[i], job, queue_next)
			if (is_first(job))
				return true;
	return false;
}

static bool must_wait(const struct gs_worker *w)
{
	struct gs_workers *all = w->all;

	if (w != suspender(all))
		return false;
	for (size_t i = 0; i + 1 < all->n; i++)
		if (has_first(&all->workers[i]))
			return true;
	return false;
}

/*
 * Takes the next job; NULL: none may begin now. Users whose calls keep others waiting come last.
 */
static struct gs_job *take(struct gs_worker *w)
{
	struct gs_job *job, *slow = NULL;

	if (must_wait(w))
		return NULL;
	for (unsigned int i = 0; i < GS_PLAN_ORDERS; i++)
		DL_FOREACH2(w->queue[i], job, queue_next) {
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

	pthread_mutex_lock(&w->all->lock);
	while (!w->stop && w->hand == hand) {
		struct gs_job *job = take(w);

		if (!job) {
			pthread_cond_wait(&w->wake, &w->all->lock);
			continue;
		}
		hand->job = job;
		w->busy_since = gs_now_ns();
		pthread_mutex_unlock(&w->all->lock);
		if (!run(hand, job)) {
			free(job);
			free(hand);
			return NULL;
		}
		pthread_mutex_lock(&w->all->lock);
		w->busy_since = 0;
		pthread_cond_signal(&suspender(w->all)->wake);
		if (w->abandoned) {
			free(job);
			break;
		}
		deliver(w->all->results, job);
	}
	pthread_mutex_unlock(&w->all->lock);
	return NULL;
}

/* The caller holds w->all->lock, and the new thread first waits for it. */
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

int gs_workers_start(struct gs_table *o, struct gs_results *results, size_t ngpus,
		     struct gs_workers **ret)
{
	size_t n = ngpus + 2;
	struct gs_workers *all = calloc(1, sizeof(*all) + n * sizeof(all->workers[0]));
	int r = 0;

	if (!all)
		return -ENOMEM;
	pthread_mutex_init(&all->lock, NULL);
	all->o = o;
	all->results = results;
	all->n = n;
	*ret = all;
	pthread_mutex_lock(&all->lock);
	for (size_t i = 0; i < n; i++) {
		all->workers[i].all = all;
		pthread_cond_init(&all->workers[i].wake, NULL);
	}
	for (size_t i = 0; i < n && !r; i++)
		r = hand_new(&all->workers[i], &all->workers[i].hand);
	pthread_mutex_unlock(&all->lock);
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

	pthread_mutex_lock(&w->all->lock);
	hand = w->hand;
	if (w->busy_since && gs_wait_is_long(&hand->wait) && !hand_new(w, &spare)) {
		pthread_t thread = hand->thread;

		job = copy_of(hand->job);
		if (job && gs_wait_give_up(&hand->wait, gs_wait_patience())) {
			pthread_detach(thread);
			w->hand = spare;
			w->busy_since = 0;
			spare = NULL;
			pthread_cond_signal(&suspender(w->all)->wake);
		} else { /* the thread that hung has come back */
			free(job);
			job = NULL;
		}
	}
	pthread_mutex_unlock(&w->all->lock);
	if (spare) {
		pthread_join(spare->thread, NULL);
		free(spare);
	}
	return job;
}

void gs_workers_push(struct gs_workers *all, size_t gpu, struct gs_job *job)
{
	struct gs_worker *w =
		job->plan.order == GS_ORDER_SUSPEND ? suspender(all) : &all->workers[gpu];

	pthread_mutex_lock(&all->lock);
	HASH_ADD(hh, w->queued, plan.key, sizeof(job->plan.key), job);
	DL_APPEND2(w->queue[job->plan.order], job, queue_prev, queue_next);
	pthread_cond_signal(&w->wake);
	pthread_mutex_unlock(&all->lock);
}

struct gs_job *gs_workers_cancel(struct gs_workers *all, const struct gpusched_key *key)
{
	struct gs_job *job = NULL;

	pthread_mutex_lock(&all->lock);
	for (size_t i = 0; i < all->n && !job; i++) {
		struct gs_worker *w = &all->workers[i];

		HASH_FIND(hh, w->queued, key, sizeof(*key), job);
		if (job)
			unqueue(w, job);
	}
	pthread_cond_signal(&suspender(all)->wake);
	pthread_mutex_unlock(&all->lock);
	return job;
}

bool gs_worker_note_stuck(struct gs_worker *w, bool stuck)
{
	bool is_new;

	pthread_mutex_lock(&w->all->lock);
	is_new = stuck && !w->stuck;
	w->stuck = stuck;
	if (is_new)
		pthread_cond_signal(&suspender(w->all)->wake);
	pthread_mutex_unlock(&w->all->lock);
	return is_new;
}

uint64_t gs_worker_busy_since(struct gs_worker *w)
{
	uint64_t since;

	pthread_mutex_lock(&w->all->lock);
	since = w->busy_since;
	pthread_mutex_unlock(&w->all->lock);
	return since;
}

static void drop_queue(struct gs_worker *w)
{
	struct gs_job *job, *next;

	w->stop = true;
	pthread_cond_signal(&w->wake);
	HASH_ITER(hh, w->queued, job, next) {
		unqueue(w, job);
		free(job);
	}
}

/* Returns false if the hand has not ended by @until and hangs in a call. */
static bool join(struct gs_worker *w, const struct timespec *until)
{
	if (!w->hand)
		return true;
	if (!pthread_clockjoin_np(w->hand->thread, NULL, CLOCK_MONOTONIC, until)) {
		free(w->hand);
		return true;
	}
	pthread_mutex_lock(&w->all->lock);
	w->abandoned = true;
	pthread_mutex_unlock(&w->all->lock);
	pthread_detach(w->hand->thread);
	return gs_wait_give_up(&w->hand->wait, 0);
}

bool gs_workers_stop(struct gs_workers *all)
{
	struct timespec until;
	bool ended = true;

	if (!all)
		return true;
	pthread_mutex_lock(&all->lock);
	for (size_t i = 0; i < all->n; i++)
		drop_queue(&all->workers[i]);
	pthread_mutex_unlock(&all->lock);
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += 1;
	for (size_t i = 0; i < all->n; i++)
		ended &= join(&all->workers[i], &until);
	if (!ended)
		return false;
	for (size_t i = 0; i < all->n; i++)
		pthread_cond_destroy(&all->workers[i].wake);
	pthread_mutex_destroy(&all->lock);
	free(all);
	return true;
}
