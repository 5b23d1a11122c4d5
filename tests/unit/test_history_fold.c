/* SPDX-License-Identifier: MIT */
/* test_history_fold.c - check how short programs of a user with very many are added up */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "basic/clock.h"
#include "basic/json_sheet.h"
#include "history_day.h"

#define NOON 1790000040ull /* a whole minute */
#define HOUR 3600
#define WHOLE_HOUR (NOON / HOUR * HOUR + 2 * HOUR)
#define IN_HOUR ((WHOLE_HOUR - NOON - HOUR) / 2) /* every two seconds one program ended */
#define PROGRAMS 3000
#define OTHERS 20   /* programs of another user */
#define LONG_ONES 5 /* programs of the same user that last 20 minutes */

static uint64_t now_s;
static char dir[64];

static uint64_t fake(void)
{
	return __atomic_load_n(&now_s, __ATOMIC_SEQ_CST) * 1000;
}

static void set_now(uint64_t s)
{
	__atomic_store_n(&now_s, s, __ATOMIC_SEQ_CST);
}

static int begin(void **state)
{
	snprintf(dir, sizeof(dir), "/tmp/test_history_fold.XXXXXX");
	set_now(NOON);
	return mkdtemp(dir) ? 0 : -1;
}

static int end(void **state)
{
	char command[100];

	snprintf(command, sizeof(command), "rm -r %s", dir);
	return system(command);
}

static int64_t number_in_file(const char *text)
{
	sqlite3_stmt *st;
	char path[100];
	sqlite3 *sql;
	int64_t n;

	snprintf(path, sizeof(path), "%s/history.db", dir);
	assert_int_equal(sqlite3_open(path, &sql), SQLITE_OK);
	sqlite3_busy_timeout(sql, 5000);
	assert_int_equal(sqlite3_prepare_v2(sql, text, -1, &st, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_step(st), SQLITE_ROW);
	n = sqlite3_column_int64(st, 0);
	sqlite3_finalize(st);
	sqlite3_close(sql);
	return n;
}

/* A program that held the GPU for 1 ms in each minute, and ended at @at_s. */
static void program(struct gs_history *h, struct gs_history_who *who, uint64_t minutes,
		    uint64_t at_s)
{
	const struct gs_history_sums s = {
		.v = { [GS_SUM_HELD] = NS_PER_MS, [GS_SUM_TURNS] = 10, [GS_SUM_SEEN] = 1 },
	};

	for (uint64_t m = 0; m < minutes; m++) {
		set_now(at_s - (minutes - 1 - m) * 60);
		assert_int_equal(gs_history_add(h, who, 60, &s), 0);
	}
	gs_history_ended(h, who->pid, who->start_ns);
}

static struct gs_history *with_many_programs(void)
{
	const struct gs_history_opts opts = {
		.size = sizeof(opts),
		.dir = dir,
		.days = 90,
		.bytes = 400000,
		.boot = "boot",
		.clock = fake,
	};
	struct gs_history *h = NULL;

	assert_int_equal(gs_history_new(&opts, &h), 0);
	for (int pid = 1; pid <= PROGRAMS + OTHERS + LONG_ONES; pid++) {
		struct gs_history_who who = history_somebody(pid);

		who.uid = pid > PROGRAMS && pid <= PROGRAMS + OTHERS ? 4711 : 1000;
		strcpy(who.class, pid % 3 ? "be" : "lc");
		snprintf(who.pod.uid, sizeof(who.pod.uid), pid % 5 ? "" : "pod-a");
		program(h, &who, pid > PROGRAMS + OTHERS ? 20 : 1, NOON + HOUR + 2 * (uint64_t)pid);
		if (pid % 500 == 0)
			gs_history_flush(h);
	}
	gs_history_flush(h);
	return h;
}

static int keep(json_t *row, void *list)
{
	return json_array_append(list, row);
}

static double sum(uint64_t since_s, uint64_t until_s, enum gs_history_by by, const char *key,
		  const char *value)
{
	const struct gs_history_query q = {
		.since_s = since_s, .until_s = until_s, .by = by, .root = true
	};
	json_t *list = json_array(), *o;
	struct gs_error err = { 0 };
	double ms = 0;
	size_t i;

	assert_int_equal(gs_history_query_ask(dir, &q, keep, list, &err), 0);
	json_array_foreach(list, i, o) {
		char *text = gs_json_cell(json_object_get(o, key));

		if (!strcmp(text, value))
			ms += json_number_value(json_object_get(o, "gpu_time_ms"));
		free(text);
	}
	json_decref(list);
	return ms;
}

static void test_sums_stay_exact(void **state)
{
	struct gs_history *h = with_many_programs();
	struct gs_history_who last = history_somebody(9000);

	set_now(NOON + 3 * HOUR); /* the next tidying is due */
	last.uid = 4711;
	program(h, &last, 1, NOON + 3 * HOUR);
	for (int i = 0; i < 1200 && gs_history_counter(h, GS_HIST_FOLDED) < PROGRAMS / 2; i++)
		gs_sleep_ns(50 * NS_PER_MS);
	gs_history_flush(h);
	assert_true(gs_history_counter(h, GS_HIST_FOLDED) >= PROGRAMS / 2);
	assert_int_equal(gs_history_counter(h, GS_HIST_TRIMMED), 0);
	assert_true(number_in_file("SELECT count(*) FROM process") < PROGRAMS / 2 + 100);
	/* classes and pods stay apart; what is long, or another user's, stays as it is */
	assert_int_equal(number_in_file("SELECT count(*) FROM process WHERE pid = 0"), 4);
	assert_int_equal(number_in_file("SELECT count(*) FROM process WHERE uid = 4711"),
			 OTHERS + 1);
	assert_int_equal(number_in_file("SELECT count(*) FROM process WHERE last - began > 600 "
					"AND pid <> 0"),
			 LONG_ONES);
	assert_true(sum(0, 0, GS_BY_USER, "uid", "1000") == PROGRAMS + 20 * LONG_ONES);
	assert_true(sum(0, 0, GS_BY_USER, "uid", "4711") == OTHERS + 1);
	assert_true(sum(0, 0, GS_BY_CLASS, "class", "lc") + sum(0, 0, GS_BY_CLASS, "class", "be") ==
		    PROGRAMS + 20 * LONG_ONES + OTHERS + 1);
	/* a range has what was in it; hours were made of these minutes */
	assert_in_range(sum(0, WHOLE_HOUR, GS_BY_USER, "uid", "1000"), IN_HOUR - 60, IN_HOUR + 60);
	assert_true(sum(0, WHOLE_HOUR, GS_BY_PROCESS, "comm", "(short programs)") > 1000);
	gs_history_free(h);
}

static struct gs_history *opened(uint32_t days)
{
	const struct gs_history_opts opts = {
		.size = sizeof(opts),
		.dir = dir,
		.days = days,
		.bytes = 1 << 20,
		.boot = "boot",
		.clock = fake,
	};
	struct gs_history *h = NULL;

	assert_int_equal(gs_history_new(&opts, &h), 0);
	gs_history_flush(h);
	return h;
}

static int64_t lost_before(void)
{
	struct gs_error err = { 0 };
	int64_t s = -1;

	assert_int_equal(gs_history_newest_loss(dir, &s, &err), 0);
	return s;
}

static void one_program(struct gs_history *h, int32_t pid)
{
	struct gs_history_who who = history_somebody(pid);

	program(h, &who, 1, now_s);
	gs_history_flush(h);
}

static void test_dropped_records_are_told(void **state)
{
	struct gs_history *h = opened(1);

	one_program(h, 1);
	assert_int_equal(lost_before(), 0);
	set_now(NOON + 48 * HOUR);
	for (int i = 0; i < 200 && !gs_history_counter(h, GS_HIST_TRIMMED); i++) {
		one_program(h, 2 + i);
		gs_sleep_ns(50 * NS_PER_MS);
	}
	assert_true(gs_history_counter(h, GS_HIST_TRIMMED) > 0);
	assert_int_equal(lost_before(), NOON);
	gs_history_free(h);
}

/* Whether the file was damaged or deleted, the next one does not have its records. */
static void test_a_lost_file_is_told(void **state)
{
	char path[100];
	FILE *f;

	gs_history_free(opened(90));
	assert_int_equal(lost_before(), 0);
	gs_history_free(opened(90));
	assert_int_equal(lost_before(), 0);
	snprintf(path, sizeof(path), "%s/history.db", dir);
	f = fopen(path, "w");
	assert_non_null(f);
	assert_true(fprintf(f, "%2000s", "no history") > 0);
	fclose(f);
	gs_history_free(opened(90));
	assert_in_range(lost_before(), (uint64_t)time(NULL) - 60, (uint64_t)time(NULL));
	unlink(path);
	gs_history_free(opened(90));
	assert_in_range(lost_before(), (uint64_t)time(NULL) - 60, (uint64_t)time(NULL));
}

/* A user's events push out no other's, nor anybody's minutes. */
static void test_events_of_one_user_go_first(void **state)
{
	const struct gs_history_opts opts = {
		.size = sizeof(opts),
		.dir = dir,
		.days = 90,
		.bytes = 700000,
		.boot = "boot",
		.clock = fake,
	};
	struct gs_history_who who = history_somebody(1);
	struct gs_history_event ev = {
		.what = "call", .target = "tsg:1", .by = true, .by_uid = 4711
	};
	struct gs_history *h = NULL;

	assert_int_equal(gs_history_new(&opts, &h), 0);
	program(h, &who, 120, NOON + 4 * HOUR);
	gs_history_event(h,
			 &(struct gs_history_event){
				 .what = "call", .target = "tsg:2", .by = true, .by_uid = 1000 });
	for (int i = 0; i < 24000; i++) {
		assert_int_equal(gs_history_event(h, &ev), 0);
		if (i % 1000 == 0)
			gs_history_flush(h);
	}
	for (int i = 0; i < 200; i++) {
		set_now(now_s + 60);
		one_program(h, 2 + i);
	}
	gs_history_free(h);
	assert_in_range(number_in_file("SELECT count(*) FROM event WHERE by_uid = 4711"), 500,
			9000);
	assert_int_equal(number_in_file("SELECT count(*) FROM event WHERE by_uid = 1000"), 1);
	assert_int_equal(
		number_in_file("SELECT count(*) FROM point JOIN series ON series.id = series "
			       "JOIN process ON process.id = process WHERE pid = 1"),
		120);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_sums_stay_exact, begin, end),
		cmocka_unit_test_setup_teardown(test_dropped_records_are_told, begin, end),
		cmocka_unit_test_setup_teardown(test_a_lost_file_is_told, begin, end),
		cmocka_unit_test_setup_teardown(test_events_of_one_user_go_first, begin, end),
	};

	return cmocka_run_group_tests_name("history_fold", tests, NULL, NULL);
}
