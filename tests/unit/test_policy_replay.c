// SPDX-License-Identifier: MIT
/*
 * test_policy_replay.c - check that the same events give the same wishes and private words again
 *
 * Also checks on two hosts when a policy's tick rests. test_policy_same.c compares three hosts.
 */
#include "policy_fixture.h"
#include "replay_world.h"

#define STEPS 600

static const char *const policies[] = { "auto", "lcbe", "none",     "prio", "fair",
					"rr",   "edf",  "adaptive", "admit" };

static void open_world(struct world *w, const struct gs_host *host, const char *policy)
{
	const char *const none[] = { NULL };
	struct gs_error err = { 0 };

	if (world_open(w, host, policy, none, &err) < 0)
		fail_msg("%s host, policy %s: %s", host->name, policy, err.text);
}

/* Makes a round of @w at @ms. Returns the number of rounds so far. */
static uint64_t round_at(struct world *w, uint64_t ms)
{
	w->now = ms * NS_PER_MS;
	w->nlive = 1;
	assert_int_equal(gs_virtual_round(w->p), 0);
	return w->tasks[0].t.priv[0];
}

/* The rest that tick_end() asks for means the same on both hosts. */
static void rests_on(const struct gs_host *host)
{
	static struct world w;
	struct gpusched_task *t = &w.tasks[0].t;

	open_world(&w, host, fixture_source("rests"));
	t->id = 1;
	w.live[w.nlive++] = t;
	assert_int_equal(round_at(&w, 1), 1);
	assert_int_equal(round_at(&w, 11), 1);
	assert_int_equal(round_at(&w, 6000), 1);
	assert_int_equal(round_at(&w, 6001), 2);
	gs_virtual_ask(w.p, GPUSCHED_RUN_WORK_SUBMIT, t, GS_WORK_ARG(1, 0));
	assert_int_equal(round_at(&w, 6011), 2);
	gs_virtual_ask(w.p, GPUSCHED_RUN_SCHEDULE, t, 0);
	assert_int_equal(round_at(&w, 6021), 3);
	assert_int_equal(round_at(&w, 6031), 3);
	/* after a round that changes a wish, there is no rest */
	t->launches = 300;
	gs_virtual_ask(w.p, GPUSCHED_RUN_TIMESLICE_SET, t, 2048);
	assert_int_equal(round_at(&w, 6041), 4);
	assert_int_equal(t->want.timeslice_us, 300);
	assert_int_equal(round_at(&w, 6051), 5);
	assert_int_equal(round_at(&w, 6061), 5);
	world_close(&w);
}

static void test_rests_natively(void **state)
{
	(void)state;
	rests_on(&gs_host_native);
}

static void test_rests_in_the_kernel(void **state)
{
	(void)state;
	NEED_TABLE();
	rests_on(&gs_host_sim);
}

/* A kick ends a rest and asks for a round, within its limits. */
static void kicks_on(const struct gs_host *host)
{
	static struct world w;
	struct gpusched_task *t = &w.tasks[0].t;
	unsigned int heard = 0;

	open_world(&w, host, fixture_source("kicks"));
	t->id = 1;
	w.live[w.nlive++] = t;
	assert_int_equal(round_at(&w, 10000), 1);
	assert_false(gs_virtual_kicked(w.p));
	assert_int_equal(round_at(&w, 20000), 1);
	gs_virtual_ask(w.p, GPUSCHED_RUN_WORK_SUBMIT, t, GS_WORK_ARG(1, 0));
	assert_true(gs_virtual_kicked(w.p));
	assert_false(gs_virtual_kicked(w.p));
	assert_int_equal(round_at(&w, 20001), 2);
	for (int i = 0; i < 1000; i++) {
		gs_virtual_ask(w.p, GPUSCHED_RUN_WORK_SUBMIT, t, GS_WORK_ARG(1, 0));
		heard += gs_virtual_kicked(w.p);
	}
	assert_int_equal(heard, 99);
	assert_int_equal(w.p->kicks_refused, 901);
	w.now += NS_PER_S; /* the next second has a limit of its own */
	gs_virtual_ask(w.p, GPUSCHED_RUN_WORK_SUBMIT, t, GS_WORK_ARG(1, 0));
	assert_true(gs_virtual_kicked(w.p));
	world_close(&w);
}

static void test_kicks_natively(void **state)
{
	(void)state;
	kicks_on(&gs_host_native);
}

static void test_kicks_in_the_kernel(void **state)
{
	(void)state;
	NEED_TABLE();
	kicks_on(&gs_host_sim);
}

/* The policy does not see facts that the host hides, but the host keeps them. */
static void hides_on(const struct gs_host *host)
{
	struct gpusched_task t = { .id = 1,
				   .known = GPUSCHED_KNOWN_GPU_TIME | GPUSCHED_KNOWN_LAUNCHES,
				   .gpu_time_ns = 7 };
	static struct world w;

	open_world(&w, host, fixture_source("facts"));
	w.live[w.nlive++] = &t;
	w.p->world.hidden = GPUSCHED_KNOWN_GPU_TIME;
	assert_int_equal(gs_virtual_round(w.p), 0);
	assert_int_equal(t.priv[0], 0);
	assert_int_equal(t.priv[1], GPUSCHED_KNOWN_LAUNCHES);
	assert_int_equal(t.gpu_time_ns, 7);
	w.p->world.hidden = 0;
	assert_int_equal(gs_virtual_round(w.p), 0);
	assert_int_equal(t.priv[0], 7);
	assert_int_equal(t.priv[1], t.known);
	world_close(&w);
}

static void test_hides_natively(void **state)
{
	(void)state;
	hides_on(&gs_host_native);
}

static void test_hides_in_the_kernel(void **state)
{
	(void)state;
	NEED_TABLE();
	hides_on(&gs_host_sim);
}

static void fair_round(struct world *w, size_t n, uint64_t first_cgroup, uint64_t step)
{
	w->now += 100 * NS_PER_MS;
	for (size_t i = 0; i < n; i++) {
		struct gpusched_task *t = &w->tasks[i].t;

		memset(t, 0, sizeof(*t));
		t->id = ++w->last_id;
		t->kind = GPUSCHED_KIND_COMPUTE;
		t->engine = 1;
		t->weight = 100;
		t->cgroup_id = first_cgroup + i * step;
		w->live[i] = t;
		assert_int_equal(gs_virtual_ask(w->p, GPUSCHED_RUN_TASK_INIT, t, 0), 0);
	}
	w->nlive = n;
	assert_int_equal(gs_virtual_round(w->p), 0);
}

/* fair drops its entries of users, jobs and processes that are gone, however many there were. */
static void test_fair_groups(void **state)
{
	static struct world w;

	(void)state;
	open_world(&w, &gs_host_native, "fair");
	for (uint64_t cgroup = 1; cgroup < 20000; cgroup += 2) {
		fair_round(&w, 3, cgroup, cgroup & 2 ? 1 : 0);
		for (size_t i = 0; i < 3; i++)
			gs_virtual_ask(w.p, GPUSCHED_RUN_TASK_DESTROY, w.live[i], 0);
	}
	fair_round(&w, 3, 20000, 0);
	w.live[2]->cgroup_id = 20001; /* root's cgroup, which counts as a separate user */
	w.now += 100 * NS_PER_MS;
	assert_int_equal(gs_virtual_round(w.p), 0);
	w.now += 100 * NS_PER_MS;
	assert_int_equal(gs_virtual_round(w.p), 0);
	assert_int_equal(w.live[0]->want.timeslice_us, 2000);
	assert_int_equal(w.live[1]->want.timeslice_us, 2000);
	assert_int_equal(w.live[2]->want.timeslice_us, 4000);
	world_close(&w);
}

static struct gpusched_facts uneven[8];

static int uneven_facts(void *user, uint64_t id, struct gpusched_facts *ret)
{
	(void)user;
	*ret = uneven[id - 1];
	return 0;
}

/* Both TSGs of a runlist, tasks @i and @i + 1, have had @turns turns until now. */
static void uneven_turns(struct world *w, size_t i, uint64_t turns, const uint64_t turn_ns[2])
{
	for (size_t k = 0; k < 2; k++) {
		struct gpusched_facts *f = &uneven[w->tasks[i + k].t.id - 1];

		f->known = GPUSCHED_FACT_LAST_RUN;
		f->state = k ? GPUSCHED_STATE_LOADED : GPUSCHED_STATE_WAITING;
		f->as_of_ns = f->last_run_ns = w->now;
		f->turns += turns;
		f->slice_ended += turns;
		f->held_ns += turns * turn_ns[k];
	}
}

/* Both use all of their slices, but the first has turns that are @skew_pct of them. */
static void uneven_round(struct world *w, uint64_t round_ms, uint64_t skew_pct)
{
	uint64_t turn_ns[2], turns;

	for (int i = 0; i < 2; i++)
		turn_ns[i] = w->tasks[i].t.want.timeslice_us * NS_PER_US;
	turn_ns[0] = turn_ns[0] * skew_pct / 100;
	turns = round_ms * NS_PER_MS / (turn_ns[0] + turn_ns[1] + 1);
	w->now += round_ms * NS_PER_MS;
	uneven_turns(w, 0, turns, turn_ns);
	assert_int_equal(gs_virtual_round(w->p), 0);
}

/* fair corrects slices however far apart its rounds are: on a busy host they come late. */
static void test_fair_late_rounds(void **state)
{
	static struct world w;

	(void)state;
	for (uint64_t round_ms = 50; round_ms <= 250; round_ms += 100) {
		const struct gpusched_settings *a = &w.tasks[0].t.want, *b = &w.tasks[1].t.want;

		open_world(&w, &gs_host_native, "fair");
		w.now = 10 * NS_PER_S;
		fair_round(&w, 2, 1, 0);
		for (uint32_t i = 0; i < 2; i++)
			uneven[i] = (struct gpusched_facts){ .id = w.tasks[i].t.id = i + 1,
							     .runlist = 1,
							     .since_ns = w.now };
		w.p->world.facts = uneven_facts;
		for (int i = 0; i < 200; i++)
			uneven_round(&w, round_ms, 175);
		assert_in_range(a->timeslice_us * 175 / b->timeslice_us, 85, 115);
		world_close(&w);
	}
}

/* The slice that fair gives to the first of @n TSGs with these ids that always work, two on a GPU. */
static uint32_t fair_slice(const uint64_t *ids, size_t n)
{
	static struct world w;
	uint32_t slice_us;

	open_world(&w, &gs_host_native, "fair");
	w.now = 10 * NS_PER_S;
	fair_round(&w, n, 9, 0);
	for (size_t i = 0; i < n; i++) {
		w.tasks[i].t.id = ids[i];
		w.tasks[i].t.gpu = (uint32_t)i / 2;
		uneven[ids[i] - 1] = (struct gpusched_facts){ .id = ids[i],
							      .runlist = (uint32_t)i / 2,
							      .since_ns = w.now };
	}
	w.p->world.facts = uneven_facts;
	for (int round = 0; round < 200; round++) {
		w.now += 50 * NS_PER_MS;
		for (size_t i = 0; i < n; i += 2) {
			uint64_t slice_ns = w.tasks[i].t.want.timeslice_us * NS_PER_US;
			const uint64_t turn_ns[2] = { slice_ns, slice_ns };

			uneven_turns(&w, i, 50 * NS_PER_MS / (2 * slice_ns + 1), turn_ns);
		}
		assert_int_equal(gs_virtual_round(w.p), 0);
	}
	slice_us = w.live[0]->want.timeslice_us;
	world_close(&w);
	return slice_us;
}

/*
 * fair lengthens slices where all always work. Programs of a job may wait for each other, also on
 * several GPUs, so their slices stay. Here TSGs whose ids differ by 4 are of one job.
 */
static void test_fair_long_slices(void **state)
{
	const uint64_t apart[] = { 1, 2, 3, 4 }, jobs[] = { 1, 2, 5, 6 };

	(void)state;
	assert_in_range(fair_slice(apart, 2), 5000, 20000);
	assert_in_range(fair_slice(apart, 4), 5000, 20000);
	assert_in_range(fair_slice(jobs, 4), 1900, 2100);
}

/* Beside an LC, rr skips an idle BE, and does not leave it a short slice. */
static void test_rr_idle(void **state)
{
	static struct world w;

	(void)state;
	open_world(&w, &gs_host_native, "rr");
	w.now = 10 * NS_PER_S;
	for (uint32_t i = 0; i < 3; i++) {
		w.tasks[i].t = (struct gpusched_task){ .id = i + 1,
						       .pid = i + 1,
						       .kind = GPUSCHED_KIND_COMPUTE,
						       .engine = 1,
						       .class_id = i < 2 ? GPUSCHED_CLASS_BE
									 : GPUSCHED_CLASS_LC,
						       .known = GPUSCHED_KNOWN_LAUNCHES,
						       .launches = 1,
						       .last_launch_ns = w.now };
		w.live[w.nlive++] = &w.tasks[i].t;
		assert_int_equal(gs_virtual_ask(w.p, GPUSCHED_RUN_TASK_INIT, w.live[i], 0), 0);
	}
	assert_int_equal(gs_virtual_round(w.p), 0);
	assert_int_equal(w.live[0]->want.valid, GPUSCHED_TIMESLICE);
	assert_true(is_suspended(&w.live[1]->want));
	/* the first BE has launched nothing since, so the second has the turn */
	w.now += 2 * NS_PER_S;
	w.live[1]->last_launch_ns = w.now;
	assert_int_equal(gs_virtual_round(w.p), 0);
	assert_int_equal(w.live[0]->want.valid, 0);
	assert_int_equal(w.live[1]->want.valid, GPUSCHED_TIMESLICE);
	assert_int_equal(w.live[1]->want.timeslice_us, 1);
	world_close(&w);
}

/* admit: a TSG that runs already has its place before the first round. */
static void test_admit_at_once(void **state)
{
	const char *const one[] = { "max_be=1", NULL };
	static struct world w;
	struct gs_error err = { 0 };

	(void)state;
	assert_int_equal(world_open(&w, &gs_host_native, "admit", one, &err), 0);
	w.now = 10 * NS_PER_S;
	for (size_t i = 0; i < 2; i++) {
		w.tasks[i].t = (struct gpusched_task){ .id = i + 1,
						       .kind = GPUSCHED_KIND_COMPUTE,
						       .engine = 1,
						       .class_id = GPUSCHED_CLASS_BE,
						       .created_ns = w.now };
		w.live[w.nlive++] = &w.tasks[i].t;
	}
	w.live[0]->assumed = GPUSCHED_INTERLEAVE; /* adopted */
	for (size_t i = 0; i < 2; i++)
		assert_int_equal(gs_virtual_ask(w.p, GPUSCHED_RUN_TASK_INIT, w.live[i], 0), 0);
	assert_int_equal(gs_virtual_ask(w.p, GPUSCHED_RUN_SCHEDULE, w.live[1], 0), GPUSCHED_HOLD);
	assert_int_equal(gs_virtual_round(w.p), 0);
	assert_false(is_suspended(&w.live[0]->want));
	assert_true(is_suspended(&w.live[1]->want));
	world_close(&w);
}

static void live(struct world *w, const char *policy)
{
	open_world(w, &gs_host_native, policy);
	for (int i = 0; i < STEPS; i++)
		world_step(w);
	world_close(w);
}

/* Two runs with the same seed on the native host agree, so no state is left from the first. */
static void test_repeatable(void **state)
{
	static struct world a, b;

	(void)state;
	for (size_t p = 0; p < sizeof(policies) / sizeof(policies[0]); p++) {
		live(&a, policies[p]);
		live(&b, policies[p]);
		assert_memory_equal(a.tasks, b.tasks, sizeof(a.tasks));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_repeatable),
		cmocka_unit_test(test_rr_idle),
		cmocka_unit_test(test_admit_at_once),
		cmocka_unit_test(test_rests_natively),
		cmocka_unit_test(test_rests_in_the_kernel),
		cmocka_unit_test(test_kicks_natively),
		cmocka_unit_test(test_kicks_in_the_kernel),
		cmocka_unit_test(test_fair_groups),
		cmocka_unit_test(test_fair_late_rounds),
		cmocka_unit_test(test_fair_long_slices),
		cmocka_unit_test(test_hides_natively),
		cmocka_unit_test(test_hides_in_the_kernel),
	};

	return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
