// SPDX-License-Identifier: MIT
/* test_pace.c - check how the daemon measures its loop's iterations, and their own part of that */
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "basic/clock.h"
#include "hub/pace.h"

static void work_for(uint64_t ns)
{
	uint64_t until = gs_thread_cpu_ns() + ns;

	while (gs_thread_cpu_ns() < until)
		;
}

static void test_longest(void **state)
{
	struct gs_pace t;

	(void)state;
	gs_pace_init(&t);
	gs_pace_begin(&t);
	work_for(20 * NS_PER_MS);
	gs_pace_end(&t);
	/* a tolerance, since the two clocks are read one after the other */
	assert_in_range(t.longest_cpu_ns, 20 * NS_PER_MS, t.longest_ns + 20 * NS_PER_MS);
	gs_pace_begin(&t);
	gs_sleep_ns(100 * NS_PER_MS);
	gs_pace_end(&t);
	assert_true(t.longest_ns >= 100 * NS_PER_MS);
	assert_true(t.longest_cpu_ns < t.longest_ns);
	if (!t.own_known)
		print_message("# this kernel does not tell waits for a processor\n");
	else /* sleep counts as the iteration's own time */
		assert_in_range(t.longest_own_ns, 90 * NS_PER_MS, t.longest_ns);
	gs_pace_done(&t);
}

/* A short iteration does not read the time in the run queue; the next long one must. */
static void test_after_short_ones(void **state)
{
	struct gs_pace t;

	(void)state;
	gs_pace_init(&t);
	for (int i = 0; i < 100; i++) {
		gs_pace_begin(&t);
		gs_pace_end(&t);
	}
	gs_pace_begin(&t);
	gs_sleep_ns(50 * NS_PER_MS);
	gs_pace_end(&t);
	if (t.own_known)
		assert_in_range(t.longest_own_ns, 40 * NS_PER_MS, t.longest_ns);
	gs_pace_done(&t);
}

/* Two threads share one processor: each waits for it half of the time. */
static void test_queued(void **state)
{
	cpu_set_t one, before;
	struct gs_pace t;
	pid_t child;

	(void)state;
	assert_int_equal(sched_getaffinity(0, sizeof(before), &before), 0);
	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
	child = fork();
	assert_true(child >= 0);
	if (!child)
		for (;;)
			;
	gs_pace_init(&t);
	gs_pace_begin(&t);
	work_for(100 * NS_PER_MS);
	gs_pace_end(&t);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	sched_setaffinity(0, sizeof(before), &before);
	if (t.own_known) {
		assert_true(t.longest_own_ns >= 100 * NS_PER_MS);
		assert_true(t.longest_ns - t.longest_own_ns >= 20 * NS_PER_MS);
	}
	gs_pace_done(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_longest),
		cmocka_unit_test(test_after_short_ones),
		cmocka_unit_test(test_queued),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
