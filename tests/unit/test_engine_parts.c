// SPDX-License-Identifier: MIT
/*
 * test_engine_parts.c - check that MIG partitions have separate runlists
 *
 * TSGs whose partition is unknown are left alone.
 */
#include "core_world.h"
#include "gpusched/module.h"
#include "gpusched/policy_types.h"

static struct gpusched_tsg *in_part(uint32_t n, uint32_t gi, uint32_t ci)
{
	struct gpusched_tsg *t = new_tsg(n, 0);

	t->flags |= GPUSCHED_TSG_MIG;
	t->task.engine = gpusched_engine_in(GPUSCHED_ENGINE_GR0, gi, ci);
	return t;
}

static void test_engines_of_partitions(void **state)
{
	gs_u16 last = gpusched_engine_in(9, 14, 7);

	assert_int_equal(gpusched_engine_type(last), 9);
	assert_int_equal(gpusched_gpu_instance(last), 14);
	assert_int_equal(gpusched_compute_instance(last), 7);
	assert_int_equal(gpusched_engine_in(1, GPUSCHED_NO_INSTANCE, GPUSCHED_NO_INSTANCE), 1);
	assert_int_equal(gpusched_engine_in(1, 15, 8), 1); /* larger ids than drivers have */
	assert_int_equal(gpusched_gpu_instance(1), GPUSCHED_NO_INSTANCE);
	assert_int_equal(gpusched_compute_instance(1), GPUSCHED_NO_INSTANCE);
	assert_int_equal(gpusched_runlist_key(3, 1), 3 << 8 | 1);
	assert_int_not_equal(gpusched_runlist_key(3, last),
			     gpusched_runlist_key(3, gpusched_engine_in(9, 14, 6)));
	assert_int_not_equal(gpusched_runlist_key(0, 1),
			     gpusched_runlist_key(0, gpusched_engine_in(1, 0, 0)));
}

static void test_partitions_are_not_one_runlist(void **state)
{
	struct gpusched_tsg *a = in_part(1, 1, 0), *b = in_part(2, 1, 1), *c = in_part(3, 2, 0);
	struct gpusched_tsg *d;

	want(a, GPUSCHED_TIMESLICE, 20);
	want(b, GPUSCHED_TIMESLICE, 20);
	want(c, GPUSCHED_TIMESLICE, 20);
	touch_all();
	settle();
	assert_int_equal(short_slices(), 3);
	d = in_part(4, 2, 0);
	want(d, GPUSCHED_TIMESLICE, 20);
	touch(d);
	settle();
	assert_int_equal(short_slices(), 2);
	assert_int_equal(gs_core_overruled(world.core, &c->key), 1u << GS_OVERRULE_SHORT);
	assert_int_equal(gs_core_overruled(world.core, &a->key), 0);
	assert_int_equal(counter(GS_ENG_LEFT_ALONE), 0);
}

static void test_unknown_partitions_are_left_alone(void **state)
{
	struct gpusched_tsg *half = in_part(1, 1, GPUSCHED_NO_INSTANCE), *none = new_tsg(2, 0);

	none->flags |= GPUSCHED_TSG_MIG;
	want(half, GPUSCHED_TIMESLICE, 20);
	want(none, GPUSCHED_RUNNABLE, 0);
	touch_all();
	settle();
	assert_int_equal(world.nlog, 0);
	assert_int_equal(counter(GS_ENG_LEFT_ALONE), 2);
	assert_int_equal(gs_core_overruled(world.core, &half->key), 1u << GS_OVERRULE_MIG);
	gs_field_put(&none->manual, GPUSCHED_TIMESLICE, 300); /* a person may set it */
	touch(none);
	settle();
	assert_int_equal(world.hw[1].timeslice_us, 300);
}

/* The call for gpusched.ko names the TSG's MIG partition, or says that the GPU is not divided. */
static void test_a_call_names_the_partition(void **state)
{
	struct gpusched_tsg rec = { .task.engine = GPUSCHED_ENGINE_GR0 };
	struct gs_rm_tsg t;

	gs_fields_fill_tsg(&t, &rec, 580);
	assert_int_equal(t.gpu_instance, GPUSCHED_MODULE_WHOLE);
	assert_int_equal(t.compute_instance, GPUSCHED_MODULE_WHOLE);
	rec.flags |= GPUSCHED_TSG_MIG;
	gs_fields_fill_tsg(&t, &rec, 580);
	assert_int_equal(t.gpu_instance, GPUSCHED_NO_INSTANCE);
	rec.task.engine = gpusched_engine_in(GPUSCHED_ENGINE_GR0, 2, 1);
	gs_fields_fill_tsg(&t, &rec, 580);
	assert_int_equal(t.gpu_instance, 2);
	assert_int_equal(t.compute_instance, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_engines_of_partitions),
		T(test_partitions_are_not_one_runlist),
		T(test_unknown_partitions_are_left_alone),
		T(test_a_call_names_the_partition),
	};

	return cmocka_run_group_tests_name("engine_parts", tests, NULL, NULL);
}
