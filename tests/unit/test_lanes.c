// SPDX-License-Identifier: MIT
/* test_lanes.c - check whose thread makes calls on users' sockets if there are too few threads */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

#include "hub/lanes.h"

#define MOST 288u /* LANES of hub/lanes.c */
#define USER 4001u

static struct gs_lanes *lanes;
static struct gs_lane *all[MOST];

static int setup(void **state)
{
	return gs_lanes_new(&lanes);
}

static int teardown(void **state)
{
	gs_lanes_free(lanes);
	return 0;
}

static void fill(unsigned int from)
{
	uint64_t left = gs_lanes_left();

	for (unsigned int i = from; i < MOST; i++) {
		all[i] = gs_lane_get(lanes, USER + i);
		assert_non_null(all[i]);
	}
	assert_int_equal(gs_lanes_left(), left);
}

static void put_all(void)
{
	for (unsigned int i = 0; i < MOST; i++)
		gs_lane_put(all[i]);
}

/* A user past the limit shares a user's lane. It is counted. */
static void test_past_the_limit(void **state)
{
	uint64_t left = gs_lanes_left();
	struct gs_lane *lane;

	all[0] = gs_lane_get(lanes, 0);
	fill(1);
	lane = gs_lane_get(lanes, USER - 1);
	assert_non_null(lane);
	assert_ptr_not_equal(lane, all[0]);
	assert_int_equal(gs_lanes_left(), left + 1);
	gs_lane_put(lane);
	put_all();
}

/* Users' lanes do not keep root's away. */
static void test_root_past_the_limit(void **state)
{
	struct gs_lane *lane;

	fill(0);
	lane = gs_lane_get(lanes, 0);
	assert_non_null(lane);
	for (unsigned int i = 0; i < MOST; i++)
		assert_ptr_not_equal(lane, all[i]);
	gs_lane_put(lane);
	put_all();
}

/* Without descriptors there is no new lane: root's is not shared, and the loop closes. */
static void test_no_thread(void **state)
{
	struct gs_lane *roots = gs_lane_get(lanes, 0);
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	uint64_t left = gs_lanes_left();
	struct rlimit before, none;

	assert_non_null(roots);
	assert_true(fd >= 0);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	none = before;
	none.rlim_cur = 0;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	assert_null(gs_lane_get(lanes, USER));
	gs_lanes_close(lanes, USER, fd);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_int_equal(fcntl(fd, F_GETFD), -1);
	assert_int_equal(errno, EBADF);
	assert_int_equal(gs_lanes_left(), left + 2);
	gs_lane_put(roots);
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_past_the_limit),
		T(test_root_past_the_limit),
		T(test_no_thread),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
