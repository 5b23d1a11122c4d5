// SPDX-License-Identifier: MIT
/* test_history_partition.c - check the history of MIG partitions, and which users may see them */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "basic/json_sheet.h"
#include "history_day.h"

#define MINUTE 60
#define SOME_BYTES (1u << 30)

static char dir[64];
static struct gs_history *h;
/* Programs in GPU instance/compute instance 1/0, 1/1, 2/0 and in none; they held 1, 2, 4, 8 ms. */
static struct gs_history_who who[4];

static void add(const struct gs_history_who *w, uint64_t held_ms)
{
	struct gs_history_sums s = {
		.v = { [GS_SUM_HELD] = held_ms * NS_PER_MS, [GS_SUM_SEEN] = 1 }
	};

	assert_int_equal(gs_history_add(h, w, MINUTE, &s), 0);
}

static int begin(void **state)
{
	struct gs_history_opts opts = { .size = sizeof(opts), .dir = dir, .days = 90 };

	snprintf(dir, sizeof(dir), "/tmp/test_partition.XXXXXX");
	opts.bytes = SOME_BYTES;
	if (!mkdtemp(dir) || gs_history_new(&opts, &h))
		return -1;
	for (int i = 0; i < 4; i++) {
		who[i] = history_somebody(i + 1);
		who[i].gpu = 3;
	}
	who[0].engine = gpusched_engine_in(GPUSCHED_ENGINE_GR0, 1, 0);
	who[1].engine = gpusched_engine_in(GPUSCHED_ENGINE_GR0, 1, 1);
	who[2].engine = gpusched_engine_in(GPUSCHED_ENGINE_GR0, 2, 0);
	for (int i = 0; i < 4; i++)
		add(&who[i], 1u << i);
	gs_history_flush(h);
	return 0;
}

static int end(void **state)
{
	char command[100];

	gs_history_free(h);
	snprintf(command, sizeof(command), "rm -r %s", dir);
	return system(command);
}

static int keep(json_t *row, void *list)
{
	return json_array_append(list, row);
}

/*
 * Returns the values at @path of all rows, each followed by a space; the most time held is first.
 */
static const char *ask(const struct gs_history_query *q, const char *path)
{
	static char text[200];
	CLEANUP_JSON json_t *list = json_array();
	struct gs_error err = { 0 };
	json_t *o;
	size_t i, at = 0;

	text[0] = '\0';
	if (gs_history_query_ask(dir, q, keep, list, &err))
		fail_msg("%s", err.text);
	json_array_foreach(list, i, o) {
		CLEANUP_FREE char *cell = gs_json_cell(json_object_get(o, path));

		at += (size_t)snprintf(text + at, sizeof(text) - at, "%s ", cell);
	}
	return text;
}

static const char *by(enum gs_history_by by, const char *path)
{
	return ask(&(struct gs_history_query){ .by = by, .root = true }, path);
}

static void each_has_a_row(void **state)
{
	assert_string_equal(by(GS_BY_PARTITION, "gpu_time_ms"), "8 4 2 1 ");
	assert_string_equal(by(GS_BY_PARTITION, "gpu_instance"), "- 2 1 1 ");
	assert_string_equal(by(GS_BY_PARTITION, "compute_instance"), "- 0 1 0 ");
}

static void a_row_of_one_names_it(void **state)
{
	assert_string_equal(by(GS_BY_PROCESS, "gpu_instance"), "- 2 1 1 ");
	/* a sum over several instances names none */
	assert_string_equal(by(GS_BY_CLASS, "gpu_instance"), "- ");
}

static const char *on(const char *gpu)
{
	struct gs_history_query q = { .by = GS_BY_CLASS, .root = true };

	snprintf(q.gpu, sizeof(q.gpu), "%s", gpu);
	return ask(&q, "gpu_time_ms");
}

static void a_target_names_one(void **state)
{
	assert_string_equal(on("3"), "15 ");
	assert_string_equal(on("GPU-a"), "15 ");
	assert_string_equal(on("3/1"), "3 ");
	assert_string_equal(on("GPU-a/1"), "3 ");
	assert_string_equal(on("3/1/1"), "2 ");
	assert_string_equal(on("3/4"), "");
	assert_string_equal(on("4/1"), "");
}

/*
 * Unlike sums by GPU, sums by partition do not show other users' use, since mostly a single user
 * has a partition.
 */
static void others_are_not_shown(void **state)
{
	struct gs_history_query q = { .by = GS_BY_PARTITION, .uid = 77 };

	assert_string_equal(ask(&q, "gpu_instance"), "");
	q.uid = 1000;
	assert_string_equal(ask(&q, "gpu_instance"), "- 1 ");
	q.times = true;
	assert_string_equal(ask(&q, "gpu_instance"), "- 2 1 1 ");
}

/* An adopted program's partition may become known later; then it stays known. */
static void one_that_is_learned_stays(void **state)
{
	who[3].engine = gpusched_engine_in(GPUSCHED_ENGINE_GR0, 5, 0);
	add(&who[3], 1);
	who[3].engine = 0;
	add(&who[3], 1);
	gs_history_flush(h);
	assert_string_equal(by(GS_BY_PARTITION, "gpu_instance"), "5 2 1 1 ");
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(each_has_a_row),
		TEST(a_row_of_one_names_it),
		TEST(a_target_names_one),
		TEST(others_are_not_shown),
		TEST(one_that_is_learned_stays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
