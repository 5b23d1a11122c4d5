/* SPDX-License-Identifier: MIT */
/*
 * test_qualify.c - check the costs that `qualify` finds in a GPU's log, and the file that it writes
 *
 * The model must be able to read the file, and unknown costs must be missing from it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>

#include "basic/clock.h"
#include "qualify/judge.h"
#include "qualify/qualify.h"
#include "qualify/window.h"
#include "sim/params.h"

#define US NS_PER_US

static struct qualify_window w;

static void record(uint32_t pid, uint64_t ns, bool start, bool gap)
{
	struct gs_switchlog_record r = { .sw = { .ns = ns, .start = start, .gap = gap },
					 .context = 7 + pid,
					 .pid = pid };

	qualify_window_feed(&w, &r);
}

/* Adds @n turns by each of @programs in a round, @us long and @gap_us apart. */
static void rounds(uint64_t from, unsigned int n, uint32_t programs, uint64_t us, uint64_t gap_us)
{
	for (unsigned int i = 0; i < n * programs; i++) {
		record(1 + i % programs, from, true, false);
		record(1 + i % programs, from + us * US, false, false);
		from += (us + gap_us) * US;
	}
}

static void begin(void)
{
	static const int ours[] = { 1, 2, 3 };

	qualify_window_begin(&w, ours, 3);
}

static void test_turns(void **state)
{
	uint64_t id[QUALIFY_IDS];
	unsigned int turns[QUALIFY_IDS];

	begin();
	rounds(1000 * US, 20, 2, 1117, 84);
	assert_int_equal(w.n, 40);
	assert_true(fabs(qualify_window_main(&w, 0, false) - 1117 * US) < 1);
	assert_true(fabs(qualify_window_main(&w, 1, true) - 84 * US) < 1);
	assert_int_equal(qualify_window_count(&w, id, turns), 2);
	assert_int_equal(turns[0], 20);
	record(3, 900000 * US, true, false);
	record(3, 900100 * US, false, false);
	assert_int_equal(qualify_window_count(&w, id, turns), 3);
	assert_int_equal(id[2], 3);
}

/* Other programs' turns do not count, nor does a turn or a switch during which they ran. */
static void test_others(void **state)
{
	begin();
	record(1, 10 * US, true, false);
	record(9, 20 * US, true, false);
	record(1, 30 * US, false, false);
	assert_int_equal(w.n, 0);
	record(1, 40 * US, true, false);
	record(1, 50 * US, false, false);
	record(9, 60 * US, true, false);
	record(2, 70 * US, true, false);
	assert_int_equal(w.n, 1);
	assert_int_equal(w.v[0].gap_ns, 0);
}

static void test_lost(void **state)
{
	begin();
	record(1, 10 * US, true, false);
	record(1, 99 * US, false, true);
	assert_int_equal(w.n, 0);
	record(1, 100 * US, true, false);
	record(1, 110 * US, false, false);
	record(2, 120 * US, true, true);
	assert_int_equal(w.v[0].gap_ns, 0);
}

/* If the log hides processes, contexts distinguish programs. */
static void test_hidden(void **state)
{
	struct gs_switchlog_record r = { .sw = { .ns = 10 * US, .start = true }, .context = 5 };

	begin();
	qualify_window_feed(&w, &r);
	r.sw = (struct gs_switch){ .ns = 30 * US };
	qualify_window_feed(&w, &r);
	assert_int_equal(w.n, 1);
	assert_int_equal(w.v[0].ns, 20 * US);
}

/* Too few turns, or lengths that vary widely, give no result. */
static void test_nothing(void **state)
{
	begin();
	rounds(1, 2, 2, 1000, 50);
	assert_true(qualify_window_main(&w, 0, false) == 0);
	assert_true(qualify_window_low(&w, 0) == 0);
	begin();
	for (unsigned int i = 0; i < 40; i++) {
		record(1, (i * 100000ull + 1) * US, true, false);
		record(1, (i * 100000ull + 1000 + i * 90) * US, false, false);
	}
	assert_true(qualify_window_main(&w, 0, false) == 0);
	assert_true(qualify_window_low(&w, 1000. * US) > 1000. * US);
}

static void test_unit(void **state)
{
	double unit, save;

	assert_true(qualify_window_unit(1000, 1117e3, 4000, 4189e3, &unit, &save));
	assert_true(fabs(unit - 1.024) < 1e-6);
	assert_true(fabs(save - 93e3) < 1);
	assert_false(qualify_window_unit(1000, 1117e3, 4000, 0, &unit, &save));
	assert_false(qualify_window_unit(1000, 0, 4000, 4189e3, &unit, &save));
	assert_false(qualify_window_unit(1000, 2048e3, 4000, 2050e3, &unit, &save));
	assert_false(qualify_window_unit(1000, 900e3, 4000, 4189e3, &unit, &save));
}

/* ---- the result's file ----------------------------------------------------------------------- */

static char dir[] = "/tmp/gpusched-test-qualify.XXXXXX";

static void keep(const struct qualify_result *r, struct sim_params *ret)
{
	struct gs_error err = { 0 };
	char path[128];

	assert_int_equal(qualify_keep(r, dir, &err), 0);
	snprintf(path, sizeof(path), "%s/gpu.conf", dir);
	assert_int_equal(sim_params_named(path, ret, &err), 0);
	unlink(path);
	snprintf(path, sizeof(path), "%s/result.json", dir);
	assert_int_equal(unlink(path), 0);
}

static struct qualify_result *nothing(void)
{
	static struct qualify_result r;

	r = (struct qualify_result){ .dilate = 1, .latencies = json_array() };
	for (int i = 0; i < QUALIFY_COSTS_MAX; i++)
		r.costs[i].us = NAN;
	return &r;
}

static void test_unknown_stays_out(void **state)
{
	struct qualify_result *r = nothing();
	struct sim_params usual, p;

	snprintf(r->costs[QUALIFY_SAVE].why, sizeof(r->costs[0].why), "there is\nno log = 5 ; [x]");
	sim_params_default(&usual);
	keep(r, &p);
	assert_int_equal(p.save_cilp_ns, usual.save_cilp_ns);
	assert_int_equal(p.slice_unit_ns, usual.slice_unit_ns);
	assert_int_equal(p.notice_tail_ns, usual.notice_tail_ns);
	qualify_free(r);
}

static void test_known_goes_in(void **state)
{
	struct qualify_result *r = nothing();
	struct sim_params p;

	snprintf(r->gpu, sizeof(r->gpu), "NVIDIA Nobody 1");
	r->costs[QUALIFY_UNIT].us = 1.28;
	r->costs[QUALIFY_SAVE].us = 158.1;
	r->costs[QUALIFY_SWITCH].us = 142.8;
	r->costs[QUALIFY_IDLE_TURN].us = 103.3;
	r->costs[QUALIFY_GAP].us = 2.3;
	r->costs[QUALIFY_ALONE_P50].us = 9 + 102.3 + 10.4 + 7.7 * log(2);
	r->costs[QUALIFY_ALONE_P99].us = 9 + 102.3 + 10.4 + 7.7 * log(100);
	r->checks[QUALIFY_INTERLEAVE].known = r->checks[QUALIFY_INTERLEAVE].works = true;
	r->multiprocessors = 100;
	r->calls = json_pack("{s:{s:f}, s:{s:n}}", "set-timeslice", "mean_us", 400.0, "resume",
			     "mean_us");
	keep(r, &p);
	assert_string_equal(p.pci_name, "NVIDIA Nobody 1");
	assert_int_equal(p.slice_unit_ns, 1280);
	assert_int_equal(p.save_cilp_ns, 158100);
	assert_int_equal(p.switch_cilp_ns, 142800);
	assert_int_equal(p.save_idle_ns + p.start_ns, 101000);
	assert_int_equal(p.blocks_at_once, 800);
	assert_true(p.interleave_honoured);
	assert_true(llabs((long long)p.launch_ns - 9000) < 10);
	assert_true(llabs((long long)p.notice_tail_ns - 7700) < 10);
	assert_int_equal(p.call[SIM_CALL_SET_TIMESLICE].min_ns, 400000);
	qualify_free(r);
}

/* Unknown costs stay unknown in the account's form. */
static void test_costs_as_the_account_has_them(void **state)
{
	struct qualify_result *r = nothing();
	struct gs_costs c = qualify_judge_costs(r, 9);

	assert_true(gs_costs_plausible(&c));
	assert_int_equal(c.save_basis, GS_COST_UNKNOWN);
	assert_int_equal(c.switch_basis, GS_COST_UNKNOWN);
	r->costs[QUALIFY_SAVE].us = 100; /* without the unit, the save alone is of no use */
	c = qualify_judge_costs(r, 9);
	assert_int_equal(c.save_basis, GS_COST_UNKNOWN);
	r->costs[QUALIFY_UNIT].us = 1.024;
	r->costs[QUALIFY_SWITCH].us = 84;
	r->costs[QUALIFY_IDLE_TURN].us = 62;
	c = qualify_judge_costs(r, 9);
	assert_true(gs_costs_plausible(&c));
	assert_int_equal(c.unit_ps, 1024000);
	assert_int_equal(c.save_ns, 100000);
	assert_true(c.save_low_ns < c.save_ns && c.save_ns < c.save_high_ns);
	assert_int_equal(c.switch_ns, 84000);
	assert_int_equal(c.restore_ns, 0);
	assert_int_equal(c.idle_turn_ns, 62000);
	assert_int_equal(c.save_basis, GS_COST_QUALIFIED);
	assert_int_equal(c.restore_basis, GS_COST_QUALIFIED);
	assert_int_equal(c.save_at_s, 9);
	qualify_free(r);
}

/* Turns of 1124 us with a save of 100 and a switch of 84: 1000 us of 1208 were work. */
static void test_restore(void **state)
{
	assert_true(fabs(qualify_judge_restore(1124, 100, 84, 1000. / 1208) - 24) < 1e-6);
	assert_true(isnan(qualify_judge_restore(1124, 100, 84, 1)));
	assert_true(isnan(qualify_judge_restore(1124, 100, 84, 0.1)));
	assert_true(isnan(qualify_judge_restore(1124, NAN, 84, 0.8)));
	assert_true(isnan(qualify_judge_restore(1124, 100, 84, NAN)));
	assert_true(isnan(qualify_judge_restore(0, 100, 84, 0.8)));
}

static void test_gap(void **state)
{
	assert_true(fabs(qualify_judge_gap(1e6 / 102.3, 100) - 2.3) < 1e-6);
	assert_true(isnan(qualify_judge_gap(1e6 / 99, 100)));
	assert_true(isnan(qualify_judge_gap(1e6 / 130, 100)));
	assert_true(isnan(qualify_judge_gap(0, 100)));
	assert_true(isnan(qualify_judge_gap(NAN, 100)));
}

static void test_ratio(void **state)
{
	assert_true(fabs(qualify_judge_ratio((unsigned int[]){ 40, 20, 20 }, 3) - 2) < 1e-9);
	assert_true(qualify_judge_ratio((unsigned int[]){ 40, 0, 0 }, 3) == 0);
	assert_true(qualify_judge_ratio((unsigned int[]){ 40 }, 1) == 0);
}

static void test_reasons_stay(void **state)
{
	struct qualify_result *r = nothing();

	snprintf(r->checks[QUALIFY_CTA].why, sizeof(r->checks[0].why), "its own");
	r->checks[QUALIFY_LOG].known = true;
	r->costs[QUALIFY_UNIT].us = 1;
	qualify_judge_leave_reasons(r, QUALIFY_TAIL, QUALIFY_ALONE_P50, "time was over");
	assert_string_equal(r->checks[QUALIFY_CTA].why, "its own");
	assert_string_equal(r->checks[QUALIFY_WFI].why, "time was over");
	assert_string_equal(r->checks[QUALIFY_LOG].why, "");
	assert_string_equal(r->checks[QUALIFY_TAIL].why, "");
	assert_string_equal(r->costs[QUALIFY_UNIT].why, "");
	assert_string_equal(r->costs[QUALIFY_SAVE].why, "time was over");
	assert_string_equal(r->costs[QUALIFY_ALONE_P50].why, "");
	qualify_free(r);
}

static void test_why_there_is_no_log(void **state)
{
	char reason[64];

	qualify_judge_no_log_reason("GPU 0 has no log: in MIG mode there is none (RM says 0x57 X)",
				    reason, sizeof(reason));
	assert_string_equal(reason, "only the log would tell: in MIG mode there is none");
	qualify_judge_no_log_reason("No such device", reason, sizeof(reason));
	assert_string_equal(reason, "only the log would tell: No such device");
}

/* If a folder cannot be made, or a file cannot be written, there is an error. */
static void test_no_place_to_keep(void **state)
{
	struct qualify_result *r = nothing();
	struct gs_error err = { 0 }, other = { 0 };
	char path[128];

	assert_int_equal(qualify_keep(r, "/proc/nowhere/q", &err), -ENOENT);
	snprintf(path, sizeof(path), "%s/result.json", dir);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(qualify_keep(r, dir, &other), -EISDIR);
	assert_int_equal(rmdir(path), 0);
	qualify_free(r);
}

/* Failures of the clean-up are reported with the result, which is still stored. */
static void test_left_behind(void **state)
{
	struct qualify_result *r = nothing();
	json_t *o = qualify_keep_json(r);

	assert_true(json_is_null(json_object_get(o, "left_behind")));
	json_decref(o);
	snprintf(r->left, sizeof(r->left), "observe off failed");
	o = qualify_keep_json(r);
	assert_string_equal(json_string_value(json_object_get(o, "left_behind")),
			    "observe off failed");
	assert_true(json_is_array(json_object_get(o, "costs")));
	json_decref(o);
	qualify_free(r);
}

static int make_dir(void **state)
{
	return mkdtemp(dir) ? 0 : -1;
}

static int remove_dir(void **state)
{
	return rmdir(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_turns),
		cmocka_unit_test(test_others),
		cmocka_unit_test(test_lost),
		cmocka_unit_test(test_hidden),
		cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_unit),
		cmocka_unit_test(test_unknown_stays_out),
		cmocka_unit_test(test_known_goes_in),
		cmocka_unit_test(test_costs_as_the_account_has_them),
		cmocka_unit_test(test_restore),
		cmocka_unit_test(test_gap),
		cmocka_unit_test(test_ratio),
		cmocka_unit_test(test_reasons_stay),
		cmocka_unit_test(test_why_there_is_no_log),
		cmocka_unit_test(test_no_place_to_keep),
		cmocka_unit_test(test_left_behind),
	};

	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
