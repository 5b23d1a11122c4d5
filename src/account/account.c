// SPDX-License-Identifier: MIT
#include "account/priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <uthash.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "basic/env.h"
#include "basic/log.h"

#define SOON_NS (33 * NS_PER_MS) /* how often RM fills the log by itself */
#define IDLE_NS NS_PER_S
#define OLD_BRANCH 545u /* before this driver branch, RM fills the log once a second */
#define OLD_PERIOD_NS NS_PER_S
#define FLUSH_NS (100 * NS_PER_MS)
/* A GPU that has been idle for REST_NS is looked at every RESTING_NS, also for a policy. */
#define REST_NS (10 * NS_PER_S)
#define RESTING_NS (250 * NS_PER_MS)
#define CLOCK_NS (10 * NS_PER_S) /* how often the clocks are compared: they drift by some ppm */
/* Pause after a log could not be opened, or samples were refused. */
#define RETRY_NS (60 * NS_PER_S)
#define ALONE_NS NS_PER_S
#define STALE_NS (5 * NS_PER_S / 2) /* samples older than this are dropped */
#define WAIT_NS (20 * NS_PER_MS)    /* longest wait for RM to answer one of our calls */

struct gpu *account_gpu(const struct gs_account *a, uint32_t index)
{
	for (size_t i = 0; i < a->ngpus; i++)
		if (a->gpus[i].gpu.index == index)
			return &a->gpus[i];
	return NULL;
}

struct tsg *account_tsg(const struct gs_account *a, uint64_t id)
{
	struct tsg *t = NULL;

	HASH_FIND(hh, a->tsgs, &id, sizeof(id), t);
	return t;
}

/* ---- clocks ---------------------------------------------------------------------------------- */

/* Converts a time to the GPU's clock. 0 (no time) stays 0. */
static uint64_t to_gpu(const struct gpu *g, uint64_t monotonic_ns)
{
	return !monotonic_ns ? 0 : gs_switchlog_to_gpu(&g->clock, monotonic_ns);
}

void account_tell_to(const struct gpu *g, const struct gs_turn *turn, gs_turn_fn fn, void *user)
{
	struct gs_turn at = *turn;

	at.start_ns = gs_switchlog_to_monotonic(&g->clock, turn->start_ns);
	at.end_ns = gs_switchlog_to_monotonic(&g->clock, turn->end_ns);
	fn(&at, user);
}

static void tell_turn(const struct gs_turn *turn, void *user)
{
	const struct gpu *g = user;

	if (g->a->opts.on_turn)
		account_tell_to(g, turn, g->a->opts.on_turn, g->a->opts.user);
}

/* ---- a GPU's log ----------------------------------------------------------------------------- */

/*
 * If RM answers late for one log, it would for the other logs too. So no further call in this pass
 * waits.
 */
static int answered(struct gs_account *a, int r)
{
	if (r == -EBUSY || r == -EINPROGRESS) {
		a->counters[GS_ACC_LATE]++;
		a->wait_ns = 0;
	}
	return r;
}

/* Saves the costs found in the log, for when the log is opened again. */
static void leave_costs(struct gpu *g)
{
	struct gs_costs c = gs_turns_costs(g->turns);

	g->begin = gs_costs_as_kept(&c, (uint64_t)time(NULL));
}

static void count_contradicted(struct gpu *g)
{
	unsigned int n = gs_turns_contradicted(g->turns);

	if (n != g->contradicted)
		gs_log(LOG_NOTICE,
		       "GPU %u: its log contradicts the costs of switches that were known before: "
		       "they are dropped",
		       g->gpu.index);
	g->a->counters[GS_ACC_CONTRADICTED] += n - g->contradicted;
	g->contradicted = n;
}

static void log_close(struct gpu *g)
{
	if (g->turns)
		leave_costs(g);
	gs_opening_leave(g->opening, g->a->wait_ns);
	gs_switchlog_close(g->log, g->a->wait_ns);
	gs_turns_free(g->turns);
	g->opening = NULL;
	g->log = NULL;
	g->turns = NULL;
	g->alone = (struct alone){ 0 };
	g->anew = true;
}

/* Passes the settings of each TSG to the turns. */
static void tell_settings(struct gpu *g)
{
	for (struct tsg *t = g->a->tsgs; t; t = t->hh.next) {
		if (t->gpu != g->gpu.index)
			continue;
		gs_turns_slice(g->turns, t->id, t->timeslice_us, 0);
		gs_turns_mode(g->turns, t->id, t->mode, 0);
		if (t->suspended)
			gs_turns_suspend(g->turns, t->id, true, 0);
	}
}

static int log_take(struct gpu *g, struct gs_error *err)
{
	int r = 0;

	if (!g->opening)
		r = gs_opening_begin(&g->gpu, g->a->wait_ns, &g->opening);
	if (!r)
		r = gs_opening_take(&g->opening, &g->log, &g->clock, err);
	if (!r)
		r = gs_turns_new(tell_turn, g, &g->turns);
	if (!r) {
		gs_turns_measured(g->turns, &g->begin);
		g->contradicted = 0;
	}
	return answered(g->a, r);
}

static void log_open(struct gpu *g, uint64_t now)
{
	struct gs_error err = { 0 };
	int r;

	if (g->log || now < g->retry_at)
		return;
	r = log_take(g, &err);
	if (r == -EINPROGRESS)
		return;
	if (!r) {
		g->lost = g->spent = 0;
		g->reason[0] = '\0';
		g->anew = true;
		tell_settings(g);
		return;
	}
	log_close(g);
	if (!g->reason[0])
		gs_log(LOG_NOTICE, "%s: no GPU time is known of it",
		       err.text[0] ? err.text : strerror(-r));
	snprintf(g->reason, sizeof(g->reason), "%.150s", err.text[0] ? err.text : strerror(-r));
	g->a->counters[GS_ACC_NO_LOG]++;
	g->retry_at = now + RETRY_NS;
}

static struct tsg *find_context(const struct gpu *g, uint32_t context, uint32_t pid)
{
	struct context_key key = { g->gpu.index, context, pid };
	struct context *c = NULL;

	HASH_FIND(hh, g->a->contexts, &key, sizeof(key), c);
	return c ? c->tsg : NULL;
}

struct maker *account_maker(const struct gs_account *a, uint32_t gpu, uint32_t pid)
{
	struct maker_key key = { gpu, pid };
	struct maker *m = NULL;

	HASH_FIND(hh, a->makers, &key, sizeof(key), m);
	return m;
}

/*
 * Finds a TSG by its process alone, if the process has just one compute TSG. Drivers before branch
 * 560 do not report the context ids of an adopted TSG.
 */
static struct tsg *find_sole(const struct gpu *g, uint32_t pid)
{
	struct maker *m = account_maker(g->a, g->gpu.index, pid);

	return m && m->ntsgs == 1 ? m->sole : NULL;
}

/*
 * Finds the MPS server's TSG for a client: the log names the client, since the client has its own
 * channels in that TSG.
 */
static struct tsg *find_server(const struct gpu *g, uint32_t pid)
{
	const struct gs_account_opts *opts = &g->a->opts;
	uint32_t server = opts->server_of ? opts->server_of(pid, opts->user) : 0;

	return server ? find_sole(g, server) : NULL;
}

static void take(const struct gs_switchlog_record *rec, void *user)
{
	struct gpu *g = user;
	struct tsg *t = find_context(g, rec->context, rec->pid);
	struct maker *m;

	if (!t)
		t = find_sole(g, rec->pid);
	if (!t)
		t = find_server(g, rec->pid);
	m = t ? NULL : account_maker(g->a, g->gpu.index, rec->pid);
	if (m && !m->unattributed)
		m->unattributed = g->anew = true;
	g->a->counters[GS_ACC_RECORDS]++;
	g->a->counters[GS_ACC_UNATTRIBUTED] += !t;
	gs_turns_feed(g->turns, &rec->sw, t ? t->id : 0);
}

static void log_read(struct gpu *g)
{
	int n = gs_switchlog_read(g->log, take, g);
	uint64_t lost = gs_switchlog_lost(g->log);

	g->records += n > 0 ? (uint64_t)n : 0;
	g->a->counters[GS_ACC_LOST] += lost - g->lost;
	g->lost = lost;
}

static void tell_spent(struct gpu *g)
{
	const struct gs_account_opts *opts = &g->a->opts;
	uint64_t spent = gs_switchlog_spent(g->log);

	if (opts->on_spent && spent != g->spent)
		opts->on_spent(g->gpu.index, spent - g->spent, opts->user);
	g->spent = spent;
}

static void flush(struct gpu *g, uint64_t now)
{
	if (now - g->flushed < FLUSH_NS) {
		log_read(g); /* no call to RM: reads only what RM has written by itself */
		return;
	}
	g->flushed = now;
	g->a->counters[GS_ACC_FLUSHES]++;
	if (answered(g->a, gs_switchlog_flush(g->log, g->a->wait_ns)))
		return;
	log_read(g);
	gs_turns_until(g->turns, to_gpu(g, now) - g->clock.error_ns);
}

/* Converts a duration on the GPU's clock to one on ours. A simulated GPU's clock runs slower. */
static uint64_t in_gpu_time(uint64_t ns)
{
	return (uint64_t)((double)ns * gs_env()->dilate);
}

/* ---- TSGs that are alone --------------------------------------------------------------------- */

static void no_usage(struct gpu *g, uint64_t now, int r, uint32_t status)
{
	const char *name = gs_rm_status_name(status);

	g->a->counters[GS_ACC_NO_USAGE]++;
	g->alone.retry_at = now + RETRY_NS;
	g->alone.told = (struct gs_usage_told){ 0 };
	if (!r)
		snprintf(g->blank, sizeof(g->blank),
			 "the layout of driver %u's samples of engine use is not known",
			 g->a->opts.branch);
	else if (r == -EREMOTEIO)
		snprintf(g->blank, sizeof(g->blank),
			 "the driver gives no samples of engine use: RM says 0x%x %s", status,
			 name ? name : "");
	else
		snprintf(g->blank, sizeof(g->blank),
			 "the driver gives no samples of engine use: %s", strerror(-r));
}

/*
 * Finds for which part of the time since the last call the engine was busy (0 to 1). Returns false
 * if unknown.
 */
static bool ask_usage(struct gpu *g, uint64_t now, double *ret)
{
	unsigned int branch = g->a->opts.branch;
	uint32_t size = gs_usage_size(branch), status = 0;
	CLEANUP_FREE void *params = calloc(1, size ? size : 1);
	int r = params ? 0 : -ENOMEM;
	uint64_t idle_ns;

	if (!r && size) {
		g->a->counters[GS_ACC_USAGE]++;
		gs_usage_ask(params, branch);
		r = answered(g->a,
			     gs_switchlog_usage(g->log, params, size, g->a->wait_ns, &status));
	}
	if (r == -EBUSY || r == -EINPROGRESS)
		return false;
	if (r || !size) {
		no_usage(g, now, r, status);
		return false;
	}
	g->blank[0] = '\0';
	if (!gs_usage_take(&g->alone.usage, params, branch, ret))
		return false;
	idle_ns = gs_usage_idle_ns(params, branch);
	g->alone.idle_ns = in_gpu_time(idle_ns);
	g->alone.told = gs_usage_told(*ret, idle_ns);
	g->alone.told_ns = now;
	return true;
}

/* True if a TSG of this GPU is suspended: then idle time may be of somebody's making. */
static bool has_suspended(const struct gpu *g)
{
	for (const struct tsg *t = g->a->tsgs; t; t = t->hh.next)
		if (t->suspended && t->gpu == g->gpu.index)
			return true;
	return false;
}

/* Forgets samples that are no longer of the last second: nobody asks now, or RM answers late. */
static void drop_old_usage(struct gpu *g, uint64_t now)
{
	if (now - g->alone.told_ns >= in_gpu_time(STALE_NS))
		g->alone.told = (struct gs_usage_told){ 0 };
}

/*
 * Estimates the work of a TSG that has the GPU to itself, since the log does not show it. All the
 * engine's busy time is then work of that TSG. The driver is asked only after a second without a
 * switch, unless a policy wants samples. It is also asked while no TSG is loaded and one is
 * suspended.
 */
static void look_alone(struct gpu *g, uint64_t now)
{
	struct alone *l = &g->alone;
	uint64_t past = now - l->at_ns;
	struct gs_runlist_sums r;
	bool same, told = false;
	double part;

	if (past < in_gpu_time(ALONE_NS))
		return;
	gs_turns_runlist(g->turns, &r);
	same = !r.blind && r.loaded == l->id && r.switches == l->switches &&
	       (r.loaded || has_suspended(g));
	if (same && l->ns)
		gs_turns_alone(g->turns, l->id, l->ns, l->worked_ns);
	l->ns = l->idle_ns = 0;
	if (!same && !g->a->samples)
		l->usage.newest = 0;
	else if (now >= l->retry_at)
		told = ask_usage(g, now, &part);
	if (told && same && l->began) {
		l->ns = (uint64_t)((double)past / gs_env()->dilate);
		l->worked_ns = (uint64_t)((double)l->ns * part);
	} else {
		l->idle_ns = 0; /* of other TSGs' time, too */
	}
	l->began = same && l->usage.newest;
	drop_old_usage(g, now);
	if (r.blind || has_suspended(g) || (r.loaded && !l->idle_ns))
		g->worked_ns = now;
	l->id = r.loaded;
	l->switches = r.switches;
	l->at_ns = now;
}

static bool is_old(const struct gpu *g)
{
	return g->a->opts.branch && g->a->opts.branch < OLD_BRANCH;
}

/* Reads what RM has written by itself: all records that are older than its period. */
static void read_behind(struct gpu *g, uint64_t now)
{
	uint64_t period = in_gpu_time(is_old(g) ? OLD_PERIOD_NS : SOON_NS);

	log_read(g);
	gs_turns_until(g->turns, to_gpu(g, now - period - g->clock.error_ns));
}

/* Returns how long the next reading can wait. @flushed: the log was flushed in this one. */
static uint64_t pause_of(const struct gpu *g, bool flushed, uint64_t now)
{
	if (!g->active && g->a->eager && now > g->worked_ns + in_gpu_time(REST_NS))
		return RESTING_NS;
	if (flushed)
		return FLUSH_NS;
	return g->active || g->a->eager ? in_gpu_time(SOON_NS) : IDLE_NS;
}

/* Returns the time of the next reading. */
static uint64_t look(struct gpu *g, uint64_t now)
{
	bool soon = g->active || g->a->eager;
	bool old = is_old(g);

	if (now - g->clock.monotonic_ns > CLOCK_NS)
		answered(g->a, gs_switchlog_clock(g->log, g->a->wait_ns, &g->clock));
	if (old && soon)
		flush(g, now);
	else
		read_behind(g, now);
	count_contradicted(g);
	g->active = g->records != g->looked;
	g->looked = g->records;
	look_alone(g, now);
	if (g->active)
		g->worked_ns = now;
	return now + pause_of(g, old && soon, now);
}

uint64_t gs_account_read(struct gs_account *a, uint64_t now)
{
	uint64_t next = UINT64_MAX;

	a->wait_ns = a->opts.wait_ns;
	for (size_t i = 0; i < a->ngpus; i++) {
		struct gpu *g = &a->gpus[i];
		uint64_t due = UINT64_MAX;

		if (g->ntsgs)
			log_open(g, now);
		if (g->log) {
			due = look(g, now);
			tell_spent(g);
		} else if (g->ntsgs) {
			due = g->opening ? now + SOON_NS : g->retry_at;
		}
		if (due < next)
			next = due;
	}
	return next;
}

void gs_account_flush(struct gs_account *a, uint64_t now)
{
	a->wait_ns = a->opts.wait_ns;
	for (size_t i = 0; i < a->ngpus; i++) {
		if (!a->gpus[i].log)
			continue;
		flush(&a->gpus[i], now);
		tell_spent(&a->gpus[i]);
	}
}

void gs_account_catch_up(struct gs_account *a, uint64_t now)
{
	for (size_t i = 0; i < a->ngpus; i++) {
		struct gpu *g = &a->gpus[i];

		if (!g->log)
			continue;
		a->wait_ns = a->opts.wait_ns;
		if (g->active || a->eager)
			flush(g, now);
		else
			read_behind(g, now);
		tell_spent(g);
	}
}

void gs_account_eager(struct gs_account *a, bool on)
{
	a->eager = on;
}

void gs_account_samples(struct gs_account *a, bool on)
{
	a->samples = on;
}

/* ---- TSGs ------------------------------------------------------------------------------------ */

static void hand_over(struct context *c, struct tsg *t)
{
	struct context **at = &c->tsg->contexts;

	while (*at != c)
		at = &(*at)->next;
	*at = c->next;
	c->tsg = t;
	c->next = t->contexts;
	t->contexts = c;
}

/*
 * Two TSGs may claim the same context id; the later TSG gets it. Either the id was reused after the
 * earlier TSG's channel was freed, or the pid was reused after the earlier process ended, or a
 * process lies about its own ids.
 */
static int add_context(struct gs_account *a, struct tsg *t, uint32_t context)
{
	struct context_key key = { t->gpu, context, t->maker };
	struct context *c = NULL;

	HASH_FIND(hh, a->contexts, &key, sizeof(key), c);
	if (c && c->tsg->id < t->id)
		hand_over(c, t);
	if (c)
		return 0;
	c = calloc(1, sizeof(*c));
	if (!c)
		return -ENOMEM;
	c->key = key;
	c->tsg = t;
	c->next = t->contexts;
	t->contexts = c;
	HASH_ADD(hh, a->contexts, key, sizeof(c->key), c);
	return 0;
}

static int add_maker(struct gs_account *a, struct tsg *t)
{
	struct maker *m = account_maker(a, t->gpu, t->maker);

	if (!m) {
		m = calloc(1, sizeof(*m));
		if (!m)
			return -ENOMEM;
		m->key = (struct maker_key){ t->gpu, t->maker };
		HASH_ADD(hh, a->makers, key, sizeof(m->key), m);
	}
	m->ntsgs++;
	m->sole = t;
	return 0;
}

static void leave_maker(struct gs_account *a, const struct tsg *t)
{
	struct maker *m = account_maker(a, t->gpu, t->maker);

	if (!--m->ntsgs) {
		HASH_DEL(a->makers, m);
		free(m);
		return;
	}
	for (struct tsg *o = a->tsgs; m->ntsgs == 1 && o; o = o->hh.next)
		if (o != t && o->gpu == t->gpu && o->maker == t->maker)
			m->sole = o;
}

static int new_tsg(struct gs_account *a, struct gpu *g, const struct gpusched_tsg *rec,
		   uint32_t maker, struct tsg **ret)
{
	struct tsg *t = calloc(1, sizeof(*t));

	if (!t)
		return -ENOMEM;
	t->key = rec->key;
	t->id = rec->task.id;
	t->gpu = rec->task.gpu;
	t->maker = maker ? maker : rec->task.pid;
	t->runlist = gpusched_runlist(&rec->task);
	t->mode = GPUSCHED_PREEMPT_CILP;
	if (add_maker(a, t)) {
		free(t);
		return -ENOMEM;
	}
	HASH_ADD(hh, a->tsgs, id, sizeof(t->id), t);
	/* Until now the process's turns may have been attributed by its pid alone. */
	g->anew = true;
	g->worked_ns = gs_now_ns(); /* a new program is about to work */
	if (!g->ntsgs++)
		g->retry_at = 0;
	*ret = t;
	return 0;
}

void gs_account_launched(struct gs_account *a, uint64_t id, uint64_t ns)
{
	struct tsg *t = account_tsg(a, id);
	struct gpu *g = t ? account_gpu(a, t->gpu) : NULL;

	if (!g || !g->turns || ns == t->launch_ns)
		return;
	t->launch_ns = ns;
	gs_turns_launched(g->turns, id, to_gpu(g, ns));
}

void gs_account_runnable(struct gs_account *a, uint64_t id, bool on, uint64_t ns)
{
	struct tsg *t = account_tsg(a, id);
	struct gpu *g = t ? account_gpu(a, t->gpu) : NULL;

	if (!g || t->suspended == !on)
		return;
	t->suspended = !on;
	if (g->turns)
		gs_turns_suspend(g->turns, id, !on, to_gpu(g, ns));
}

void gs_account_slice(struct gs_account *a, uint64_t id, uint32_t timeslice_us, uint64_t ns)
{
	struct tsg *t = account_tsg(a, id);
	struct gpu *g = t ? account_gpu(a, t->gpu) : NULL;

	if (!g || t->timeslice_us == timeslice_us)
		return;
	t->timeslice_us = timeslice_us;
	if (g->turns)
		gs_turns_slice(g->turns, id, timeslice_us, to_gpu(g, ns));
}

void gs_account_mode(struct gs_account *a, uint64_t id, uint32_t mode, uint64_t ns)
{
	struct tsg *t = account_tsg(a, id);
	struct gpu *g = t ? account_gpu(a, t->gpu) : NULL;

	if (!g || t->mode == mode)
		return;
	t->mode = mode;
	if (g->turns)
		gs_turns_mode(g->turns, id, mode, to_gpu(g, ns));
}

int gs_account_tsg(struct gs_account *a, const struct gpusched_tsg *rec,
		   const struct gpusched_channels *ch, uint32_t maker)
{
	const struct gpusched_settings *is = &rec->task.is;
	struct gpu *g = account_gpu(a, rec->task.gpu);
	struct tsg *t = account_tsg(a, rec->task.id);
	int r = 0;

	if (!g || rec->task.kind != GPUSCHED_KIND_COMPUTE)
		return 0;
	if (!t)
		r = new_tsg(a, g, rec, maker, &t);
	if (r)
		return r;
	gs_account_slice(a, t->id, is->timeslice_us, 0);
	if (is->valid & GPUSCHED_PREEMPT_MODE)
		gs_account_mode(a, t->id, is->preempt_mode, 0);
	gs_account_runnable(a, t->id, !(is->valid & GPUSCHED_RUNNABLE) || is->runnable, 0);
	for (uint32_t i = 0; ch && !r && i < ch->n; i++)
		r = add_context(a, t, ch->ch[i].cid);
	return r;
}

void gs_account_gone(struct gs_account *a, uint64_t id)
{
	struct tsg *t = account_tsg(a, id);
	struct gpu *g = t ? account_gpu(a, t->gpu) : NULL;
	struct context *c, *next;

	if (!t)
		return;
	for (c = t->contexts; c; c = next) {
		next = c->next;
		HASH_DEL(a->contexts, c);
		free(c);
	}
	leave_maker(a, t);
	if (g)
		g->anew = true;
	if (g && g->turns)
		gs_turns_forget(g->turns, id);
	if (g && !--g->ntsgs) {
		a->wait_ns = a->opts.wait_ns;
		log_close(g);
	}
	HASH_DEL(a->tsgs, t);
	free(t);
}

/* ---- life ------------------------------------------------------------------------------------ */

void gs_account_free(struct gs_account *a)
{
	struct tsg *t, *next;

	if (!a)
		return;
	HASH_ITER(hh, a->tsgs, t, next)
		gs_account_gone(a, t->id);
	free(a->gpus);
	free(a);
}

int gs_account_new(const struct gs_account_opts *opts, struct gs_account **ret)
{
	struct gs_account *a = calloc(1, sizeof(*a));

	if (!a)
		return -ENOMEM;
	a->gpus = calloc(opts->ngpus ? opts->ngpus : 1, sizeof(*a->gpus));
	if (!a->gpus) {
		free(a);
		return -ENOMEM;
	}
	a->opts = *opts;
	a->opts.begin = NULL;
	if (!a->opts.wait_ns)
		a->opts.wait_ns = WAIT_NS;
	a->ngpus = opts->ngpus;
	for (size_t i = 0; i < a->ngpus; i++) {
		a->gpus[i].a = a;
		a->gpus[i].gpu = opts->gpus[i];
		a->gpus[i].begin = opts->begin
					   ? opts->begin[i]
					   : gs_costs_measured(opts->gpus[i].name, opts->branch);
	}
	*ret = a;
	return 0;
}
