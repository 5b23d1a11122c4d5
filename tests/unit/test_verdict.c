/* SPDX-License-Identifier: MIT */
/* test_verdict.c - check the findings that follow from figures, and the rates they are based on */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>
#include <math.h>

#include "basic/clock.h"
#include "config/config.h"
#include "figures/kept_off.h"
#include "figures/verdict.h"
#include "gpusched/abi.h"

static const struct gs_limits limits = {
	1800 * NS_PER_S,
	2048ull << 20,
};
static struct gs_findings found;

static void anew(void)
{
	gs_verdict_done(&found);
}

/* Expects exactly one finding, of this kind. */
static const struct gs_finding *only(enum gs_finding_kind kind)
{
	assert_int_equal(found.n, 1);
	assert_string_equal(gs_verdict_name(found.all[0].kind), gs_verdict_name(kind));
	assert_true(*found.all[0].text && *found.all[0].remedy);
	return &found.all[0];
}

static void limits_are_the_configuration(void **state)
{
	struct gs_config *c = NULL;
	struct gs_limits l;

	assert_int_equal(gs_config_new(&c), 0);
	l = gs_verdict_limits(c);
	assert_true(l.idle_ns == limits.idle_ns && l.idle_bytes == limits.idle_bytes);
	c->idle_memory_mib = 1;
	assert_int_equal(gs_verdict_limits(c).idle_bytes, 1 << 20);
	assert_false(gs_verdict_is_lossy(10));
	assert_true(gs_verdict_is_lossy(11));
	gs_config_free(c);
}

static void harm_by_calm_minutes(void **state)
{
	assert_false(gs_verdict_is_harmed(99, 0, 0));
	assert_false(gs_verdict_is_harmed(99, 10, 0));
	assert_true(gs_verdict_is_harmed(0, 11, 0));
	assert_false(gs_verdict_is_harmed(99, 60, 30));
	assert_true(gs_verdict_is_harmed(99, 75, 30));
	/* it waits for 80 % even in calm minutes, and no wait can be twice as long */
	assert_false(gs_verdict_is_harmed(99, 100, 80));
}

static void harm_without_calm_minutes(void **state)
{
	assert_false(gs_verdict_is_harmed(NAN, NAN, NAN));
	assert_false(gs_verdict_is_harmed(99, NAN, 5));
	assert_false(gs_verdict_is_harmed(10, 90, NAN));
	assert_false(gs_verdict_is_harmed(90, 60, NAN));
	assert_true(gs_verdict_is_harmed(11, 61, NAN));
}

/* ---- the instance ---------------------------------------------------------------------------- */

static void a_quiet_instance(void **state)
{
	const struct gs_state_facts s = { .daemon = true, .policy = "auto" };

	anew();
	gs_verdict_state(&s, &found);
	assert_int_equal(found.n, 0);
}

static void no_daemon(void **state)
{
	const struct gs_state_facts s = { .start_daemon = "start it" };

	anew();
	gs_verdict_state(&s, &found);
	assert_string_equal(only(GS_FINDING_NO_DAEMON)->remedy, "start it: 'start it'");
}

static void a_policy_that_died(void **state)
{
	struct gs_state_facts s = { .daemon = true,
				    .died = "mine",
				    .died_start = "/x/mine.bpf.o",
				    .died_why = "tick took too long",
				    .died_ns = 77 };
	const struct gs_finding *f;

	anew();
	gs_verdict_state(&s, &found);
	f = only(GS_FINDING_POLICY_DIED);
	assert_int_equal(gs_verdict_level(f->kind), GS_LEVEL_WRONG);
	assert_non_null(strstr(f->text, "tick took too long"));
	assert_non_null(strstr(f->remedy, "'sudo gpusched policy start /x/mine.bpf.o'"));
	assert_int_equal(f->since_ns, 77);
	anew();
	s.died_start = NULL;
	gs_verdict_state(&s, &found);
	assert_non_null(strstr(only(GS_FINDING_POLICY_DIED)->remedy, "from its file again"));
}

static void programs_without_a_class_that_wait(void **state)
{
	struct gs_classless_facts c = {
		.gpu = 1, .several = true, .tsg = 5, .pid = 4711, .comm = "train", .waited_pct = 48
	};
	const struct gs_finding *f;

	anew();
	gs_verdict_classless(&c, &found);
	f = only(GS_FINDING_CLASSLESS);
	assert_int_equal(gs_verdict_level(f->kind), GS_LEVEL_NOTE);
	assert_non_null(strstr(f->text, "GPU 1, and process 4711 (train) waits 48 %"));
	assert_non_null(strstr(f->remedy, "gpusched advise"));
	assert_int_equal(f->gpu, 1);
	assert_int_equal(f->pid, 4711);
	anew();
	c.waited_pct = 10;
	gs_verdict_classless(&c, &found);
	c.waited_pct = NAN;
	gs_verdict_classless(&c, &found);
	c = (struct gs_classless_facts){ .tsg = 5, .pid = 1, .waited_pct = 48 };
	gs_verdict_classless(&c, &found); /* it is alone without a class */
	assert_int_equal(found.n, 0);
}

static void a_policy_other_than_configured(void **state)
{
	struct gs_state_facts s = { .daemon = true, .policy = "rr", .differs = "lcbe" };
	const struct gs_finding *f;

	anew();
	gs_verdict_state(&s, &found);
	f = only(GS_FINDING_POLICY_DIFFERS);
	assert_non_null(strstr(f->text, "names policy lcbe, and rr runs"));
	s.differs = "";
	anew();
	gs_verdict_state(&s, &found);
	assert_non_null(strstr(only(GS_FINDING_POLICY_DIFFERS)->text, "names policy none"));
}

static void rules_that_are_passed_over_are_a_note(void **state)
{
	struct gs_state_facts s = { .daemon = true, .root_passed = 2 };

	anew();
	gs_verdict_state(&s, &found);
	assert_int_equal(gs_verdict_level(only(GS_FINDING_ROOT_PASSED)->kind), GS_LEVEL_NOTE);
	assert_non_null(strstr(only(GS_FINDING_ROOT_PASSED)->text, "2 programs have no class"));
}

static void folders_without_a_watch_are_a_note(void **state)
{
	struct gs_state_facts s = { .daemon = true, .pods_unwatched = 1 };

	anew();
	gs_verdict_state(&s, &found);
	assert_int_equal(gs_verdict_level(only(GS_FINDING_PODS_UNWATCHED)->kind), GS_LEVEL_NOTE);
	assert_non_null(strstr(only(GS_FINDING_PODS_UNWATCHED)->text, "1 folder that names pods"));
}

static void dry_run_is_a_note(void **state)
{
	const struct gs_state_facts s = { .daemon = true, .dry_run = true };

	anew();
	gs_verdict_state(&s, &found);
	assert_int_equal(gs_verdict_level(only(GS_FINDING_DRY_RUN)->kind), GS_LEVEL_NOTE);
}

static void a_driver_that_is_not_known(void **state)
{
	const struct gs_state_facts s = { .daemon = true, .dry_run = true, .unknown_branch = 999 };
	const struct gs_finding *f;

	anew();
	gs_verdict_state(&s, &found);
	f = only(GS_FINDING_DRIVER_UNKNOWN);
	assert_int_equal(gs_verdict_level(f->kind), GS_LEVEL_WRONG);
	assert_non_null(strstr(f->text, "branch 999"));
	assert_non_null(strstr(f->remedy, "'gpusched doctor'"));
}

static void troubles(void **state)
{
	struct gs_state_facts s = { .daemon = true, .rose = { .stuck = 1, .table_full = 3 } };

	anew();
	gs_verdict_state(&s, &found);
	assert_int_equal(found.n, 2);
	s.rose = (struct gs_trouble_counts){ .log_lost = 1 };
	anew();
	gs_verdict_state(&s, &found);
	only(GS_FINDING_LOG_LOST);
	s.rose = (struct gs_trouble_counts){ .gave_up = 1 };
	anew();
	gs_verdict_state(&s, &found);
	only(GS_FINDING_GAVE_UP);
}

static void classes_without_effect(void **state)
{
	struct gs_class_facts c = { .name = "lc" };

	anew();
	gs_verdict_class(&c, &found);
	assert_non_null(strstr(only(GS_FINDING_CLASS_IDLE)->text, "has no effect"));
	c = (struct gs_class_facts){ .name = "batch", .policy = "mine" };
	anew();
	gs_verdict_class(&c, &found);
	assert_int_equal(found.n, 0); /* it is unknown on which classes the policy acts */
	c.ignored = true;
	c.acts_on = "lc be";
	gs_verdict_class(&c, &found);
	assert_string_equal(only(GS_FINDING_CLASS_IDLE)->text,
			    "policy mine does not act on class batch");
	assert_non_null(strstr(found.all[0].remedy, "'sudo gpusched class set class:batch be'"));
	/* class normal keeps its settings, which hurts only services */
	c = (struct gs_class_facts){ .name = "normal", .policy = "auto", .ignored = true };
	anew();
	gs_verdict_class(&c, &found);
	assert_int_equal(found.n, 0);
	c.beside_lc = true;
	gs_verdict_class(&c, &found);
	assert_string_equal(only(GS_FINDING_CLASS_IDLE)->text,
			    "class normal keeps its own settings beside services");
	c.policy = NULL;
	anew();
	gs_verdict_class(&c, &found);
	assert_int_equal(found.n, 0);
}

/* ---- GPUs ------------------------------------------------------------------------------------ */

static struct gs_gpu_facts gpu(double lost, double lately)
{
	struct gs_gpu_facts g = { .gpu = 3, .read = true, .log = true };

	gs_gpu_rates_unknown(&g.window);
	gs_gpu_rates_unknown(&g.lately);
	g.window.lost_pct = lost;
	g.lately.lost_pct = lately;
	g.window.switches_per_s = 100;
	g.lately.switches_per_s = 900;
	return g;
}

static void lost_time(void **state)
{
	struct gs_gpu_facts g = gpu(NAN, NAN);
	const struct gs_finding *f;

	anew();
	gs_verdict_gpu(&g, &found);
	g = gpu(10, 9);
	gs_verdict_gpu(&g, &found);
	assert_int_equal(found.n, 0);
	g = gpu(11, NAN);
	gs_verdict_gpu(&g, &found);
	assert_non_null(strstr(only(GS_FINDING_LOST_TIME)->text, "11 % of its time in 100"));
	anew();
	g = gpu(2, 20); /* 2 % in the window, 20 % in the last second */
	gs_verdict_gpu(&g, &found);
	f = only(GS_FINDING_LOST_TIME);
	assert_non_null(strstr(f->text, "GPU 3 loses 20 % of its time in 900"));
	assert_true(f->amount_pct == 20 && f->gpu == 3);
}

static void a_log_that_nobody_reads(void **state)
{
	struct gs_gpu_facts g = { .gpu = 0, .reason = "module options" };

	anew();
	gs_verdict_gpu(&g, &found); /* the missing daemon has been reported already */
	assert_int_equal(found.n, 0);
	g.read = true;
	gs_verdict_gpu(&g, &found);
	only(GS_FINDING_LOG_UNREAD);
	g.reason = NULL; /* no program came, so the log was not opened */
	anew();
	gs_verdict_gpu(&g, &found);
	assert_int_equal(found.n, 0);
}

static void mig_is_not_wrong(void **state)
{
	const struct gs_gpu_facts g = { .read = true, .reason = "in MIG mode ...", .mig = true };

	anew();
	gs_verdict_gpu(&g, &found);
	assert_int_equal(gs_verdict_level(only(GS_FINDING_NO_MIG_LOG)->kind), GS_LEVEL_UNKNOWN);
}

/* ---- programs -------------------------------------------------------------------------------- */

static struct gs_tsg_facts tsg(double held, double waited, double share)
{
	struct gs_tsg_facts t = { .id = 9, .pid = 42, .comm = "server", .calm_pct = NAN };

	gs_tsg_rates_unknown(&t.window);
	t.window.held_pct = held;
	t.window.waited_pct = waited;
	t.window.wait_share_pct = share;
	return t;
}

static void starved(void **state)
{
	struct gs_tsg_facts t = tsg(0.5, NAN, NAN);

	anew();
	gs_verdict_tsg(&t, &found); /* the TSG is idle */
	t.waiting = t.suspended = true;
	gs_verdict_tsg(&t, &found);
	assert_int_equal(found.n, 0);
	t.suspended = false;
	gs_verdict_tsg(&t, &found);
	assert_int_equal(only(GS_FINDING_STARVED)->pid, 42);
	anew();
	t.window.held_pct = 1;
	gs_verdict_tsg(&t, &found);
	assert_int_equal(found.n, 0);
}

static void a_harmed_service(void **state)
{
	struct gs_tsg_facts t = tsg(20, 60, 75);

	anew();
	gs_verdict_tsg(&t, &found); /* the TSG is no service */
	assert_int_equal(found.n, 0);
	t.lc = true;
	t.calm_pct = 40;
	gs_verdict_tsg(&t, &found);
	assert_int_equal(found.n, 0);
	t.calm_pct = 2;
	gs_verdict_tsg(&t, &found);
	assert_non_null(strstr(only(GS_FINDING_LC_WAITS)->text, "in its calm minutes 2 %"));
	assert_non_null(strstr(only(GS_FINDING_LC_WAITS)->remedy, "policy start auto"));
	t.policy = "auto";
	anew();
	gs_verdict_tsg(&t, &found);
	assert_non_null(strstr(only(GS_FINDING_LC_WAITS)->remedy, "'gpusched advise'"));
}

static void a_service_that_is_late_because_of_others(void **state)
{
	struct gs_tsg_facts t = tsg(20, NAN, NAN);

	t.class = "serve";
	t.slo = (struct gs_slo_counts){ 100, 60, 50, 5 };
	anew();
	gs_verdict_tsg(&t, &found); /* its class has no time */
	t.slo_ns = 50 * NS_PER_MS;
	gs_verdict_tsg(&t, &found); /* 5 % is not too much */
	t.slo = (struct gs_slo_counts){ 19, 19, 0, 19 };
	gs_verdict_tsg(&t, &found); /* 19 requests are too few */
	assert_int_equal(found.n, 0);
	t.slo = (struct gs_slo_counts){ 100, 60, 50, 6 };
	gs_verdict_tsg(&t, &found);
	assert_non_null(strstr(only(GS_FINDING_SLO_MISSED)->text,
			       "6 of its last 100 requests took longer than 50 ms"));
	assert_non_null(strstr(found.all[0].text, "class serve"));
	assert_true(found.all[0].amount_pct == 6);
	assert_int_equal(gs_verdict_level(GS_FINDING_SLO_MISSED), GS_LEVEL_WRONG);
}

static void waits_that_nobody_sees(void **state)
{
	struct gs_tsg_facts t = tsg(20, NAN, NAN);

	t.lc = true;
	anew();
	gs_verdict_tsg(&t, &found); /* its turns are unknown */
	t.window.turns_per_s = 100;
	t.window.cut_pct = 95; /* its slice ended nearly all turns, so its waits are known */
	gs_verdict_tsg(&t, &found);
	t.window.cut_pct = 5;
	t.counted = true;
	gs_verdict_tsg(&t, &found);
	t.counted = t.lc = false;
	gs_verdict_tsg(&t, &found);
	assert_int_equal(found.n, 0);
	t.lc = true;
	gs_verdict_tsg(&t, &found);
	assert_int_equal(gs_verdict_level(only(GS_FINDING_WAITS_UNSEEN)->kind), GS_LEVEL_UNKNOWN);
	assert_non_null(strstr(found.all[0].remedy, "'sudo gpusched observe launches on'"));
	t.counting = GS_COUNTING_ON; /* it is on already, and does not reach this program */
	anew();
	gs_verdict_tsg(&t, &found);
	assert_null(strstr(only(GS_FINDING_WAITS_UNSEEN)->remedy, "observe"));
	assert_non_null(strstr(found.all[0].remedy, "'gpusched run --class lc'"));
	t.counting = GS_COUNTING_REFUSED;
	anew();
	gs_verdict_tsg(&t, &found);
	assert_null(strstr(only(GS_FINDING_WAITS_UNSEEN)->remedy, "observe"));
	assert_non_null(strstr(found.all[0].remedy, "'gpusched run --class lc'"));
	assert_non_null(strstr(found.all[0].text, "cannot be counted"));
}

static void the_worst_comes_first(void **state)
{
	struct gs_tsg_facts t = tsg(20, 60, 75);
	const struct gs_state_facts s = { .daemon = true, .dry_run = true };

	t.lc = true;
	t.window.turns_per_s = 100;
	t.window.cut_pct = 5;
	anew();
	gs_verdict_state(&s, &found);
	gs_verdict_tsg(&t, &found);
	gs_verdict_sort(&found);
	assert_int_equal(found.n, 3);
	for (size_t i = 1; i < found.n; i++)
		assert_true(gs_verdict_level(found.all[i - 1].kind) <
			    gs_verdict_level(found.all[i].kind));
}

static void kept_idle(void **state)
{
	struct gs_kept_idle_facts k = { .policy = "holds",
					.idle_ns = 4 * NS_PER_S,
					.off_ns = 2 * NS_PER_S,
					.now_ns = 10 * NS_PER_S,
					.tsg = 9,
					.pid = 42,
					.comm = "server" };

	anew();
	gs_verdict_kept_idle(&k, &found); /* suspended a moment ago */
	k.off_ns = 7 * NS_PER_S;
	k.idle_ns = 0; /* unknown */
	gs_verdict_kept_idle(&k, &found);
	k.idle_ns = 4 * NS_PER_S;
	k.policy = NULL;
	gs_verdict_kept_idle(&k, &found);
	assert_int_equal(found.n, 0);
	k.policy = "holds";
	gs_verdict_kept_idle(&k, &found);
	assert_int_equal(only(GS_FINDING_KEPT_IDLE)->since_ns, 6 * NS_PER_S);
	assert_non_null(strstr(only(GS_FINDING_KEPT_IDLE)->text, "policy holds suspends process"));
	anew();
	k.held = true;
	gs_verdict_kept_idle(&k, &found);
	assert_non_null(strstr(only(GS_FINDING_KEPT_IDLE)->text, "does not admit process 42"));
}

/* A policy keeps a TSG off, or does not admit it. All else is no fault of the policy's. */
static void who_keeps_a_program_off(void **state)
{
	static const struct {
		uint32_t by;
		bool counts;
	} all[] = { { GPUSCHED_BY_POLICY, true },   { GPUSCHED_BY_ADMISSION, true },
		    { GPUSCHED_BY_REQUEST, false }, { GPUSCHED_BY_PERSON, false },
		    { GPUSCHED_BY_BUDGET, false },  { GPUSCHED_BY_NOBODY, false } };

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		const struct gpusched_tsg rec = {
			.task = { .id = 7, .kind = GPUSCHED_KIND_COMPUTE, .pid = 42 },
			.suspend_by = all[i].by,
			.suspended_ns = NS_PER_S,
		};
		struct gs_kept_off k = { 0 };

		gs_kept_off_take(&k, NULL, &rec);
		assert_int_equal(k.since_ns, all[i].counts ? NS_PER_S : 0);
	}
}

/* ---- rates ----------------------------------------------------------------------------------- */

static void rates_of_a_gpu(void **state)
{
	const struct gs_gpu_sums a = { .held_ns = 100, .span_ns = 500, .switches = 10 };
	const struct gs_gpu_sums b = {
		.held_ns = 900, .idle_ns = 300, .lost_ns = 50, .span_ns = 1500, .switches = 12
	};
	struct gs_gpu_rates r;

	gs_gpu_rates(&a, &b, &r);
	assert_true(r.held_pct == 80 && r.lost_pct == 5 && r.switches_per_s == 2e6);
	assert_true(r.idle_pct == 30);
	gs_gpu_rates(&b, &a, &r); /* sums shrank: the log was opened again, and began at 0 */
	assert_true(r.held_pct == 20 && r.span_ms == 500 / 1e6);
	gs_gpu_rates(&a, &a, &r);
	assert_true(isnan(r.held_pct) && isnan(r.switches_per_s));
}

static void rates_of_a_tsg(void **state)
{
	const struct gs_tsg_sums a = { .held_ns = 100, .wait_ns = 200, .waits = 1, .turns = 4 };
	const struct gs_tsg_sums b = {
		.held_ns = 700, .wait_ns = 400, .waits = 2, .turns = 8, .cut = 1, .drained = 3
	};
	const struct gs_tsg_sums unsure = {
		.held_ns = 900, .wait_ns = 400, .waits = 2, .turns = 12, .cut = 1, .drained = 3
	};
	struct gs_tsg_rates r;

	gs_tsg_rates(&a, &b, 1000, &r);
	assert_true(r.held_pct == 60 && r.wait_share_pct == 25 && r.cut_pct == 25);
	assert_true(isnan(r.alone_pct) && isnan(r.work_pct));
	gs_tsg_rates(&b, &unsure, 1000, &r); /* why the last turns ended is not known */
	assert_true(isnan(r.cut_pct) && r.turns_per_s > 0);
	gs_tsg_rates(&a, &b, 0, &r); /* the length of the time is unknown */
	assert_true(isnan(r.held_pct) && isnan(r.turns_per_s) && r.wait_share_pct == 25);
	gs_tsg_rates(&a, &b, 300, &r); /* more held than time: limited to 100 % */
	assert_true(r.held_pct == 100);
}

static void idle_and_holding_much(void **state)
{
	struct gs_holder_facts h = { .id = 3,
				     .pid = 4711,
				     .uid = 1000,
				     .comm = "python",
				     .bytes = 31ull << 30,
				     .idle_since_ns = 100 * NS_PER_S,
				     .now_ns = 2500 * NS_PER_S };
	const struct gs_finding *f;

	anew();
	gs_verdict_holder(&limits, &h, &found);
	f = only(GS_FINDING_MEMORY_IDLE);
	assert_string_equal(f->text,
			    "process 4711 (python) is idle and holds 31.0 GiB of GPU 0's memory");
	assert_int_equal(gs_verdict_level(f->kind), GS_LEVEL_NOTE);
	assert_int_equal(f->since_ns, h.idle_since_ns);
	assert_true(f->tsg == 3 && f->pid == 4711 && f->uid == 1000);
	anew();
	h.now_ns = h.idle_since_ns + limits.idle_ns - 1;
	gs_verdict_holder(&limits, &h, &found); /* not idle for long enough */
	h.now_ns++;
	h.bytes = limits.idle_bytes;
	gs_verdict_holder(&limits, &h, &found); /* does not hold enough memory */
	h.bytes++;
	h.idle_since_ns = 0;
	gs_verdict_holder(&limits, &h, &found); /* unknown since when it is idle */
	assert_int_equal(found.n, 0);
}

static void parked_and_lost(void **state)
{
	struct gs_parked_facts p = { .pid = 4711,
				     .uid = 1000,
				     .comm = "python",
				     .by_root = true,
				     .bytes = 31ull << 30,
				     .since_ns = 9 };
	const struct gs_finding *f;

	anew();
	gs_verdict_parked(&p, &found);
	f = only(GS_FINDING_PARKED);
	assert_string_equal(f->text, "process 4711 (python) is parked by root: 31.0 GiB");
	assert_int_equal(gs_verdict_level(f->kind), GS_LEVEL_NOTE);
	assert_true(f->pid == 4711 && f->uid == 1000 && f->since_ns == 9);
	anew();
	p.by_root = false;
	p.waits = true;
	gs_verdict_parked(&p, &found);
	assert_non_null(strstr(only(GS_FINDING_PARKED)->text, "by its user"));
	assert_non_null(strstr(only(GS_FINDING_PARKED)->text, "waits for memory"));
	anew();
	p.waits = false;
	p.by_itself = true;
	p.guest = 99;
	gs_verdict_parked(&p, &found);
	assert_string_equal(only(GS_FINDING_PARKED)->text,
			    "process 4711 (python) is parked by gpusched, since it was idle, for "
			    "process 99: 31.0 GiB");
	anew();
	p.by_policy = true;
	gs_verdict_parked(&p, &found);
	assert_non_null(strstr(only(GS_FINDING_PARKED)->text, "gpusched, as a policy wished"));
	anew();
	p.by_policy = false;
	p.guest = 0;
	p.sign = "probe";
	p.waiters = 3; /* not mentioned, since there is a clear sign */
	gs_verdict_parked(&p, &found);
	assert_string_equal(strstr(only(GS_FINDING_PARKED)->text, "31.0"),
			    "31.0 GiB, until it works again, as its probe tells");
	anew();
	p.sign = NULL;
	p.blind = true;
	gs_verdict_parked(&p, &found);
	assert_string_equal(strstr(only(GS_FINDING_PARKED)->text, "it has"),
			    "it has no agent and no probe; 3 of its threads seem to wait");
	anew();
	p.waiters = -1;
	gs_verdict_parked(&p, &found);
	assert_string_equal(strstr(only(GS_FINDING_PARKED)->text, "it has"),
			    "it has no agent and no probe");
	anew();
	p.lost = true;
	gs_verdict_parked(&p, &found);
	assert_int_equal(gs_verdict_level(only(GS_FINDING_PARK_LOST)->kind), GS_LEVEL_WRONG);
}

static void a_budget_that_is_used_up(void **state)
{
	struct gs_budget_facts b = { .of = "user",
				     .name = "alice",
				     .per = "day",
				     .until = "2026-11-26 00:00:00",
				     .used_ns = 3599 * NS_PER_S,
				     .all_ns = 3600 * NS_PER_S };
	const struct gs_finding *f;

	anew();
	gs_verdict_budget(&b, &found); /* a second of the budget is left */
	assert_int_equal(found.n, 0);
	b.used_ns = 3960 * NS_PER_S;
	gs_verdict_budget(&b, &found);
	f = only(GS_FINDING_BUDGET);
	assert_string_equal(f->text, "user alice has used up its 3600 s of GPU time a day: until "
				     "2026-11-26 00:00:00 it runs only where nobody else waits");
	assert_int_equal(gs_verdict_level(f->kind), GS_LEVEL_NOTE);
	assert_float_equal(f->amount_pct, 110, 0.01);
	anew();
	b.stop = true;
	gs_verdict_budget(&b, &found);
	assert_non_null(strstr(only(GS_FINDING_BUDGET)->text, "it is suspended"));
}

/* ---- damage ---------------------------------------------------------------------------------- */

static void a_program_without_turns(void **state)
{
	struct gs_tsg_facts t = {
		.id = 7, .pid = 3, .comm = "a", .waiting = true, .calm_pct = NAN
	};

	gs_tsg_rates_unknown(&t.window);
	t.window.held_pct = 0;
	anew();
	t.stuck_ns = 10 * NS_PER_S - 1;
	gs_verdict_tsg(&t, &found);
	only(GS_FINDING_STARVED);
	anew();
	t.stuck_ns++;
	gs_verdict_tsg(&t, &found);
	assert_int_equal(only(GS_FINDING_NO_TURN)->tsg, 7);
	anew();
	t.suspended = true;
	gs_verdict_tsg(&t, &found);
	assert_int_equal(found.n, 0);
}

static void a_program_without_steps(void **state)
{
	struct gs_tsg_facts t = { .id = 7, .pid = 3, .comm = "a", .calm_pct = NAN };

	gs_tsg_rates_unknown(&t.window);
	t.still_ns = 9 * NS_PER_S;
	anew();
	gs_verdict_tsg(&t, &found);
	assert_int_equal(found.n, 0);
	t.still_ns = 12 * NS_PER_S;
	gs_verdict_tsg(&t, &found);
	assert_non_null(strstr(only(GS_FINDING_NO_STEPS)->text, "nothing for 12 s"));
	anew();
	t.suspended = true;
	gs_verdict_tsg(&t, &found);
	assert_int_equal(found.n, 0);
}

static void reports_of_the_driver(void **state)
{
	struct gs_xid_facts x = { .number = 109,
				  .gpu = 1,
				  .tsg = 7,
				  .pid = 3,
				  .uid = 1000,
				  .comm = "a",
				  .had = "runnable=no",
				  .since_ns = 5 };
	const struct gs_finding *f;

	anew();
	gs_verdict_xid(&x, &found);
	f = only(GS_FINDING_XID);
	assert_non_null(
		strstr(f->text, "Xid 109 of process 3 (a); gpusched had done: runnable=no"));
	assert_true(f->gpu == 1 && f->tsg == 7 && f->uid == 1000 && f->since_ns == 5);
	anew();
	x = (struct gs_xid_facts){
		.number = 119, .gpu = 0, .had = "", .rpcs = 3, .ended_policy = true
	};
	gs_verdict_xid(&x, &found);
	f = only(GS_FINDING_XID);
	assert_non_null(
		strstr(f->text, "time-out 3 of the driver's firmware in a row, after which"));
	assert_non_null(strstr(f->text, "gpusched ended its policy"));
	assert_non_null(strstr(f->text, "no known process"));
	anew();
	x = (struct gs_xid_facts){ .reset = true, .gpu = -1, .had = "" };
	gs_verdict_xid(&x, &found);
	assert_int_equal(only(GS_FINDING_GPU_LOST)->gpu, -1);
}

static void a_failed_call(void **state)
{
	const struct gs_failed_call_facts c = { .tsg = 7,
						.pid = 3,
						.comm = "a",
						.gpu = 1,
						.call = "suspend",
						.status = "NV_ERR_BUSY_RETRY" };

	anew();
	gs_verdict_failed_call(&c, &found);
	assert_non_null(strstr(only(GS_FINDING_CALL_FAILED)->text, "suspend (NV_ERR_BUSY_RETRY)"));
}

static void a_quarantine(void **state)
{
	const struct gs_quarantine_facts q = { .program = "/usr/bin/a",
					       .uid = 1000,
					       .xid = 109,
					       .times = 1,
					       .left_ns = 3600 * NS_PER_S };

	anew();
	gs_verdict_quarantine(&q, &found);
	assert_non_null(strstr(only(GS_FINDING_QUARANTINE)->text,
			       "/usr/bin/a of user 1000 is in quarantine for 60 more minutes"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(limits_are_the_configuration),
		cmocka_unit_test(harm_by_calm_minutes),
		cmocka_unit_test(harm_without_calm_minutes),
		cmocka_unit_test(a_quiet_instance),
		cmocka_unit_test(no_daemon),
		cmocka_unit_test(a_policy_that_died),
		cmocka_unit_test(programs_without_a_class_that_wait),
		cmocka_unit_test(a_policy_other_than_configured),
		cmocka_unit_test(rules_that_are_passed_over_are_a_note),
		cmocka_unit_test(folders_without_a_watch_are_a_note),
		cmocka_unit_test(dry_run_is_a_note),
		cmocka_unit_test(a_driver_that_is_not_known),
		cmocka_unit_test(troubles),
		cmocka_unit_test(classes_without_effect),
		cmocka_unit_test(lost_time),
		cmocka_unit_test(a_log_that_nobody_reads),
		cmocka_unit_test(mig_is_not_wrong),
		cmocka_unit_test(starved),
		cmocka_unit_test(a_harmed_service),
		cmocka_unit_test(a_service_that_is_late_because_of_others),
		cmocka_unit_test(waits_that_nobody_sees),
		cmocka_unit_test(idle_and_holding_much),
		cmocka_unit_test(parked_and_lost),
		cmocka_unit_test(a_budget_that_is_used_up),
		cmocka_unit_test(the_worst_comes_first),
		cmocka_unit_test(kept_idle),
		cmocka_unit_test(who_keeps_a_program_off),
		cmocka_unit_test(rates_of_a_gpu),
		cmocka_unit_test(rates_of_a_tsg),
		cmocka_unit_test(a_program_without_turns),
		cmocka_unit_test(a_program_without_steps),
		cmocka_unit_test(reports_of_the_driver),
		cmocka_unit_test(a_failed_call),
		cmocka_unit_test(a_quarantine),
	};
	int r = cmocka_run_group_tests(tests, NULL, NULL);

	anew();
	return r;
}
