/* SPDX-License-Identifier: MIT */
/* test_park.c - check parking with a simulated process: whatever fails, nothing stays locked */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <utlist.h>

#include <cmocka.h>

#include "basic/clock.h"
#include "classify/classify.h"
#include "config/config.h"
#include "config/park_idle.h"
#include "park/again.h"
#include "park/check.h"
#include "park/on_use.h"
#include "park/parking.h"
#include "park/ranks.h"

#define GIB (1ull << 30)

/* ---- a simulated process and its libcuda ----------------------------------------------------- */

struct model {
	enum gs_park_state state;
	bool suspended, memory, lost;
	uint64_t now;
	unsigned int seed, trouble; /* the percentage of calls that go wrong */
	unsigned int restores_without_memory;
};

static bool bad_luck(struct model *m)
{
	return (unsigned int)rand_r(&m->seed) % 100 < m->trouble;
}

static struct gs_park_end refuse(enum gs_park_op op, int result, const struct model *m)
{
	return (struct gs_park_end){ .op = op, .result = result, .state = (int)m->state };
}

static struct gs_park_end bring_in(struct model *m)
{
	if (m->lost)
		return refuse(GS_PARK_IN, GS_PARK_CU_LOST, m);
	if (!m->memory && bad_luck(m)) { /* another program took the memory at that moment */
		m->restores_without_memory++;
		m->lost = true;
		return refuse(GS_PARK_IN, GS_PARK_CU_NO_MEMORY, m);
	}
	if (!m->memory)
		return (struct gs_park_end){ .op = GS_PARK_IN, .code = -ENOSPC, .state = -1 };
	m->state = GS_PARK_LOCKED;
	return refuse(GS_PARK_IN, 0, m);
}

static struct gs_park_end perform(struct model *m, enum gs_park_op op)
{
	static const enum gs_park_state needed[] = {
		[GS_PARK_LOCK] = GS_PARK_RUNNING,
		[GS_PARK_OUT] = GS_PARK_LOCKED,
		[GS_PARK_IN] = GS_PARK_IS_OUT,
		[GS_PARK_UNLOCK] = GS_PARK_LOCKED,
	};

	if (op == GS_PARK_STATE)
		return refuse(op, 0, m);
	if (m->state != needed[op])
		return refuse(op, 401, m);
	if (op == GS_PARK_LOCK && m->suspended)
		return refuse(op, 600, m);
	if (op == GS_PARK_IN)
		return bring_in(m);
	m->state = op == GS_PARK_LOCK  ? GS_PARK_LOCKED
		   : op == GS_PARK_OUT ? GS_PARK_IS_OUT
				       : GS_PARK_RUNNING;
	return refuse(op, 0, m);
}

/* Makes a call. The helper may die before the call, or between the call and its answer. */
static struct gs_park_end call(struct model *m, enum gs_park_op op)
{
	struct gs_park_end e = { .op = op, .code = -EPIPE, .state = -1 };

	if (bad_luck(m))
		return e;
	if (bad_luck(m))
		return refuse(op, 999, m);
	e = perform(m, op);
	if (!bad_luck(m))
		return e;
	return (struct gs_park_end){ .op = op, .code = -ETIMEDOUT, .state = -1 };
}

static struct gs_park_facts facts(const struct model *m)
{
	return (struct gs_park_facts){ .now_ns = m->now, .suspended = m->suspended, .dilate = 1 };
}

/* Carries out calls until there is nothing more to do. */
static enum gs_park_act run(struct gs_park *p, struct model *m, unsigned int most)
{
	for (unsigned int i = 0; i < most; i++) {
		struct gs_park_facts f = facts(m);
		struct gs_park_next n = gs_park_core_next(p, &f);
		struct gs_park_end e;

		switch (n.act) {
		case GS_PARK_ACT_CALL:
			if (n.op == GS_PARK_LOCK)
				assert_false(m->suspended);
			e = call(m, n.op);
			gs_park_core_took(p, &e, &f);
			break;
		case GS_PARK_ACT_RESUME:
			m->suspended = false;
			break;
		case GS_PARK_ACT_WAIT:
			assert_true(n.at_ns > m->now);
			m->now = n.at_ns;
			break;
		default:
			return n.act;
		}
	}
	return GS_PARK_ACT_WAIT;
}

static void goes_out_and_in(void **state)
{
	struct model m = { .suspended = true, .memory = true, .now = 1 };
	struct gs_park p = { .wish = GS_PARK_WISH_OUT };

	assert_int_equal(run(&p, &m, 20), GS_PARK_ACT_PARKED);
	assert_int_equal(m.state, GS_PARK_IS_OUT);
	p.wish = GS_PARK_WISH_IN;
	assert_int_equal(run(&p, &m, 20), GS_PARK_ACT_RUNS);
	assert_int_equal(m.state, GS_PARK_RUNNING);
}

static void waits_for_memory(void **state)
{
	struct model m = { .state = GS_PARK_IS_OUT, .now = 1 };
	struct gs_park p = { .wish = GS_PARK_WISH_IN };

	assert_int_equal(run(&p, &m, 50), GS_PARK_ACT_WAIT);
	assert_true(p.short_of_memory);
	assert_int_equal(m.state, GS_PARK_IS_OUT);
	m.memory = true;
	assert_int_equal(run(&p, &m, 50), GS_PARK_ACT_RUNS);
	assert_false(p.short_of_memory);
}

/* If the lock never succeeds, as with work that never ends, the process goes on. */
static void what_cannot_be_parked_runs(void **state)
{
	const struct gs_park_end locked = { .op = GS_PARK_LOCK, .state = GS_PARK_LOCKED };
	const struct gs_park_end failed = { .op = GS_PARK_OUT,
					    .result = 999,
					    .state = GS_PARK_LOCKED };
	struct model m = { .state = GS_PARK_LOCKED, .now = 1 };
	struct gs_park_facts f = facts(&m);
	struct gs_park p = { .wish = GS_PARK_WISH_OUT, .known = true };

	gs_park_core_took(&p, &locked, &f);
	gs_park_core_took(&p, &failed, &f);
	assert_true(p.failed);
	assert_int_equal(run(&p, &m, 20), GS_PARK_ACT_RUNS);
	assert_int_equal(m.state, GS_PARK_RUNNING);
}

/* libcuda refuses the first question for the process's state, or hangs. */
static void one_without_a_state_is_left_alone(void **state)
{
	static const struct gs_park_end ends[] = {
		{ .op = GS_PARK_STATE, .result = 801, .state = -1 },
		{ .op = GS_PARK_STATE, .code = -ETIMEDOUT, .state = -1 },
	};
	struct model m = { .now = 1 };
	struct gs_park_facts f = facts(&m);

	for (size_t i = 0; i < 2; i++) {
		struct gs_park p = { .wish = GS_PARK_WISH_OUT };
		struct gs_park q = { .wish = GS_PARK_WISH_SETTLE, .touched = true };

		gs_park_core_took(&p, &ends[i], &f);
		f.now_ns = p.not_before_ns + 1;
		assert_int_equal(gs_park_core_next(&p, &f).act, GS_PARK_ACT_RUNS);
		assert_true(p.failed);
		gs_park_core_took(&q, &ends[i],
				  &f); /* @q may be locked, so its state is asked again */
		assert_int_equal(gs_park_core_next(&q, &f).act, GS_PARK_ACT_WAIT);
		f.now_ns = q.not_before_ns + 1;
		assert_int_equal(gs_park_core_next(&q, &f).op, GS_PARK_STATE);
	}
}

static void the_next_daemon_settles(void **state)
{
	static const struct {
		enum gs_park_state is, becomes;
		enum gs_park_act end;
	} cases[] = {
		{ GS_PARK_RUNNING, GS_PARK_RUNNING, GS_PARK_ACT_RUNS },
		{ GS_PARK_LOCKED, GS_PARK_RUNNING, GS_PARK_ACT_RUNS },
		{ GS_PARK_IS_OUT, GS_PARK_IS_OUT, GS_PARK_ACT_PARKED },
		{ GS_PARK_FAILED, GS_PARK_FAILED, GS_PARK_ACT_LOST },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct model m = { .state = cases[i].is, .memory = true, .now = 1 };
		struct gs_park p = { .wish = GS_PARK_WISH_SETTLE };

		assert_int_equal(run(&p, &m, 20), cases[i].end);
		assert_int_equal(m.state, cases[i].becomes);
	}
}

/* It had imported memory: libcuda took its memory out without a word, and can't bring it back. */
static void a_restore_that_libcuda_finds_invalid_loses_the_process(void **state)
{
	struct gs_park p = { .wish = GS_PARK_WISH_IN, .known = true, .is = GS_PARK_IS_OUT };
	const struct gs_park_facts f = { .now_ns = 1 };
	const struct gs_park_end end = { .op = GS_PARK_IN,
					 .result = GS_PARK_CU_INVALID,
					 .state = GS_PARK_IS_OUT };

	gs_park_core_took(&p, &end, &f);
	assert_true(p.lost);
	assert_int_equal(gs_park_core_next(&p, &f).act, GS_PARK_ACT_LOST);
}

static void a_lost_one_is_not_tried_again(void **state)
{
	struct model m = { .state = GS_PARK_IS_OUT, .now = 1, .lost = true, .memory = true };
	struct gs_park p = { .wish = GS_PARK_WISH_IN };

	assert_int_equal(run(&p, &m, 20), GS_PARK_ACT_LOST);
	p.wish = GS_PARK_WISH_IN;
	assert_int_equal(run(&p, &m, 20), GS_PARK_ACT_LOST);
}

/* During 20,000 wishes, calls fail and helpers die. No process is left locked. */
static void nothing_stays_locked(void **state)
{
	struct model m = { .memory = true, .now = 1, .seed = 7 };
	unsigned int parked = 0, ran = 0;

	for (unsigned int i = 0; i < 20000; i++) {
		struct gs_park p = { .wish = (enum gs_park_wish)((unsigned int)rand_r(&m.seed) %
								 3) };
		enum gs_park_act end;

		p.touched = m.state != GS_PARK_RUNNING;
		m.trouble = (unsigned int)rand_r(&m.seed) % 60;
		m.suspended = m.state == GS_PARK_RUNNING && rand_r(&m.seed) % 2;
		end = run(&p, &m, 2000);
		/* processes are lost only by the random error 999, never for lack of memory */
		if (p.lost || m.lost) {
			assert_int_equal(m.restores_without_memory, 0);
			continue;
		}
		assert_true(end == GS_PARK_ACT_PARKED || end == GS_PARK_ACT_RUNS);
		assert_int_equal(m.state,
				 end == GS_PARK_ACT_PARKED ? GS_PARK_IS_OUT : GS_PARK_RUNNING);
		parked += end == GS_PARK_ACT_PARKED;
		ran += end == GS_PARK_ACT_RUNS;
	}
	assert_true(parked > 1000 && ran > 1000);
}

/*
 * ---- answers ----------------------------------------------------------------------------------
 */

static void hostile_answers(void **state)
{
	const struct gs_park_request rq = { .op = GS_PARK_LOCK, .seq = 5, .pid = 10 };
	const struct gs_park_answer good = {
		.op = GS_PARK_LOCK, .seq = 5, .pid = 10, .state = GS_PARK_LOCKED
	};
	struct gs_park_answer a;

#define BAD(field, value) \
	a = good; \
	a.field = value; \
	assert_int_equal(gs_park_core_check_answer(&rq, &a), -EPROTO)
	assert_int_equal(gs_park_core_check_answer(&rq, &good), 0);
	BAD(seq, 4);
	BAD(op, GS_PARK_OUT);
	BAD(pid, 11);
	BAD(code, 1);
	BAD(result, -1);
	BAD(result, 100000);
	BAD(state, 4);
	BAD(state, GS_PARK_RUNNING); /* a lock call that succeeded but has not locked */
	BAD(gpu, GS_PARK_GPUS);
	BAD(bytes[3], 1ull << 60);
#undef BAD
}

/*
 * ---- the file ---------------------------------------------------------------------------------
 */

static void the_file_comes_back(void **state)
{
	struct gs_parked *all = NULL, *back = NULL, *p, *next;
	struct gs_error err = { 0 };
	char *text;

	for (int i = 1; i <= 3; i++) {
		p = gs_parked_new(100 + i, 77000u + (unsigned int)i);
		p->uid = 1000;
		p->by = i == 1 ? 0 : 1000;
		p->bytes[1] = (uint64_t)i * GIB;
		p->since_ns = 5;
		snprintf(p->comm, sizeof(p->comm), "a\"b%d", i);
		p->told_ns = (uint64_t)i * NS_PER_S;
		p->locked_ns = (uint64_t)i;
		p->calls_known = i == 2;
		p->calls = 9;
		p->by_policy = i == 3;
		DL_APPEND(all, p);
	}
	text = gs_parked_text(all, "boot");
	assert_int_equal(gs_parked_parse(&back, text, "another", &err), 0);
	assert_null(back);
	assert_int_equal(gs_parked_parse(&back, text, "boot", &err), 0);
	assert_int_equal(back->pid, 101);
	assert_int_equal(back->next->next->pid, 103);
	assert_int_equal(back->next->bytes[1], 2 * GIB);
	assert_int_equal(back->next->told_ns, back->told_ns + NS_PER_S);
	assert_int_equal(back->who.pid, 0);
	assert_int_equal(back->next->locked_ns, 2);
	assert_true(!back->calls_known && back->next->calls_known && back->next->calls == 9);
	assert_true(!back->by_policy && back->next->next->by_policy);
	assert_int_equal(back->core.wish, GS_PARK_WISH_SETTLE);
	assert_false(back->core.known);
	assert_string_equal(back->comm, "a\"b1");
	text[strlen(text) / 2] = '\0';
	assert_int_equal(gs_parked_parse(&back, text, "boot", &err), -EINVAL);
	free(text);
	DL_FOREACH_SAFE(all, p, next)
		gs_parked_unref(p);
	DL_FOREACH_SAFE(back, p, next)
		gs_parked_unref(p);
}

/*
 * ---- back on use -------------------------------------------------------------------------------
 */

static void a_call_brings_back_what_nobody_else_parked(void **state)
{
	char name[] = "be", *names[] = { name };
	struct gs_config config = { .unpark_on_use = { names, NULL, 1 } };
	struct gs_hub hub = { .config = &config };
	struct gs_parking pk = { .hub = &hub };
	struct gs_parked *p = gs_parked_new(4711, 5 * NS_PER_S);

	assert_int_equal(gs_classes_new(&hub.classes), 0);
	assert_int_equal(gs_class_id(hub.classes, "be", &p->class_id), 0);
	DL_APPEND(pk.all, p);
	p->uid = 1000;
	p->by_itself = true;
	p->core.wish = GS_PARK_WISH_OUT;
	assert_int_equal(gs_park_use_back(&pk, p), GS_PARK_BACK_BLIND);
	gs_park_use_counts(&pk, 4711, 9 * NS_PER_S, 7); /* another process */
	assert_int_equal(gs_park_use_back(&pk, p), GS_PARK_BACK_BLIND);
	gs_park_use_counts(&pk, 4711, 5 * NS_PER_S, 7);
	assert_int_equal(gs_park_use_back(&pk, p), GS_PARK_BACK_USE);
	assert_string_equal(gs_park_sign_of(p), "agent");
	gs_park_use_counts(&pk, 4711, 5 * NS_PER_S, 8);
	assert_false(p->used); /* the call came while the program still ran */
	p->core.touched = true;
	gs_park_use_counts(&pk, 4711, 5 * NS_PER_S, 8);
	assert_false(p->used);
	gs_park_use_counts(&pk, 4711, 5 * NS_PER_S, 9);
	assert_true(p->used); /* the call came while its memory was moved out */
	p->by_itself = false; /* root parked it */
	assert_int_equal(gs_park_use_back(&pk, p), GS_PARK_BACK_WORD);
	p->by = 1000;
	assert_int_equal(gs_park_use_back(&pk, p), GS_PARK_BACK_USE);
	p->guest = 99;
	assert_int_equal(gs_park_use_back(&pk, p), GS_PARK_BACK_WORD);
	p->guest = 0;
	p->counted = false;
	assert_int_equal(gs_park_use_back(&pk, p), GS_PARK_BACK_BLIND);
	p->probe = GS_PARK_PROBE_SET;
	assert_int_equal(gs_park_use_back(&pk, p), GS_PARK_BACK_USE);
	assert_string_equal(gs_park_sign_of(p), "probe");
	name[0] = 'n';
	assert_int_equal(gs_park_use_back(&pk, p), GS_PARK_BACK_WORD);
	DL_DELETE(pk.all, p);
	gs_parked_unref(p);
	gs_classes_free(hub.classes);
}

/*
 * ---- wishes of a policy -----------------------------------------------------------------------
 */

static void a_policy_has_six_a_minute(void **state)
{
	struct gs_park_wished w = { .n = 0 };
	uint64_t t = 1000 * NS_PER_S;
	unsigned int n = 0;

	for (int i = 0; i < 59; i++) /* one each second */
		n += gs_park_wish_take(&w, t + (uint64_t)i * NS_PER_S);
	assert_int_equal(n, GS_PARK_A_MINUTE);
	assert_true(gs_park_wish_take(&w, t + 60 * NS_PER_S));
	assert_true(gs_park_wish_take(&w, t + 61 * NS_PER_S));
	assert_false(gs_park_wish_take(&w, t + 61 * NS_PER_S));
}

static void one_wish_a_process_and_so_many_at_once(void **state)
{
	struct gs_config config = { .gate = false };
	struct gs_hub hub = { .config = &config };
	struct gs_parking pk = { .hub = &hub };
	struct gpusched_tsg rec = { .task = { .pid = 1 } };

	gs_park_wish(&pk, &rec, 5);
	gs_park_wish(&pk, &rec, 7); /* another TSG of the same process */
	assert_int_equal(pk.wished.n, 1);
	assert_int_equal(pk.wished.all[0].min, 5);
	for (rec.task.pid = 2; rec.task.pid < 200; rec.task.pid++)
		gs_park_wish(&pk, &rec, 5);
	assert_int_equal(pk.wished.n, GS_PARK_WISHES);
	assert_true(pk.wished.told_ns); /* the further wishes were refused */
}

/*
 * ---- newcomers at the gate --------------------------------------------------------------------
 */

static void newcomers_wait_for_a_bounded_time(void **state)
{
	struct gs_park_window w = { .open_ns = 0 };
	uint64_t t = 1000 * NS_PER_S, open_s = 0;

	assert_false(gs_park_newcomers_window(&w, false, t, 1));
	for (int i = 0; i < 100; i++) /* a user brings one back again and again */
		open_s += gs_park_newcomers_window(&w, i % 3 != 2, t += NS_PER_S, 1);
	assert_int_equal(open_s, 30);
	assert_false(gs_park_newcomers_window(&w, true, t + 100 * NS_PER_S, 1));
	t = w.closed_ns + 300 * NS_PER_S;
	assert_true(gs_park_newcomers_window(&w, true, t, 1));
	assert_true(gs_park_newcomers_window(&w, true, t + 29 * NS_PER_S, 1));
	assert_false(gs_park_newcomers_window(&w, true, t + 30 * NS_PER_S, 1));
	w = (struct gs_park_window){ .open_ns = 0 };
	assert_true(gs_park_newcomers_window(&w, true, t, 2));
	assert_true(gs_park_newcomers_window(&w, true, t + 59 * NS_PER_S, 2));
	assert_false(gs_park_newcomers_window(&w, true, t + 60 * NS_PER_S, 2));
}

/*
 * ---- progress ---------------------------------------------------------------------------------
 */

static void a_copy_is_estimated_by_two_signs(void **state)
{
	const struct gs_park_look full = { true, true, 10 * GIB, 1 * GIB }, none = { .held = 5 };
	struct gs_park_look now = full;

	assert_int_equal(gs_park_progress_moved(GS_PARK_OUT, &full, &now), 0);
	now.held = 6 * GIB; /* the driver reports less */
	assert_int_equal(gs_park_progress_moved(GS_PARK_OUT, &full, &now), 4 * GIB);
	now.resident = 8 * GIB; /* the host already has more of it in memory */
	assert_int_equal(gs_park_progress_moved(GS_PARK_OUT, &full, &now), 7 * GIB);
	assert_int_equal(gs_park_progress_moved(GS_PARK_IN, &now, &full), 4 * GIB);
	now = (struct gs_park_look){ true, true, 20 * GIB, 1 * GIB }; /* allocated, not filled */
	assert_int_equal(gs_park_progress_moved(GS_PARK_IN, &full, &now), 10 * GIB);
	now.resident = GIB / 2;
	assert_int_equal(gs_park_progress_moved(GS_PARK_IN, &full, &now), GIB / 2);
	now.held_known = false;
	assert_int_equal(gs_park_progress_moved(GS_PARK_IN, &full, &now), GIB / 2);
	assert_int_equal(gs_park_progress_moved(GS_PARK_OUT, &full, &now), 0);
	assert_true(gs_park_progress_moved(GS_PARK_OUT, &none, &now) == GS_PARK_MOVED_UNKNOWN);
}

/*
 * ---- margin, refusals -------------------------------------------------------------------------
 */

static void the_margin_follows_growth(void **state)
{
	struct gs_park_use u = { .n = 0 };
	uint64_t t = 1000 * NS_PER_S;

	assert_int_equal(gs_park_margin(&u, t), GIB);
	for (unsigned int i = 0; i < 300; i++, t += 5 * NS_PER_S)
		gs_park_use_add(&u, 20 * GIB, t);
	assert_int_equal(gs_park_margin(&u, t), GIB);
	gs_park_use_add(&u, 23 * GIB, t);
	gs_park_use_add(&u, 27 * GIB, t + 5 * NS_PER_S);
	gs_park_use_add(&u, 20 * GIB, t + 10 * NS_PER_S);
	assert_int_equal(gs_park_margin(&u, t + 10 * NS_PER_S), 7 * GIB);
	assert_int_equal(gs_park_margin(&u, t + 700 * NS_PER_S), GIB);
}

static int check_with(struct gs_park_check c, char *text)
{
	struct gs_error err = { 0 };
	int r;

	c.branch = c.branch ? c.branch : 580;
	c.host_total = 100 * GIB;
	c.host_free = 50 * GIB;
	c.cgroup_free = c.cgroup_free ? c.cgroup_free : UINT64_MAX;
	c.park_memory_pct = 50;
	c.bytes_known = true;
	c.seen = true;
	r = gs_park_check(&c, &err);
	snprintf(text, sizeof(err.text), "%s", err.text);
	return r;
}

/* What the helper measures right before the copy is judged as what was known before. */
static void room_is_what_the_check_allows(void **state)
{
	static const struct gs_park_check cases[] = {
		{ .host_free = 11 * GIB, .cgroup_free = UINT64_MAX },
		{ .host_free = 90 * GIB, .cgroup_free = 5 * GIB },
		{ .host_free = 90 * GIB, .cgroup_free = UINT64_MAX },
		{ .host_free = 90 * GIB, .cgroup_free = UINT64_MAX, .parked_bytes = 20 * GIB },
		{ .host_free = 90 * GIB, .cgroup_free = UINT64_MAX, .parked_bytes = 60 * GIB },
		{ .host_free = 90 * GIB,
		  .cgroup_free = UINT64_MAX,
		  .parked_bytes = 30 * GIB,
		  .user_bytes = 10 * GIB,
		  .has_share = true },
	};
	static const uint64_t rooms[] = { 10 * GIB, 5 * GIB * 10 / 11, 50 * GIB, 30 * GIB, 0,
					  5 * GIB };
	struct gs_park_check free_of_limits = { .cgroup_free = UINT64_MAX };
	struct gs_error err;

	for (size_t i = 0; i < GS_COUNT(cases); i++) {
		struct gs_park_check c = cases[i];

		c.host_total = 100 * GIB;
		c.park_memory_pct = 50;
		c.bytes_known = true;
		c.bytes = gs_park_check_room(&c);
		assert_in_range(c.bytes + 12, rooms[i], rooms[i] + 24);
		assert_int_equal(gs_park_check_memory(&c, &err), 0);
		c.bytes += 24;
		assert_int_equal(gs_park_check_memory(&c, &err), -ENOMEM);
		c.bytes_known = false;
		assert_int_equal(gs_park_check_memory(&c, &err), 0);
	}
	/* a host whose memory cannot be read */
	assert_true(gs_park_check_room(&free_of_limits) > 1ull << 60);
}

static void ranks_of_a_job_are_refused(void **state)
{
	struct gs_error err = { 0 };

	assert_int_equal(gs_park_ranks_judge(0, 0, &err), 0);
	assert_int_equal(gs_park_ranks_judge(0, 1, &err), 0);
	assert_int_equal(gs_park_ranks_judge(0, 2, &err), -ENOTSUP);
	assert_non_null(strstr(err.text, "one rank of several"));
	/* an answer that is late is no refusal: an idle program would wait 10 minutes for its turn */
	assert_int_equal(gs_park_ranks_judge(-EAGAIN, 0, &err), -EAGAIN);
	assert_int_equal(gs_park_ranks_judge(-EBUSY, 0, &err), -EAGAIN);
	err = (struct gs_error){ 0 };
	assert_int_equal(gs_park_ranks_judge(-EACCES, 0, &err), -ENOTSUP);
	assert_non_null(strstr(err.text, "cannot be read"));
}

static void ranks_are_asked_for_until_known(void **state)
{
	struct gs_parked p = { .pid = getpid() }, forced = { .pid = getpid(), .alone = true };
	struct gs_error err = { 0 };
	uint64_t at = 0;

	unsetenv("WORLD_SIZE");
	assert_int_equal(gs_park_ranks_look(&forced, 1, &at, &err), 0);
	assert_true(forced.cgroups_known);
	forced.cgroups.frozen = true; /* as read late, after the request was taken */
	assert_int_equal(gs_park_ranks_look(&forced, 1, &at, &err), -ENOTSUP);
	assert_non_null(strstr(err.text, "frozen"));
	assert_int_equal(gs_park_ranks_look(&p, 1, &at, &err), 0);
	assert_true(p.alone);
	p = (struct gs_parked){ .pid = INT32_MAX };
	assert_int_equal(gs_park_ranks_look(&p, 1, &at, &err), -ENOTSUP);
	assert_false(p.alone);
}

static void refusals_have_reasons(void **state)
{
	char text[sizeof(((struct gs_error *)0)->text)];

#define IS(code, word, ...) \
	assert_int_equal(check_with((struct gs_park_check){ __VA_ARGS__ }, text), code); \
	assert_non_null(strstr(text, word))
	IS(0, "", .bytes = 40 * GIB);
	IS(-ENOTSUP, "570", .branch = 550);
	IS(-ENOTSUP, "MPS", .mps = true);
	IS(-ENOTSUP, "MIG", .mig = true);
	IS(-ENOTSUP, "stopped", .state = 'T');
	IS(-ENOTSUP, "debugger", .traced = true);
	IS(-ENOTSUP, "frozen", .frozen = true);
	IS(-EAGAIN, "not read yet", .unread = true);
	IS(-ENOTSUP, "IPC", .shared_bytes = 1);
	IS(-ENOTSUP, "IPC", .shared_bytes = 1, .branch = 610);
	IS(-ENOTSUP, "IPC", .shared_bytes = 1, .forced = true);
	IS(-ENOTSUP, "IPC", .imported = GPUSCHED_IMPORTED_MEMORY);
	IS(-ENOTSUP, "fabric", .imported = GPUSCHED_IMPORTED_FABRIC);
	IS(-ENOTSUP, "multicast", .imported = GPUSCHED_IMPORTED_MULTICAST, .forced = true);
	IS(-ENOTSUP, "managed", .unfit = true, .forced = true);
	IS(-ENOMEM, "free", .bytes = 48 * GIB);
	IS(-ENOMEM, "memory.max", .bytes = 10 * GIB, .cgroup_free = 5 * GIB);
	IS(-ENOMEM, "ParkMemory", .bytes = 30 * GIB, .parked_bytes = 30 * GIB);
	/* others have 10 of 50 GiB: a user may have 20 of the other 40 */
	IS(0, "", .bytes = 5 * GIB, .parked_bytes = 25 * GIB, .user_bytes = 15 * GIB,
	   .has_share = true);
	IS(-ENOMEM, "half", .bytes = 6 * GIB, .parked_bytes = 25 * GIB, .user_bytes = 15 * GIB,
	   .has_share = true);
	IS(0, "", .bytes = 6 * GIB, .parked_bytes = 25 * GIB, .user_bytes = 15 * GIB);
#undef IS
}

/* The opposite of "shares nothing" is not "is known to share": what is not known counts, too. */
static void what_the_taps_did_not_see_is_refused(void **state)
{
	struct gs_park_check c = { .branch = 580,
				   .host_total = 100 * GIB,
				   .host_free = 50 * GIB,
				   .cgroup_free = UINT64_MAX,
				   .park_memory_pct = 50 };
	struct gs_error err = { 0 };

	assert_int_equal(gs_park_check(&c, &err), -ENOTSUP);
	assert_non_null(strstr(err.text, "--force"));
	assert_non_null(strstr(err.text, "never comes back"));
	c.forced = true;
	assert_int_equal(gs_park_check(&c, &err), 0);
	c.forced = false;
	c.seen = true;
	assert_int_equal(gs_park_check(&c, &err), 0);
}

/* ---- users' turns ----------------------------------------------------------------------------- */

static void the_user_whose_calls_took_least_goes_first(void **state)
{
	struct gs_park_turns t = { 0 };
	uint64_t now = 1000 * NS_PER_S;

	gs_park_turns_took(&t, 1, now, 9 * NS_PER_S);
	gs_park_turns_took(&t, 2, now, NS_PER_S);
	assert_true(gs_park_turns_of(&t, 3, now) < gs_park_turns_of(&t, 2, now));
	assert_true(gs_park_turns_of(&t, 2, now) < gs_park_turns_of(&t, 1, now));
	gs_park_turns_took(&t, 2, now + 90 * NS_PER_S, 2 * NS_PER_S);
	assert_true(gs_park_turns_of(&t, 1, now + 90 * NS_PER_S) <
		    gs_park_turns_of(&t, 2, now + 90 * NS_PER_S));
	for (uint32_t uid = 10; uid < 10 + 3 * GS_PARK_USERS; uid++)
		gs_park_turns_took(&t, uid, now, 1);
}

static void a_user_waits_from_the_third_hang_on(void **state)
{
	struct gs_park_turns t = { 0 };
	uint64_t now = 1000 * NS_PER_S;

	gs_park_turns_hung(&t, 1, now, 1);
	gs_park_turns_hung(&t, 1, now, 1);
	assert_int_equal(gs_park_turns_waits(&t, 1, now), 0);
	gs_park_turns_hung(&t, 1, now, 1);
	assert_int_equal(gs_park_turns_waits(&t, 1, now), now + 10 * NS_PER_S);
	assert_int_equal(gs_park_turns_waits(&t, 2, now), 0);
	gs_park_turns_hung(&t, 1, now, 1);
	assert_int_equal(gs_park_turns_waits(&t, 1, now), now + 20 * NS_PER_S);
	for (uint32_t uid = 10; uid < 10 + 3 * GS_PARK_USERS; uid++)
		gs_park_turns_took(&t, uid, now + 1, 1);
	assert_int_equal(gs_park_turns_waits(&t, 1, now), now + 20 * NS_PER_S);
	assert_int_equal(gs_park_turns_waits(&t, 1, now + 21 * NS_PER_S), 0);
	gs_park_turns_hung(&t, 1, now + 700 * NS_PER_S, 1);
	assert_int_equal(gs_park_turns_waits(&t, 1, now + 700 * NS_PER_S), 0);
	for (int i = 0; i < 5; i++)
		gs_park_turns_hung(&t, 0, now, 1);
	assert_int_equal(gs_park_turns_waits(&t, 0, now), 0);
}

/* Each wait is twice as long as the one before, also after waits of more than 10 min. */
static void a_long_wait_is_not_forgotten(void **state)
{
	struct gs_park_turns t = { 0 };
	uint64_t now = 1000 * NS_PER_S, wait = 10 * NS_PER_S;

	gs_park_turns_hung(&t, 1, now, 1);
	gs_park_turns_hung(&t, 1, now, 1);
	for (int i = 0; i < 12; i++) {
		gs_park_turns_hung(&t, 1, now, 1);
		assert_int_equal(gs_park_turns_waits(&t, 1, now), now + wait);
		now += wait + 30 * NS_PER_S;
		wait *= i < 8 ? 2 : 1;
	}
	now += 600 * NS_PER_S;
	gs_park_turns_hung(&t, 1, now, 1);
	assert_int_equal(gs_park_turns_waits(&t, 1, now), 0);
}

static void what_comes_back_at_once_is_left_alone(void **state)
{
	struct gs_park_again a = { 0 };
	struct gs_park_return r = { .parked_ns = 100 * NS_PER_S, .restore_ns = 3 * NS_PER_S };

	assert_true(gs_park_may_again(&a, 0));
	r.wanted_ns = 131 * NS_PER_S;
	gs_park_again_came_back(&a, &r); /* the program was parked long enough for it to pay off */
	assert_true(a.soon == 0 && gs_park_may_again(&a, 131 * NS_PER_S));
	assert_false(gs_park_may_again(&a, 129 * NS_PER_S));
	r = (struct gs_park_return){ 200 * NS_PER_S, 229 * NS_PER_S, 3 * NS_PER_S };
	gs_park_again_came_back(&a, &r);
	assert_false(gs_park_again_in_vain(&a));
	assert_false(gs_park_may_again(&a, 229 * NS_PER_S));
	assert_true(gs_park_may_again(&a, 230 * NS_PER_S));
	r = (struct gs_park_return){ 300 * NS_PER_S, 400 * NS_PER_S, 3 * NS_PER_S };
	gs_park_again_came_back(&a, &r); /* a parking that paid off restarts the count */
	assert_int_equal(a.soon, 0);
	for (int i = 0; i < 2; i++) {
		assert_false(gs_park_again_in_vain(&a));
		r = (struct gs_park_return){ 500 * NS_PER_S, 501 * NS_PER_S, 3 * NS_PER_S };
		gs_park_again_came_back(&a, &r);
	}
	assert_true(gs_park_again_in_vain(&a));
	assert_false(gs_park_may_again(&a, UINT64_MAX));
	a = (struct gs_park_again){ 0 };
	r.restore_ns = 0; /* unknown, since the owner brought the program back */
	gs_park_again_came_back(&a, &r);
	assert_int_equal(a.soon, 0);
}

static void lines_of_park_idle(void **state)
{
	struct gs_park_idle_rule r;
	struct gs_error err = { 0 };

	assert_int_equal(gs_park_idle_parse("be 30m", &r, &err), 0);
	assert_string_equal(r.class_name, "be");
	assert_true(r.idle_ns == 1800 * NS_PER_S && !r.for_ns);
	assert_int_equal(gs_park_idle_parse(" notebooks  2h for=8h", &r, &err), 0);
	assert_true(r.idle_ns == 7200 * NS_PER_S && r.for_ns == 28800 * NS_PER_S);
	assert_true(gs_park_idle_parse("be", &r, &err) < 0);
	assert_true(gs_park_idle_parse("30m be", &r, &err) < 0);
	assert_true(gs_park_idle_parse("be 30m 8h", &r, &err) < 0);
	assert_true(gs_park_idle_parse("be 30m for=8h x", &r, &err) < 0);
	assert_true(gs_park_idle_parse("be 500ms", &r, &err) < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(goes_out_and_in),
		cmocka_unit_test(waits_for_memory),
		cmocka_unit_test(what_cannot_be_parked_runs),
		cmocka_unit_test(one_without_a_state_is_left_alone),
		cmocka_unit_test(the_next_daemon_settles),
		cmocka_unit_test(a_lost_one_is_not_tried_again),
		cmocka_unit_test(a_restore_that_libcuda_finds_invalid_loses_the_process),
		cmocka_unit_test(what_the_taps_did_not_see_is_refused),
		cmocka_unit_test(the_user_whose_calls_took_least_goes_first),
		cmocka_unit_test(a_user_waits_from_the_third_hang_on),
		cmocka_unit_test(a_long_wait_is_not_forgotten),
		cmocka_unit_test(nothing_stays_locked),
		cmocka_unit_test(hostile_answers),
		cmocka_unit_test(the_file_comes_back),
		cmocka_unit_test(a_call_brings_back_what_nobody_else_parked),
		cmocka_unit_test(a_policy_has_six_a_minute),
		cmocka_unit_test(one_wish_a_process_and_so_many_at_once),
		cmocka_unit_test(newcomers_wait_for_a_bounded_time),
		cmocka_unit_test(a_copy_is_estimated_by_two_signs),
		cmocka_unit_test(the_margin_follows_growth),
		cmocka_unit_test(room_is_what_the_check_allows),
		cmocka_unit_test(ranks_of_a_job_are_refused),
		cmocka_unit_test(ranks_are_asked_for_until_known),
		cmocka_unit_test(refusals_have_reasons),
		cmocka_unit_test(what_comes_back_at_once_is_left_alone),
		cmocka_unit_test(lines_of_park_idle),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
