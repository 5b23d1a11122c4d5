// SPDX-License-Identifier: MIT
/*
 * One source, one behaviour: the same events through the native host, the sim host and (as far as
 * its tick lets itself be driven) the stock host give the same wishes, and the same private words.
 */
#include "basic/clock.h"
#include "policy/native.h"
#include "policy_fixture.h"

#define TASKS 40
#define STEPS 600

static const char *const policies[] = { "lcbe", "none", "prio",     "fair",
					"rr",   "edf",  "adaptive", "admit" };

/* One run: a world of its own, so that no host sees another's writes. */
struct world {
	const struct sim_policy_host *host;
	void *state;
	struct gpusched_task tasks[TASKS];
	struct gpusched_task *live[TASKS];
	size_t nlive;
	uint64_t now, rng;
};

static uint64_t now_of(void *user)
{
	return ((struct world *)user)->now;
}

static struct gpusched_task *const *tasks_of(void *user, size_t *ret_n)
{
	struct world *w = user;

	*ret_n = w->nlive;
	return w->live;
}

static uint32_t draw(struct world *w, uint32_t below)
{
	w->rng = w->rng * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(w->rng >> 33) % below;
}

static void open_world(struct world *w, const struct sim_policy_host *host, const char *policy)
{
	struct sim_policy_view view = { now_of, tasks_of, 42, w };
	struct gs_error err = { 0 };

	memset(w, 0, sizeof(*w));
	w->host = host;
	w->now = 0;
	w->rng = 7;
	if (host->init(&view, policy, NULL, 0, &w->state, &err) < 0)
		fail_msg("%s host, policy %s: %s", host->name, policy, err.text);
}

static void make(struct world *w, size_t i)
{
	struct gpusched_task *t = &w->tasks[i];

	memset(t, 0, sizeof(*t));
	t->id = i + 1;
	t->gpu = draw(w, 2);
	t->kind = draw(w, 4) ? GPUSCHED_KIND_COMPUTE : GPUSCHED_KIND_COPY;
	t->engine = t->kind == GPUSCHED_KIND_COMPUTE ? 1 : 9;
	t->pid = 100 + (uint32_t)i;
	t->class_id = draw(w, 4);
	t->weight = 1 + draw(w, 400);
	t->cgroup_id = draw(w, 3);
	t->deadline_us = 1000 + draw(w, 9000);
	t->known = GPUSCHED_KNOWN_LAUNCHES | GPUSCHED_KNOWN_GPU_TIME | GPUSCHED_KNOWN_DEADLINE |
		   GPUSCHED_KNOWN_RATE;
	t->created_ns = w->now;
	w->live[w->nlive++] = t;
	w->host->task_init(w->state, t);
	w->host->schedule(w->state, t);
}

static void unmake(struct world *w, size_t at)
{
	struct gpusched_task *t = w->live[at];

	w->live[at] = w->live[--w->nlive];
	w->host->task_destroy(w->state, t);
	t->id = 0;
}

/* The same for every world, since draws depend on the steps alone. */
static void step(struct world *w)
{
	uint32_t what = draw(w, 10), i = draw(w, TASKS);
	struct gpusched_task *t = &w->tasks[i];
	struct gpusched_work work = { .now_ns = w->now, .count = 1 + draw(w, 5) };

	w->now += 1000 * (1 + draw(w, 20000));
	if (!t->id) {
		make(w, i);
		return;
	}
	t->gpu_time_ns += 1000 * draw(w, 5000);
	t->launches += work.count;
	t->last_launch_ns = w->now;
	t->launch_rate_mhz = 1000ull * draw(w, 2000);
	switch (what) {
	case 0:
		for (size_t at = 0; at < w->nlive; at++)
			if (w->live[at] == t) {
				unmake(w, at);
				break;
			}
		break;
	case 1:
		t->class_id = draw(w, 4);
		w->host->task_init(w->state, t);
		break;
	case 2:
		w->host->timeslice_set(w->state, t, 2048);
		break;
	case 3:
	case 4:
		if (w->host->flags(w->state) & GPUSCHED_F_WORK)
			w->host->work_submit(w->state, t, &work);
		break;
	default:
		if (w->host->tick_us(w->state))
			w->host->tick(w->state, w->live, w->nlive);
		break;
	}
}

static void same(const struct world *a, const struct world *b, int at, const char *policy)
{
	for (size_t i = 0; i < TASKS; i++) {
		const struct gpusched_task *x = &a->tasks[i], *y = &b->tasks[i];

		if (x->id != y->id || x->want.valid != y->want.valid ||
		    ((x->want.valid & GPUSCHED_TIMESLICE) &&
		     x->want.timeslice_us != y->want.timeslice_us) ||
		    ((x->want.valid & GPUSCHED_RUNNABLE) && x->want.runnable != y->want.runnable) ||
		    ((x->want.valid & GPUSCHED_INTERLEAVE) &&
		     x->want.interleave != y->want.interleave) ||
		    memcmp(x->priv, y->priv, sizeof(x->priv)))
			fail_msg("%s: task %zu differs after step %d: %s wants 0x%x %u us, %s "
				 "0x%x %u us",
				 policy, i, at, a->host->name, x->want.valid, x->want.timeslice_us,
				 b->host->name, y->want.valid, y->want.timeslice_us);
	}
}

static void test_native_and_sim(void **state)
{
	static struct world native, sim;
	uint64_t wishes;

	(void)state;
	NEED_TABLE();
	for (size_t p = 0; p < sizeof(policies) / sizeof(policies[0]); p++) {
		open_world(&native, &gs_native_host, policies[p]);
		open_world(&sim, &gs_sim_host, policies[p]);
		wishes = 0;
		for (int i = 0; i < STEPS; i++) {
			step(&native);
			step(&sim);
			same(&native, &sim, i, policies[p]);
			for (size_t t = 0; t < native.nlive; t++)
				wishes += native.live[t]->want.valid != 0;
		}
		/* a policy that wants nothing would agree with anything */
		assert_true(strcmp(policies[p], "none") == 0 ? wishes == 0 : wishes > 0);
		native.host->exit(native.state, GPUSCHED_EXIT_STOPPED);
		sim.host->exit(sim.state, GPUSCHED_EXIT_STOPPED);
	}
}

/* One round of @w at @ms; how many there were so far. */
static uint64_t round_at(struct world *w, uint64_t ms)
{
	w->now = ms * NS_PER_MS;
	assert_int_equal(w->host->tick(w->state, w->live, 1), 0);
	return w->tasks[0].priv[0];
}

/* tick_end()'s rest means the same on both. */
static void rests_on(const struct sim_policy_host *host)
{
	static struct world w;
	struct gpusched_work work = { .count = 1 };
	struct gpusched_task *t = &w.tasks[0];

	open_world(&w, host, fixture_source("rests"));
	t->id = 1;
	w.live[w.nlive++] = t;
	assert_int_equal(round_at(&w, 1), 1);
	assert_int_equal(round_at(&w, 11), 1);
	assert_int_equal(round_at(&w, 6000), 1);
	assert_int_equal(round_at(&w, 6001), 2);
	w.host->work_submit(w.state, t, &work);
	assert_int_equal(round_at(&w, 6011), 2);
	w.host->schedule(w.state, t);
	assert_int_equal(round_at(&w, 6021), 3);
	assert_int_equal(round_at(&w, 6031), 3);
	/* a round that changes something is no reason to rest */
	t->launches = 300;
	w.host->timeslice_set(w.state, t, 2048);
	assert_int_equal(round_at(&w, 6041), 4);
	assert_int_equal(t->want.timeslice_us, 300);
	assert_int_equal(round_at(&w, 6051), 5);
	assert_int_equal(round_at(&w, 6061), 5);
	w.host->exit(w.state, GPUSCHED_EXIT_STOPPED);
}

static void test_rests_natively(void **state)
{
	(void)state;
	rests_on(&gs_native_host);
}

static void test_rests_in_the_kernel(void **state)
{
	(void)state;
	NEED_TABLE();
	rests_on(&gs_sim_host);
}

/* Twice the same seed through the native host: no state survives from one run to the next. */
static void test_repeatable(void **state)
{
	static struct world a, b;

	(void)state;
	for (size_t p = 0; p < sizeof(policies) / sizeof(policies[0]); p++) {
		open_world(&a, &gs_native_host, policies[p]);
		for (int i = 0; i < STEPS; i++)
			step(&a);
		a.host->exit(a.state, GPUSCHED_EXIT_STOPPED);
		open_world(&b, &gs_native_host, policies[p]);
		for (int i = 0; i < STEPS; i++)
			step(&b);
		b.host->exit(b.state, GPUSCHED_EXIT_STOPPED);
		same(&a, &b, STEPS, policies[p]);
	}
}

/* lcbe on the stock host, once its tick has been round, wants what it wants natively. */
static void test_stock(void **state)
{
	static const uint32_t classes[] = { GPUSCHED_CLASS_LC, GPUSCHED_CLASS_BE,
					    GPUSCHED_CLASS_NONE, GPUSCHED_CLASS_BE,
					    GPUSCHED_CLASS_NORMAL };
	static struct world native;
	struct gpusched_tsg recs[5], now;
	struct gs_policy_exit x = { 0 };
	struct gs_policy *p = NULL;
	int settled = 0;

	(void)state;
	NEED_TABLE();
	open_world(&native, &gs_native_host, "lcbe");
	for (uint32_t i = 0; i < 5; i++) {
		recs[i] = fixture_tsg(i + 1, classes[i]);
		native.tasks[i] = fixture_get(&recs[i]).task;
		native.live[native.nlive++] = &native.tasks[i];
		native.host->task_init(native.state, &native.tasks[i]);
	}
	native.host->tick(native.state, native.live, native.nlive);
	assert_int_equal(gs_policy_start(table, "lcbe", NULL, 0, NULL, &p, &x, NULL), 0);
	for (int tries = 0; tries < 100 && settled < 5; tries++) {
		settled = 0;
		for (int i = 0; i < 5; i++) {
			now = fixture_get(&recs[i]);
			settled += now.task.want.valid == native.tasks[i].want.valid &&
				   now.task.want.timeslice_us == native.tasks[i].want.timeslice_us;
		}
		gs_sleep_ns(20 * NS_PER_MS);
	}
	assert_int_equal(settled, 5);
	gs_policy_stop(p, GS_POLICY_EXIT_STOPPED);
	native.host->exit(native.state, GPUSCHED_EXIT_STOPPED);
	for (int i = 0; i < 5; i++)
		fixture_remove(&recs[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_repeatable),
		cmocka_unit_test(test_native_and_sim),
		cmocka_unit_test(test_stock),
		cmocka_unit_test(test_rests_natively),
		cmocka_unit_test(test_rests_in_the_kernel),
	};

	return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
