// SPDX-License-Identifier: MIT
/*
 * test_policy_same.c - check that policies decide the same on three hosts
 *
 * Replays the same events to each policy on the stock host (real RM calls through the taps), the
 * sim host and the native host, and compares the decisions after each event.
 */
#include "stock_host.h"
#include "table/cfg.h"

#define STEPS 500

/* Decisions that must occur at least once in a run; otherwise agreement proves nothing. */
#define SLICES 1u
#define SUSPENDS 2u
#define HOLDS 4u

static const struct {
	const char *policy;
	unsigned int sees;
	const char *options[4];
} cases[] = {
	{ "none", 0, { NULL } },
	{ "auto", SLICES | SUSPENDS, { NULL } },
	{ "lcbe", SLICES, { NULL } },
	{ "lcbe", SLICES, { "busy_ms=20" } },
	{ "rr", SLICES | SUSPENDS, { NULL } },
	{ "prio", SUSPENDS, { "age_ms=100", "idle_ms=20" } },
	{ "fair", SLICES, { NULL } },
	{ "fair", SLICES, { "turns=no" } },
	{ "edf", SLICES, { NULL } },
	{ "adaptive", SLICES, { "steady=1" } },
	{ "admit", SLICES | SUSPENDS | HOLDS, { NULL } },
	{ "admit", SLICES | SUSPENDS | HOLDS, { "max_lc=100", "max_starts_per_s=3" } },
	{ "admit", SLICES | SUSPENDS | HOLDS, { "max_lc=100", "max_lc_load=10", "load_ms=100" } },
	{ "admit", SLICES | SUSPENDS | HOLDS, { "max_lc=100", "launch_us=2000", "load_ms=100" } },
};

static uint64_t last_id(void)
{
	struct gpusched_cfg cfg = { 0 };

	if (table)
		assert_int_equal(gs_table_cfg(table, &cfg), 0);
	return cfg.next_id;
}

static bool differ(const struct world_task *x, const struct world_task *y)
{
	const struct gpusched_settings *a = &x->t.want, *b = &y->t.want;

	return x->t.id != y->t.id || x->held != y->held || a->valid != b->valid ||
	       ((a->valid & GPUSCHED_TIMESLICE) && a->timeslice_us != b->timeslice_us) ||
	       ((a->valid & GPUSCHED_INTERLEAVE) && a->interleave != b->interleave) ||
	       ((a->valid & GPUSCHED_PREEMPT_MODE) && a->preempt_mode != b->preempt_mode) ||
	       ((a->valid & GPUSCHED_RUNNABLE) && a->runnable != b->runnable) ||
	       memcmp(x->t.priv, y->t.priv, sizeof(x->t.priv)) != 0;
}

static void describe(const struct world *w, const struct world_task *x)
{
	print_message("# %s: TSG %llu class %u wants 0x%x slice %u runnable %u%s, priv",
		      w->p->host->name, (unsigned long long)x->t.id, x->t.class_id, x->t.want.valid,
		      x->t.want.timeslice_us, x->t.want.runnable, x->held ? ", held" : "");
	for (int i = 0; i < GPUSCHED_POLICY_WORDS; i++)
		print_message(" %llu", (unsigned long long)x->t.priv[i]);
	print_message("\n");
}

static void same(const struct world *a, const struct world *b, int step, size_t c)
{
	for (size_t i = 0; i < WORLD_TASKS; i++) {
		if (!differ(&a->tasks[i], &b->tasks[i]))
			continue;
		describe(a, &a->tasks[i]);
		describe(b, &b->tasks[i]);
		fail_msg("%s %s: hosts differ at step %d, after a TSG %s", cases[c].policy,
			 cases[c].options[0] ? cases[c].options[0] : "", step, a->what);
	}
}

static unsigned int seen_in(const struct world *w)
{
	unsigned int got = 0;

	for (size_t i = 0; i < WORLD_TASKS; i++) {
		const struct world_task *x = &w->tasks[i];

		if (!x->t.id)
			continue;
		got |= x->t.want.valid & GPUSCHED_TIMESLICE ? SLICES : 0;
		got |= is_suspended(&x->t.want) ? SUSPENDS : 0;
		got |= x->held ? HOLDS : 0;
	}
	return got;
}

static void open_as(struct world *w, const struct gs_host *host, size_t c)
{
	struct gs_error err = { 0 };

	if (world_open(w, host, cases[c].policy, cases[c].options, &err) < 0)
		fail_msg("%s host, policy %s: %s", host->name, cases[c].policy, err.text);
}

static void replay(const struct gs_host *const *hosts, size_t n)
{
	static struct world w[3];

	for (size_t c = 0; c < GS_COUNT(cases); c++) {
		unsigned int got = 0;

		for (size_t h = 0; h < n; h++)
			open_as(&w[h], hosts[h], c);
		for (size_t h = 0; h < n; h++) /* so that all hosts use the same ids */
			w[h].last_id = last_id();
		for (int step = 0; step < STEPS; step++) {
			for (size_t h = 0; h < n; h++)
				world_step(&w[h]);
			for (size_t h = 1; h < n; h++)
				same(&w[0], &w[h], step, c);
			got |= seen_in(&w[0]);
		}
		if ((got & cases[c].sees) != cases[c].sees || (!cases[c].sees && got))
			fail_msg("%s: this sequence shows 0x%x, wanted 0x%x", cases[c].policy, got,
				 cases[c].sees);
		for (size_t h = 0; h < n; h++)
			world_close(&w[h]);
	}
}

static void test_three_hosts(void **state)
{
	static const struct gs_host *const hosts[] = { &gs_host_native, &gs_host_sim, &stock_host };

	NEEDS();
	replay(hosts, 3);
}

/* Several native instances, which need no privilege, do not share state. */
static void test_three_natives(void **state)
{
	static const struct gs_host *const hosts[] = { &gs_host_native, &gs_host_native,
						       &gs_host_native };

	(void)state;
	replay(hosts, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_three_hosts, setup, teardown),
		cmocka_unit_test(test_three_natives),
	};

	return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
