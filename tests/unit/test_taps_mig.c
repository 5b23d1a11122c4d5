// SPDX-License-Identifier: MIT
/* test_taps_mig.c - check what the taps learn about MIG partitions */
#include "taps_fixture.h"

#define RC_GI 0x5c000003
#define RC_CI 0x5c000004
static void subscribe(int fd, uint32_t gi, uint32_t ci)
{
	uint32_t params[4] = { ~0u, ~0u, gi };

	rc_alloc(fd, RC_CLIENT, RC_SUBDEVICE, RC_GI, 0xc637, params);
	params[2] = ci;
	rc_alloc(fd, RC_CLIENT, RC_GI, RC_CI, 0xc638, params);
}

/* Makes a TSG, and returns its engine. */
static uint16_t engine_now(int fd)
{
	uint16_t engine;

	rc_tsg(fd, RC_CLIENT, RC_TSG, 1);
	assert_int_equal(only().flags, GPUSCHED_TSG_EMPTY | GPUSCHED_TSG_MIG);
	engine = only().task.engine;
	rc_free(fd, RC_CLIENT, RC_DEVICE, RC_TSG);
	return engine;
}

static void test_mig_partition(void **state)
{
	CLEANUP_FD int fd = -1;

	NEEDS();
	fd = open_ctl();
	rc_client(fd, RC_CLIENT, 0);
	subscribe(fd, 0, 7);
	assert_int_equal(engine_now(fd), gpusched_engine_in(1, 0, 7));
	/* the same subscription, freed and made again */
	subscribe(fd, 0, 7);
	assert_int_equal(engine_now(fd), gpusched_engine_in(1, 0, 7));
	/* a second subscription: it is unknown which one counts */
	subscribe(fd, 2, 7);
	assert_int_equal(engine_now(fd), 1);
	rc_free(fd, RC_CLIENT, RC_CLIENT, RC_CLIENT);
	rc_client(fd, RC_CLIENT, 0);
	subscribe(fd, 14, 0);
	assert_int_equal(engine_now(fd), gpusched_engine_in(1, 14, 0));
	rc_free(fd, RC_CLIENT, RC_CLIENT, RC_CLIENT);
	/* an id that cannot be read, after one that could */
	rc_client(fd, RC_CLIENT, 0);
	subscribe(fd, 1, 1);
	rc_alloc(fd, RC_CLIENT, RC_SUBDEVICE, RC_GI, 0xc637, (void *)8);
	assert_int_equal(engine_now(fd), 1);
	rc_free(fd, RC_CLIENT, RC_CLIENT, RC_CLIENT);
	/* ids larger than any driver's, and an engine number that would look like a partition's */
	rc_client(fd, RC_CLIENT, 0);
	subscribe(fd, 15, 8);
	assert_int_equal(engine_now(fd), 1);
	rc_tsg(fd, RC_CLIENT, RC_TSG, 0x2101);
	assert_int_equal(only().task.engine, 0);
}

static void test_mig(void **state)
{
	CLEANUP_FD int fd = -1;

	NEEDS();
	fd = open_ctl();
	rc_client(fd, RC_CLIENT, 0);
	rc_alloc(fd, RC_CLIENT, RC_SUBDEVICE, RC_GI, 0xc637, NULL);
	rc_tsg(fd, RC_CLIENT, RC_TSG, 1);
	assert_int_equal(only().flags, GPUSCHED_TSG_EMPTY | GPUSCHED_TSG_MIG);
	rc_free(fd, RC_CLIENT, RC_CLIENT, RC_CLIENT);
	/*
	 * Another client of the same file is in no instance; with a compute instance only, it is in
	 * one.
	 */
	rc_client(fd, RC_CLIENT + 1, 0);
	rc_tsg(fd, RC_CLIENT + 1, RC_TSG, 1);
	assert_int_equal(only().flags, GPUSCHED_TSG_EMPTY);
	rc_free(fd, RC_CLIENT + 1, RC_DEVICE, RC_TSG);
	rc_alloc(fd, RC_CLIENT + 1, RC_GI, RC_CI, 0xc638, NULL);
	rc_tsg(fd, RC_CLIENT + 1, RC_TSG, 9);
	assert_int_equal(only().flags, GPUSCHED_TSG_EMPTY | GPUSCHED_TSG_MIG);
}

/* Engines GR1 to GR7 exist only in MIG mode, so they prove it without a subscription. */
static void test_mig_engines(void **state)
{
	CLEANUP_FD int fd = -1;

	NEEDS();
	fd = open_ctl();
	rc_client(fd, RC_CLIENT, 0);
	for (uint32_t engine = 1; engine <= 10; engine++) {
		rc_tsg(fd, RC_CLIENT, RC_TSG, engine);
		assert_int_equal(only().task.engine, engine);
		assert_int_equal(only().task.kind,
				 engine <= 8 ? GPUSCHED_KIND_COMPUTE : GPUSCHED_KIND_COPY);
		assert_int_equal(only().flags & ~GPUSCHED_TSG_EMPTY,
				 engine >= 2 && engine <= 8 ? GPUSCHED_TSG_MIG : 0);
		rc_free(fd, RC_CLIENT, RC_DEVICE, RC_TSG);
	}
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_mig),
		T(test_mig_engines),
		T(test_mig_partition),
	};

	return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
