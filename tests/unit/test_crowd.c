// SPDX-License-Identifier: MIT
/* test_crowd.c - check what helps the programs of a GPU, by their kinds */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "basic/cleanup.h"
#include "basic/json_sheet.h"
#include "figures/crowd.h"

static void test_help(void **state)
{
	struct gs_crowd c = { .n = { [GS_PROGRAM_WHOLE] = 1, [GS_PROGRAM_BATCH] = 1 } };

	assert_int_equal(gs_crowd_help(GS_PROGRAM_WHOLE, &c), GS_CROWD_DO_LC);
	assert_int_equal(gs_crowd_help(GS_PROGRAM_BATCH, &c), GS_CROWD_DO_BE);
	assert_string_equal(gs_crowd_policy(&c), "auto");
	c.n[GS_PROGRAM_BATCH] = 3;
	assert_int_equal(gs_crowd_help(GS_PROGRAM_BATCH, &c), GS_CROWD_DO_POOL);
	c.n[GS_PROGRAM_LAUNCH_BOUND] = 1;
	assert_int_equal(gs_crowd_help(GS_PROGRAM_LAUNCH_BOUND, &c), GS_CROWD_DO_SHARE);
	assert_int_equal(gs_crowd_help(GS_PROGRAM_BATCH, &c), GS_CROWD_DO_SHARE);
	c = (struct gs_crowd){ .n = { [GS_PROGRAM_BATCH] = 1, [GS_PROGRAM_SERVER] = 1 } };
	/* no program is known to wait for an answer */
	assert_int_equal(gs_crowd_help(GS_PROGRAM_BATCH, &c), GS_CROWD_DO_NOTHING);
	assert_int_equal(gs_crowd_help(GS_PROGRAM_SERVER, &c), GS_CROWD_DO_NOTHING);
	assert_null(gs_crowd_policy(&c));
	assert_int_equal(gs_crowd_help(GS_PROGRAM_UNSEEN, &c), GS_CROWD_DO_UNKNOWN);
}

static void test_case(void **state)
{
	struct gs_crowd c = { 0 };

	assert_int_equal(gs_crowd_case(&c), GS_CROWD_ALONE);
	gs_crowd_add(&c, GS_PROGRAM_WHOLE, true);
	gs_crowd_add(&c, GS_PROGRAM_BATCH, false);
	assert_int_equal(gs_crowd_case(&c), GS_CROWD_TURNS);
	gs_crowd_add(&c, GS_PROGRAM_BATCH, true);
	assert_int_equal(gs_crowd_case(&c), GS_CROWD_SHORT_BLOCKS);
	gs_crowd_add(&c, GS_PROGRAM_LAUNCH_BOUND, false);
	assert_int_equal(gs_crowd_case(&c), GS_CROWD_LAUNCHES);
	c.n[GS_PROGRAM_WHOLE] = c.n[GS_PROGRAM_LAUNCH_BOUND] = 0;
	assert_int_equal(gs_crowd_case(&c), GS_CROWD_BATCHES);
	gs_crowd_add(&c, GS_PROGRAM_HIDDEN, false); /* it may be a service */
	assert_int_equal(gs_crowd_case(&c), GS_CROWD_UNKNOWN);
	c = (struct gs_crowd){ .n = { [GS_PROGRAM_WHOLE] = 2, [GS_PROGRAM_IDLE] = 1 } };
	assert_int_equal(gs_crowd_case(&c), GS_CROWD_SERVICES);
	c.n[GS_PROGRAM_WHOLE] = 1;
	assert_int_equal(gs_crowd_case(&c), GS_CROWD_ALONE);
}

static const char *at(const json_t *o, const char *path)
{
	return json_string_value(gs_json_at(o, path));
}

static void test_json(void **state)
{
	const struct gs_crowd c = {
		.n = { [GS_PROGRAM_WHOLE] = 1, [GS_PROGRAM_BATCH] = 2, [GS_PROGRAM_IDLE] = 1 }
	};
	CLEANUP_JSON json_t *o = json_object();
	const json_t *lc, *be;

	gs_crowd_json(&c, o);
	lc = gs_json_at(o, "helps.whole turns");
	be = gs_json_at(o, "helps.batch");
	assert_int_equal(json_object_size(gs_json_at(o, "helps")), 3);
	assert_null(at(o, "helps.idle.class")); /* nothing has to be done for it */
	assert_string_equal(at(o, "policy_wanted"), "auto");
	assert_string_equal(at(o, "no_help.means"), "nothing");
	assert_string_equal(at(lc, "class"), "lc");
	assert_null(at(lc, "run"));
	assert_int_equal(json_array_size(json_object_get(lc, "loses_to")), 1);
	assert_true(json_is_true(json_object_get(lc, "by_slices")));
	assert_string_equal(at(be, "class"), "be");
	assert_string_equal(at(be, "run"), "pool");
	assert_true(json_is_true(json_object_get(be, "set")));
	/* batch work loses to services and to other batch work */
	assert_int_equal(json_array_size(json_object_get(be, "loses_to")), 3);
	assert_true(json_is_false(json_object_get(be, "by_slices")));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_help),
		cmocka_unit_test(test_case),
		cmocka_unit_test(test_json),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
