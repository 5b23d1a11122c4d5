/* SPDX-License-Identifier: MIT */
/* test_slo.c - check which requests count as missed, and because of whom */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "basic/clock.h"
#include "figures/request_cost.h"
#include "figures/slo.h"

#define MS NS_PER_MS
#define SLO (50 * MS)

static struct gs_request_parts parts(uint64_t took, uint64_t others, uint64_t unknown)
{
	return (struct gs_request_parts){ .took_ns = took * MS,
					  .itself_ns = (took - others - unknown) * MS,
					  .others_ns = others * MS,
					  .unknown_ns = unknown * MS };
}

static void counts_are(const struct gs_slo_counts *c, uint64_t requests, uint64_t missed,
		       uint64_t others, uint64_t itself)
{
	assert_int_equal(c->requests, requests);
	assert_int_equal(c->missed, missed);
	assert_int_equal(c->others, others);
	assert_int_equal(c->itself, itself);
}

static struct gs_slo_counts counted(uint64_t took, uint64_t others, uint64_t unknown)
{
	const struct gs_request_parts p = parts(took, others, unknown);
	struct gs_slo_counts c = { 0 };

	gs_slo_count(&c, &p, SLO);
	return c;
}

/* The example at the head of slo.h, and its limits. */
static void test_reason(void **state)
{
	struct gs_slo_counts c = counted(50, 50, 0);

	counts_are(&c, 1, 0, 0, 0);
	c = counted(70, 30, 0);
	counts_are(&c, 1, 1, 1, 0);
	c = counted(70, 20, 0);
	counts_are(&c, 1, 1, 1, 0);
	c = counted(70, 10, 0);
	counts_are(&c, 1, 1, 0, 1);
	c = counted(70, 10, 15);
	counts_are(&c, 1, 1, 0, 0);
	c = counted(70, 10, 9);
	counts_are(&c, 1, 1, 0, 1);
	c = counted(70, 0, 70);
	counts_are(&c, 1, 1, 0, 0);
}

static void test_join(void **state)
{
	struct gs_slo_counts sum = counted(70, 30, 0), late = counted(70, 10, 0);
	struct gs_request_cost *a = calloc(1, sizeof(*a)), *b = calloc(1, sizeof(*b));

	gs_slo_join(&sum, &late);
	counts_are(&sum, 2, 2, 1, 1);
	a->slo = sum;
	b->slo = late;
	gs_request_cost_join(a, b);
	counts_are(&a->slo, 3, 3, 1, 2);
	free(a);
	free(b);
}

static void test_metric(void **state)
{
	const struct gs_slo_counts none = { 0 }, some = { 9, 6, 2, 3 };
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	gs_slo_metric(&none, "class=\"be\"", f);
	gs_slo_metric(&some, "class=\"lc\"", f);
	fclose(f);
	assert_string_equal(text,
			    "gpusched_requests_missed_total{class=\"lc\",because=\"itself\"} 2\n"
			    "gpusched_requests_missed_total{class=\"lc\",because=\"others\"} 3\n"
			    "gpusched_requests_missed_total{class=\"lc\",because=\"unknown\"} 1\n");
	free(text);
}

/* One missed request each @every_ms from @from_ms on. */
static void add_all(struct gs_slo_recent *r, uint64_t from_ms, uint64_t n, uint64_t every_ms)
{
	const struct gs_request_parts p = parts(70, 30, 0);

	for (uint64_t i = 0; i < n; i++)
		gs_slo_recent_count(r, &p, SLO, (from_ms + i * every_ms) * MS);
}

/* At 10 a second the last ten seconds have enough of them, whatever was before. */
static void test_window_of_many(void **state)
{
	struct gs_slo_recent r = { 0 };
	struct gs_slo_counts c;

	add_all(&r, 1000000, 1000, 100); /* until 1,100,000 ms: a piece begins */
	c = gs_slo_recent_sum(&r, 1099900 * MS);
	assert_in_range(c.requests, 100, 150);
	assert_int_equal(c.others, c.requests);
	c = gs_slo_recent_sum(&r, 1104900 * MS);
	assert_in_range(c.requests, 50, 100);
}

/* At one in 2.5 s the window is a minute. Nothing older counts, also after a rest. */
static void test_window_of_few(void **state)
{
	struct gs_slo_recent r = { 0 };
	struct gs_slo_counts c;

	add_all(&r, 1000000, 80, 2500);
	c = gs_slo_recent_sum(&r, 1197500 * MS);
	assert_in_range(c.requests, GS_SLO_ENOUGH, GS_SLO_ENOUGH + 4);
	c = gs_slo_recent_sum(&r, 1240000 * MS);
	assert_in_range(c.requests, 1, 10);
	c = gs_slo_recent_sum(&r, 1265000 * MS);
	assert_int_equal(c.requests, 0);
	add_all(&r, 1290000, 1, 1);
	c = gs_slo_recent_sum(&r, 1290000 * MS);
	assert_int_equal(c.requests, 1);
	add_all(&r, 9000000, 2, 1);
	c = gs_slo_recent_sum(&r, 9000001 * MS);
	assert_int_equal(c.requests, 2);
}

/* What was late by another time than the present one says nothing. */
static void another_time_begins_anew(void **state)
{
	const struct gs_request_parts p = { .took_ns = SLO + 1 };
	struct gs_slo_of_time of = { 0 };
	struct gs_slo_recent r = { 0 };
	struct gs_slo_counts c;

	gs_slo_count_anew(&of, &p, SLO);
	gs_slo_recent_count(&r, &p, SLO, 1000000 * MS);
	counts_are(&of.counts, 1, 1, 0, 1);
	gs_slo_count_anew(&of, &p, 2 * SLO);
	gs_slo_recent_count(&r, &p, 2 * SLO, 1000001 * MS);
	counts_are(&of.counts, 1, 0, 0, 0);
	c = gs_slo_recent_sum(&r, 1000001 * MS);
	counts_are(&c, 1, 0, 0, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(another_time_begins_anew),
		cmocka_unit_test(test_reason),
		cmocka_unit_test(test_join),
		cmocka_unit_test(test_metric),
		cmocka_unit_test(test_window_of_many),
		cmocka_unit_test(test_window_of_few),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
