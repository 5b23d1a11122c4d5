/* SPDX-License-Identifier: MIT */
/*
 * taps_fixture.h - turn on the taps, on a file that accepts every call, for tests of the taps
 *
 * Needs root, BPF and FUSE; without them, tests report a skip. All files are in a private mount
 * namespace and a new instance directory.
 */
#ifndef GPUSCHED_TESTS_TAPS_FIXTURE_H
#define GPUSCHED_TESTS_TAPS_FIXTURE_H

#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "basic/cleanup.h"
#include "echo_rm.h"
#include "table/table.h"
#include "taps/taps.h"
#include "rm_client.h"
#include "table/events.h"

static struct echo_rm echo;
static struct gs_table *table;
static const char *why_not;
static struct gpusched_event seen[65536];
static size_t nseen;

static void on_event(const struct gpusched_event *ev, void *user)
{
	if (nseen < GS_COUNT(seen))
		seen[nseen++] = *ev;
}

static inline unsigned int count_events(unsigned int type)
{
	unsigned int n = 0;

	while (gs_events_dispatch(table) > 0)
		;
	for (size_t i = 0; i < nseen; i++)
		n += seen[i].type == type;
	return n;
}

static inline const struct gpusched_event *last_event(unsigned int type)
{
	while (gs_events_dispatch(table) > 0)
		;
	for (size_t i = nseen; i-- > 0;)
		if (seen[i].type == type)
			return &seen[i];
	return NULL;
}

static inline uint64_t counter(enum gpusched_tap_counter c)
{
	struct gs_taps_status st = {};

	assert_int_equal(gs_taps_status(&st, NULL), 0);
	assert_true(st.on && st.complete);
	return st.counters[c];
}

static inline int open_ctl(void)
{
	int fd = open(echo.path, O_RDWR | O_CLOEXEC);

	assert_true(fd >= 0);
	return fd;
}

/* Returns the only record in the table. */
static inline struct gpusched_tsg only(void)
{
	CLEANUP_FREE struct gpusched_tsg *all = NULL;
	struct gpusched_tsg rec;
	size_t n = 0;

	assert_int_equal(gs_table_all(table, &all, &n), 0);
	assert_int_equal(n, 1);
	rec = all[0];
	return rec;
}

static inline size_t records(void)
{
	CLEANUP_FREE struct gpusched_tsg *all = NULL;
	size_t n = 0;

	assert_int_equal(gs_table_all(table, &all, &n), 0);
	return n;
}

static int group_setup(void **state)
{
	struct gs_error err = {};
	int r;

	if (geteuid()) {
		why_not = "not root";
		return 0;
	}
	if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL)) {
		why_not = "no mount namespace";
		return 0;
	}
	r = echo_start(&echo);
	if (r < 0) {
		why_not = "no FUSE";
		return 0;
	}
	r = gs_taps_on(&err);
	if (r == -EPERM || r == -ENOTSUP) {
		why_not = err.text;
		print_message("# %s\n", err.text);
		return 0;
	}
	if (r < 0)
		print_message("# %s\n", err.text);
	return r;
}

static int group_teardown(void **state)
{
	gs_taps_off(NULL);
	echo_stop(&echo);
	return 0;
}

static int setup(void **state)
{
	struct gs_error err = {};

	if (why_not)
		return 0;
	if (gs_taps_off(&err) || gs_taps_on(&err) || gs_table_open(&table, &err) ||
	    gs_events_open(table, on_event, NULL, &err)) {
		print_message("# %s\n", err.text);
		return -1;
	}
	nseen = 0;
	return 0;
}

static int teardown(void **state)
{
	gs_table_close(table);
	table = NULL;
	return 0;
}

#define NEEDS() \
	do { \
		if (why_not) \
			skip(); \
	} while (0)

#endif /* GPUSCHED_TESTS_TAPS_FIXTURE_H */
