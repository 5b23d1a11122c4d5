/* SPDX-License-Identifier: MIT */
/* test_loop.c - check when the loop wakes: for timers that can wait a little, and for heartbeats */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "basic/clock.h"
#include "hub/hub.h"
#include "hub/loop.h"

#define TIMERS 5
#define RUNS 3 /* of each timer, one a second */

struct timer {
	sd_event_source *src;
	uint64_t planned_ns;
	unsigned int runs;
};

static int on_due(sd_event_source *src, uint64_t us, void *user)
{
	struct timer *t = user;

	(void)us;
	/* never earlier than said; how much later depends on the machine */
	assert_true(gs_now_ns() + NS_PER_S / 4 + NS_PER_MS >= t->planned_ns);
	t->runs++;
	t->planned_ns = gs_now_ns() + NS_PER_S;
	gs_loop_plan_about(src, t->planned_ns);
	return 0;
}

static void test_timers_come_together(void **state)
{
	struct timer timers[TIMERS] = { 0 };
	unsigned int wakes = 0;
	sd_event *e = NULL;
	uint64_t began;

	(void)state;
	assert_true(sd_event_new(&e) >= 0);
	began = gs_now_ns();
	for (size_t i = 0; i < TIMERS; i++) {
		struct timer *t = &timers[i];

		assert_true(sd_event_add_time(e, &t->src, CLOCK_MONOTONIC, 0, 1, on_due, t) >= 0);
		t->planned_ns = began + NS_PER_S + i * 45 * NS_PER_MS;
		gs_loop_plan_about(t->src, t->planned_ns);
	}
	while (timers[TIMERS - 1].runs < RUNS) {
		int r = sd_event_prepare(e);

		if (!r) {
			wakes++;
			r = sd_event_wait(e, UINT64_MAX);
		}
		if (r > 0)
			assert_true(sd_event_dispatch(e) >= 0);
	}
	/* each for itself, they would come fifteen times */
	assert_in_range(wakes, 1, 3 * RUNS);
	for (size_t i = 0; i < TIMERS; i++) {
		assert_in_range(timers[i].runs, RUNS - 1, RUNS + 1);
		sd_event_source_disable_unref(timers[i].src);
	}
	sd_event_unref(e);
}

/* ---- heartbeats ------------------------------------------------------------------------------ */

#define REST_US 500000u
#define SOON_US 250000u

struct watcher {
	struct gs_hub *hub;
	unsigned int beats;
	bool works;
};

static void on_beat(void *self)
{
	struct watcher *w = self;

	w->beats++;
	if (w->works)
		w->hub->beat_soon = true;
}

static const struct gs_observer watchers[] = { { "watcher", .beat = on_beat } };

/* Runs the loop for @n beats. Returns how many of them were planned between two of a loop at rest. */
static unsigned int run_beats(struct watcher *w, unsigned int n)
{
	unsigned int between = 0, until = w->beats + n;
	uint64_t us;

	while (w->beats < until) {
		unsigned int seen = w->beats;

		assert_int_equal(gs_loop_run(w->hub, -1), 0);
		if (w->beats == seen)
			continue;
		assert_true(sd_event_source_get_time(w->hub->beat, &us) >= 0);
		assert_true(us < gs_now_ns() / NS_PER_US + (w->works ? SOON_US : REST_US) + 1);
		assert_in_range(us % SOON_US, 0, 1); /* rounded up from ns */
		between += us % REST_US > 1;
	}
	return between;
}

/* A loop at rest beats twice a second; while an observer has work, twice as often. */
static void test_beats(void **state)
{
	struct gs_hub hub = { .opts = { .daemon = true, .dry_run = true } };
	struct watcher w = { .hub = &hub };
	void *selves[] = { &w };

	(void)state;
	hub.observers.all = watchers;
	hub.observers.n = GS_COUNT(watchers);
	hub.observers.selves = selves;
	gs_pace_init(&hub.pace);
	assert_int_equal(gs_loop_new(&hub, NULL), 0);
	assert_int_equal(w.beats, 1);
	assert_int_equal(run_beats(&w, 4), 0);
	w.works = true;
	assert_in_range(run_beats(&w, 8), 2, 6);
	w.works = false;
	run_beats(&w, 1); /* was planned before */
	assert_int_equal(run_beats(&w, 3), 0);
	gs_loop_free(&hub);
	gs_pace_done(&hub.pace);
}

static int on_ask(sd_event_source *src, uint64_t us, void *user)
{
	struct gs_hub *hub = user;

	(void)src;
	(void)us;
	hub->counters[GS_SVC_REQUESTS]++;
	return 0;
}

/* A request brings the next beat forward. */
static void test_request_ends_rest(void **state)
{
	struct gs_hub hub = { .opts = { .daemon = true, .dry_run = true } };
	struct watcher w = { .hub = &hub };
	void *selves[] = { &w };
	sd_event_source *src = NULL;
	uint64_t us;

	(void)state;
	hub.observers = (struct gs_observers){ .all = watchers, .n = 1, .selves = selves };
	gs_pace_init(&hub.pace);
	assert_int_equal(gs_loop_new(&hub, NULL), 0);
	assert_int_equal(gs_loop_timer(&hub, on_ask, &hub, &src), 0);
	run_beats(&w, 2);
	assert_true(hub.rests);
	gs_loop_plan(src, gs_now_ns());
	while (!hub.counters[GS_SVC_REQUESTS])
		assert_int_equal(gs_loop_run(&hub, -1), 0);
	assert_false(hub.rests);
	assert_true(sd_event_source_get_time(hub.beat, &us) >= 0);
	assert_true(us <= gs_now_ns() / NS_PER_US + SOON_US + 1);
	run_beats(&w, 2); /* the first one still knows of the request */
	assert_true(hub.rests);
	sd_event_source_disable_unref(src);
	gs_loop_free(&hub);
	gs_pace_done(&hub.pace);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_timers_come_together),
		cmocka_unit_test(test_beats),
		cmocka_unit_test(test_request_ends_rest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
