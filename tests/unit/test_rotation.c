// SPDX-License-Identifier: MIT
/* test_rotation.c - check which TSGs get turns from gpusched/rotation.h, and how many */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "gpusched/rotation.h"

#define TURN_NS 50000000ull
#define MEMBERS 8u

/* A TSG that may want turns. TSGs with the same user, job or process number share its account. */
struct member {
	unsigned int user, job, process;
	uint32_t weight; /* weight of its job within the user, and of its process within the job */
	int away, past;
	unsigned int turns;
	struct gpusched_account account;
};

struct world {
	struct gpusched_rotation line;
	struct gpusched_account users[MEMBERS], jobs[MEMBERS], processes[MEMBERS];
	struct member m[MEMBERS];
	unsigned int n;
	uint64_t round;
};

static void stand(struct world *w, struct member *m)
{
	struct gpusched_place p = { .past = (gs_u64)m->past };

	gpusched_place_at(&p, GPUSCHED_LEVEL_USER, &w->line.inner_v, &w->users[m->user], m->user);
	gpusched_place_at(&p, GPUSCHED_LEVEL_JOB, &w->users[m->user].inner_v, &w->jobs[m->job],
			  m->job);
	gpusched_place_at(&p, GPUSCHED_LEVEL_PROCESS, &w->jobs[m->job].inner_v,
			  &w->processes[m->process], m->process);
	gpusched_place_at(&p, GPUSCHED_LEVEL_TSG, &w->processes[m->process].inner_v, &m->account,
			  (gs_u64)(m - w->m) + 1);
	gpusched_rotation_stand(&w->line, &p);
}

static void charge(struct world *w, struct member *m)
{
	const struct gpusched_place *p = &w->line.first;

	gpusched_place_charge(p, GPUSCHED_LEVEL_USER, &w->line.inner_v, &w->users[m->user], TURN_NS,
			      100);
	gpusched_place_charge(p, GPUSCHED_LEVEL_JOB, &w->users[m->user].inner_v, &w->jobs[m->job],
			      TURN_NS, m->weight);
	gpusched_place_charge(p, GPUSCHED_LEVEL_PROCESS, &w->jobs[m->job].inner_v,
			      &w->processes[m->process], TURN_NS, m->weight);
	gpusched_place_charge(p, GPUSCHED_LEVEL_TSG, &w->processes[m->process].inner_v, &m->account,
			      TURN_NS, 100);
	m->turns++;
}

/* Gives @n turns. With @backwards, each round goes over the TSGs in reverse order. */
static void turns(struct world *w, unsigned int n, int backwards)
{
	while (n--) {
		uint64_t id;

		gpusched_rotation_begin(&w->line, ++w->round);
		for (unsigned int i = 0; i < w->n; i++) {
			struct member *m = &w->m[backwards ? w->n - 1 - i : i];

			if (!m->away)
				stand(w, m);
		}
		id = w->line.first.who[GPUSCHED_LEVEL_TSG];
		if (id)
			charge(w, &w->m[id - 1]);
	}
}

static void test_equal(void **state)
{
	struct world w = { .n = 3 };

	for (unsigned int i = 0; i < w.n; i++)
		w.m[i] = (struct member){ .user = i, .job = i, .process = i, .weight = 100 };
	turns(&w, 30, 0);
	for (unsigned int i = 0; i < w.n; i++)
		assert_int_equal(w.m[i].turns, 10);
}

/* A user with more jobs, or a job with more processes, does not get more turns. */
static void test_many(void **state)
{
	struct world w = { .n = 7 };

	for (unsigned int i = 0; i < 3; i++)
		w.m[i] = (struct member){ .user = 0, .job = 0, .process = i, .weight = 100 };
	w.m[3] = (struct member){ .user = 0, .job = 1, .process = 3, .weight = 100 };
	for (unsigned int i = 4; i < 7; i++)
		w.m[i] = (struct member){ .user = 1, .job = 2, .process = 4, .weight = 100 };
	turns(&w, 120, 0);
	assert_int_equal(w.m[0].turns + w.m[1].turns + w.m[2].turns, 30);
	assert_in_range(w.m[0].turns, 9, 11);
	assert_int_equal(w.m[3].turns, 30);
	assert_int_equal(w.m[4].turns + w.m[5].turns + w.m[6].turns, 60);
	assert_int_equal(w.m[4].turns, 20);
}

static void test_weights(void **state)
{
	struct world w = { .n = 4 };

	for (unsigned int i = 0; i < w.n; i++)
		w.m[i] = (struct member){ .job = i, .process = i, .weight = 10 * (i + 1) };
	turns(&w, 200, 0);
	for (unsigned int i = 0; i < w.n; i++)
		assert_in_range(w.m[i].turns, 20 * (i + 1) - 1, 20 * (i + 1) + 1);
}

/* A TSG that slept for a thousand turns gets its part from then on, but does not catch up. */
static void test_sleeper(void **state)
{
	struct world w = { .n = 2 };

	w.m[0] = (struct member){ .weight = 100 };
	w.m[1] = (struct member){ .user = 1, .job = 1, .process = 1, .weight = 100, .away = 1 };
	turns(&w, 1000, 0);
	w.m[1].away = 0;
	turns(&w, 20, 0);
	assert_int_equal(w.m[1].turns, 10);
}

/* A job that uses a new process for each turn does not get more turns, since the job is charged. */
static void test_forks(void **state)
{
	struct world w = { .n = 2 };
	unsigned int forked = 0;

	w.m[0] = (struct member){ .weight = 100 };
	w.m[1] = (struct member){ .user = 1, .job = 1, .process = 1, .weight = 100 };
	for (unsigned int i = 0; i < 40; i++) {
		unsigned int before = w.m[1].turns;

		turns(&w, 1, 0);
		if (w.m[1].turns == before)
			continue;
		forked++;
		memset(&w.m[1].account, 0, sizeof(w.m[1].account));
		memset(&w.processes[1], 0, sizeof(w.processes[1]));
	}
	assert_int_equal(forked, 20);
}

static void test_past(void **state)
{
	struct world w = { .n = 2 };

	w.m[0] = (struct member){ .weight = 100, .past = 1 };
	w.m[1] = (struct member){ .user = 1, .job = 1, .process = 1, .weight = 100 };
	turns(&w, 10, 0);
	assert_int_equal(w.m[0].turns, 0);
	w.m[1].away = 1;
	turns(&w, 3, 0);
	assert_int_equal(w.m[0].turns, 3);
}

/* Work outside a turn moves only the place of the TSG that did it. */
static void test_work(void **state)
{
	struct world w = { .n = 2 };

	for (unsigned int i = 0; i < w.n; i++)
		w.m[i] = (struct member){ .user = i, .job = i, .process = i, .weight = 100 };
	gpusched_account_charge(&w.users[0], 4 * TURN_NS, 100);
	assert_int_equal(w.line.inner_v, 0);
	turns(&w, 4, 0);
	assert_int_equal(w.m[0].turns, 0);
	turns(&w, 10, 0);
	assert_int_equal(w.m[0].turns, 5);
}

/* The order in which a round goes over the TSGs does not matter. */
static void test_order(void **state)
{
	struct world a = { .n = 5 }, b;

	for (unsigned int i = 0; i < a.n; i++)
		a.m[i] = (struct member){
			.user = i % 2, .job = i % 3, .process = i, .weight = 50 + 20 * i
		};
	b = a;
	for (unsigned int i = 0; i < 50; i++) {
		turns(&a, 1, 0);
		turns(&b, 1, 1);
		assert_int_equal(a.line.first.who[GPUSCHED_LEVEL_TSG],
				 b.line.first.who[GPUSCHED_LEVEL_TSG]);
	}
}

/* Checks which user and job a TSG's turns are charged to. */
static void test_owner(void **state)
{
	struct gpusched_task t = { .uid = 1000, .cgroup_id = 7, .pid = 42 };

	assert_int_equal(gpusched_user_of(&t), 1000);
	assert_int_equal(gpusched_job_of(&t, 0), 7);
	assert_int_equal(gpusched_job_of(&t, 99), 99);
	assert_int_equal(gpusched_weight_of(&t), 100);
	assert_int_equal(gpusched_user_weight(gpusched_user_of(&t), 300), 100);
	/* root's cgroups, and root's processes without a cgroup, count as users with weights */
	t.uid = 0;
	t.weight = 300;
	assert_int_equal(gpusched_user_of(&t), GPUSCHED_USER_CGROUP | 7);
	assert_int_equal(gpusched_user_weight(gpusched_user_of(&t), gpusched_weight_of(&t)), 300);
	t.cgroup_id = 0;
	assert_int_equal(gpusched_job_of(&t, 0), GPUSCHED_JOB_PROCESS | 42);
	assert_true(gpusched_user_of(&t) & GPUSCHED_USER_CGROUP);
}

/* A job has the weight of its heaviest TSG, in any order of TSGs. */
static void test_weigh(void **state)
{
	struct gpusched_weighing job = { 0 }, other = { 0 }, user = { 0 };
	gs_u64 users = 0;

	for (gs_u64 round = 1; round <= 2; round++) {
		users = 0;
		gpusched_weigh(&user, round, 100, &users);
		gpusched_weigh(&job, round, 50, &user.inner);
		gpusched_weigh(&job, round, 200, &user.inner);
		gpusched_weigh(&user, round, 100, &users);
		gpusched_weigh(&other, round, 80, &user.inner);
		gpusched_weigh(&job, round, 100, &user.inner);
		assert_int_equal(users, 100);
		assert_int_equal(user.inner, 280);
		assert_int_equal(user.before, round == 1 ? 0 : 280);
	}
}

/* Charging a place without an account changes no other place. */
static void test_no_room(void **state)
{
	struct gpusched_place p = { 0 };
	gs_u64 inner_v = 5;

	gpusched_place_at(&p, GPUSCHED_LEVEL_PROCESS, &inner_v, NULL, 1);
	gpusched_place_charge(&p, GPUSCHED_LEVEL_PROCESS, &inner_v, NULL, TURN_NS, 100);
	assert_int_equal(inner_v, 5);
}

/* An empty rotation and a TSG without an account do not crash; the TSG comes last. */
static void test_nobody(void **state)
{
	struct world w = { .n = 1 };
	struct gpusched_place p = { 0 };

	w.m[0] = (struct member){ .weight = 100, .away = 1 };
	turns(&w, 1, 0);
	assert_int_equal(w.line.first.who[GPUSCHED_LEVEL_TSG], 0);
	gpusched_place_at(&p, GPUSCHED_LEVEL_USER, &w.line.inner_v, NULL, 7);
	p.who[GPUSCHED_LEVEL_TSG] = 9;
	gpusched_place_charge(&p, GPUSCHED_LEVEL_JOB, NULL, NULL, TURN_NS, 0);
	gpusched_rotation_stand(&w.line, &p);
	w.m[0].away = 0;
	stand(&w, &w.m[0]);
	assert_int_equal(w.line.first.who[GPUSCHED_LEVEL_TSG], 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_equal),   cmocka_unit_test(test_many),
		cmocka_unit_test(test_weights), cmocka_unit_test(test_sleeper),
		cmocka_unit_test(test_forks),   cmocka_unit_test(test_past),
		cmocka_unit_test(test_order),   cmocka_unit_test(test_nobody),
		cmocka_unit_test(test_work),    cmocka_unit_test(test_owner),
		cmocka_unit_test(test_weigh),   cmocka_unit_test(test_no_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
