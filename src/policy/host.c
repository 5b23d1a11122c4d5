// SPDX-License-Identifier: MIT
/*
 * host.c - start, switch and stop a policy on the stock host
 *
 * The permanent taps reach the running policy's dispatcher through one slot of a program array, so
 * a switch is one update. What the policy that ran before left in the table is ignored from the
 * first look on: its marks are of another generation (decide.h).
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
#include "policy/host.h"
#include "policy/priv.h"
#include "gate/gate.h"
#include "table/cfg.h"

/* Returns when no tap that began before this call still runs. */
static void wait_for_taps(void)
{
	if (syscall(__NR_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0) < 0)
		gs_sleep_ns(20 * NS_PER_MS);
}

static int slot_put(struct gs_policy *p, const char *slot, int prog_fd)
{
	uint32_t zero = 0;
	int fd = gs_table_map_fd(p->observe, slot);

	if (fd < 0)
		return fd;
	return bpf_map_update_elem(fd, &zero, &prog_fd, BPF_ANY) < 0 ? -errno : 0;
}

static void slot_empty(struct gs_policy *p, const char *slot)
{
	uint32_t zero = 0;
	int fd = gs_table_map_fd(p->observe, slot);

	if (fd >= 0)
		bpf_map_delete_elem(fd, &zero);
}

static int slot_put_or_empty(struct gs_policy *p, const char *slot, int prog_fd)
{
	if (prog_fd >= 0)
		return slot_put(p, slot, prog_fd);
	slot_empty(p, slot);
	return 0;
}

/* Three slots, one for each type of program; whoever is in one of them without being the one that
 * acts is marked as over (set_over). */
static int slot_set(struct gs_policy *p)
{
	int r = slot_put(p, "gs_slot", p->loaded.dispatch_fd);

	if (r == 0)
		r = slot_put_or_empty(p, "gs_work_slot", p->loaded.work_fd);
	if (r == 0)
		r = slot_put_or_empty(p, "gs_gate_slot", p->loaded.gate_fd);
	return r;
}

static void slot_clear(struct gs_policy *p)
{
	slot_empty(p, "gs_gate_slot");
	slot_empty(p, "gs_slot");
	slot_empty(p, "gs_work_slot");
}

static void set_over(struct gs_policy *p, bool over)
{
	__atomic_store_n(&p->loaded.state->stopped, over ? 1u : 0u, __ATOMIC_SEQ_CST);
}

/* task_init for every TSG that @p has not seen. Returns how many were there, or -errno. */
static int init_all(struct gs_policy *p)
{
	CLEANUP_FREE struct gpusched_tsg *all = NULL;
	size_t n = 0;
	int r = gs_table_all(p->observe, &all, &n);

	if (r < 0)
		return r;
	for (size_t i = 0; i < n; i++) {
		struct gpusched_run run = { .op = GPUSCHED_RUN_TASK_INIT,
					    .key = all[i].key,
					    .arg = GS_INIT_ONCE };

		r = gs_loaded_run(&p->loaded, &run);
		if (r < 0)
			return r;
	}
	return (int)n;
}

/* Wishes of a policy that is gone mean nothing; a held TSG waits no longer. */
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

/* Fills *x when the policy itself has failed; the failure's code or 0. */
static int own_failure(struct gs_policy *p, struct gs_policy_exit *x, struct gs_error *err)
{
	const struct gs_pstate *st = p->loaded.state;
	int code;

	if (!__atomic_load_n(&st->failed, __ATOMIC_ACQUIRE))
		return 0;
	code = st->fail_code < 0 ? st->fail_code : -EPROTO;
	gs_exit_fill(x, err, GS_POLICY_EXIT_ERROR, code, p->info.name,
		     gs_loaded_log_text(&p->loaded), "policy %s failed: %.*s (code %d)",
		     p->info.name, GPUSCHED_TEXT_LEN, st->fail_text.s, st->fail_code);
	if (x)
		x->code = st->fail_code;
	return code;
}

static void policy_free(struct gs_policy *p)
{
	gs_ticker_free(p);
	gs_policy_unload(&p->loaded);
	gs_policy_info_free(&p->info);
	free(p);
}

static int run_init(struct gs_policy *p, struct gs_policy_exit *x, struct gs_error *err)
{
	struct gpusched_run run = { .op = GPUSCHED_RUN_INIT };
	int r = gs_loaded_run(&p->loaded, &run);

	if (r < 0)
		return gs_fail(err, r, "policy %s: cannot be run: %s", p->info.name, strerror(-r));
	gs_ticker_logs(p);
	r = own_failure(p, x, err);
	if (r < 0)
		return r;
	if (run.ret < 0) {
		gs_exit_fill(x, err, GS_POLICY_EXIT_ERROR, -EPROTO, p->info.name,
			     gs_loaded_log_text(&p->loaded), "policy %s: init returned %d",
			     p->info.name, run.ret);
		if (x)
			x->code = run.ret;
		return -EPROTO;
	}
	return 0;
}

/* The old policy acts until the slot holds the new one's dispatcher, and never with it. */
static int take_over(struct gs_policy *p, struct gs_policy *prev, struct gs_policy_exit *x,
		     struct gs_error *err)
{
	int r;

	if (prev) {
		set_over(prev, true);
		gs_ticker_pause(prev);
		wait_for_taps();
	}
	gs_cfg_policy_active(p->observe, true);
	r = slot_set(p);
	if (r < 0)
		gs_fail(err, r, "policy %s: the slot cannot be set: %s", p->info.name,
			strerror(-r));
	else
		r = init_all(p);
	if (r >= 0)
		r = own_failure(p, x, err);
	if (r >= 0)
		r = gs_ticker_start(p, err);
	if (r >= 0)
		return 0;
	set_over(p, true);
	slot_clear(p);
	gs_cfg_policy_active(p->observe, prev);
	wait_for_taps();
	if (!prev) {
		clear_wishes(p->observe);
		return r;
	}
	/* what @p has seen begins anew with its next callback, all else is as @prev left it */
	set_over(prev, false);
	slot_set(prev);
	init_all(prev);
	gs_ticker_resume(prev);
	return r;
}

static void finish(struct gs_policy *p, enum gs_policy_exit_kind kind)
{
	struct gpusched_run run = { .op = GPUSCHED_RUN_EXIT, .arg = (uint64_t)kind };

	set_over(p, true);
	if (!gs_ticker_stop(p)) {
		/* its last round is still under way: the thread frees what it uses */
		return;
	}
	if (kind != GS_POLICY_EXIT_STALLED)
		gs_loaded_run(&p->loaded, &run);
	gs_ticker_logs(p);
	policy_free(p);
}

int gs_policy_prepare(struct gs_table *o, const char *name, const char *const *options,
		      size_t noptions, struct gs_policy **ret, struct gs_policy_exit *ret_exit,
		      struct gs_error *err)
{
	CLEANUP(gs_polobj_close) struct gs_polobj obj = { 0 };
	struct gs_policy_exit x = { 0 };
	struct gs_load_opts opts = { .o = o, .gate = gs_gate_used(o) };
	uint32_t flags = GS_STOCK_FLAGS | (opts.gate ? GPUSCHED_F_DENY : 0);
	struct gs_policy *p = calloc(1, sizeof(*p));
	int r;

	*ret_exit = x;
	if (!p)
		return gs_fail(err, -ENOMEM, "out of memory");
	p->observe = o;
	p->loaded.dispatch_fd = p->loaded.run_fd = p->loaded.work_fd = -1;
	p->loaded.gate_fd = -1;
	opts.info = &p->info;
	r = gs_ticker_init(p, err);
	if (r == 0)
		r = gs_polobj_open(name, &obj, err);
	if (r == 0)
		r = gs_policy_vet(&obj, &p->info, flags, &x, err);
	if (r == 0)
		r = gs_options_set(&p->info, options, noptions, err);
	if (r == 0)
		r = gs_policy_load(&obj, &opts, &p->loaded, &x, err);
	if (r == 0)
		r = run_init(p, &x, err);
	*ret_exit = x;
	if (r < 0) {
		policy_free(p);
		return r;
	}
	*ret = p;
	return 0;
}

void gs_policy_discard(struct gs_policy *p)
{
	if (p)
		policy_free(p);
}

int gs_policy_take_over(struct gs_policy *p, struct gs_policy *prev,
			struct gs_policy_exit *ret_exit, struct gs_error *err)
{
	struct gs_policy_exit x = { 0 };
	int r = take_over(p, prev, &x, err);

	*ret_exit = x;
	if (r < 0) {
		gs_ticker_logs(p);
		policy_free(p);
		return r;
	}
	if (prev)
		finish(prev, GS_POLICY_EXIT_SWITCHED);
	return 0;
}

int gs_policy_start(struct gs_table *o, const char *name, const char *const *options,
		    size_t noptions, struct gs_policy *prev, struct gs_policy **ret,
		    struct gs_policy_exit *ret_exit, struct gs_error *err)
{
	struct gs_policy *p;
	int r = gs_policy_prepare(o, name, options, noptions, &p, ret_exit, err);

	if (r == 0)
		r = gs_policy_take_over(p, prev, ret_exit, err);
	if (r == 0)
		*ret = p;
	return r;
}

void gs_policy_stop(struct gs_policy *p, enum gs_policy_exit_kind kind)
{
	if (!p)
		return;
	set_over(p, true);
	slot_clear(p);
	gs_cfg_policy_active(p->observe, false);
	wait_for_taps();
	clear_wishes(p->observe);
	finish(p, kind);
}

const struct gs_policy_info *gs_policy_running(const struct gs_policy *p)
{
	return &p->info;
}

int gs_policy_run(struct gs_policy *p, enum gpusched_run_op op, const struct gpusched_key *key,
		  uint64_t arg)
{
	struct gpusched_run run = { .op = op, .key = *key, .arg = arg };
	int r = gs_loaded_run(&p->loaded, &run);

	gs_ticker_nudge(p);
	return r < 0 ? r : run.ret;
}

void gs_policy_nudge(struct gs_policy *p)
{
	gs_ticker_nudge(p);
}

int gs_policy_fd(const struct gs_policy *p)
{
	return p->event_fd;
}

int gs_policy_dispatch(struct gs_policy *p, struct gs_policy_exit *ret_exit)
{
	struct gs_policy_exit x = { 0 };
	uint64_t waste;
	int r;

	if (read(p->event_fd, &waste, sizeof(waste)) < 0 && errno != EAGAIN)
		return -errno;
	gs_ticker_logs(p);
	r = own_failure(p, &x, NULL);
	if (r == 0 && __atomic_load_n(&p->stalled, __ATOMIC_ACQUIRE))
		r = gs_exit_fill(&x, NULL, GS_POLICY_EXIT_STALLED, -ETIME, p->info.name,
				 gs_loaded_log_text(&p->loaded),
				 "policy %s: a round of its tick took longer than %u ms",
				 p->info.name, p->info.timeout_ms);
	if (ret_exit)
		*ret_exit = x;
	if (r < 0)
		return r;
	return (int)__atomic_exchange_n(&p->changed, 0, __ATOMIC_ACQ_REL);
}
