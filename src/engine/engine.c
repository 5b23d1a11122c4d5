// SPDX-License-Identifier: MIT
/* engine.c - runs the live shell of the core: its life, its loop, and its entry points */
#include "engine/engine.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "basic/log.h"
#include "engine/core_hold.h"
#include "engine/held.h"
#include "engine/internal.h"
#include "engine/ops.h"
#include "engine/switch_cost.h"

#define DUE_AT_ONCE 256u

/* ---- life ------------------------------------------------------------------------------------ */

static void results_free(struct gs_results *r)
{
	struct gs_job *job;

	if (!r)
		return;
	while ((job = gs_worker_take_results(r)))
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

static int start(struct gs_engine *e)
{
	e->results = results_new();
	e->gpus = calloc(e->opts.ngpus + 1, sizeof(*e->gpus));
	if (!e->results || !e->gpus)
		return -ENOMEM;
	if (e->opts.ngpus)
		memcpy(e->gpus, e->opts.gpus, e->opts.ngpus * sizeof(*e->gpus));
	return gs_workers_start(e->o, e->results, e->opts.ngpus, &e->workers);
}

static void write_trace(void *user, const void *data, size_t size)
{
	struct gs_engine *e = user;

	fwrite(data, size, 1, e->trace);
}

/* A trace of the core's inputs and answers, for developers (docs/testing.md). */
static void open_trace(struct gs_engine *e)
{
	const char *path = secure_getenv("GPUSCHED_CORE_TRACE");
	char name[PATH_MAX];
	int fd;

	if (!path)
		return;
	snprintf(name, sizeof(name), "%s.%d", path, (int)getpid());
	fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd >= 0)
		e->trace = fdopen(fd, "w");
	if (!e->trace)
		gs_log(LOG_WARNING, "no trace: cannot make %s: %s", name, strerror(errno));
}

static void read_classes(struct gs_engine *e)
{
	struct gpusched_class cls;

	for (uint32_t id = 0; id < GPUSCHED_MAX_CLASSES; id++)
		if (!gs_engine_ops.class_get(e->o, id, &cls))
			gs_core_class(e->core, id, &cls);
}

static int start_core(struct gs_engine *e)
{
	struct gs_core_opts opts = {
		.dry_run = e->opts.dry_run,
		.switch_cost_us = e->opts.switch_cost_us,
		.hold_limit_ms = e->opts.hold_limit_ms,
		.ngpus = e->opts.ngpus,
		.dilate = gs_env()->dilate,
		.parks = e->opts.on_park,
		.leaves = gs_rm_driver_branch_leaves(e->opts.branch),
		.user = e,
	};

	open_trace(e);
	if (e->trace)
		opts.trace = write_trace;
	e->core = gs_core_new(&opts);
	if (!e->core)
		return -ENOMEM;
	read_classes(e);
	return 0;
}

int gs_engine_new(struct gs_table *o, const struct gs_engine_opts *opts, struct gs_engine **ret,
		  struct gs_error *err)
{
	struct gs_engine *e = calloc(1, sizeof(*e));
	struct gpusched_cfg cfg = { 0 };
	int r;

	if (!e)
		return gs_fail(err, -ENOMEM, "out of memory");
	memcpy(&e->opts, opts, opts->size < sizeof(e->opts) ? opts->size : sizeof(e->opts));
	e->o = o;
	e->stuck_at = UINT64_MAX;
	r = gs_engine_ops.cfg(o, &cfg);
	e->epoch = cfg.epoch;
	if (!r)
		r = start_core(e);
	if (!r)
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

/* Memory that is never freed, since threads that hang may still use it. */
static struct left_behind {
	struct left_behind *next;
	struct gs_workers *workers;
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
	bool all;

	if (!e)
		return;
	all = gs_workers_stop(e->workers);
	if (e->registered)
		gs_self_put(e->o);
	gs_core_free(e->core);
	free(e->round.keys);
	if (e->trace)
		fclose(e->trace);
	if (all)
		results_free(e->results);
	else
		leave_behind(e);
	free(e->gpus);
	free(e);
}

/* ---- the loop -------------------------------------------------------------------------------- */

void gs_engine_limits(struct gs_engine *e, uint32_t switch_cost_us, uint32_t hold_limit_ms)
{
	gs_core_limits(e->core, switch_cost_us, hold_limit_ms);
	read_classes(e);
}

void gs_engine_costs(struct gs_engine *e, uint32_t gpu, uint32_t switch_cost_us)
{
	if (gs_core_costs(e->core, gpu, switch_cost_us))
		gs_engine_touch_all(e);
}

void gs_engine_spent(struct gs_engine *e, uint32_t gpu, uint64_t ns)
{
	gs_core_spent(e->core, gpu, ns, gs_now_ns());
}

int gs_engine_fd(const struct gs_engine *e)
{
	return e->results->fd;
}

uint64_t gs_engine_due(const struct gs_engine *e)
{
	uint64_t due = gs_core_next(e->core);

	if (e->round.keys)
		return 1;
	return due < e->stuck_at ? due : e->stuck_at;
}

static void replace_hands(struct gs_engine *e)
{
	struct gs_job *job;

	for (size_t i = 0; i < e->workers->n; i++) {
		job = gs_worker_replace(&e->workers->workers[i]);
		if (!job)
			continue;
		gs_core_counters(e->core)[GS_ENG_LEFT_BEHIND]++;
		gs_job_done(e, job);
		free(job);
	}
}

static void log_stuck(const struct gs_engine *e, size_t worker)
{
	if (worker + 1 == e->workers->n)
		gs_log(LOG_ERR, "a suspension does not return; until it does, no other begins");
	else
		gs_log(LOG_ERR, "a call on GPU %zu does not return; the others go on", worker);
}

/*
 * Looks for hung threads. Returns when to look again: soon if a thread may be waiting for an owner.
 */
static uint64_t check_workers(struct gs_engine *e)
{
	uint64_t limit = gs_dilated(gs_engine_ops.stuck_ns), next = UINT64_MAX, now;

	replace_hands(e);
	now = gs_now_ns();
	for (size_t i = 0; i < e->workers->n; i++) {
		struct gs_worker *w = &e->workers->workers[i];
		uint64_t since = gs_worker_busy_since(w), soon = now + gs_wait_patience();
		bool stuck = since && now >= since + limit;

		if (gs_worker_note_stuck(w, stuck)) {
			gs_core_counters(e->core)[GS_ENG_STUCK]++;
			log_stuck(e, i);
		}
		if (!stuck) {
			if (since && soon < next)
				next = soon;
			continue;
		}
		if (now + limit < next)
			next = now + limit;
	}
	return e->pending && next == UINT64_MAX ? now + gs_wait_patience() : next;
}

static void do_due(struct gs_engine *e, uint64_t now, uint64_t until_ns)
{
	struct gpusched_key keys[DUE_AT_ONCE];
	size_t n;

	e->stuck_at = check_workers(e);
	e->batching = true; /* so that no suspension begins before the resumes */
	do {
		n = gs_core_due(e->core, now, keys, DUE_AT_ONCE);
		for (size_t i = 0; i < n; i++)
			gs_engine_look(e, &keys[i], NULL);
	} while (n == DUE_AT_ONCE && gs_now_ns() < until_ns);
	gs_jobs_release_batch(e);
}

/* Handles calls that are back. If time runs out before all are handled, wakes the loop again. */
static int take_results(struct gs_engine *e, uint64_t until_ns)
{
	struct gs_job *job;
	uint64_t count;

	if (read(e->results->fd, &count, sizeof(count)) < 0 && errno != EAGAIN)
		return -errno;
	while (gs_now_ns() < until_ns && (job = gs_worker_take_results(e->results))) {
		gs_job_done(e, job);
		free(job);
	}
	gs_worker_results_again(e->results);
	return 0;
}

int gs_engine_dispatch(struct gs_engine *e)
{
	uint64_t until = gs_now_ns() + GS_ENGINE_SLICE_NS, now;
	int r;

	gs_engine_refresh(e);
	r = take_results(e, until);
	if (r)
		return r;
	now = gs_now_ns();
	if (gs_core_next(e->core) <= now || e->stuck_at <= now)
		do_due(e, now, until);
	gs_round_go_on(e, until);
	return 0;
}

void gs_engine_policy_flags(struct gs_engine *e, uint32_t flags)
{
	e->policy_flags = flags;
}

bool gs_engine_idle(const struct gs_engine *e)
{
	return !e->pending && !e->round.keys && gs_core_idle(e->core, gs_now_ns());
}

uint32_t gs_engine_overruled(const struct gs_engine *e, const struct gpusched_key *key)
{
	return gs_core_overruled(e->core, key);
}

uint64_t gs_engine_holder(const struct gs_engine *e, const struct gpusched_tsg *rec)
{
	return gs_core_holder(e->core, rec);
}

uint64_t gs_engine_counter(const struct gs_engine *e, enum gs_engine_counter c)
{
	return c < GS_ENG_MAX ? gs_core_counters(e->core)[c] : 0;
}
