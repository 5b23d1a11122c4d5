// SPDX-License-Identifier: MIT
/*
 * test_policy_host.c - check the stock host in the kernel: start, decide, switch, fail, stop
 *
 * Needs root, and is skipped without it.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <poll.h>

#include "basic/clock.h"
#include "basic/log.h"
#include "gpusched/policy_types.h"
#include "policy_fixture.h"
#include "policy/host.h"
#include "table/cfg.h"
#include "table/facts.h"

static struct gs_policy *start(const char *name, const char *option, struct gs_policy *prev)
{
	struct gs_policy_exit x = { 0 };
	struct gs_error err = { 0 };
	struct gs_policy *p = NULL;
	int r;

	r = fixture_start(name, option, prev, &p, &x, &err);
	if (r < 0)
		fail_msg("start %s: %d %s\n%s", name, r, err.text, x.dump ? x.dump : "");
	return p;
}

static void want_slice(const struct gpusched_tsg *rec, uint32_t us)
{
	struct gpusched_tsg now = fixture_get(rec);

	if (!us) {
		assert_int_equal(now.task.want.valid, 0);
		return;
	}
	assert_int_equal(now.task.want.valid, GPUSCHED_TIMESLICE);
	assert_int_equal(now.task.want.timeslice_us, us);
}

static void test_decides(void **state)
{
	struct gpusched_tsg lc, be, be2, other;
	struct gs_policy *p;

	(void)state;
	NEED_TABLE();
	lc = fixture_tsg(1, GPUSCHED_CLASS_LC);
	be = fixture_tsg(2, GPUSCHED_CLASS_BE);
	other = fixture_tsg(3, GPUSCHED_CLASS_NONE);
	p = start("lcbe", "be_slice_us=33", NULL);
	assert_string_equal(gs_policy_running(p)->name, "lcbe");
	want_slice(&lc, 1000000);
	want_slice(&be, 33);
	want_slice(&other, 0);

	/* a second BE: no slice below the switch cost for either after a tick */
	be2 = fixture_tsg(4, GPUSCHED_CLASS_BE);
	assert_int_equal(gs_stock_ask(p, GPUSCHED_RUN_TASK_INIT, &be2.key, 0), 0);
	want_slice(&be2, 800);
	for (int i = 0; i < 250 && fixture_get(&be).task.want.timeslice_us != 800; i++)
		gs_sleep_ns(20 * NS_PER_MS);
	want_slice(&be, 800);
	assert_int_equal(gs_stock_ask(p, GPUSCHED_RUN_TASK_DESTROY, &be2.key, 0), 0);
	fixture_remove(&be2);
	for (int i = 0; i < 250 && fixture_get(&be).task.want.timeslice_us != 33; i++)
		gs_sleep_ns(20 * NS_PER_MS);
	want_slice(&be, 33);

	gs_policy_stop(p, GS_POLICY_EXIT_STOPPED);
	want_slice(&lc, 0);
	want_slice(&be, 0);
	fixture_remove(&lc);
	fixture_remove(&be);
	fixture_remove(&other);
}

static void test_tick_wakes_loop(void **state)
{
	struct gpusched_tsg be;
	struct gs_policy_exit x;
	struct gs_policy *p;
	struct pollfd pfd;

	(void)state;
	NEED_TABLE();
	p = start("lcbe", NULL, NULL);
	/* task_init is not called for it: the tick finds it */
	be = fixture_tsg(2, GPUSCHED_CLASS_BE);
	gs_stock_nudge(p);
	pfd = (struct pollfd){ .fd = gs_stock_fd(p), .events = POLLIN };
	assert_int_equal(poll(&pfd, 1, 5000), 1);
	assert_true(gs_stock_dispatch(p, &x) >= 1);
	assert_int_equal(x.kind, GS_POLICY_EXIT_NONE);
	want_slice(&be, 1);
	gs_policy_stop(p, GS_POLICY_EXIT_STOPPED);
	fixture_remove(&be);
}

/* Returns the id of the BPF program in a slot of the table, or 0 if the slot is empty. */
static uint32_t in_slot(const char *slot)
{
	uint32_t zero = 0, id = 0;

	return bpf_map_lookup_elem(gs_table_map_fd(table, slot), &zero, &id) ? 0 : id;
}

static bool hears_of_launches(void)
{
	return in_slot("gs_work_slot");
}

/*
 * A policy that has ended has no wishes. Its programs stay in the slots until it is freed, or
 * another policy starts.
 */
static void test_ended(void **state)
{
	struct gpusched_tsg be;
	struct gs_policy *p, *next;
	uint32_t of_next;

	(void)state;
	NEED_TABLE();
	be = fixture_tsg(1, GPUSCHED_CLASS_BE);
	p = start("lcbe", "be_slice_us=33", NULL);
	want_slice(&be, 33);
	assert_true(gs_policy_end(p, GS_POLICY_EXIT_STOPPED));
	want_slice(&be, 0);
	assert_true(in_slot("gs_slot"));
	next = start("lcbe", "be_slice_us=44", NULL);
	want_slice(&be, 44);
	of_next = in_slot("gs_slot");
	gs_policy_discard(p);
	assert_int_equal(in_slot("gs_slot"), of_next);
	want_slice(&be, 44);
	assert_true(gs_policy_end(next, GS_POLICY_EXIT_STOPPED));
	assert_int_equal(in_slot("gs_slot"), of_next);
	gs_policy_discard(next);
	assert_int_equal(in_slot("gs_slot"), 0);
	assert_int_equal(in_slot("gs_gate_slot"), 0);
	fixture_remove(&be);
}

/* Replaces @prev by a policy that fails at its first TSG. The caller frees the policy. */
static struct gs_policy *fails_in_start(struct gs_policy *prev)
{
	struct gs_policy_exit x = { 0 };
	struct gs_error err = { 0 };
	struct gs_policy *p = NULL;
	const char *name = fixture_source("fails_in_task_init");

	if (gs_policy_prepare(table, false, name, NULL, 0, &p, &x, &err))
		fail_msg("%s", err.text);
	assert_true(gs_policy_take_over(p, prev, &x, &err) < 0);
	assert_int_equal(x.kind, GS_POLICY_EXIT_ERROR);
	free(x.dump);
	return p;
}

/* The programs of a policy that fails at its start stay in the slots until it is freed, too. */
static void test_failed_start(void **state)
{
	struct gpusched_tsg be;
	struct gs_policy *p, *prev;
	uint32_t of_prev;

	(void)state;
	NEED_TABLE();
	be = fixture_tsg(1, GPUSCHED_CLASS_BE);
	p = fails_in_start(NULL);
	want_slice(&be, 0);
	assert_true(in_slot("gs_slot"));
	gs_policy_discard(p);
	assert_int_equal(in_slot("gs_slot"), 0);

	prev = start("lcbe", "be_slice_us=33", NULL);
	of_prev = in_slot("gs_slot");
	p = fails_in_start(prev);
	assert_int_equal(in_slot("gs_slot"), of_prev);
	gs_policy_discard(p);
	assert_int_equal(in_slot("gs_slot"), of_prev);
	for (int i = 0; i < 250 && fixture_get(&be).task.want.timeslice_us != 33; i++)
		gs_sleep_ns(20 * NS_PER_MS); /* until its tick has counted the TSGs again */
	want_slice(&be, 33);
	gs_policy_stop(prev, GS_POLICY_EXIT_STOPPED);
	assert_int_equal(in_slot("gs_slot"), 0);
	fixture_remove(&be);
}

/* A policy that wants launches counted but has no work_submit delays no launch. */
static void test_hears_of_launches(void **state)
{
	struct gs_policy *counts, *hears;

	(void)state;
	NEED_TABLE();
	counts = start("prio", NULL, NULL);
	assert_true(gs_policy_running(counts)->flags & GPUSCHED_F_WORK);
	assert_false(hears_of_launches());
	hears = start("edf", NULL, counts);
	assert_true(hears_of_launches());
	counts = start("prio", NULL, hears);
	assert_false(hears_of_launches());
	gs_policy_stop(counts, GS_POLICY_EXIT_STOPPED);
	assert_false(hears_of_launches());
}

static void put_facts(const struct gpusched_tsg *rec, uint64_t held, uint32_t state)
{
	const struct gpusched_facts f = {
		.id = rec->task.id,
		.known = GPUSCHED_FACT_HELD | GPUSCHED_FACT_STATE | GPUSCHED_FACT_LAST_RUN,
		.state = state,
		.runlist = 1,
		.as_of_ns = 1000,
		.held_ns = held,
		.turns = 7,
		.last_run_ns = 900,
	};

	assert_int_equal(gs_facts_put(table, &f, 1), 0);
}

static void look(struct gs_policy *p, const struct gpusched_tsg *rec, uint64_t *priv)
{
	struct gpusched_run run = { .op = GPUSCHED_RUN_TICK };

	assert_int_equal(gs_loaded_ask(&p->loaded, &run), 0);
	memcpy(priv, fixture_get(rec).task.priv, sizeof(fixture_get(rec).task.priv));
}

/*
 * A policy gets a TSG's facts, and never another TSG's. The facts of a loaded TSG are as recent as
 * its runlist's.
 */
static void test_facts(void **state)
{
	const struct gpusched_runlist_facts r = {
		.as_of_ns = 3000, .held_ns = 55, .lost_ns = 66, .switches = 77
	};
	struct gpusched_tsg a, b;
	struct gs_policy *p;
	uint64_t priv[GPUSCHED_POLICY_WORDS];

	(void)state;
	NEED_TABLE();
	assert_int_equal(gs_facts_begin(table), 0);
	assert_int_equal(gs_facts_begin_jobs(table), 0);
	a = fixture_tsg(1, GPUSCHED_CLASS_LC);
	b = fixture_tsg(2, GPUSCHED_CLASS_BE);
	p = start(fixture_source("looks"), NULL, NULL);
	look(p, &a, priv);
	assert_int_equal(priv[0], 2ull << 32);
	assert_int_equal(priv[1] | priv[4] | priv[5], 0);

	put_facts(&a, 100, GPUSCHED_STATE_LOADED);
	put_facts(&b, 200, 0);
	assert_int_equal(gs_facts_put_runlist(table, 1, &r), 0);
	look(p, &a, priv);
	assert_int_equal(priv[0],
			 GPUSCHED_FACT_HELD | GPUSCHED_FACT_STATE | GPUSCHED_FACT_LAST_RUN);
	assert_int_equal(priv[1], 100 + 2000);
	assert_int_equal(priv[2], 7);
	assert_int_equal(priv[3], 3000);
	assert_int_equal(priv[5], 55);
	assert_int_equal(priv[6], 66);
	assert_int_equal(priv[7], 77);
	look(p, &b, priv);
	assert_int_equal(priv[1], 200);

	gs_facts_remove(table, a.task.id);
	gs_facts_remove_runlist(table, 1);
	assert_int_equal(gs_facts_put_job(table, a.task.id, 7), 0);
	look(p, &a, priv);
	assert_int_equal(priv[0], 2ull << 32 | 7 << 16);
	gs_facts_remove_job(table, a.task.id);
	look(p, &a, priv);
	assert_int_equal(priv[0], 2ull << 32);
	assert_int_equal(priv[1], 0);
	look(p, &b, priv);
	assert_int_equal(priv[3], 1000);
	gs_facts_remove(table, b.task.id);
	gs_policy_stop(p, GS_POLICY_EXIT_STOPPED);
	fixture_remove(&a);
	fixture_remove(&b);
}

/* The policy gets the costs of switches while they are known. */
static void test_costs(void **state)
{
	const struct gpusched_gpu g = { .known = GPUSCHED_GPU_SAVE | GPUSCHED_GPU_SWITCH |
						 GPUSCHED_GPU_BUSY,
					.switch_us = 84,
					.save_us = 93,
					.busy_x100 = 9712,
					.idle_ms = 7 };
	uint64_t priv[GPUSCHED_POLICY_WORDS];
	struct gpusched_tsg a;
	struct gs_policy *p;

	(void)state;
	NEED_TABLE();
	assert_int_equal(gs_facts_begin(table), 0);
	a = fixture_tsg(1, GPUSCHED_CLASS_LC);
	p = start(fixture_source("costs"), NULL, NULL);
	look(p, &a, priv);
	assert_int_equal(priv[0], 2ull << 32);
	assert_int_equal(priv[1], 0);
	assert_int_equal(gs_facts_put_gpu(table, a.task.gpu, &g), 0);
	look(p, &a, priv);
	assert_int_equal(priv[0], g.known);
	assert_int_equal(priv[1], 84ull << 32 | 93);
	assert_int_equal(priv[2], 9712ull << 32 | 7);
	gs_facts_remove_gpu(table, a.task.gpu);
	look(p, &a, priv);
	assert_int_equal(priv[0], 2ull << 32);
	gs_policy_stop(p, GS_POLICY_EXIT_STOPPED);
	fixture_remove(&a);
}

static void count_log(int level, const char *message, void *count)
{
	(void)level;
	if (strstr(message, "policy logs: met one of class 2"))
		__atomic_fetch_add((int *)count, 1, __ATOMIC_RELAXED);
}

/* Log lines of a policy without a tick are printed while it runs, too. */
static void test_log_wakes_loop(void **state)
{
	struct gpusched_tsg be;
	struct gs_policy_exit x;
	struct gs_policy *p;
	struct pollfd pfd;
	int lines = 0;

	(void)state;
	NEED_TABLE();
	gs_log_sink(count_log, &lines, LOG_INFO);
	p = start(fixture_source("logs"), NULL, NULL);
	be = fixture_tsg(2, GPUSCHED_CLASS_BE);
	assert_int_equal(gs_stock_ask(p, GPUSCHED_RUN_TASK_INIT, &be.key, 0), 0);
	pfd = (struct pollfd){ .fd = gs_stock_fd(p), .events = POLLIN };
	assert_int_equal(poll(&pfd, 1, 5000), 1);
	assert_int_equal(gs_stock_dispatch(p, &x), 0);
	assert_int_equal(lines, 1);
	gs_log_sink(NULL, NULL, 0);
	gs_policy_stop(p, GS_POLICY_EXIT_STOPPED);
	fixture_remove(&be);
}

static void test_switch(void **state)
{
	struct gs_policy_exit x = { 0 };
	struct gs_error err = { 0 };
	struct gpusched_tsg be;
	struct gs_policy *p, *q = NULL;

	(void)state;
	NEED_TABLE();
	be = fixture_tsg(2, GPUSCHED_CLASS_BE);
	p = start("lcbe", "be_slice_us=50", NULL);
	want_slice(&be, 50);
	p = start("lcbe", "be_slice_us=60", p);
	want_slice(&be, 60);

	/* a start that fails leaves the running policy alone */
	assert_int_equal(fixture_start("lcbe", "be_slice_us=0", p, &q, &x, &err), -ERANGE);
	assert_non_null(strstr(err.text, "1 to 100000000"));
	assert_null(q);
	want_slice(&be, 60);
	assert_int_equal(gs_stock_ask(p, GPUSCHED_RUN_TASK_INIT, &be.key, 0), 0);
	gs_policy_stop(p, GS_POLICY_EXIT_STOPPED);
	fixture_remove(&be);
}

/* A policy that fails at its first TSG has not changed the others. */
static void test_failed_switch(void **state)
{
	struct gs_policy_exit x = { 0 };
	struct gs_error err = { 0 };
	struct gs_policy *p, *q = NULL;
	struct gpusched_tsg recs[4];
	unsigned int kept = 0;

	(void)state;
	NEED_TABLE();
	for (uint32_t i = 0; i < 4; i++)
		recs[i] = fixture_tsg(i + 1, GPUSCHED_CLASS_LC);
	p = start(fixture_source("options"), NULL, NULL);
	for (int i = 0; i < 4; i++)
		gs_stock_ask(p, GPUSCHED_RUN_TIMESLICE_SET, &recs[i].key, 700);
	assert_int_equal(fixture_start(fixture_source("fails_in_task_init"), NULL, p, &q, &x, &err),
			 -9);
	assert_null(q);
	assert_int_equal(x.kind, GS_POLICY_EXIT_ERROR);
	assert_string_equal(x.dump, "met 1\n");
	free(x.dump);
	for (int i = 0; i < 4; i++) {
		struct gpusched_tsg now = fixture_get(&recs[i]);

		if (now.task.want.valid & GPUSCHED_TIMESLICE) {
			assert_int_equal(now.task.want.timeslice_us, 701);
			kept++;
		}
		assert_int_equal(now.task.priv[6], 1); /* its task_init, once */
	}
	assert_int_equal(kept, 3);
	gs_policy_stop(p, GS_POLICY_EXIT_STOPPED);
	for (int i = 0; i < 4; i++) {
		want_slice(&recs[i], 0);
		fixture_remove(&recs[i]);
	}
}

static void run(struct gs_policy *p, enum gpusched_run_op op, const struct gpusched_tsg *rec,
		uint64_t arg, int expected)
{
	assert_int_equal(gs_stock_ask(p, op, &rec->key, arg), expected);
}

/*
 * Calls every callback of a policy in the kernel, and checks what the host does with the answers.
 */
static void test_callbacks(void **state)
{
	struct gpusched_tsg lc, be, now;
	struct gs_policy *p;

	(void)state;
	NEED_TABLE();
	lc = fixture_tsg(1, GPUSCHED_CLASS_LC);
	be = fixture_tsg(2, GPUSCHED_CLASS_BE);
	p = start(fixture_source("options"), "neg=-9", NULL);
	now = fixture_get(&be);
	assert_int_equal(now.task.priv[0], 32);
	assert_int_equal(now.task.priv[1], 1ull << 40);
	assert_int_equal((int64_t)now.task.priv[2], -9);
	assert_int_equal(now.task.priv[3], 1);
	assert_int_equal(now.task.priv[5], 1); /* one LC in the table */
	assert_int_equal(now.task.priv[6], 1); /* task_init was called once */
	run(p, GPUSCHED_RUN_TASK_INIT, &be, 0, 0);
	assert_int_equal(fixture_get(&be).task.priv[6], 2);

	run(p, GPUSCHED_RUN_SCHEDULE, &lc, 0, GPUSCHED_ADMIT);
	assert_false(fixture_get(&lc).flags & GPUSCHED_TSG_HELD);
	run(p, GPUSCHED_RUN_SCHEDULE, &be, 0, GPUSCHED_HOLD);
	now = fixture_get(&be);
	assert_true(now.flags & GPUSCHED_TSG_HELD);
	assert_true(now.task.want.valid & GPUSCHED_RUNNABLE);
	assert_int_equal(now.task.want.runnable, 0);
	run(p, GPUSCHED_RUN_WORK_SUBMIT, &be, 2, 0);
	assert_true(fixture_get(&be).flags & GPUSCHED_TSG_HELD);
	run(p, GPUSCHED_RUN_WORK_SUBMIT, &be, 3, 0);
	now = fixture_get(&be);
	assert_int_equal(now.task.priv[7], 5);
	assert_false(now.flags & GPUSCHED_TSG_HELD);
	assert_false(now.task.want.valid & GPUSCHED_RUNNABLE);

	run(p, GPUSCHED_RUN_TIMESLICE_SET, &lc, 100, 0);
	assert_int_equal(fixture_get(&lc).task.want.timeslice_us, 101);
	/* waits for a round's third pass; the passes before it want 0 and 1 */
	for (int i = 0; i < 500 && fixture_get(&lc).task.want.interleave != 2; i++)
		gs_sleep_ns(20 * NS_PER_MS);
	now = fixture_get(&lc);
	assert_true(now.task.want.valid & GPUSCHED_INTERLEAVE);
	assert_int_equal(now.task.want.interleave, 2);

	/* the next policy does not see this policy's private words */
	run(p, GPUSCHED_RUN_SCHEDULE, &be, 0, GPUSCHED_HOLD);
	p = start("lcbe", NULL, p);
	now = fixture_get(&be);
	assert_false(now.flags & GPUSCHED_TSG_HELD);
	assert_int_equal(now.task.want.valid, GPUSCHED_TIMESLICE);
	assert_int_equal(now.task.priv[7], 0);
	gs_policy_stop(p, GS_POLICY_EXIT_STOPPED);
	fixture_remove(&lc);
	fixture_remove(&be);
}

static unsigned int entries(const struct gs_policy *p, const char *map)
{
	int fd = bpf_object__find_map_fd_by_name(p->loaded.obj, map);
	char key[64];
	unsigned int n = 0;
	void *at = NULL;

	for (; !bpf_map_get_next_key(fd, at, key); at = key)
		n++;
	return n;
}

/*
 * The hooks know a TSG by the process that made it. When a TSG goes to other processes, no entry of
 * it may be left behind.
 */
static void test_hooked_names(void **state)
{
	struct gs_policy_exit x = { 0 };
	struct gs_error err = { 0 };
	struct gs_policy *p = NULL;
	struct gpusched_tsg rec;
	int fd;

	(void)state;
	NEED_TABLE();
	if (gs_policy_prepare(table, true, "lcbe", NULL, 0, &p, &x, &err) ||
	    gs_policy_take_over(p, NULL, &x, &err))
		fail_msg("%s\n%s", err.text, x.dump ? x.dump : "");
	rec = fixture_tsg(1, GPUSCHED_CLASS_BE);
	run(p, GPUSCHED_RUN_TASK_INIT, &rec, 0, 0);
	fd = gs_table_map_fd(table, "gs_tsgs");
	for (uint32_t pid = 1; pid < 4; pid++) { /* its open file goes from process to process */
		rec = fixture_get(&rec);
		rec.task.pid = pid;
		assert_int_equal(bpf_map_update_elem(fd, &rec.key, &rec, BPF_EXIST), 0);
		run(p, GPUSCHED_RUN_TASK_INIT, &rec, 0, 0);
		assert_int_equal(entries(p, "gs_hook_tsgs"), 1);
	}
	run(p, GPUSCHED_RUN_TASK_DESTROY, &rec, 0, 0);
	assert_int_equal(entries(p, "gs_hook_tsgs") + entries(p, "gs_hook_names"), 0);
	gs_policy_stop(p, GS_POLICY_EXIT_STOPPED);
	fixture_remove(&rec);
}

static bool is_ticked(const struct gpusched_tsg *rec)
{
	for (int i = 0; i < 300; i++) {
		if (fixture_get(rec).task.want.valid & GPUSCHED_TIMESLICE)
			return true;
		gs_sleep_ns(10 * NS_PER_MS);
	}
	return false;
}

/* The tick keeps a list of TSGs, but also calls the policy for any number of later TSGs. */
static void test_tick_meets_all(void **state)
{
	enum { MANY = 1100 }; /* more than the list holds */
	struct gpusched_tsg first, same, *many = calloc(MANY, sizeof(*many));
	struct gs_policy *p;

	(void)state;
	NEED_TABLE();
	assert_non_null(many);
	assert_int_equal(gs_cfg_max_tsgs(table, 0), 0); /* all of them are of one process */
	p = start(fixture_source("flips"), NULL, NULL);
	gs_sleep_ns(100 * NS_PER_MS); /* so that a tick has found an empty table */
	first = fixture_tsg(1, GPUSCHED_CLASS_BE);
	gs_stock_nudge(p);
	assert_true(is_ticked(&first));
	gs_sleep_ns(100 * NS_PER_MS); /* so that the tick's list has the first TSG */
	fixture_remove(&first);
	same = fixture_tsg(1, GPUSCHED_CLASS_BE);
	assert_true(is_ticked(&same));
	for (uint32_t i = 0; i < MANY; i++)
		many[i] = fixture_tsg(i + 2, GPUSCHED_CLASS_BE);
	for (uint32_t i = 0; i < MANY; i++)
		assert_true(is_ticked(&many[i]));
	gs_policy_stop(p, GS_POLICY_EXIT_STOPPED);
	fixture_remove(&same);
	for (uint32_t i = 0; i < MANY; i++)
		fixture_remove(&many[i]);
	free(many);
}

/* If a policy skips rounds, its tick does not become rarer. */
static void test_skipped_rounds(void **state)
{
	struct gpusched_tsg rec;
	struct gs_policy *p;
	uint32_t first;

	(void)state;
	NEED_TABLE();
	rec = fixture_tsg(1, GPUSCHED_CLASS_BE);
	p = start(fixture_source("skips"), NULL, NULL);
	assert_true(is_ticked(&rec));
	first = fixture_get(&rec).task.want.timeslice_us;
	/* time for 200 rounds; a tick that has become rare would have two */
	gs_sleep_ns(2 * NS_PER_S);
	assert_true(fixture_get(&rec).task.want.timeslice_us >= first + 24);
	gs_policy_stop(p, GS_POLICY_EXIT_STOPPED);
	fixture_remove(&rec);
}

/* A settled policy gets no rounds until something happens. */
static void test_rests(void **state)
{
	struct gpusched_tsg rec;
	struct gs_policy *p;
	uint64_t rounds;

	(void)state;
	NEED_TABLE();
	rec = fixture_tsg(1, GPUSCHED_CLASS_BE);
	p = start(fixture_source("rests"), NULL, NULL);
	for (int i = 0; i < 300 && !fixture_get(&rec).task.priv[0]; i++)
		gs_sleep_ns(10 * NS_PER_MS);
	gs_sleep_ns(100 * NS_PER_MS);
	rounds = fixture_get(&rec).task.priv[0];
	gs_sleep_ns(NS_PER_S); /* 100 periods */
	assert_in_range(fixture_get(&rec).task.priv[0], rounds, rounds + 1);
	rounds = fixture_get(&rec).task.priv[0];
	assert_int_equal(gs_stock_ask(p, GPUSCHED_RUN_SCHEDULE, &rec.key, 0), GPUSCHED_ADMIT);
	for (int i = 0; i < 300 && fixture_get(&rec).task.priv[0] == rounds; i++)
		gs_sleep_ns(10 * NS_PER_MS);
	assert_int_equal(fixture_get(&rec).task.priv[0], rounds + 1);
	gs_policy_stop(p, GS_POLICY_EXIT_STOPPED);
	fixture_remove(&rec);
}

static uint64_t rounds_of(const struct gpusched_tsg *rec, uint64_t at_least)
{
	for (int i = 0; i < 300 && fixture_get(rec).task.priv[0] < at_least; i++)
		gs_sleep_ns(10 * NS_PER_MS);
	return fixture_get(rec).task.priv[0];
}

/* gpusched_kick() starts a round long before the period of 10 s ends, up to a limited rate. */
static void test_kicks(void **state)
{
	uint64_t granted, refused;
	struct gpusched_tsg rec;
	struct gs_policy *p;

	(void)state;
	NEED_TABLE();
	rec = fixture_tsg(1, GPUSCHED_CLASS_BE);
	p = start(fixture_source("kicks"), NULL, NULL);
	for (uint64_t n = 1; n <= 3; n++) {
		assert_int_equal(gs_stock_ask(p, GPUSCHED_RUN_TIMESLICE_SET, &rec.key, 1), 0);
		assert_true(rounds_of(&rec, n) >= n);
	}
	for (int i = 0; i < 1000; i++)
		gs_stock_ask(p, GPUSCHED_RUN_TIMESLICE_SET, &rec.key, 1);
	gs_stock_kicks(p, &granted, &refused);
	assert_int_equal(granted + refused, 1003);
	assert_true(refused > 0 && granted >= 3);
	gs_sleep_ns(100 * NS_PER_MS);
	assert_true(fixture_get(&rec).task.priv[0] <= granted);
	gs_policy_stop(p, GS_POLICY_EXIT_STOPPED);
	fixture_remove(&rec);
}

/*
 * Switches between two policies many times: at each moment, all wishes are of exactly one of them.
 */
static void test_switch_often(void **state)
{
	struct gpusched_tsg recs[20];
	struct gs_policy *p = NULL;

	(void)state;
	NEED_TABLE();
	for (uint32_t i = 0; i < 20; i++)
		recs[i] = fixture_tsg(i + 1, GPUSCHED_CLASS_LC);
	for (int n = 0; n < 100; n++) {
		p = start("lcbe", n & 1 ? "lc_slice_us=7000" : "lc_slice_us=9000", p);
		for (int i = 0; i < 20; i++)
			want_slice(&recs[i], n & 1 ? 7000 : 9000);
	}
	gs_policy_stop(p, GS_POLICY_EXIT_STOPPED);
	for (int i = 0; i < 20; i++) {
		want_slice(&recs[i], 0);
		fixture_remove(&recs[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_decides),
		cmocka_unit_test(test_tick_wakes_loop),
		cmocka_unit_test(test_switch),
		cmocka_unit_test(test_ended),
		cmocka_unit_test(test_failed_start),
		cmocka_unit_test(test_callbacks),
		cmocka_unit_test(test_hooked_names),
		cmocka_unit_test(test_switch_often),
		cmocka_unit_test(test_tick_meets_all),
		cmocka_unit_test(test_skipped_rounds),
		cmocka_unit_test(test_rests),
		cmocka_unit_test(test_kicks),
		cmocka_unit_test(test_failed_switch),
		cmocka_unit_test(test_log_wakes_loop),
		cmocka_unit_test(test_hears_of_launches),
		cmocka_unit_test(test_facts),
		cmocka_unit_test(test_costs),
	};

	return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
