/* SPDX-License-Identifier: MIT */
/* test_scenario.c - check scenarios: file, processes, actions, rotation, policy host, reports */
#include "scenario_world.h"

#include <math.h>

#include "basic/cleanup.h"
#include "rm/setting.h"
#include "sim/report.h"
#include "sim/scenario_cmd.h"
#include "sim/scenario_rows.h"

/* The library has a buffer for one line. What did not fit was another line to it. */
static void a_long_comment_sets_no_key(void **state)
{
	CLEANUP(sim_scenario_freep) struct sim_scenario *s = NULL;
	char text[5000];

	for (int n = 150; n < 250; n++) {
		snprintf(text, sizeof(text), "[scenario]\n# %0*d seed = 77\n" BE, n, 1);
		s = load(text);
		assert_int_equal(s->seed, 1);
		sim_scenario_free(TAKE_PTR(s));
	}
	snprintf(text, sizeof(text), "[scenario]\n# %04200d seed = 77\n" BE, 1);
	refused(text, ":2: the line is longer than 4094 bytes");
}

static void broken_files_are_refused(void **state)
{
	refused("", "no [process");
	refused(HEAD, "no [process");
	refused("[scene]\na = b\n", "[scene]");
	refused(HEAD "speed = 9\n" BE, "speed");
	refused("[scenario]\nduration_s = 0\n" BE, "duration_s");
	refused("[scenario]\nduration_s = 1\nwarmup_s = 1\n" BE, "warmup_s");
	refused("[scenario]\noption = x\n" BE, "key=value");
	refused(HEAD "[process a b]\nkind = be\n", "not a name");
	refused(HEAD "[process be]\nkind = be\n", "kernel_us");
	refused(HEAD "[process be]\nkind = bee\n", "kind = bee: must be one of lc, be");
	refused("[scenario]\ntitle = \xff\n" BE, "UTF-8");
	refused(HEAD "[process \xc3(]\nkind = be\n", "UTF-8");
	refused(HEAD "option = a=b\n" BE, "no policy");
	refused(HEAD BE "block_us = 2000\n", "block_us");
	refused(HEAD BE "gpu = 1\n", "gpu = 1");
	refused(HEAD BE "timeslice_us = 0\n", "timeslice_us");
	refused(HEAD BE "start_s = 2\nstop_s = 1\n", "stops before");
	refused(HEAD "[process lc]\nkind = lc\nkernel_us = 1\n", "gap_us");
	refused(HEAD BE "[expect]\nbe.speed <= 1\n", "be.speed");
	refused(HEAD BE "[expect]\nbe.p99 <= 1\n", "p90_us p99_us");
	refused(HEAD BE "[expect]\nlc.rate <= 1\n", "lc.rate");
	refused(HEAD BE "[expect]\nbe.rate / lc.rate <= 1\n", "no process is 'lc'");
	refused(HEAD BE "[expect]\nbe.rate >= nan\n", "NAME.METRIC <=");
	refused(HEAD BE "[expect]\nbe.rate <= 1e999\n", "NAME.METRIC <=");
	refused(HEAD BE "[expect]\nbe.rate <= fast\n", "fast");
	refused(HEAD BE "[expect]\nbe.rate = 3\n", "NAME.METRIC <=");
	refused(HEAD BE "[reference]\nbe.rate = 3\n", "within");
	refused(HEAD BE "[actions]\ntarget = be\n", "at_ms");
	refused(HEAD BE "[actions]\nat_ms = 1\ntarget = lc\n", "lc");
	refused(HEAD BE "[actions]\nat_ms = 1\ntarget = be\n", "sets nothing");
	refused(HEAD BE "[rotate]\ntarget = be\n", "period_ms");
	refused("[scenario]\nmodel = /nonexistent.conf\n" BE, "nonexistent");
}

#define ROWS \
	HEAD BE "[expect]\nbe.rate >= 1\n\n" \
		"[row one]\ntitle = as above\n\n" \
		"[row three]\ntitle = three\nseed = 7\nbe.count = 3\n" \
		"[process other]\nkind = be\nkernel_us = 10\n[expect]\nbe.rate <= 5\n\n" \
		"[row empty]\n  [row last-2]\nbe.kernel_us = 20\n"

static void a_file_has_rows(void **state)
{
	CLEANUP(sim_scenario_freep) struct sim_scenario *one = load_row(ROWS, "one");
	CLEANUP(sim_scenario_freep) struct sim_scenario *three = load_row(ROWS, "three");
	CLEANUP(sim_scenario_freep) struct sim_scenario *empty = load_row(ROWS, "empty");
	CLEANUP(sim_scenario_freep) struct sim_scenario *last = load_row(ROWS, "last-2");
	CLEANUP(sim_rows_free) struct sim_rows rows = { 0 };
	struct gs_error err = { 0 };

	assert_int_equal(sim_rows_read(path, &rows, &err), 0);
	assert_int_equal(rows.n, 4);
	assert_string_equal(rows.names[0], "one");
	assert_string_equal(rows.names[3], "last-2");
	assert_string_equal(one->name, "one");
	assert_string_equal(one->title, "as above");
	assert_int_equal(one->groups[0].count, 1);
	assert_int_equal(one->nchecks, 1);
	assert_string_equal(three->name, "three");
	assert_int_equal(three->seed, 7);
	assert_int_equal(three->groups[0].count, 3);
	assert_int_equal(three->ngroups, 2);
	assert_int_equal(three->nchecks, 2);
	assert_string_equal(empty->title, "");
	assert_int_equal(empty->ngroups, 1);
	assert_int_equal(empty->nchecks, 1);
	assert_int_equal(last->groups[0].count, 1);
	assert_true(last->groups[0].kernel_us == 20);
}

static void broken_rows_are_refused(void **state)
{
	refused(ROWS, "is 4 scenarios: name one, such as one");
	refused_row(ROWS, "four", "has no row 'four'");
	refused_row(HEAD BE, "one", "has no row 'one'");
	refused_row(ROWS "[row one]\n", "one", ":25: [row one] is there twice");
	refused_row(HEAD BE "[row a b]\n", "a b", ":6: a row's name");
	refused_row(HEAD BE "[row ]\n", "", "a row's name");
	refused_row(HEAD BE "[row aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa]\n", "a",
		    "1 to 47 letters");
	refused_row(HEAD BE "[row a]\n[row b]\nlc.count = 3\n", "b",
		    ":8: [row b] lc.count: no [process lc] is above");
	refused_row(HEAD BE "[row a]\nbe.speed = 3\n", "a", "no key 'speed'");
	refused_row(HEAD BE "[row a]\nbe.count = 0\n", "a", "[process be] count = 0");
	refused_row(HEAD BE "[row a]\nspeed = 3\n", "a", "[row a] has no key 'speed'");
}

static void missing_file(void **state)
{
	struct sim_scenario *s = NULL;
	struct gs_error err = { 0 };

	assert_int_equal(sim_scenario_load("/nonexistent.scn", NULL, &s, &err), -ENOENT);
	assert_non_null(strstr(err.text, "/nonexistent.scn"));
}

static void request_alone_costs_kernel_and_launch(void **state)
{
	CLEANUP(sim_scenario_freep) struct sim_scenario *s = load(HEAD LC);
	CLEANUP(sim_result_freep) struct sim_result *r = run(s);

	assert_true(metric(r, "lc.requests") > 300);
	assert_true(metric(r, "lc.p50_us") > 110 && metric(r, "lc.p50_us") < 140);
	assert_true(metric(r, "lc.p50_us") <= metric(r, "lc.p90_us"));
	assert_true(metric(r, "lc.p99_us") <= metric(r, "lc.max_us"));
}

static void back_to_back_fills_the_gpu(void **state)
{
	CLEANUP(sim_scenario_freep) struct sim_scenario *s = load(HEAD BE);
	CLEANUP(sim_result_freep) struct sim_result *r = run(s);
	double v;

	assert_true(metric(r, "be.rate") > 980 && metric(r, "be.rate") < 1000);
	assert_true(metric(r, "be.share_pct") > 99.9);
	assert_int_equal(sim_result_metric(r, "be.p50_us", &v), -ENODATA); /* not 0 */
	assert_int_equal(sim_result_metric(r, "lc.rate", &v), -ENOENT);
	assert_int_equal(sim_result_metric(r, "rate", &v), -ENOENT);
}

/* With an open loop, a service slower than its arrivals falls behind, and that delay counts. */
static void open_loop_counts_from_the_arrival(void **state)
{
	CLEANUP(sim_scenario_freep)
	struct sim_scenario *s = load(HEAD "[process lc]\nkind = lc\narrivals = periodic\n"
					   "kernel_us = 1000\ngap_us = 500\ndeadline_us = 2000\n");
	CLEANUP(sim_result_freep) struct sim_result *r = run(s);

	assert_true(metric(r, "lc.max_us") > 1000000);
	assert_true(metric(r, "lc.missed_pct") > 99);
}

static char *dump(const struct sim_result *r)
{
	json_t *o = sim_report_json(r);
	char *text = json_dumps(o, JSON_COMPACT);

	json_decref(o);
	assert_non_null(text);
	return text;
}

static void same_seed_same_result(void **state)
{
	CLEANUP(sim_scenario_freep) struct sim_scenario *s = load(HEAD LC BE "count = 2\n");
	uint64_t seed = 2;
	struct sim_run_options other = { .seed = &seed };
	CLEANUP(sim_result_freep) struct sim_result *a = run(s);
	CLEANUP(sim_result_freep) struct sim_result *b = run(s);
	CLEANUP(sim_result_freep) struct sim_result *c = run_with(s, &other);
	CLEANUP_FREE char *ja = dump(a), *jb = dump(b), *jc = dump(c);

	assert_string_equal(ja, jb);
	assert_string_not_equal(ja, jc);
	assert_true(metric(a, "lc.p50_us") != metric(c, "lc.p50_us"));
}

static void actions_act(void **state)
{
	CLEANUP(sim_scenario_freep)
	struct sim_scenario *s =
		load(HEAD BE "[process other]\nkind = be\nkernel_us = 1000\n"
			     "[actions]\nat_ms = 0\ntarget = be\ndo = suspend\n"
			     "at_ms = 2000\ntarget = be[0]\ndo = resume\n"
			     "at_ms = 100\ntarget = other\ndo = set\ntimeslice_us = 500\n"
			     "interleave = high\npreempt_mode = cta\n");
	CLEANUP(sim_result_freep) struct sim_result *r = run(s);

	assert_int_equal(r->calls, 5);
	assert_true(metric(r, "be.suspended_pct") > 49 && metric(r, "be.suspended_pct") < 51);
	assert_true(metric(r, "other.rate") > 2 * metric(r, "be.rate"));
	assert_true(metric(r, "be.rate") > 100);
	assert_int_equal(r->processes[1].is.timeslice_us, 500);
	assert_int_equal(r->processes[1].is.interleave, GPUSCHED_INTERLEAVE_HIGH);
	assert_int_equal(r->processes[1].is.preempt_mode, GPUSCHED_PREEMPT_CTA);
}

static void rotation_leaves_one_runnable(void **state)
{
	CLEANUP(sim_scenario_freep)
	struct sim_scenario *s = load(
		HEAD BE "count = 4\ntimeslice_us = 20\n[rotate]\ntarget = be\nperiod_ms = 20\n");
	CLEANUP(sim_result_freep) struct sim_result *r = run(s);

	assert_true(metric(r, "be.rate") > 930);
	for (int i = 0; i < 4; i++) {
		char name[32];

		snprintf(name, sizeof(name), "be[%d].suspended_pct", i);
		assert_true(metric(r, name) > 70 && metric(r, name) < 80);
	}
}

static void processes_come_and_go(void **state)
{
	CLEANUP(sim_scenario_freep)
	struct sim_scenario *s =
		load(HEAD BE "[process brief]\nkind = be\nkernel_us = 1000\nstart_s = 1.5\n"
			     "stop_s = 2\ncount = 3\nstart_step_s = 0.1\n");
	CLEANUP(sim_result_freep) struct sim_result *r = run(s);

	assert_true(r->processes[1].ran_s > 0.49 && r->processes[1].ran_s < 0.51);
	assert_true(r->processes[3].ran_s > 0.29 && r->processes[3].ran_s < 0.31);
	assert_true(r->processes[1].kernels > 80);
	assert_true(metric(r, "be.rate") > 750 && metric(r, "be.rate") < 900);
	assert_true(metric(r, "@be.rate") > metric(r, "be.rate") + 100);
}

static void spread_uses_all_gpus(void **state)
{
	CLEANUP(sim_scenario_freep)
	struct sim_scenario *s =
		load("[scenario]\nduration_s = 3\ngpus = 3\n" BE "count = 3\ngpu = spread\n");
	CLEANUP(sim_result_freep) struct sim_result *r = run(s);

	assert_true(metric(r, "be.rate_min") > 980);
	assert_int_equal(r->processes[2].gpu, 2);
}

static void checks_pass_and_fail(void **state)
{
	CLEANUP(sim_scenario_freep)
	struct sim_scenario *s =
		load(HEAD BE "[expect]\nbe.rate >= 900\nbe.rate <= 900\nbe.p50_us <= 1e9\n"
			     "be.rate / be.rate >= 1\n"
			     "[reference]\nbe.rate = 1000 within 2%\nbe.rate = 1100 within 2%\n"
			     "[missed]\nbe.rate = 1 within 1%\n");
	CLEANUP(sim_result_freep) struct sim_result *r = run(s);
	const bool want[] = { true, false, false, true, true, false, false };

	for (size_t i = 0; i < GS_COUNT(want); i++)
		assert_int_equal(r->checks[i].ok, want[i]);
	assert_false(r->checks[2].known);
	assert_false(r->passed);
}

static void known_miss_is_not_counted(void **state)
{
	CLEANUP(sim_scenario_freep)
	struct sim_scenario *s = load(HEAD BE "[missed]\nbe.rate = 1 within 1%\n");
	CLEANUP(sim_result_freep) struct sim_result *r = run(s);

	assert_false(r->checks[0].ok);
	assert_true(r->passed);
}

/* ---- a policy host --------------------------------------------------------------------------- */

enum misdeed { NONE, FAIL_TICK, ABSURD_WISH, HOLD_BE, DENY_BE, ALL_SHORT, SUSPEND_ALL, FIDGET };

struct fake {
	struct gs_world world;
	unsigned int inits, schedules, slices, launches, destroys, ticks, exits;
	enum gs_policy_exit_kind reason;
	enum misdeed misdeed;
};
static struct fake fake;

static int fake_vet(struct gs_policy *p, const char *policy, struct gs_policy_exit *x,
		    struct gs_error *err)
{
	enum misdeed misdeed = fake.misdeed;

	if (strcmp(policy, "fake"))
		return gs_fail(err, -ENOENT, "no policy %s", policy);
	fake = (struct fake){ .world = p->world, .misdeed = misdeed };
	p->info.tick_us = misdeed == FIDGET ? 10000 : 100000;
	p->info.flags = GPUSCHED_F_WORK;
	return 0;
}

static int fake_link(struct gs_policy *p, struct gs_policy_exit *x, struct gs_error *err)
{
	return 0;
}

static void fake_task_init(struct gpusched_task *t)
{
	fake.inits++;
	if (t->class_id != GPUSCHED_CLASS_BE)
		return;
	t->want.valid = GPUSCHED_TIMESLICE;
	t->want.timeslice_us = 50;
}

static int fake_schedule(const struct gpusched_task *t)
{
	fake.schedules++;
	if (t->class_id != GPUSCHED_CLASS_BE)
		return GPUSCHED_ADMIT;
	return fake.misdeed == HOLD_BE   ? GPUSCHED_HOLD
	       : fake.misdeed == DENY_BE ? GPUSCHED_DENY
					 : GPUSCHED_ADMIT;
}

static int fake_tick(void)
{
	struct gpusched_task *const *tasks;
	size_t n;

	tasks = fake.world.tasks(fake.world.user, &n);
	fake.ticks++;
	if (fake.ticks < 10)
		return 0;
	if (fake.misdeed == FAIL_TICK)
		return -EIO;
	if (fake.misdeed == ABSURD_WISH) {
		tasks[0]->want.valid |= GPUSCHED_PREEMPT_MODE;
		tasks[0]->want.preempt_mode = 9;
	}
	for (size_t i = 0; i < n; i++)
		if (fake.misdeed == HOLD_BE)
			tasks[i]->want.valid &= ~GPUSCHED_RUNNABLE;
		else if (fake.misdeed == ALL_SHORT)
			gs_field_put(&tasks[i]->want, GPUSCHED_TIMESLICE, 1);
		else if (fake.misdeed == SUSPEND_ALL)
			gs_field_put(&tasks[i]->want, GPUSCHED_RUNNABLE, 0);
		else if (fake.misdeed == FIDGET)
			gs_field_put(&tasks[i]->want, GPUSCHED_TIMESLICE, 1000 + fake.ticks);
	return 0;
}

static int fake_ask(struct gs_policy *p, struct gpusched_run *r, struct gpusched_task *t)
{
	switch (r->op) {
	case GPUSCHED_RUN_TASK_INIT:
		fake_task_init(t);
		break;
	case GPUSCHED_RUN_SCHEDULE:
		r->ret = fake_schedule(t);
		break;
	case GPUSCHED_RUN_TIMESLICE_SET:
		fake.slices++;
		assert_int_equal(r->arg, t->asked.timeslice_us);
		break;
	case GPUSCHED_RUN_WORK_SUBMIT:
		fake.launches += (uint32_t)r->arg;
		break;
	case GPUSCHED_RUN_TASK_DESTROY:
		fake.destroys++;
		break;
	case GPUSCHED_RUN_TICK:
		return fake_tick();
	default:
		break;
	}
	return 0;
}

static void fake_free(struct gs_policy *p)
{
	free(p);
}

static bool fake_detach(struct gs_policy *p, enum gs_policy_exit_kind kind)
{
	fake.exits++;
	fake.reason = kind;
	return true;
}

static const struct gs_host fake_host = {
	.name = "fake",
	.size = sizeof(struct gs_policy),
	.virtual_time = true,
	.vet = fake_vet,
	.link = fake_link,
	.detach = fake_detach,
	.free = fake_free,
	.ask = fake_ask,
};

static struct sim_result *run_policy(struct sim_scenario *s, enum misdeed misdeed)
{
	struct sim_run_options o = { .policy = "fake", .host = &fake_host };

	fake.misdeed = misdeed;
	return run_with(s, &o);
}

static void an_unknown_policy_is_refused(void **state)
{
	CLEANUP(sim_scenario_freep) struct sim_scenario *s = load(HEAD LC BE);
	struct sim_run_options o = { .policy = "unknown", .host = &fake_host };
	struct sim_result *r = NULL;
	struct gs_error err = { 0 };

	assert_true(sim_scenario_run(s, &o, &r, &err) < 0);
	assert_non_null(strstr(err.text, "unknown"));
}

static void wishes_are_carried_out(void **state)
{
	CLEANUP(sim_scenario_freep) struct sim_scenario *s = load(HEAD LC BE "stop_s = 2.5\n");
	CLEANUP(sim_result_freep) struct sim_result *r = run_policy(s, NONE);
	CLEANUP(sim_result_freep) struct sim_result *without = run(s);

	assert_int_equal(fake.inits, 2);
	assert_int_equal(fake.schedules, 2);
	assert_int_equal(fake.slices, 2);
	assert_int_equal(fake.destroys, 1);
	assert_int_equal(fake.ticks, 30);
	assert_int_equal(fake.exits, 1);
	assert_int_equal(fake.reason, GPUSCHED_EXIT_STOPPED);
	assert_true(fake.launches > 2000);
	assert_int_equal(r->calls, 1);
	assert_int_equal(r->processes[1].is.timeslice_us, 50);
	assert_int_equal(r->processes[0].is.timeslice_us, GPUSCHED_CUDA_TIMESLICE_US);
	assert_true(metric(r, "lc.p90_us") < metric(without, "lc.p90_us") / 3);
	assert_true(r->passed);
}

static void failed_policy_leaves_the_owners_settings(void **state)
{
	CLEANUP(sim_scenario_freep) struct sim_scenario *s = load(HEAD LC BE);
	CLEANUP(sim_result_freep) struct sim_result *r = run_policy(s, FAIL_TICK);

	assert_int_equal(fake.exits, 1);
	assert_int_equal(fake.reason, GPUSCHED_EXIT_ERROR);
	assert_int_equal(fake.ticks, 10);
	assert_true(r->policy_failure[0]);
	assert_false(r->passed);
	assert_int_equal(r->processes[1].is.timeslice_us, GPUSCHED_CUDA_TIMESLICE_US);
	assert_int_equal(r->calls, 2);
	assert_int_equal(r->engine[GS_ENG_RESTORED], 1);
}

/* A wish out of range is refused and counted once, and the policy goes on, as on a real machine. */
static void a_wish_out_of_range_is_refused(void **state)
{
	CLEANUP(sim_scenario_freep) struct sim_scenario *s = load(HEAD LC BE);
	CLEANUP(sim_result_freep) struct sim_result *r = run_policy(s, ABSURD_WISH);

	assert_int_equal(fake.ticks, 30);
	assert_true(r->passed);
	assert_int_equal(r->engine[GS_ENG_REFUSED_RANGE], 1);
	assert_int_equal(r->processes[0].is.preempt_mode, GPUSCHED_PREEMPT_CILP);
}

static void a_person_overrides_the_policy(void **state)
{
	CLEANUP(sim_scenario_freep)
	struct sim_scenario *s =
		load(HEAD LC BE "[actions]\nat_ms = 100\ntarget = be\ndo = suspend\n"
				"[actions]\nat_ms = 1500\ntarget = be\ndo = resume\n"
				"[actions]\nat_ms = 200\ntarget = be\ntimeslice_us = 3000\n"
				"[actions]\nat_ms = 300\ntarget = lc\ndo = preempt\n");
	CLEANUP(sim_result_freep) struct sim_result *r = run_policy(s, NONE);

	assert_int_equal(r->processes[1].is.timeslice_us, 3000);
	assert_int_equal(r->processes[1].is.runnable, 1);
	assert_int_equal(r->calls, 5);
	assert_int_equal(r->engine[GS_ENG_CALLS], 5);
	assert_in_range(r->processes[1].suspended_ns, 450000000, 550000000);
}

#define THREE "[process be]\nkind = be\nkernel_us = 1000\ncount = 3\n"

/*
 * Several slices below the switch cost would leave time for nothing but switches. So no TSG gets
 * one, and all TSGs make progress.
 */
static void one_short_slice_per_runlist(void **state)
{
	CLEANUP(sim_scenario_freep) struct sim_scenario *s = load(HEAD THREE);
	CLEANUP(sim_result_freep) struct sim_result *r = run_policy(s, ALL_SHORT);

	assert_int_equal(r->engine[GS_ENG_REFUSED_SLICE], 3);
	for (unsigned int i = 0; i < 3; i++)
		assert_int_equal(r->processes[i].is.timeslice_us, 800);
	assert_true(metric(r, "be.rate_min") > 150);
}

static void no_suspension_for_ever(void **state)
{
	CLEANUP(sim_scenario_freep)
	struct sim_scenario *s = load("[scenario]\nduration_s = 20\nwarmup_s = 0\n" THREE);
	CLEANUP(sim_result_freep) struct sim_result *r = run_policy(s, SUSPEND_ALL);

	assert_int_equal(r->engine[GS_ENG_RELEASED_SUSPEND], 3);
	for (unsigned int i = 0; i < 3; i++)
		assert_int_equal(r->processes[i].is.runnable, 1);
	assert_in_range((int)metric(r, "be.suspended_pct"), 9, 11); /* 2 s of 20 */
}

static void calls_on(unsigned int gpus)
{
	char text[2048];
	int n = snprintf(text, sizeof(text),
			 "[scenario]\nduration_s = 10\nwarmup_s = 0\ngpus = %u\n", gpus);

	for (unsigned int i = 0; i < gpus; i++)
		n += snprintf(text + n, sizeof(text) - (size_t)n,
			      "[process be%u]\nkind = be\nkernel_us = 1000\ncount = 3\ngpu = %u\n",
			      i, i);
	CLEANUP(sim_scenario_freep) struct sim_scenario *s = load(text);
	CLEANUP(sim_result_freep) struct sim_result *r = run_policy(s, FIDGET);

	assert_true(r->engine[GS_ENG_OVER_BUDGET] > 100);
	assert_in_range(r->call_ns, 250000000, 300000000);
	/* calls in progress */
	assert_true(r->call_ns - r->engine[GS_ENG_CALL_NS] < gpus * 2000000ull);
}

/* A policy's calls get 3 % of 10 s, however many GPUs there are. */
static void calls_have_a_budget(void **state)
{
	calls_on(1);
	calls_on(2);
	calls_on(8);
}

static void held_waits_until_admitted(void **state)
{
	CLEANUP(sim_scenario_freep)
	struct sim_scenario *s = load("[scenario]\nduration_s = 2\nwarmup_s = 0\n" BE);
	CLEANUP(sim_result_freep) struct sim_result *r = run_policy(s, HOLD_BE);

	assert_true(metric(r, "be.suspended_pct") > 49 && metric(r, "be.suspended_pct") < 52);
	assert_true(metric(r, "be.rate") > 450 && metric(r, "be.rate") < 510);
}

static void denied_does_not_run(void **state)
{
	CLEANUP(sim_scenario_freep) struct sim_scenario *s = load(HEAD LC BE);
	CLEANUP(sim_result_freep) struct sim_result *r = run_policy(s, DENY_BE);

	assert_true(metric(r, "be.rate") == 0);
	assert_true(metric(r, "lc.p99_us") < 200);
}

/* ---- output ---------------------------------------------------------------------------------- */

static void timeline_has_the_turns(void **state)
{
	CLEANUP(sim_scenario_freep) struct sim_scenario *s = load(HEAD BE "count = 2\n");
	struct sim_run_options o = { .timeline_ms = 50 };
	CLEANUP(sim_result_freep) struct sim_result *r = run_with(s, &o);
	char text[20000] = "";
	FILE *f = fmemopen(text, sizeof(text) - 1, "w");

	assert_true(r->nturns > 15 && r->nturns < 30);
	for (size_t i = 0; i < r->nturns; i++)
		assert_true(r->turns[i].end_ns >= r->turns[i].start_ns);
	assert_int_equal(sim_report_timeline(r, f), 0);
	fclose(f);
	assert_non_null(strstr(text, "be[1]"));
	assert_non_null(strstr(text, "boxxyerror"));
}

static void tables_are_printed(void **state)
{
	CLEANUP(sim_scenario_freep)
	struct sim_scenario *s = load(HEAD BE "[expect]\nbe.rate >= 9000\n");
	CLEANUP(sim_result_freep) struct sim_result *r = run(s);
	char text[8000] = "";
	FILE *f = fmemopen(text, sizeof(text) - 1, "w");

	assert_int_equal(sim_report_table(r, f), 0);
	fclose(f);
	assert_non_null(strstr(text, "P99_US"));
	assert_non_null(strstr(text, "FAILED"));
	assert_null(strstr(text, "nan"));
}

static void exit_codes(void **state)
{
	const struct gs_option_text option = { "colour", "red" }, bad_seed = { "seed", "x" };

	setenv("GPUSCHED_SCENARIOS", "/nonexistent", 1);
	assert_int_equal(sim_cmd_run("no-such-scenario", NULL, 0, false), GS_EXIT_USAGE);
	assert_int_equal(sim_cmd_run("all", &option, 1, false), GS_EXIT_USAGE);
	assert_int_equal(sim_cmd_run("all", &bad_seed, 1, false), GS_EXIT_USAGE);
}

/* Arrivals depend only on the seed and the process's own name. */
static void arrivals_follow_the_name(void **state)
{
	static const char open_lc[] =
		"[process lc]\nkind = lc\narrivals = poisson\nkernel_us = 10\ngap_us = 5000\n";
	static const char *const beside[] = {
		"", BE, "[process a]\nkind = lc\nkernel_us = 100\ngap_us = 900\n"
	};
	double requests[3];

	for (size_t i = 0; i < 3; i++) {
		CLEANUP(sim_scenario_freep) struct sim_scenario *s = NULL;
		CLEANUP(sim_result_freep) struct sim_result *r = NULL;
		char text[512];

		snprintf(text, sizeof(text), "[scenario]\nduration_s = 60\n%s%s", beside[i],
			 open_lc);
		s = load(text);
		r = run(s);
		requests[i] = metric(r, "lc.requests");
	}
	assert_true(requests[0] > 11000);
	assert_true(fabs(requests[1] - requests[0]) <= 3);
	assert_true(fabs(requests[2] - requests[0]) <= 3);
}

/* Bursty arrivals are as many as even ones, but queue behind each other. */
static void bursty_arrivals_queue(void **state)
{
	static const char lc[] = "kind = lc\narrivals = poisson\nkernel_us = 2000\ngap_us = 5000\n";
	CLEANUP(sim_scenario_freep) struct sim_scenario *s = NULL;
	CLEANUP(sim_result_freep) struct sim_result *r = NULL;
	char text[512];

	snprintf(text, sizeof(text),
		 "[scenario]\nduration_s = 300\ngpus = 2\n[process even]\n%s[process bursty]\n%s"
		 "cv = 5\ngpu = 1\n",
		 lc, lc);
	s = load(text);
	r = run(s);
	assert_true(fabs(metric(r, "bursty.requests") / metric(r, "even.requests") - 1) < 0.2);
	assert_true(metric(r, "bursty.p50_us") > 1.3 * metric(r, "even.p50_us"));
}

/* The time of each piece of a request is recorded. */
static void pieces_are_timed(void **state)
{
	CLEANUP(sim_scenario_freep)
	struct sim_scenario *s = load(HEAD "[process lc]\nkind = lc\narrivals = closed\n"
					   "kernel_us = 1000\nkernels = 8\nwait_every = 1\n"
					   "gap_us = 5000\n");
	CLEANUP(sim_result_freep) struct sim_result *r = run(s);

	assert_true(metric(r, "lc.piece_p50_us") > 1000 && metric(r, "lc.piece_p50_us") < 1100);
	assert_true(fabs(metric(r, "lc.p50_us") - 8 * metric(r, "lc.piece_p50_us")) < 200);
	/* the window may cut a request at either end */
	assert_true(fabs((double)r->processes[0].npieces -
			 8.0 * (double)r->processes[0].nlatency) <= 8);
}

#define IN_SERVER(priority) "server = s\npriority = " priority "\n"

/* Clients of an MPS server run side by side in one TSG, without switches. */
static void clients_share_a_server(void **state)
{
	static const char three[] = HEAD LC IN_SERVER("0") BE "count = 3\n" IN_SERVER("0");
	static const char first[] = HEAD LC IN_SERVER("0") BE "count = 3\n" IN_SERVER("1");

	assert_true(of(three, "lc.p50_us") > 1500); /* two kernels of others come before it */
	assert_true(of(first, "lc.p50_us") < 700);
	assert_true(of(first, "be.rate") > 1100);
	assert_true(of(first, "lc.switches") + of(first, "be.switches") <= 1);
	assert_true(of(first, "be[2].rate") > 300);
}

static void a_cap_is_kept(void **state)
{
	static const char half[] = HEAD BE "server = s\nsm_pct = 50\n";

	assert_true(fabs(of(half, "be.rate") - 500) < 10);
	refused(HEAD BE "sm_pct = 50\n", "server");
	refused(HEAD BE "priority = 1\n", "server");
	refused(HEAD BE "server = s\nstop_s = 1\n", "stop_s");
}

/* Suspending the server's TSG stops every client. */
static void a_server_is_suspended_whole(void **state)
{
	static const char text[] = HEAD "warmup_s = 1.5\n" BE "count = 3\nserver = s\n"
					"[actions]\nat_ms = 1000\ntarget = be[0]\ndo = suspend\n";

	assert_true(of(text, "be.rate") < 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_long_comment_sets_no_key),
		cmocka_unit_test(broken_files_are_refused),
		cmocka_unit_test(a_file_has_rows),
		cmocka_unit_test(broken_rows_are_refused),
		cmocka_unit_test(missing_file),
		cmocka_unit_test(request_alone_costs_kernel_and_launch),
		cmocka_unit_test(back_to_back_fills_the_gpu),
		cmocka_unit_test(open_loop_counts_from_the_arrival),
		cmocka_unit_test(same_seed_same_result),
		cmocka_unit_test(arrivals_follow_the_name),
		cmocka_unit_test(bursty_arrivals_queue),
		cmocka_unit_test(pieces_are_timed),
		cmocka_unit_test(clients_share_a_server),
		cmocka_unit_test(a_cap_is_kept),
		cmocka_unit_test(a_server_is_suspended_whole),
		cmocka_unit_test(actions_act),
		cmocka_unit_test(rotation_leaves_one_runnable),
		cmocka_unit_test(processes_come_and_go),
		cmocka_unit_test(spread_uses_all_gpus),
		cmocka_unit_test(checks_pass_and_fail),
		cmocka_unit_test(known_miss_is_not_counted),
		cmocka_unit_test(an_unknown_policy_is_refused),
		cmocka_unit_test(wishes_are_carried_out),
		cmocka_unit_test(failed_policy_leaves_the_owners_settings),
		cmocka_unit_test(a_wish_out_of_range_is_refused),
		cmocka_unit_test(a_person_overrides_the_policy),
		cmocka_unit_test(one_short_slice_per_runlist),
		cmocka_unit_test(no_suspension_for_ever),
		cmocka_unit_test(calls_have_a_budget),
		cmocka_unit_test(held_waits_until_admitted),
		cmocka_unit_test(denied_does_not_run),
		cmocka_unit_test(timeline_has_the_turns),
		cmocka_unit_test(tables_are_printed),
		cmocka_unit_test(exit_codes),
	};

	return cmocka_run_group_tests_name("scenario", tests, make_file, remove_file);
}
