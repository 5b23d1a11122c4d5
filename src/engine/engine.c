// SPDX-License-Identifier: MIT
/* engine.c - the reconciler's life and its loop */
#include "engine/engine.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "basic/log.h"
#include "engine/internal.h"
#include "engine/ops.h"

#define SWITCH_COST_US 200u
#define CALL_NS_GUESS (NS_PER_MS / 2)

/* ---- life ------------------------------------------------------------------------------------ */

static void results_free(struct gs_results *r)
{
	struct gs_job *job;

	if (!r)
		return;
	while ((job = gs_results_take(r)))
		free(job);
	if (r->fd >= 0)
		close(r->fd);
	pthread_mutex_destroy(&r->lock);
	free(r);
}

static struct gs_results *results_new(void)
{
	struct gs_results *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	pthread_mutex_init(&r->lock, NULL);
	r->last = &r->first;
	r->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (r->fd < 0) {
		results_free(r);
		return NULL;
	}
	return r;
}

static int watch(struct gs_engine *e, int fd)
{
	struct epoll_event ev = { .events = EPOLLIN, .data.fd = fd };

	return epoll_ctl(e->epoll, EPOLL_CTL_ADD, fd, &ev) ? -errno : 0;
}

static int start(struct gs_engine *e)
{
	int r;

	e->epoll = epoll_create1(EPOLL_CLOEXEC);
	e->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	e->results = results_new();
	e->workers = calloc(e->opts.ngpus + 1, sizeof(*e->workers));
	e->gpus = calloc(e->opts.ngpus + 1, sizeof(*e->gpus));
	if (e->epoll < 0 || e->timer < 0 || !e->results || !e->workers || !e->gpus)
		return -ENOMEM;
	if (e->opts.ngpus)
		memcpy(e->gpus, e->opts.gpus, e->opts.ngpus * sizeof(*e->gpus));
	r = watch(e, e->timer);
	if (!r)
		r = watch(e, e->results->fd);
	while (!r && e->nworkers < e->opts.ngpus + 1) {
		r = gs_worker_start(&e->workers[e->nworkers], e->o, e->results);
		if (!r)
			e->nworkers++;
	}
	return r;
}

int gs_engine_new(struct gs_table *o, const struct gs_engine_opts *opts, struct gs_engine **ret,
		  struct gs_error *err)
{
	struct gs_engine *e = calloc(1, sizeof(*e));
	int r;

	if (!e)
		return gs_fail(err, -ENOMEM, "out of memory");
	memcpy(&e->opts, opts, opts->size < sizeof(e->opts) ? opts->size : sizeof(e->opts));
	if (!e->opts.switch_cost_us)
		e->opts.switch_cost_us = SWITCH_COST_US;
	e->o = o;
	e->epoll = e->timer = -1;
	e->next_due = UINT64_MAX;
	e->call_ns_avg = CALL_NS_GUESS;
	r = start(e);
	if (r < 0) {
		gs_engine_free(e);
		return gs_fail(err, r, "starting the reconciler: %s", strerror(-r));
	}
	gs_self_get(o);
	e->registered = true;
	*ret = e;
	return 0;
}

/* What threads that did not come back still know. */
static struct left_behind {
	struct left_behind *next;
	struct gs_worker *workers;
	struct gs_results *results;
} * left_behind;

static void leave_behind(struct gs_engine *e)
{
	struct left_behind *kept = calloc(1, sizeof(*kept));

	if (!kept)
		return;
	*kept = (struct left_behind){ left_behind, e->workers, e->results };
	left_behind = kept;
}

void gs_engine_free(struct gs_engine *e)
{
	struct gs_node *n, *tmp;
	bool all = true;

	if (!e)
		return;
	for (size_t i = 0; i < e->nworkers; i++)
		all &= gs_worker_stop(&e->workers[i]);
	if (e->registered)
		gs_self_put(e->o);
	HASH_ITER(hh, e->nodes, n, tmp)
		gs_node_free(e, n);
	if (e->epoll >= 0)
		close(e->epoll);
	if (e->timer >= 0)
		close(e->timer);
	if (all) {
		results_free(e->results);
		free(e->workers);
	} else {
		leave_behind(e);
	}
	free(e->gpus);
	free(e);
}

/* ---- the loop -------------------------------------------------------------------------------- */

int gs_engine_fd(const struct gs_engine *e)
{
	return e->epoll;
}

static void arm(struct gs_engine *e)
{
	struct itimerspec t = { 0 };

	if (e->next_due == e->timer_at)
		return;
	e->timer_at = e->next_due;
	if (e->next_due != UINT64_MAX) {
		t.it_value.tv_sec = (time_t)(e->next_due / NS_PER_S);
		t.it_value.tv_nsec = (long)(e->next_due % NS_PER_S);
	}
	timerfd_settime(e->timer, TFD_TIMER_ABSTIME, &t, NULL);
}

static void refresh(struct gs_engine *e)
{
	struct gpusched_cfg cfg;

	if (!gs_engine_ops.cfg(e->o, &cfg))
		e->policy_active = cfg.policy_active;
}

static uint64_t check_stuck(struct gs_engine *e, uint64_t now)
{
	uint64_t limit = gs_dilated(gs_engine_ops.stuck_ns), next = UINT64_MAX;

	for (size_t i = 0; i < e->nworkers; i++) {
		struct gs_worker *w = &e->workers[i];
		uint64_t since = gs_worker_busy_since(w);

		if (!since || now < since + limit) {
			w->stuck = false;
			if (since && since + limit < next)
				next = since + limit;
			continue;
		}
		if (!w->stuck) {
			e->counters[GS_ENG_STUCK]++;
			gs_log(LOG_ERR, "a call on GPU %zu does not return; the others go on", i);
		}
		w->stuck = true;
		if (now + limit < next)
			next = now + limit;
	}
	return e->pending && next == UINT64_MAX ? now + limit : next;
}

static void do_due(struct gs_engine *e)
{
	struct gs_node *n, *tmp;
	uint64_t now = gs_now_ns();

	e->next_due = check_stuck(e, now);
	HASH_ITER(hh, e->nodes, n, tmp) {
		if (n->due && n->due <= now) {
			n->due = 0;
			gs_look_again(e, n); /* may free n; sets its next due itself */
		} else if (n->due && n->due < e->next_due) {
			e->next_due = n->due;
		}
	}
}

int gs_engine_dispatch(struct gs_engine *e)
{
	struct gs_job *job;
	uint64_t count;

	if (read(e->results->fd, &count, sizeof(count)) < 0 && errno != EAGAIN)
		return -errno;
	refresh(e);
	while ((job = gs_results_take(e->results))) {
		gs_job_done(e, job);
		free(job);
	}
	if (read(e->timer, &count, sizeof(count)) > 0)
		e->timer_at = 0;
	if (e->next_due <= gs_now_ns())
		do_due(e);
	arm(e);
	return 0;
}

static bool is_suspended(const struct gpusched_tsg *rec)
{
	return (rec->task.is.valid & GPUSCHED_RUNNABLE) && !rec->task.is.runnable;
}

static int touch(struct gs_engine *e, const struct gpusched_key *key, uint32_t owner_set,
		 uint64_t ns, bool doubt)
{
	struct gpusched_tsg rec;
	struct gs_node *n;
	int r = gs_engine_ops.get(e->o, key, &rec);

	if (r == -ENOENT)
		gs_engine_forget(e, key);
	if (r < 0)
		return r;
	n = gs_node_of(e, &rec);
	if (!n)
		return -ENOMEM;
	n->owner_set |= owner_set & rec.task.is.valid;
	if (ns <= n->called_ns)
		n->unsure |= owner_set & n->called;
	if (doubt && is_suspended(&rec))
		n->unsure |= GPUSCHED_RUNNABLE;
	refresh(e);
	r = gs_look(e, n, &rec);
	arm(e);
	return r;
}

int gs_engine_touch(struct gs_engine *e, const struct gpusched_key *key)
{
	return touch(e, key, 0, 0, false);
}

int gs_engine_owner_set(struct gs_engine *e, const struct gpusched_key *key, uint32_t fields,
			uint64_t ns)
{
	return touch(e, key, fields, ns, false);
}

int gs_engine_doubt(struct gs_engine *e, const struct gpusched_key *key)
{
	return touch(e, key, 0, 0, true);
}

static bool is_unwanted(const struct gpusched_tsg *rec)
{
	return (rec->task.want.valid & GPUSCHED_RUNNABLE) && !rec->task.want.runnable;
}

static void look_at(struct gs_engine *e, const struct gpusched_tsg *rec, int *result)
{
	struct gs_node *n = gs_node_of(e, rec);
	int r = n ? gs_look(e, n, rec) : -ENOMEM;

	if (n)
		n->seen = true;
	if (r < 0)
		*result = r;
}

int gs_engine_touch_all(struct gs_engine *e)
{
	CLEANUP_FREE struct gpusched_tsg *all = NULL;
	struct gs_node *n, *tmp;
	size_t count = 0;
	int r = gs_engine_ops.all(e->o, &all, &count), result = 0;

	if (r < 0)
		return r;
	refresh(e);
	e->batching = true;
	/* who leaves a runlist first: the one who takes its place may have its short slice then */
	for (size_t i = 0; i < count; i++)
		if (is_unwanted(&all[i]))
			look_at(e, &all[i], &result);
	for (size_t i = 0; i < count; i++)
		if (!is_unwanted(&all[i]))
			look_at(e, &all[i], &result);
	gs_batch_release(e);
	HASH_ITER(hh, e->nodes, n, tmp) {
		if (!n->seen && !n->busy)
			gs_node_free(e, n);
		else
			n->seen = false;
	}
	arm(e);
	return result;
}

void gs_engine_policy_flags(struct gs_engine *e, uint32_t flags)
{
	e->policy_flags = flags;
}

void gs_engine_forget(struct gs_engine *e, const struct gpusched_key *key)
{
	struct gs_node *n = gs_node_find(e, key);
	struct gs_job *job;

	if (!n)
		return;
	if (n->busy) {
		job = gs_worker_cancel(gs_worker_of(e, n->gpu), key);
		if (!job) {
			n->forgotten = true;
			return;
		}
		e->pending--;
		gs_budget_settle(e, job, 0);
		free(job);
	}
	gs_node_free(e, n);
	arm(e);
}

bool gs_engine_idle(const struct gs_engine *e)
{
	const struct gs_node *n;

	if (e->pending)
		return false;
	for (n = e->nodes; n; n = n->hh.next)
		if (n->fails || n->deferred || (n->due && n->due <= gs_now_ns()))
			return false;
	return true;
}

int gs_engine_settle(struct gs_engine *e, unsigned int timeout_ms)
{
	uint64_t end = gs_now_ns() + timeout_ms * NS_PER_MS;
	struct pollfd p = { .fd = e->epoll, .events = POLLIN };

	for (;;) {
		uint64_t now = gs_now_ns();
		int r;

		if (gs_engine_idle(e))
			return 0;
		if (now >= end)
			return -ETIMEDOUT;
		r = poll(&p, 1, (int)((end - now + NS_PER_MS - 1) / NS_PER_MS));
		if (r < 0 && errno != EINTR)
			return -errno;
		if (r > 0)
			r = gs_engine_dispatch(e);
		if (r < 0 && errno != EINTR)
			return r;
	}
}

/* ---- counters -------------------------------------------------------------------------------- */

static const struct {
	const char *name, *text;
} counter_words[] = {
#define X(sym, name, text) [GS_ENG_##sym] = { name, text },
	GS_ENGINE_COUNTERS(X)
#undef X
};

uint64_t gs_engine_counter(const struct gs_engine *e, enum gs_engine_counter c)
{
	return c < GS_ENG_MAX ? e->counters[c] : 0;
}

const char *gs_engine_counter_name(enum gs_engine_counter c)
{
	return c < GS_ENG_MAX ? counter_words[c].name : NULL;
}

const char *gs_engine_counter_text(enum gs_engine_counter c)
{
	return c < GS_ENG_MAX ? counter_words[c].text : NULL;
}
