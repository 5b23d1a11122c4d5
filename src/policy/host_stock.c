// SPDX-License-Identifier: MIT
/*
 * host_stock.c - runs policies in the kernel, with the unmodified driver: the stock host
 *
 * The taps stay loaded, and reach the running policy's dispatcher through one slot of a program
 * array. So a policy switch is one map update. The new policy ignores the old one's marks in the
 * table from the start, since they have another generation number (decide.h).
 */
#include <bpf/bpf.h>
#include <inttypes.h>
#include <linux/membarrier.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "basic/log.h"
#include "gate/gate.h"
#include "policy/polmaps.h"
#include "policy/slots.h"
#include "policy/stock.h"
#include "table/cfg.h"

/* Returns when every tap that began before this call has ended. */
static void wait_for_taps(void)
{
	if (syscall(__NR_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0) < 0)
		gs_sleep_ns(20 * NS_PER_MS);
}

static void set_over(struct gs_policy *p, bool over)
{
	__atomic_store_n(&p->loaded.state->stopped, over ? 1u : 0u, __ATOMIC_SEQ_CST);
}

#define MEET_AT_ONCE 1024u /* TSGs for which meet_all() itself calls task_init */

/*
 * Calls task_init for every TSG that @p has not seen. Beyond the first MEET_AT_ONCE, the tick's
 * thread calls it.
 */
static int meet_all(struct gs_policy *p)
{
	CLEANUP_FREE struct gpusched_tsg *all = NULL;
	struct gs_stock *s = gs_stock_of(p);
	struct gpusched_key *keys;
	size_t n = 0, now;
	int r = gs_table_all(p->world.table, &all, &n);

	if (r < 0)
		return r;
	keys = calloc(n + 1, sizeof(*keys));
	if (!keys)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		keys[i] = all[n - 1 - i].key;
	now = n < MEET_AT_ONCE ? n : MEET_AT_ONCE;
	r = gs_ticker_meet(s, keys + n - now, now);
	pthread_mutex_lock(&s->lock);
	/* a round under way still uses the older list, which then stays */
	if (!s->round_began) {
		free(s->unmet);
		s->unmet = TAKE_PTR(keys);
		s->nunmet = n - now;
	}
	pthread_mutex_unlock(&s->lock);
	free(keys);
	return r;
}

/* Clears the wishes of a policy that has ended, and admits the TSGs that it held. */
static void clear_wishes(struct gs_table *o)
{
	CLEANUP_FREE struct gpusched_tsg *all = NULL;
	size_t n = 0;

	if (gs_table_all(o, &all, &n) < 0)
		return;
	for (size_t i = 0; i < n; i++) {
		struct gpusched_poke poke = { .key = all[i].key, .id = all[i].task.id };

		if (all[i].task.want.valid)
			poke.what |= GPUSCHED_POKE_WANT_CLEAR;
		if (all[i].flags & GPUSCHED_TSG_HELD) {
			poke.what |= GPUSCHED_POKE_FLAGS;
			poke.flags_mask = GPUSCHED_TSG_HELD;
		}
		if (poke.what)
			gs_table_poke(o, &poke);
	}
}

/* Fills *x if the policy itself has failed. Returns the failure's code or 0. */
static int own_failure(struct gs_policy *p, struct gs_policy_exit *x, struct gs_error *err)
{
	return gs_loaded_failed(&p->loaded, &p->fail_code, p->failure, sizeof(p->failure))
		       ? gs_host_failed(p, x, err)
		       : 0;
}

static void stock_free(struct gs_policy *p)
{
	gs_ticker_logs(gs_stock_of(p));
	gs_ticker_free(gs_stock_of(p));
}

/* ---- start ----------------------------------------------------------------------------------- */

static bool has_gate(const struct gs_world *w)
{
	return w->table ? gs_gate_used(w->table) : !gs_gate_probe(NULL);
}

static uint32_t stock_flags(const struct gs_world *w)
{
	return GPUSCHED_F_ASSUMED | GPUSCHED_F_WORK |
	       (w->hooked || has_gate(w) ? GPUSCHED_F_DENY : 0);
}

static int stock_link(struct gs_policy *p, struct gs_policy_exit *x, struct gs_error *err)
{
	const struct gs_load_opts opts = { .o = p->world.table,
					   .info = &p->info,
					   .gate = !p->world.hooked && has_gate(&p->world),
					   .hooked = p->world.hooked };
	int r = gs_ticker_init(gs_stock_of(p), err);

	return r < 0 ? r : gs_polobj_load(p, &opts, x, err);
}

static int stock_ask(struct gs_policy *p, struct gpusched_run *r, struct gpusched_task *t)
{
	int ret = gs_loaded_ask(&p->loaded, r);

	(void)t;
	if (r->op != GPUSCHED_RUN_INIT)
		return ret;
	gs_ticker_logs(gs_stock_of(p));
	return ret == 0 && gs_loaded_failed(&p->loaded, &p->fail_code, p->failure,
					    sizeof(p->failure))
		       ? -EPROTO
		       : ret;
}

/* Lets @p act in place of @prev, which is marked as over first: the two never act together. */
static int take_over(struct gs_policy *p, struct gs_policy *prev, struct gs_policy_exit *x,
		     struct gs_error *err)
{
	int r;

	if (prev) {
		set_over(prev, true);
		gs_ticker_pause(gs_stock_of(prev));
		wait_for_taps();
	}
	gs_cfg_policy_active(p->world.table, true);
	r = gs_slots_take(p);
	if (r < 0)
		gs_fail(err, r, "policy %s: the slot cannot be set: %s", p->info.name,
			strerror(-r));
	else
		r = meet_all(p);
	if (r >= 0)
		r = own_failure(p, x, err);
	if (r >= 0)
		r = gs_ticker_start(gs_stock_of(p), err);
	if (r >= 0)
		return 0;
	set_over(p, true);
	gs_cfg_policy_active(p->world.table, prev);
	wait_for_taps();
	if (!prev) {
		clear_wishes(p->world.table);
		return r;
	}
	/*
	 * @prev goes on. Records that @p has marked get @prev's task_init again; everything else is
	 * as @prev left it.
	 */
	set_over(prev, false);
	gs_slots_take(prev);
	meet_all(prev);
	gs_ticker_resume(gs_stock_of(prev));
	return r;
}

/*
 * Ends the policy. Returns false if its last round is still under way: the tick's thread then frees
 * @p.
 */
static bool finish(struct gs_policy *p, enum gs_policy_exit_kind kind)
{
	struct gpusched_run run = { .op = GPUSCHED_RUN_EXIT, .arg = (uint64_t)kind };

	set_over(p, true);
	if (!gs_ticker_stop(gs_stock_of(p)))
		return false;
	if (kind != GS_POLICY_EXIT_STALLED)
		gs_loaded_ask(&p->loaded, &run);
	gs_ticker_logs(gs_stock_of(p));
	return true;
}

static void pin_maps(struct gs_policy *p)
{
	int r = gs_polmaps_pin(p->loaded.obj);

	if (r < 0)
		gs_log(LOG_WARNING, "policy %s: its maps cannot be pinned: %s", p->info.name,
		       strerror(-r));
}

static int stock_attach(struct gs_policy *p, struct gs_policy_exit *x, struct gs_error *err)
{
	int r = take_over(p, NULL, x, err);

	if (r == 0)
		pin_maps(p);
	return r;
}

static int stock_switch_over(struct gs_policy *p, struct gs_policy *prev, struct gs_policy_exit *x,
			     struct gs_error *err)
{
	int r = take_over(p, prev, x, err);

	if (r < 0)
		return r;
	if (finish(prev, GS_POLICY_EXIT_SWITCHED))
		stock_free(prev);
	pin_maps(p);
	return 0;
}

static bool stock_detach(struct gs_policy *p, enum gs_policy_exit_kind kind)
{
	set_over(p, true);
	gs_cfg_policy_active(p->world.table, false);
	wait_for_taps();
	clear_wishes(p->world.table);
	return finish(p, kind);
}

const struct gs_host gs_host_stock = {
	.name = "stock",
	.size = sizeof(struct gs_stock),
	.facts = GPUSCHED_KNOWN_LAUNCHES | GPUSCHED_KNOWN_RATE | GPUSCHED_KNOWN_DEADLINE |
		 GPUSCHED_KNOWN_LAST_RUN,
	.flags = stock_flags,
	.vet = gs_policy_check_object,
	.link = stock_link,
	.attach = stock_attach,
	.switch_over = stock_switch_over,
	.detach = stock_detach,
	.free = stock_free,
	.ask = stock_ask,
};

const void *gs_stock_object(const struct gs_policy *p, size_t *ret_len)
{
	*ret_len = p->obj.len;
	return p->obj.data;
}

/* ---- while it runs --------------------------------------------------------------------------- */

int gs_stock_ask(struct gs_policy *p, enum gpusched_run_op op, const struct gpusched_key *key,
		 uint64_t arg)
{
	struct gpusched_run run = { .op = op, .key = *key, .arg = arg };
	int r = gs_loaded_ask(&p->loaded, &run);

	gs_ticker_nudge(gs_stock_of(p));
	return r < 0 ? r : run.ret;
}

void gs_stock_nudge(struct gs_policy *p)
{
	gs_ticker_nudge(gs_stock_of(p));
}

char *gs_stock_said(const struct gs_policy *p, uint64_t *ret_ns)
{
	const struct gs_stock *s = gs_stock_of(p);

	*ret_ns = s->said_ns;
	return gs_loaded_log_line(&p->loaded, s->log_seen);
}

void gs_stock_kicks(const struct gs_policy *p, uint64_t *ret_granted, uint64_t *ret_refused)
{
	const struct gs_pstate *st = p->loaded.state;

	*ret_granted = __atomic_load_n(&st->kicks, __ATOMIC_RELAXED);
	*ret_refused = __atomic_load_n(&st->kicks_refused, __ATOMIC_RELAXED);
}

bool gs_stock_rests(const struct gs_policy *p)
{
	return gs_ticker_rests(gs_stock_of(p));
}

void gs_stock_take_refused(struct gs_policy *p, gs_policy_refused_fn fn, void *user)
{
	const struct gs_pstate *st = p->loaded.state;
	struct gs_stock *s = gs_stock_of(p);
	uint64_t all = __atomic_load_n(&st->kicks_refused, __ATOMIC_RELAXED);
	bool rose = all != s->refused_all;

	/* looks once more after a rise, since a user's count may follow the sum a moment later */
	if (!rose && !s->refused_rose)
		return;
	s->refused_rose = rose;
	s->refused_all = all;
	for (size_t i = 0; i < GS_KICK_USERS; i++) {
		uint32_t times = __atomic_load_n(&st->kicks_refused_of[i].times, __ATOMIC_RELAXED);

		if (times != s->refused_seen[i])
			fn(st->kicks_refused_of[i].uid, times - s->refused_seen[i], user);
		s->refused_seen[i] = times;
	}
}

int gs_stock_fd(const struct gs_policy *p)
{
	return gs_stock_of(p)->event_fd;
}

int gs_stock_dispatch(struct gs_policy *p, struct gs_policy_exit *ret_exit)
{
	struct gs_policy_exit x = { 0 };
	uint64_t waste;
	int r;

	if (read(gs_stock_of(p)->event_fd, &waste, sizeof(waste)) < 0 && errno != EAGAIN)
		return -errno;
	gs_ticker_logs(gs_stock_of(p));
	r = own_failure(p, &x, NULL);
	if (r == 0 && __atomic_load_n(&gs_stock_of(p)->stalled, __ATOMIC_ACQUIRE))
		r = gs_exit_fill(&x, NULL, GS_POLICY_EXIT_STALLED, -ETIME, p->info.name,
				 gs_loaded_log_text(&p->loaded),
				 "policy %s: a round of its tick took longer than %u ms",
				 p->info.name, p->info.timeout_ms);
	if (ret_exit)
		*ret_exit = x;
	if (r < 0)
		return r;
	return (int)__atomic_exchange_n(&gs_stock_of(p)->changed, 0, __ATOMIC_ACQ_REL);
}
