// SPDX-License-Identifier: MIT
/* test_arrivals.c - check when gsload's requests come, and that the sequence can restart */
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/time.h>
#include <cmocka.h>

#include "basic/clock.h"
#include "basic/rng.h"
#include "load/gsload_arrivals.h"

#define N 20

volatile int gsload_stop;

static const struct gsload_options often = {
	.arrivals = GSLOAD_POISSON,
	.period_us = 500,
	.seed = 7,
	.dilate = 1,
};

static void test_anew(void **state)
{
	uint64_t start = gs_now_ns(), before, after, first[N], again[N];
	struct gsload_schedule s = gsload_schedule_new(&often, start);

	for (size_t i = 0; i < N; i++)
		first[i] = gsload_next_arrival(&s);
	before = gs_now_ns();
	gsload_arrive_anew();
	after = gs_now_ns();
	do /* skips requests that were due before the restart, on a busy machine */
		again[0] = gsload_next_arrival(&s);
	while (again[0] < before);
	for (size_t i = 1; i < N; i++)
		again[i] = gsload_next_arrival(&s);
	assert_in_range(again[0] - (first[0] - start), before, after);
	for (size_t i = 1; i < N; i++)
		assert_int_equal(again[i] - again[i - 1], first[i] - first[i - 1]);
}

/* A service that is late serves all requests that have come, also those due before a restart. */
static void test_those_due_before(void **state)
{
	uint64_t start = gs_now_ns() - 50 * NS_PER_MS, at, was, now, n = 0;
	struct gsload_schedule s = gsload_schedule_new(&often, start), same = s;

	now = gs_now_ns();
	for (at = was = start; (at = gsload_next_arrival(&same)) < now; was = at)
		n++;
	assert_in_range(n, 50, 200);
	gsload_arrive_anew();
	now = gs_now_ns();
	for (at = start; (at = gsload_next_arrival(&s)) < was;)
		n--;
	assert_int_equal(at, was);
	assert_int_equal(n, 1);
}

static void on_alarm(int sig)
{
	(void)sig;
	gsload_arrive_anew();
}

/* The signal for a restart comes while the service waits for a request. */
static void test_waiting(void **state)
{
	const struct gsload_options seldom = {
		.arrivals = GSLOAD_PERIODIC,
		.period_us = 300000,
		.dilate = 1,
	};
	struct itimerval in_100_ms = { .it_value.tv_usec = 100000 };
	struct sigaction alarm = { .sa_handler = on_alarm };
	uint64_t start = gs_now_ns();
	struct gsload_schedule s = gsload_schedule_new(&seldom, start);

	sigaction(SIGALRM, &alarm, NULL);
	setitimer(ITIMER_REAL, &in_100_ms, NULL);
	assert_true(gsload_next_arrival(&s) >= start + 400 * NS_PER_MS);
	start = s.last_ns;
	assert_int_equal(gsload_next_arrival(&s), start + 300 * NS_PER_MS);
}

/*
 * With closed arrivals, each request comes a random time after the end of the one before, so it
 * never queues.
 */
static void test_closed(void **state)
{
	struct gsload_options closed = often;
	uint64_t start = gs_now_ns(), at;
	struct gsload_schedule s;

	closed.arrivals = GSLOAD_CLOSED;
	s = gsload_schedule_new(&closed, start - NS_PER_S);
	for (size_t i = 0; i < N; i++) {
		at = gsload_next_arrival(&s);
		assert_true(at >= start && at <= gs_now_ns());
		start = at;
		if (i == N / 2)
			gsload_arrive_anew();
	}
}

/*
 * If the generator begins a request too late, that delay does not count as GPU time, neither for
 * this request nor for those that queue behind it.
 */
static void test_late(void **state)
{
	uint64_t free_ns = 0;
	struct gsload_latency l = gsload_latency_of(&free_ns, 1000, 1000, 1100);

	assert_int_equal(l.gpu_ns, 100);
	assert_int_equal(l.late_ns, 0);
	l = gsload_latency_of(&free_ns, 2000, 2300, 2400); /* the generator woke 300 too late */
	assert_int_equal(l.gpu_ns, 100);
	assert_int_equal(l.late_ns, 300);
	/* waits 350: 50 count, 300 are due to the late request before it */
	l = gsload_latency_of(&free_ns, 2050, 2400, 2500);
	assert_int_equal(l.gpu_ns, 150);
	assert_int_equal(l.late_ns, 300);
	/* the queue behind earlier requests counts, since the GPU causes it */
	l = gsload_latency_of(&free_ns, 2060, 2500, 2600);
	assert_int_equal(l.gpu_ns, 240);
	l = gsload_latency_of(&free_ns, 9000, 9000, 9100);
	assert_int_equal(l.gpu_ns, 100);
	assert_int_equal(l.late_ns, 0);
}

/* Bursty arrivals: the mean and the coefficient of variation that were asked for. */
static void test_bursty(void **state)
{
	static const double cvs[] = { 0, 1, 2, 13.15 };

	for (size_t k = 0; k < 4; k++) {
		double sum = 0, squares = 0, n = 2e6, want = cvs[k] > 1 ? cvs[k] : 1;
		uint64_t rng = 5;

		for (size_t i = 0; i < (size_t)n; i++) {
			double gap = gs_rng_gap(&rng, 100, cvs[k]);

			sum += gap;
			squares += gap * gap;
		}
		assert_true(fabs(sum / n / 100 - 1) < 0.05);
		assert_true(fabs(sqrt(squares / n - sum / n * sum / n) / (sum / n) / want - 1) <
			    0.05);
	}
}

static struct gs_arrival three[] = { { 2000000, 5 }, { 2000000, 1 }, { 3000000, 7 } };

static void test_a_trace_comes_as_it_says(void **state)
{
	struct gsload_options o = {
		.arrivals = GSLOAD_TRACE, .trace = { three, 3 }, .seconds = 5, .dilate = 2
	};
	uint64_t start = gs_now_ns();
	struct gsload_schedule s = gsload_schedule_new(&o, start);

	assert_int_equal(s.size, 1);
	assert_int_equal(gsload_next_arrival(&s) - start, 4 * NS_PER_MS);
	assert_int_equal(s.size, 5);
	assert_int_equal(gsload_next_arrival(&s) - start, 4 * NS_PER_MS);
	assert_int_equal(s.size, 1);
	assert_int_equal(gsload_next_arrival(&s) - start, 6 * NS_PER_MS);
	assert_int_equal(s.size, 7);
	assert_true(gs_now_ns() >= start + 6 * NS_PER_MS);
	assert_true(gsload_next_arrival(&s) == GSLOAD_NEVER);
}

static void begin_anew(int sig)
{
	gsload_arrive_anew();
}

/* A load without a length waits behind the last arrival, until the trace begins again. */
static void test_a_trace_begins_again(void **state)
{
	struct gsload_options o = { .arrivals = GSLOAD_TRACE, .trace = { three, 3 }, .dilate = 1 };
	struct itimerval soon = { .it_value.tv_usec = 30000 };
	uint64_t start = gs_now_ns();
	struct gsload_schedule s = gsload_schedule_new(&o, start);
	uint64_t at;

	for (int i = 0; i < 3; i++)
		gsload_next_arrival(&s);
	signal(SIGALRM, begin_anew);
	setitimer(ITIMER_REAL, &soon, NULL);
	at = gsload_next_arrival(&s);
	assert_true(at >= start + 32 * NS_PER_MS && at != GSLOAD_NEVER);
	assert_int_equal(s.size, 5);
	assert_int_equal(gsload_next_arrival(&s), at);
	assert_int_equal(gsload_next_arrival(&s) - at, NS_PER_MS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_trace_comes_as_it_says),
		cmocka_unit_test(test_a_trace_begins_again),
		cmocka_unit_test(test_anew),
		cmocka_unit_test(test_those_due_before),
		cmocka_unit_test(test_waiting),
		cmocka_unit_test(test_closed),
		cmocka_unit_test(test_late),
		cmocka_unit_test(test_bursty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
