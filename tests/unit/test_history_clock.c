// SPDX-License-Identifier: MIT
/*
 * test_history_clock.c - check that a wall clock that is wrong for a while removes nothing, and that
 * the queue has room for every user while the writer waits
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "basic/clock.h"
#include "basic/cleanup.h"
#include "basic/steady.h"
#include "history_day.h"

#define NOON 1790000040ull
#define HOUR 3600ull
#define DAY (24 * HOUR)

static _Atomic uint64_t wall_now, boot_now = DAY;
static char dir[64];

static uint64_t fake_wall(void)
{
	return wall_now * 1000;
}

static _Atomic bool writer_waits;

/* Called by the thread that writes. */
static uint64_t fake_boot(void)
{
	while (writer_waits)
		gs_sleep_ns(NS_PER_MS);
	return boot_now;
}

static int begin(void **state)
{
	snprintf(dir, sizeof(dir), "/tmp/test_history_clock.XXXXXX");
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
	sqlite3_stmt *st = NULL;
	sqlite3 *sql = NULL;
	char path[100];
	int64_t n;

	snprintf(path, sizeof(path), "%s/history.db", dir);
	assert_int_equal(sqlite3_open_v2(path, &sql, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
	sqlite3_busy_timeout(sql, 10000);
	assert_int_equal(sqlite3_prepare_v2(sql, text, -1, &st, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_step(st), SQLITE_ROW);
	n = sqlite3_column_int64(st, 0);
	sqlite3_finalize(st);
	sqlite3_close(sql);
	return n;
}

static struct gs_history *open_history(void)
{
	const struct gs_history_opts opts = {
		.size = sizeof(opts),
		.dir = dir,
		.days = 90,
		.bytes = 1u << 30,
		.boot = "boot",
		.clock = fake_wall,
		.boottime = fake_boot,
	};
	struct gs_history *h = NULL;

	assert_int_equal(gs_history_new(&opts, &h), 0);
	return h;
}

static void add(struct gs_history *h, int pid)
{
	struct gs_history_who who = history_somebody(pid);
	struct gs_history_sums s = { .v[GS_SUM_HELD] = NS_PER_S };

	assert_int_equal(gs_history_add(h, &who, 60, &s), 0);
	assert_int_equal(gs_history_ended(h, who.pid, who.start_ns), 0);
	gs_history_flush(h);
}

/* Both clocks go on; the file is tended after each record. */
static void go_on(struct gs_history *h, unsigned int hours)
{
	for (unsigned int i = 0; i < hours; i++) {
		wall_now += HOUR;
		boot_now += HOUR;
		add(h, 99);
		gs_sleep_ns(300 * NS_PER_MS);
	}
}

static void a_wrong_clock_removes_nothing(void **state)
{
	static const int64_t off[] = { 5 * 365ll * DAY, -10 * 365ll * DAY };
	struct gs_history *h;

	wall_now = NOON;
	h = open_history();
	add(h, 2);
	gs_history_free(h);
	for (size_t i = 0; i < GS_COUNT(off); i++) {
		wall_now = NOON + HOUR + (uint64_t)off[i];
		h = open_history();
		go_on(h, 2);
		wall_now = NOON + 3 * HOUR; /* right again */
		gs_history_stepped(h);
		go_on(h, 2);
		gs_history_free(h);
		assert_int_equal(number_in_file("SELECT ended FROM process WHERE pid = 2"), NOON);
	}
	wall_now = NOON + 200 * DAY; /* once both clocks have agreed for hours, age counts */
	h = open_history();
	go_on(h, 1);
	assert_int_equal(number_in_file("SELECT count(*) FROM process WHERE pid = 2"), 1);
	go_on(h, 4);
	assert_int_equal(number_in_file("SELECT count(*) FROM process WHERE pid = 2"), 0);
	gs_history_free(h);
}

/* The first reading may be the wrong one. Records of the time before it tell. */
static void a_wrong_first_reading_is_corrected(void **state)
{
	const int64_t year = 365 * (int64_t)DAY, wall = (int64_t)NOON;
	struct gs_steady ahead = { .read = false }, behind = ahead, right = ahead, none = ahead;

	gs_steady_now(&ahead, DAY, wall + 5 * year);
	ahead.known_s = wall - 60;
	assert_false(gs_steady_is_behind(&ahead, DAY));
	assert_int_equal(gs_steady_now(&ahead, DAY + 10, wall + 10), wall + 10);
	assert_int_equal(ahead.corrected, 1);

	gs_steady_now(&behind, DAY, wall - 10 * year);
	behind.known_s = wall - 60;
	assert_true(gs_steady_is_behind(&behind, DAY));
	assert_int_equal(gs_steady_now(&behind, DAY + 10, wall + 10), wall + 10);
	assert_int_equal(behind.corrected, 1);
	assert_false(gs_steady_is_behind(&behind, DAY + 10));

	/* a right one is not given up: neither for a later time, nor for one before the records */
	gs_steady_now(&right, DAY, wall);
	right.known_s = wall - 60;
	assert_int_equal(gs_steady_now(&right, DAY + 10, wall + year), wall + 10);
	assert_int_equal(gs_steady_now(&right, DAY + 20, wall - year), wall + 20);
	assert_int_equal(gs_steady_now(&right, DAY + 30, wall + 30), wall + 30);
	assert_int_equal(right.corrected, 0);

	/* without records nothing is known */
	gs_steady_now(&none, DAY, wall + 5 * year);
	assert_int_equal(gs_steady_now(&none, DAY + 10, wall + 10), wall + 5 * year + 10);
}

static void a_jump_is_believed_after_hours(void **state)
{
	struct gs_steady s = { .read = false };
	const int64_t year = 365 * (int64_t)DAY, wall = (int64_t)NOON;

	assert_int_equal(gs_steady_now(&s, DAY, wall), wall);
	assert_int_equal(gs_steady_now(&s, DAY + 10, wall + 40), wall + 40); /* adjusted */
	assert_int_equal(gs_steady_now(&s, DAY + 20, wall + 50 + year), wall + 50);
	assert_false(gs_steady_agrees(&s, DAY + 30));
	/* back before it was believed */
	assert_int_equal(gs_steady_now(&s, DAY + 30, wall + 60), wall + 60);
	assert_int_equal(gs_steady_now(&s, DAY + 40, wall + 70 + year), wall + 70);
	assert_int_equal(gs_steady_now(&s, DAY + 40 + GS_STEADY_AGREE_S,
				       wall + 70 + GS_STEADY_AGREE_S + year),
			 wall + 70 + GS_STEADY_AGREE_S + year);
	assert_true(gs_steady_agrees(&s, DAY + 40 + GS_STEADY_AGREE_S));
}

static unsigned int fill(struct gs_history *h, uint32_t uid)
{
	struct gs_history_sums s = { .v[GS_SUM_HELD] = NS_PER_S };
	struct gs_history_who who = history_somebody(1);
	unsigned int n = 0;

	who.uid = uid;
	while (n < 20000 && !gs_history_add(h, &who, 60, &s))
		n++;
	return n;
}

static void a_full_queue_has_room_for_others(void **state)
{
	struct gs_history *h;
	unsigned int first;

	wall_now = NOON;
	writer_waits = true;
	h = open_history();
	assert_in_range(fill(h, 1000), 100, 20000); /* wakes the writer, which waits after these */
	gs_sleep_ns(2 * NS_PER_S);
	fill(h, 1000);
	first = fill(h, 1001);
	assert_in_range(first, 2000, 8000);
	assert_in_range(fill(h, 1002), 1000, first);
	assert_in_range(fill(h, 0), 1000, 16384);
	writer_waits = false;
	gs_history_flush(h);
	assert_in_range(fill(h, 1000), 7000, 20000);
	gs_history_free(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_wrong_clock_removes_nothing, begin, end),
		cmocka_unit_test(a_wrong_first_reading_is_corrected),
		cmocka_unit_test(a_jump_is_believed_after_hours),
		cmocka_unit_test_setup_teardown(a_full_queue_has_room_for_others, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
