/* SPDX-License-Identifier: MIT */
/* test_history.c - check that the history keeps its rows, whatever file, clock and queue do */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "basic/json_sheet.h"
#include "history_day.h"

#define NOON 1790000040ull /* a whole minute */
#define MINUTE 60
#define HOUR 3600
#define DAY (24 * HOUR)

static uint64_t now = NOON;
static char dir[64];

static uint64_t fake(void)
{
	return __atomic_load_n(&now, __ATOMIC_SEQ_CST) * 1000;
}

static void set_now(uint64_t s)
{
	__atomic_store_n(&now, s, __ATOMIC_SEQ_CST);
}

static int begin(void **state)
{
	snprintf(dir, sizeof(dir), "%s/test_history.XXXXXX",
		 access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
	set_now(NOON + MINUTE);
	return mkdtemp(dir) ? 0 : -1;
}

static int end(void **state)
{
	char command[100];

	snprintf(command, sizeof(command), "rm -r %s", dir);
	return system(command);
}

static struct gs_history *open_with(uint32_t days, uint64_t bytes)
{
	const struct gs_history_opts opts = {
		.size = sizeof(opts),
		.dir = dir,
		.days = days,
		.bytes = bytes,
		.boot = "boot",
		.clock = fake,
	};
	struct gs_history *h = NULL;

	assert_int_equal(gs_history_new(&opts, &h), 0);
	return h;
}

static struct gs_history *open_history(void)
{
	return open_with(90, 1u << 30);
}

/* Returns the sums of a minute in which a program held the GPU for @held_ms. */
static struct gs_history_sums minute(uint64_t held_ms)
{
	struct gs_history_sums s = { 0 };

	s.v[GS_SUM_HELD] = held_ms * NS_PER_MS;
	s.v[GS_SUM_TURNS] = 10;
	s.v[GS_SUM_SEEN] = 1;
	return s;
}

static void add(struct gs_history *h, const struct gs_history_who *who, uint64_t held_ms)
{
	struct gs_history_sums s = minute(held_ms);

	assert_int_equal(gs_history_add(h, who, MINUTE, &s), 0);
}

static int keep(json_t *row, void *list)
{
	return json_array_append(list, row);
}

static json_t *ask(const struct gs_history_query *q)
{
	struct gs_error err = { 0 };
	json_t *list = json_array();

	if (gs_history_query_ask(dir, q, keep, list, &err))
		fail_msg("%s", err.text);
	return list;
}

static json_t *since(uint64_t s, enum gs_history_by by)
{
	return ask(&(struct gs_history_query){ .since_s = s, .by = by, .root = true });
}

/* Returns the number at @path in the row where @key is @value; -1 if it is null or absent. */
static double figure(const json_t *list, const char *key, const char *value, const char *path)
{
	json_t *o;
	size_t i;

	json_array_foreach((json_t *)list, i, o) {
		char *text = gs_json_cell(json_object_get(o, key));
		bool is = !strcmp(text, value);

		free(text);
		if (is)
			return gs_json_at(o, path) ? json_number_value(gs_json_at(o, path)) : -1;
	}
	return -1;
}

static void assert_figure(json_t *list, const char *key, const char *value, const char *path,
			  double want)
{
	double got = figure(list, key, value, path);

	if (got < want - 0.001 || got > want + 0.001)
		fail_msg("%s of %s %s is %g, not %g: %s", path, key, value, got, want,
			 json_dumps(list, 0));
	json_decref(list);
}

static void test_a_range_has_what_was_in_it(void **state)
{
	struct gs_history *h = open_history();
	struct gs_history_who a = history_somebody(2);

	for (int i = 1; i <= 10; i++) {
		set_now(NOON + (uint64_t)i * MINUTE);
		add(h, &a, (uint64_t)i);
	}
	gs_history_flush(h);
	assert_figure(since(NOON, GS_BY_PROCESS), "pid", "2", "gpu_time_ms", 55);
	assert_figure(since(NOON + 3 * MINUTE, GS_BY_PROCESS), "pid", "2", "gpu_time_ms", 49);
	assert_figure(since(NOON + 3 * MINUTE, GS_BY_PROCESS), "pid", "2", "turns", 70);
	assert_figure(ask(&(struct gs_history_query){ .since_s = NOON + 3 * MINUTE,
						      .until_s = NOON + 5 * MINUTE,
						      .root = true }),
		      "pid", "2", "gpu_time_ms", 9);
	assert_figure(since(NOON + 10 * MINUTE + 60, GS_BY_PROCESS), "pid", "2", "gpu_time_ms", -1);
	gs_history_free(h);
}

static void test_sums_by_whom(void **state)
{
	struct gs_history *h = open_history();
	struct gs_history_who gpu = { .gpu_uuid = "GPU-a", .gpu = 3, .policy = "lcbe" };
	struct gs_history_sums whole = minute(40000);

	for (int pid = 1; pid <= 4; pid++) {
		struct gs_history_who who = history_somebody(pid);

		if (pid == 4)
			strcpy(who.class, "lc");
		add(h, &who, (uint64_t)pid * 1000);
	}
	whole.v[GS_SUM_LOST] = 5 * NS_PER_S;
	gs_history_add(h, &gpu, MINUTE, &whole);
	gs_history_flush(h);
	assert_figure(since(NOON, GS_BY_USER), "uid", "1000", "gpu_time_ms", 6000);
	assert_figure(since(NOON, GS_BY_USER), "uid", "1001", "gpu_time_ms", 4000);
	assert_figure(since(NOON, GS_BY_CLASS), "class", "be", "gpu_time_ms", 6000);
	assert_figure(since(NOON, GS_BY_CLASS), "class", "lc", "gpu_time_ms", 4000);
	assert_figure(since(NOON, GS_BY_CGROUP), "cgroup", "/user.slice", "gpu_time_ms", 10000);
	assert_figure(since(NOON, GS_BY_GPU), "gpu", "3", "gpu_time_ms", 40000);
	assert_figure(since(NOON, GS_BY_GPU), "gpu", "3", "lost_ms", 5000);
	gs_history_free(h);
}

static void test_unknown_is_null(void **state)
{
	struct gs_history *h = open_history();
	struct gs_history_who a = history_somebody(2);
	struct gs_history_sums nothing = { 0 };

	nothing.v[GS_SUM_BLIND] = 1;
	gs_history_add(h, &a, MINUTE, &nothing);
	gs_history_flush(h);
	assert_figure(since(NOON, GS_BY_PROCESS), "pid", "2", "gpu_time_ms", -1);
	assert_figure(since(NOON, GS_BY_PROCESS), "pid", "2", "launches", -1);
	assert_figure(since(NOON, GS_BY_PROCESS), "pid", "2", "wait_p99_us", -1);
	set_now(NOON + 2 * MINUTE);
	add(h, &a, 7);
	gs_history_flush(h);
	assert_figure(since(NOON, GS_BY_PROCESS), "pid", "2", "gpu_time_ms", 7);
	assert_figure(since(NOON, GS_BY_PROCESS), "pid", "2", "lost_ms", -1);
	{
		json_t *list = since(NOON, GS_BY_PROCESS);
		const json_t *o = json_array_get(list, 0);

		assert_true(json_is_true(json_object_get(o, "partly")));
		assert_false(json_is_true(json_object_get(o, "lost_records")));
		json_decref(list);
	}
	gs_history_free(h);
}

static void test_waits_of_minutes_add_up(void **state)
{
	struct gs_history *h = open_history();
	struct gs_history_who a = history_somebody(2);
	struct gs_history_sums s = minute(1);

	s.v[GS_SUM_WAITS] = s.wait_bucket[10] = 98; /* 1 to 2 us */
	gs_history_add(h, &a, MINUTE, &s);
	set_now(NOON + 2 * MINUTE);
	memset(s.wait_bucket, 0, sizeof(s.wait_bucket));
	s.v[GS_SUM_WAITS] = s.wait_bucket[20] = 2; /* 1 to 2 ms */
	gs_history_add(h, &a, MINUTE, &s);
	gs_history_flush(h);
	assert_figure(since(NOON, GS_BY_PROCESS), "pid", "2", "wait_p50_us", 2);
	assert_figure(since(NOON, GS_BY_PROCESS), "pid", "2", "wait_p99_us", 2097);
	assert_figure(since(NOON + MINUTE, GS_BY_PROCESS), "pid", "2", "wait_p50_us", 2097);
	assert_figure(since(NOON + MINUTE, GS_BY_PROCESS), "pid", "2", "waits", 2);
	gs_history_free(h);
}

static void test_others_are_not_shown(void **state)
{
	struct gs_history *h = open_history();
	struct gs_history_query q = { .since_s = NOON, .uid = 1001 };
	json_t *list;

	for (int pid = 1; pid <= 2; pid++) {
		struct gs_history_who who = history_somebody(pid);

		add(h, &who, 1000);
	}
	gs_history_event(h, &(struct gs_history_event){ .what = "suspend", .by = true });
	gs_history_flush(h);
	list = ask(&q);
	assert_int_equal(json_array_size(list), 1);
	assert_figure(list, "pid", "1", "gpu_time_ms", 1000);
	q.times = true;
	list = ask(&q);
	assert_int_equal(json_array_size(list), 2);
	assert_true(json_is_null(json_object_get(json_array_get(list, 0), "cgroup")) !=
		    json_is_null(json_object_get(json_array_get(list, 1), "cgroup")));
	json_decref(list);
	q.times = false;
	q.by = GS_BY_CLASS; /* any user may see sums */
	assert_figure(ask(&q), "class", "be", "gpu_time_ms", 2000);
	q.by = GS_BY_CGROUP;
	assert_figure(ask(&q), "cgroup", "/user.slice", "gpu_time_ms", 1000);
	q.changes = true;
	list = ask(&q);
	assert_int_equal(json_array_size(list), 0);
	json_decref(list);
	q.uid = 0;
	list = ask(&q);
	assert_int_equal(json_array_size(list), 1);
	json_decref(list);
	gs_history_free(h);
}

/* A user's change is still found after very many changes by others. */
static void test_what_one_user_did_is_found(void **state)
{
	struct gs_history *h = open_history();
	struct gs_history_query q = { .since_s = NOON, .root = true, .changes = true };
	struct gs_history_event ev = { .what = "suspend", .by = true, .by_uid = 7 };
	json_t *list;

	gs_history_event(h, &ev);
	ev.by_uid = 1001;
	for (int i = 0; i < 10000; i++)
		gs_history_event(h, &ev);
	gs_history_flush(h);
	q.has_uid = true;
	q.of_uid = 7;
	list = ask(&q);
	assert_int_equal(json_array_size(list), 1);
	json_decref(list);
	q.has_uid = false; /* asks for the latest changes by any user */
	list = ask(&q);
	assert_int_equal(json_array_size(list), 10000);
	assert_int_equal(json_integer_value(json_object_get(json_array_get(list, 0), "by_uid")),
			 1001);
	json_decref(list);
	gs_history_free(h);
}

static void test_who_ended_and_came_back(void **state)
{
	struct gs_history *h = open_history();
	struct gs_history_who a = history_somebody(2), b = history_somebody(3);

	add(h, &a, 5);
	add(h, &b, 4);
	gs_history_ended(h, a.pid, a.start_ns);
	gs_history_flush(h);
	assert_figure(since(NOON, GS_BY_PROCESS), "pid", "2", "ended_s", NOON + MINUTE);
	assert_figure(since(NOON, GS_BY_PROCESS), "pid", "3", "ended_s", -1);
	gs_history_free(h); /* the end of process 3 is not reported */
	h = open_history();
	set_now(NOON + 2 * MINUTE);
	add(h, &a, 5);
	gs_history_flush(h);
	assert_figure(since(NOON, GS_BY_PROCESS), "pid", "2", "ended_s", -1);
	assert_figure(since(NOON, GS_BY_PROCESS), "pid", "2", "gpu_time_ms", 10);
	assert_figure(since(NOON, GS_BY_PROCESS), "pid", "3", "ended_s", NOON + MINUTE);
	gs_history_free(h);
}

static void test_calm_minutes(void **state)
{
	struct gs_history_query q = { .since_s = NOON, .calm = true, .root = true };
	struct gs_history *h = open_history();
	struct gs_history_who a = history_somebody(2);

	/* In three of eight minutes, it waits for a tenth of its time; in the others, for nine. */
	for (int i = 0; i < 8; i++) {
		struct gs_history_sums s = minute(i % 3 ? 10 : 90);

		s.v[GS_SUM_WAIT] = (i % 3 ? 90 : 10) * NS_PER_MS;
		gs_history_add(h, &a, MINUTE, &s);
		if (i == 3) {
			gs_history_flush(h);
			assert_figure(ask(&q), "pid", "2", "calm_wait_pct", -1);
		}
		set_now(fake() / 1000 + MINUTE);
	}
	gs_history_flush(h);
	assert_figure(ask(&q), "pid", "2", "calm_wait_pct", 10);
	assert_figure(ask(&q), "pid", "2", "calm_minutes", 7);
	gs_history_free(h);
}

/* ---- limits ---------------------------------------------------------------------------------- */

/* The history's writer may be at work. */
static sqlite3 *open_file(void)
{
	char path[100];
	sqlite3 *sql;

	snprintf(path, sizeof(path), "%s/history.db", dir);
	assert_int_equal(sqlite3_open(path, &sql), SQLITE_OK);
	sqlite3_busy_timeout(sql, 10000);
	return sql;
}

static int64_t number_in_file(const char *text)
{
	sqlite3 *sql = open_file();
	sqlite3_stmt *st;
	int64_t n;

	assert_int_equal(sqlite3_prepare_v2(sql, text, -1, &st, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_step(st), SQLITE_ROW);
	n = sqlite3_column_int64(st, 0);
	sqlite3_finalize(st);
	sqlite3_close(sql);
	return n;
}

/* Waits until a number in the file is below @below: the writer tidies the file after a write. */
static void wait_until(const char *text, int64_t below)
{
	for (int i = 0; i < 1200 && number_in_file(text) >= below; i++)
		gs_sleep_ns(50 * NS_PER_MS);
	assert_true(number_in_file(text) < below);
}

/* Four hours after NOON, this part of the time is stored by the hour instead of the minute. */
#define HOURS_BEFORE (4 * HOUR - NOON % HOUR)

static void test_old_minutes_become_hours(void **state)
{
	struct gs_history *h = open_history();
	struct gs_history_who a = history_somebody(2);

	for (int i = 1; i <= 300; i++) {
		set_now(NOON + (uint64_t)i * MINUTE);
		add(h, &a, 1);
	}
	gs_history_flush(h);
	assert_int_equal(number_in_file("SELECT count(*) FROM point"), 300);
	set_now(NOON + 3 * DAY);
	add(h, &a, 1);
	wait_until("SELECT count(*) FROM point", 9);
	gs_history_flush(h); /* the tidying may have come before the last write */
	assert_figure(since(NOON, GS_BY_PROCESS), "pid", "2", "gpu_time_ms", 301);
	assert_figure(since(NOON + 4 * HOUR, GS_BY_PROCESS), "pid", "2", "gpu_time_ms",
		      301 - (double)HOURS_BEFORE / 60.0);
	gs_history_free(h);
}

static void test_what_is_too_old_goes(void **state)
{
	struct gs_history *h = open_with(10, 1u << 30);
	struct gs_history_who a = history_somebody(2), b = history_somebody(3);

	add(h, &a, 5);
	add(h, &b, 5);
	gs_history_ended(h, a.pid, a.start_ns);
	gs_history_flush(h);
	set_now(NOON + 11 * DAY);
	add(h, &b, 6);
	gs_history_flush(h);
	wait_until("SELECT count(*) FROM process", 2);
	assert_int_equal(
		number_in_file(
			"SELECT count(*) FROM point WHERE series NOT IN (SELECT id FROM series)"),
		0);
	assert_figure(since(0, GS_BY_PROCESS), "pid", "3", "gpu_time_ms", 11);
	for (int i = 0; i < 100 && !gs_history_counter(h, GS_HIST_TRIMMED); i++)
		gs_sleep_ns(20 * NS_PER_MS);
	assert_int_equal(gs_history_counter(h, GS_HIST_TRIMMED), 1);
	gs_history_free(h);
}

/* The first 20 processes are of another user, who keeps them whatever the others start. */
static void test_too_much_goes(void **state)
{
	struct gs_history *h = open_with(90, 400000);
	struct gs_history_who last = history_somebody(3001);

	for (int pid = 1; pid <= 3000; pid++) {
		struct gs_history_who who = history_somebody(pid);

		if (pid <= 20)
			who.uid = 4711;
		add(h, &who, 1);
		gs_history_ended(h, who.pid, who.start_ns);
		set_now(NOON + (uint64_t)pid);
	}
	gs_history_flush(h);
	set_now(NOON + 2 * HOUR); /* the next tidying is due */
	add(h, &last, 1);
	wait_until("SELECT (page_count - freelist_count) * 4096 FROM pragma_page_count, "
		   "pragma_freelist_count",
		   400001);
	assert_true(number_in_file("SELECT count(*) FROM process") > 100);
	assert_int_equal(number_in_file("SELECT count(*) FROM process WHERE uid = 4711"), 20);
	/* the oldest rows are gone */
	assert_true(number_in_file("SELECT min(pid) FROM process WHERE uid != 4711 "
				   "AND pid <> 0") > 100);
	gs_history_free(h);
}

/* ---- what goes wrong ------------------------------------------------------------------------- */

static void test_the_clock_is_set_back(void **state)
{
	struct gs_history *h = open_history();
	struct gs_history_who a = history_somebody(2);

	for (int i = 1; i <= 60; i++) {
		set_now(NOON + (uint64_t)i * MINUTE);
		add(h, &a, 1);
	}
	gs_history_flush(h);
	set_now(NOON + 10 * MINUTE);
	gs_history_stepped(h);
	for (int i = 11; i <= 20; i++) {
		set_now(NOON + (uint64_t)i * MINUTE);
		add(h, &a, 1);
	}
	gs_history_flush(h);
	assert_figure(since(NOON, GS_BY_PROCESS), "pid", "2", "gpu_time_ms", 70);
	assert_figure(since(NOON + 5 * MINUTE, GS_BY_PROCESS), "pid", "2", "gpu_time_ms", 65);
	assert_int_equal(gs_history_counter(h, GS_HIST_STEPS), 1);
	gs_history_free(h);
	/* in a time in which no history was kept */
	set_now(NOON);
	h = open_history();
	add(h, &a, 1);
	gs_history_flush(h);
	assert_int_equal(gs_history_counter(h, GS_HIST_STEPS), 0);
	assert_figure(since(NOON - HOUR, GS_BY_PROCESS), "pid", "2", "gpu_time_ms", 71);
	/* no record is moved: this clock may be the wrong one */
	assert_int_equal(number_in_file("SELECT max(last) FROM process"), NOON + HOUR);
	gs_history_free(h);
}

static void write_file(const char *text, size_t at)
{
	char path[100];
	int fd;

	snprintf(path, sizeof(path), "%s/history.db", dir);
	fd = open(path, O_RDWR | O_CREAT, 0600);
	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, text, strlen(text), (off_t)at), strlen(text));
	close(fd);
}

static void test_a_damaged_file_is_put_aside(void **state)
{
	struct gs_history_who a = history_somebody(2);
	struct gs_history *h;
	char path[100];

	write_file("this is no database, and never was one: it is too long for that, too, "
		   "and so on and so on and so on and so on",
		   0);
	h = open_history();
	add(h, &a, 5);
	gs_history_flush(h);
	assert_int_equal(gs_history_counter(h, GS_HIST_RENEWED), 1);
	assert_figure(since(NOON, GS_BY_PROCESS), "pid", "2", "gpu_time_ms", 5);
	snprintf(path, sizeof(path), "%s/history.db.damaged", dir);
	assert_int_equal(access(path, F_OK), 0);
	gs_history_free(h);
}

static void change_file(const char *text)
{
	sqlite3 *sql = open_file();

	assert_int_equal(sqlite3_exec(sql, text, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(sql);
}

static void test_a_file_without_its_tables_is_put_aside(void **state)
{
	struct gs_history_who a = history_somebody(2);
	struct gs_history_query q = { .root = true };
	CLEANUP_JSON json_t *list = NULL;
	struct gs_error err = { 0 };
	struct gs_history *h = open_history();

	add(h, &a, 5);
	gs_history_free(h);
	change_file("DROP TABLE point; DROP TABLE series");
	assert_int_equal(gs_history_query_ask(dir, &q, keep, NULL, &err), -EUCLEAN);
	h = open_history();
	add(h, &a, 7);
	gs_history_flush(h);
	assert_int_equal(gs_history_counter(h, GS_HIST_RENEWED), 1);
	assert_figure(since(NOON, GS_BY_PROCESS), "pid", "2", "gpu_time_ms", 7);
	change_file("DROP TABLE series"); /* while the writer runs */
	add(h, &a, 1);
	gs_history_flush(h);
	add(h, &a, 9);
	gs_history_flush(h);
	assert_int_equal(gs_history_counter(h, GS_HIST_RENEWED), 2);
	list = since(NOON, GS_BY_PROCESS);
	assert_true(figure(list, "pid", "2", "gpu_time_ms") >= 9);
	gs_history_free(h);
}

static void test_a_newer_file_is_left_alone(void **state)
{
	struct gs_history *h = open_history();
	struct gs_history_who a = history_somebody(2);
	struct gs_history_query q = { .root = true };
	struct gs_error err = { 0 };
	CLEANUP_JSON json_t *list = json_array();

	add(h, &a, 5);
	gs_history_free(h);
	change_file("PRAGMA user_version = 99");
	h = open_history();
	add(h, &a, 5);
	gs_history_flush(h);
	assert_int_equal(gs_history_state(h, &err), -ENOTSUP);
	assert_non_null(strstr(err.text, "newer"));
	assert_int_equal(gs_history_counter(h, GS_HIST_LOST), 1);
	assert_int_equal(gs_history_query_ask(dir, &q, keep, list, &err), -ENOTSUP);
	gs_history_free(h);
	assert_int_equal(number_in_file("PRAGMA user_version"), 99);
	assert_int_equal(number_in_file("SELECT sum(held_ns) FROM series"), 5 * NS_PER_MS);
}

static void test_an_older_file_is_put_aside(void **state)
{
	struct gs_history *h = open_history();
	struct gs_history_who a = history_somebody(2);
	struct gs_history_query q = { .root = true };
	struct gs_error err = { 0 };
	CLEANUP_JSON json_t *list = json_array();
	char path[100];

	add(h, &a, 5);
	gs_history_free(h);
	change_file("PRAGMA user_version = 8");
	assert_int_equal(gs_history_query_ask(dir, &q, keep, list, &err), -ENOTSUP);
	assert_non_null(strstr(err.text, "older"));
	h = open_history();
	add(h, &a, 7);
	gs_history_flush(h);
	assert_int_equal(gs_history_state(h, &err), 0);
	assert_int_equal(gs_history_counter(h, GS_HIST_RENEWED), 1);
	gs_history_free(h);
	snprintf(path, sizeof(path), "%s/history.db.damaged", dir);
	assert_int_equal(access(path, F_OK), 0);
	assert_int_equal(number_in_file("PRAGMA user_version"), 10);
	assert_int_equal(number_in_file("SELECT sum(held_ns) FROM series"), 7 * NS_PER_MS);
}

static void test_a_file_without_sums_of_requests_is_kept(void **state)
{
	struct gs_history *h = open_history();
	struct gs_history_who a = history_somebody(2);

	add(h, &a, 5);
	gs_history_free(h);
	change_file("ALTER TABLE series DROP COLUMN requests;"
		    "ALTER TABLE point DROP COLUMN slo_missed; PRAGMA user_version = 9");
	h = open_history();
	add(h, &a, 7);
	assert_int_equal(gs_history_counter(h, GS_HIST_RENEWED), 0);
	gs_history_free(h);
	assert_int_equal(number_in_file("PRAGMA user_version"), 10);
	assert_int_equal(number_in_file("SELECT sum(held_ns) FROM series"), 12 * NS_PER_MS);
}

static void test_the_worst_lateness_is_of_the_range(void **state)
{
	static const uint64_t late_ms[] = { 70, 50, 20, 0 }; /* the worst lateness of each minute */
	struct gs_history_who a = history_somebody(2);
	struct gs_history *h = open_history();

	for (size_t i = 0; i < GS_COUNT(late_ms); i++) {
		struct gs_history_sums s = minute(1);

		set_now(NOON + (i + 1) * MINUTE);
		s.v[GS_SUM_REQUESTS] = 2;
		s.v[GS_SUM_MISSED] = late_ms[i] != 0;
		s.worst_late_ns = late_ms[i] * NS_PER_MS;
		assert_int_equal(gs_history_add(h, &a, MINUTE, &s), 0);
		gs_history_flush(h);
	}
	for (size_t i = 0; i < GS_COUNT(late_ms); i++) {
		CLEANUP_JSON json_t *l = since(NOON + i * MINUTE, GS_BY_PROCESS);

		assert_true(figure(l, "pid", "2", "deadline_worst_late_us") == late_ms[i] * 1000.0);
	}
	set_now(NOON - 10 * MINUTE); /* the clock is set back: the worst value stays */
	gs_history_stepped(h);
	gs_history_free(h);
	assert_int_equal(number_in_file("SELECT max(worst_ns) FROM late"), 70 * NS_PER_MS);
}

static void add_requests(struct gs_history *h, int pid, uint64_t n)
{
	struct gs_history_who who = history_somebody(pid);
	struct gs_history_sums s = minute(1);

	s.v[GS_SUM_TOLD] = n;
	s.v[GS_SUM_TOLD_TOOK] = n * 10 * NS_PER_MS + 3;
	s.v[GS_SUM_TOLD_ITSELF] = n * 5 * NS_PER_MS;
	s.v[GS_SUM_TOLD_OTHERS] = n * 3 * NS_PER_MS;
	s.v[GS_SUM_TOLD_NEITHER] = n * 2 * NS_PER_MS;
	s.v[GS_SUM_TOLD_UNKNOWN] = 3;
	s.v[GS_SUM_SLO] = pid == 2 ? n : 0;
	s.v[GS_SUM_SLO_MISSED] = pid == 2;
	s.v[GS_SUM_SLO_OTHERS] = pid == 2;
	assert_int_equal(gs_history_add(h, &who, MINUTE, &s), 0);
}

/* Sums of minutes and of programs are exact. Nobody's requests are unknown, not 0. */
static void test_requests_add_up(void **state)
{
	struct gs_history *h = open_history();
	struct gs_history_who silent = history_somebody(4);

	set_now(NOON + MINUTE);
	add_requests(h, 2, 100);
	add_requests(h, 3, 10);
	add(h, &silent, 1);
	set_now(NOON + 2 * MINUTE);
	add_requests(h, 2, 50);
	gs_history_free(h);
	{
		CLEANUP_JSON json_t *all = since(NOON, GS_BY_CLASS);
		CLEANUP_JSON json_t *rows = since(NOON, GS_BY_PROCESS);
		CLEANUP_JSON json_t *late = since(NOON + MINUTE, GS_BY_PROCESS);
		const json_t *sum = json_array_get(all, 0);

		assert_true(gs_json_number(sum, "requests") == 160);
		assert_true(gs_json_number(sum, "requests_ms") == 1600);
		assert_true(gs_json_number(sum, "requests_itself_ms") == 800);
		assert_true(gs_json_number(sum, "requests_others_ms") == 480);
		assert_true(gs_json_number(sum, "requests_neither_ms") == 320);
		assert_true(gs_json_number(sum, "requests_unknown_ms") == 0);
		assert_true(gs_json_number(sum, "slo_requests") == 150);
		assert_true(figure(rows, "pid", "2", "slo_missed_others") == 2);
		assert_true(figure(rows, "pid", "3", "requests") == 10);
		assert_true(figure(rows, "pid", "3", "slo_missed") == -1);
		assert_true(figure(rows, "pid", "4", "requests") == -1);
		assert_true(figure(rows, "pid", "4", "requests_others_ms") == -1);
		assert_true(figure(late, "pid", "2", "requests") == 50);
	}
}

static void test_a_full_queue_is_counted(void **state)
{
	struct gs_history *h = open_history();
	struct gs_history_who a = history_somebody(2);
	const struct gs_history_sums s = minute(1);
	sqlite3 *sql;
	int r = 0;

	add(h, &a, 1);
	gs_history_flush(h);
	sql = open_file();
	assert_int_equal(sqlite3_exec(sql, "BEGIN EXCLUSIVE", NULL, NULL, NULL), SQLITE_OK);
	add(h, &a, 1); /* the writer waits before it writes this one */
	gs_sleep_ns(100 * NS_PER_MS);
	for (int i = 0; i < 40000; i++)
		r |= gs_history_add(h, &a, MINUTE, &s);
	assert_int_equal(r, -ENOBUFS);
	assert_true(gs_history_counter(h, GS_HIST_LOST) >= 20000);
	sqlite3_exec(sql, "ROLLBACK", NULL, NULL, NULL);
	sqlite3_close(sql);
	gs_history_flush(h);
	set_now(NOON + HOUR); /* a writer that has met the lock tries again by now */
	add(h, &a, 1);
	gs_history_flush(h);
	assert_int_equal(number_in_file("SELECT sum(held_ns) / 1000000 FROM series") +
				 (int64_t)gs_history_counter(h, GS_HIST_LOST),
			 40003);
	gs_history_free(h);
}

/* ---- a day ----------------------------------------------------------------------------------- */

static void test_a_day_of_2000_processes(void **state)
{
	struct gs_history *h = open_history();
	uint64_t took = gs_now_ns(), written;
	json_t *list;

	for (uint64_t m = 1; m <= DAY_MINUTES; m++) {
		set_now(NOON + m * MINUTE);
		assert_int_equal(history_day_minute(h, m), 0);
	}
	written = gs_now_ns() - took;
	assert_int_equal(gs_history_counter(h, GS_HIST_LOST), 0);
	took = gs_now_ns();
	list = since(NOON, GS_BY_PROCESS);
	took = gs_now_ns() - took;
	printf("# %llu records written in %llu ms; asked for in %llu us; %lld bytes\n",
	       (unsigned long long)gs_history_counter(h, GS_HIST_WRITTEN),
	       (unsigned long long)(written / NS_PER_MS), (unsigned long long)(took / NS_PER_US),
	       (long long)number_in_file("SELECT page_count * 4096 FROM pragma_page_count"));
	assert_true(took < 10 * NS_PER_S);
	assert_int_equal(json_array_size(list), DAY_PROCESSES);
	assert_figure(list, "pid", "1", "gpu_time_ms", 1440);
	assert_figure(since(NOON, GS_BY_PROCESS), "pid", "1500", "gpu_time_ms", 60);
	assert_figure(since(NOON, GS_BY_CLASS), "class", "be", "gpu_time_ms",
		      DAY_ALL_DAY * 1440 + (DAY_PROCESSES - DAY_ALL_DAY) * 60);
	assert_figure(since(now - 2 * HOUR, GS_BY_PROCESS), "pid", "1", "gpu_time_ms", 120);
	gs_history_free(h);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_a_range_has_what_was_in_it),
		TEST(test_sums_by_whom),
		TEST(test_unknown_is_null),
		TEST(test_waits_of_minutes_add_up),
		TEST(test_others_are_not_shown),
		TEST(test_what_one_user_did_is_found),
		TEST(test_who_ended_and_came_back),
		TEST(test_calm_minutes),
		TEST(test_old_minutes_become_hours),
		TEST(test_what_is_too_old_goes),
		TEST(test_too_much_goes),
		TEST(test_the_clock_is_set_back),
		TEST(test_a_damaged_file_is_put_aside),
		TEST(test_a_file_without_its_tables_is_put_aside),
		TEST(test_a_newer_file_is_left_alone),
		TEST(test_an_older_file_is_put_aside),
		TEST(test_a_file_without_sums_of_requests_is_kept),
		TEST(test_the_worst_lateness_is_of_the_range),
		TEST(test_requests_add_up),
		TEST(test_a_full_queue_is_counted),
		TEST(test_a_day_of_2000_processes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
