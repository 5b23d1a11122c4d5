// SPDX-License-Identifier: MIT
/* engine.c - the live shell of the core: its life, its loop, and what others ask of it */
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
#include "engine/internal.h"
#include "engine/ops.h"

#define DUE_AT_ONCE 512u

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

static int start(struct gs_engine *e)
{
	int r = 0;

	e->results = results_new();
	e->workers = calloc(e->opts.ngpus + 1, sizeof(*e->workers));
	e->gpus = calloc(e->opts.ngpus + 1, sizeof(*e->gpus));
	if (!e->results || !e->workers || !e->gpus)
		return -ENOMEM;
	if (e->opts.ngpus)
		memcpy(e->gpus, e->opts.gpus, e->opts.ngpus * sizeof(*e->gpus));
	while (!r && e->nworkers < e->opts.ngpus + 1) {
		r = gs_worker_start(&e->workers[e->nworkers], e->o, e->results);
		if (!r)
			e->nworkers++;
	}
	return r;
}

static void write_trace(void *user, const void *data, size_t size)
{
	struct gs_engine *e = user;

	fwrite(data, size, 1, e->trace);
}

/* What goes into the core and what comes out, for a developer (docs/testing.md). */
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
	bool all = true;

	if (!e)
		return;
	for (size_t i = 0; i < e->nworkers; i++)
		all &= gs_worker_stop(&e->workers[i]);
	if (e->registered)
		gs_self_put(e->o);
	gs_core_free(e->core);
	if (e->trace)
		fclose(e->trace);
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

void gs_engine_limits(struct gs_engine *e, uint32_t switch_cost_us, uint32_t hold_limit_ms)
{
	gs_core_limits(e->core, switch_cost_us, hold_limit_ms);
	read_classes(e);
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

	return due < e->stuck_at ? due : e->stuck_at;
}

static void refresh(struct gs_engine *e)
{
	struct gpusched_cfg cfg;

	if (gs_engine_ops.cfg(e->o, &cfg))
		return;
	gs_core_policy(e->core, cfg.policy_active,
		       e->policy_flags | (e->unseen ? GS_CORE_UNSEEN : 0));
	e->overtaken = cfg.epoch != e->epoch;
}

static void replace_hands(struct gs_engine *e)
{
	struct gs_job *job;

	for (size_t i = 0; i < e->nworkers; i++) {
		job = gs_worker_replace(&e->workers[i]);
		if (!job)
			continue;
		gs_core_counters(e->core)[GS_ENG_LEFT_BEHIND]++;
		gs_job_done(e, job);
		free(job);
	}
}

/* Returns when to look again: soon at whoever may be waiting for an owner. */
static uint64_t check_workers(struct gs_engine *e)
{
	uint64_t limit = gs_dilated(gs_engine_ops.stuck_ns), next = UINT64_MAX, now;

	replace_hands(e);
	now = gs_now_ns();
	for (size_t i = 0; i < e->nworkers; i++) {
		struct gs_worker *w = &e->workers[i];
		uint64_t since = gs_worker_busy_since(w), soon = now + gs_wait_patience();

		if (!since || now < since + limit) {
			w->stuck = false;
			if (since && soon < next)
				next = soon;
			continue;
		}
		if (!w->stuck) {
			gs_core_counters(e->core)[GS_ENG_STUCK]++;
			gs_log(LOG_ERR, "a call on GPU %zu does not return; the others go on", i);
		}
		w->stuck = true;
		if (now + limit < next)
			next = now + limit;
	}
	return e->pending && next == UINT64_MAX ? now + gs_wait_patience() : next;
}

static void complete(struct gs_engine *e, struct gpusched_tsg *recs, size_t n)
{
	for (size_t i = 0; e->opts.complete && i < n; i++)
		e->opts.complete(&recs[i], e->opts.user);
}

static int look(struct gs_engine *e, const struct gpusched_key *key, const struct gs_news *news)
{
	struct gpusched_tsg rec;
	struct gs_todo todo;
	int r = gs_engine_ops.get(e->o, key, &rec);

	if (r == -ENOENT)
		gs_engine_forget(e, key);
	if (r < 0)
		return r;
	complete(e, &rec, 1);
	r = gs_core_look(e->core, &rec, news, gs_now_ns(), &todo);
	return r < 0 ? r : gs_carry_out(e, &todo);
}

static void do_due(struct gs_engine *e, uint64_t now)
{
	struct gpusched_key keys[DUE_AT_ONCE];
	size_t n;

	e->stuck_at = check_workers(e);
	do {
		n = gs_core_due(e->core, now, keys, DUE_AT_ONCE);
		for (size_t i = 0; i < n; i++)
			look(e, &keys[i], NULL);
	} while (n == DUE_AT_ONCE);
}

int gs_engine_dispatch(struct gs_engine *e)
{
	struct gs_job *job;
	uint64_t count, now;

	if (read(e->results->fd, &count, sizeof(count)) < 0 && errno != EAGAIN)
		return -errno;
	refresh(e);
	while ((job = gs_results_take(e->results))) {
		gs_job_done(e, job);
		free(job);
	}
	now = gs_now_ns();
	if (gs_engine_due(e) <= now)
		do_due(e, now);
	return 0;
}

int gs_engine_tell(struct gs_engine *e, const struct gpusched_key *key, const struct gs_news *news)
{
	int r;

	refresh(e);
	r = look(e, key, news);
	return r;
}

int gs_engine_touch(struct gs_engine *e, const struct gpusched_key *key)
{
	return gs_engine_tell(e, key, NULL);
}

int gs_engine_owner_set(struct gs_engine *e, const struct gpusched_key *key, uint32_t fields,
			uint64_t ns)
{
	const struct gs_news news = { .owner_set = fields, .owner_ns = ns };

	return gs_engine_tell(e, key, &news);
}

int gs_engine_anew(struct gs_engine *e, const struct gpusched_key *key)
{
	const struct gs_news news = { .anew = GPUSCHED_ALL_SETTINGS };

	return gs_engine_tell(e, key, &news);
}

int gs_engine_greedy(struct gs_engine *e, const struct gpusched_key *key)
{
	const struct gs_news news = { .greedy = true };

	return gs_engine_tell(e, key, &news);
}

int gs_engine_doubt(struct gs_engine *e, const struct gpusched_key *key)
{
	const struct gs_news news = { .doubt = true };

	return gs_engine_tell(e, key, &news);
}

static void carry_out(const struct gs_todo *todo, void *user)
{
	gs_carry_out(user, todo);
}

int gs_engine_touch_all(struct gs_engine *e)
{
	CLEANUP_FREE struct gpusched_tsg *all = NULL;
	size_t count = 0;
	int r = gs_engine_ops.all(e->o, &all, &count);

	if (r < 0)
		return r;
	refresh(e);
	complete(e, all, count);
	e->batching = true;
	r = gs_core_look_all(e->core, all, count, gs_now_ns(), carry_out, e);
	gs_batch_release(e);
	return r;
}

int gs_engine_begin_anew(struct gs_engine *e)
{
	/* to the core it is as if their owners had set them, and maybe after our last calls */
	const struct gs_news news = { .owner_set = GPUSCHED_ALL_SETTINGS, .owner_ns = 1 };
	CLEANUP_FREE struct gpusched_tsg *all = NULL;
	struct gpusched_cfg cfg;
	size_t count = 0;
	int r = gs_engine_ops.cfg(e->o, &cfg);

	if (!r)
		r = gs_engine_ops.all(e->o, &all, &count);
	if (r < 0)
		return r;
	e->epoch = cfg.epoch;
	refresh(e);
	complete(e, all, count);
	e->batching = true;
	for (size_t i = 0; i < count; i++)
		look(e, &all[i].key, &news);
	gs_batch_release(e);
	return gs_engine_touch_all(e);
}

void gs_engine_unseen(struct gs_engine *e, bool runs)
{
	if (e->unseen == runs)
		return;
	e->unseen = runs;
	gs_engine_touch_all(e);
}

void gs_engine_policy_flags(struct gs_engine *e, uint32_t flags)
{
	e->policy_flags = flags;
}

void gs_engine_forget(struct gs_engine *e, const struct gpusched_key *key)
{
	struct gs_job *job = NULL;

	for (size_t i = 0; i < e->nworkers && e->pending && !job; i++)
		job = gs_worker_cancel(&e->workers[i], key);
	if (job) {
		e->pending--;
		gs_core_cancel(e->core, &job->plan);
		free(job);
	}
	gs_core_forget(e->core, key);
	gs_engine_ops.way_gone(key->client, key->handle);
}

bool gs_engine_idle(const struct gs_engine *e)
{
	return !e->pending && gs_core_idle(e->core, gs_now_ns());
}

uint32_t gs_engine_overruled(const struct gs_engine *e, const struct gpusched_key *key)
{
	return gs_core_overruled(e->core, key);
}

uint64_t gs_engine_counter(const struct gs_engine *e, enum gs_engine_counter c)
{
	return c < GS_ENG_MAX ? gs_core_counters(e->core)[c] : 0;
}
