// SPDX-License-Identifier: MIT
/* test_observers.c - check that each TSG's end reaches each observer, from any source */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "basic/cleanup.h"
#include "service/instance.h"

#define NOBSERVERS 3
#define NTSGS 8

/* The calls that an observer got, by TSG; told_at and ended_at: their place among all calls. */
static struct log {
	unsigned int told, seen, ended;
	unsigned int told_at, ended_at;
	enum gs_end_by by;
} logs[NOBSERVERS][NTSGS];
static unsigned int order;

static struct log *log_of(unsigned int observer, uint64_t id)
{
	assert_in_range(id, 0, NTSGS - 1);
	return &logs[observer][id];
}

#define OBSERVER(i) \
	static void told_##i(void *self, const struct gpusched_event *ev, \
			     const struct gpusched_tsg *rec) \
	{ \
		log_of(i, ev->id)->told += ev->type == GPUSCHED_EV_TSG_FREE; \
		log_of(i, ev->id)->told_at = ++order; \
	} \
	static void seen_##i(void *self, const struct gpusched_tsg *rec) \
	{ \
		log_of(i, rec->task.id)->seen++; \
	} \
	static void ended_##i(void *self, const struct gs_end *end) \
	{ \
		log_of(i, end->id)->ended++; \
		log_of(i, end->id)->ended_at = ++order; \
		log_of(i, end->id)->by = end->by; \
		assert_int_equal(end->key.handle, 0x1000 + end->id); \
		assert_int_equal(end->pid, 100 + end->id); \
	}
OBSERVER(0)
OBSERVER(1)
OBSERVER(2)

static const struct gs_observer made_up[NOBSERVERS] = {
	{ "first", .told = told_0, .seen = seen_0, .ended = ended_0 },
	{ "second", .told = told_1, .seen = seen_1, .ended = ended_1 },
	{ "third", .told = told_2, .seen = seen_2, .ended = ended_2 },
};

static void *selves[1];
static struct gs_observers observers;

static int setup(void **state)
{
	memset(logs, 0, sizeof(logs));
	order = 0;
	observers = (struct gs_observers){ .all = made_up, .n = NOBSERVERS, .selves = selves };
	return 0;
}

static int teardown(void **state)
{
	gs_observers_free(&observers);
	return 0;
}

static struct gpusched_tsg tsg(uint64_t id)
{
	return (struct gpusched_tsg){
		.key = { .handle = 0x1000 + (uint32_t)id },
		.task = { .id = id, .pid = 100 + (uint32_t)id },
	};
}

static void meet(uint64_t id)
{
	const struct gpusched_tsg rec = tsg(id);

	gs_observers_know(&observers, &rec);
	gs_observers_seen(&observers, &rec);
}

static void free_event(uint64_t id)
{
	const struct gpusched_event ev = {
		.type = GPUSCHED_EV_TSG_FREE,
		.key = tsg(id).key,
		.id = id,
		.pid = 100 + (uint32_t)id,
	};

	gs_observers_tapped(&observers, &ev);
}

static void find_missed(uint64_t id)
{
	struct gpusched_tsg recs[NTSGS];
	size_t n = 0;

	for (uint64_t i = 0; i < NTSGS; i++)
		if (i != id)
			recs[n++] = tsg(i);
	assert_false(gs_observers_miss(&observers, recs, n));
	gs_observers_end_missed(&observers);
}

static void end(uint64_t id, enum gs_end_by by)
{
	const struct gpusched_tsg rec = tsg(id);

	switch (by) {
	case GS_END_TAP:
		free_event(id);
		break;
	case GS_END_SWEEP:
	case GS_END_DENIED:
	case GS_END_ALIAS:
		gs_observers_end(&observers, &rec, by);
		break;
	case GS_END_MISSED:
		find_missed(id);
		break;
	case GS_END_MAX:
		break;
	}
}

/* ---------------------------------------------------------------------------------------------- */

static void every_end_reaches_every_observer(void **state)
{
	for (enum gs_end_by by = 0; by < GS_END_MAX; by++)
		meet(by);
	for (enum gs_end_by by = 0; by < GS_END_MAX; by++)
		end(by, by);
	for (unsigned int i = 0; i < NOBSERVERS; i++) {
		for (enum gs_end_by by = 0; by < GS_END_MAX; by++) {
			const struct log *l = log_of(i, by);

			assert_int_equal(l->seen, 1);
			assert_int_equal(l->told, 1);
			assert_int_equal(l->ended, 1);
			assert_int_equal(l->by, by);
			assert_true(l->ended_at > l->told_at);
		}
	}
	find_missed(NTSGS); /* all ends are known already */
	assert_int_equal(log_of(0, GS_END_MISSED)->ended, 1);
}

static void the_last_observer_forgets_first(void **state)
{
	for (enum gs_end_by by = 0; by < GS_END_MAX; by++) {
		meet(by);
		end(by, by);
		assert_true(log_of(2, by)->ended_at < log_of(1, by)->ended_at);
		assert_true(log_of(1, by)->ended_at < log_of(0, by)->ended_at);
	}
}

static void an_end_that_a_tap_told_is_not_told_by_the_sweep(void **state)
{
	struct gpusched_tsg rec = tsg(1);

	meet(1);
	rec.flags = GPUSCHED_TSG_GONE;
	gs_observers_end(&observers, &rec, GS_END_SWEEP);
	assert_int_equal(log_of(0, 1)->told, 0);
	assert_int_equal(log_of(0, 1)->ended, 1);
}

/*
 * When a client's objects are freed while a policy runs, the tap writes the events of all its TSGs,
 * but leaves the records to the sweep, which tells the policy.
 */
static void an_end_that_a_tap_leaves_to_the_sweep_is_told_once(void **state)
{
	struct gpusched_tsg rec = tsg(1);

	meet(1);
	free_event(1);
	assert_int_equal(log_of(0, 1)->by, GS_END_TAP);
	rec.flags = GPUSCHED_TSG_GONE;
	gs_observers_end(&observers, &rec, GS_END_SWEEP);
	assert_int_equal(log_of(0, 1)->told, 1);
	assert_int_equal(log_of(0, 1)->ended, 2);
	assert_int_equal(log_of(0, 1)->by, GS_END_SWEEP);
}

/*
 * A TSG is made, or its event handled, after the table was read and before missed ends are sought.
 */
static void what_the_events_tell_is_not_missed(void **state)
{
	const struct gpusched_tsg only = tsg(3);

	meet(1);
	meet(3);
	assert_false(gs_observers_miss(&observers, &only, 1));
	free_event(1);
	meet(2);
	gs_observers_end_missed(&observers);
	assert_int_equal(log_of(0, 1)->told, 1);
	assert_int_equal(log_of(0, 1)->ended, 1);
	assert_int_equal(log_of(0, 2)->ended, 0);
	assert_int_equal(log_of(0, 3)->ended, 0);
}

static void an_end_under_way_is_left_to_whoever_tells_it(void **state)
{
	struct gpusched_tsg rec = tsg(1);

	meet(1);
	rec.flags = GPUSCHED_TSG_GONE;
	assert_true(gs_observers_miss(&observers, &rec, 1));
	gs_observers_end_missed(&observers);
	assert_int_equal(log_of(0, 1)->ended, 0);
}

static void a_wish_is_not_told_by_the_taps(void **state)
{
	const struct gpusched_event ev = { .type = GPUSCHED_EV_WANT, .id = 1 };
	const struct gpusched_tsg rec = tsg(1);

	gs_observers_tapped(&observers, &ev);
	assert_int_equal(order, 0);
	gs_observers_tell(&observers, &rec, GPUSCHED_EV_WANT, 0);
	assert_int_equal(order, NOBSERVERS);
}

/* In the daemon's own table, each observer that keeps data for TSGs must get the TSGs' ends. */
static void who_sees_a_tsg_learns_of_its_end(void **state)
{
	struct gs_hub hub = { 0 };
	struct gs_service s = { .hub = &hub };
	const struct gs_observers *o = &hub.observers;

	gs_service_observe(&s);
	assert_true(o->n > 0);
	for (size_t i = 0; i < o->n; i++)
		if (o->all[i].seen && !o->all[i].ended)
			fail_msg("%s is not told of ends", o->all[i].name);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(every_end_reaches_every_observer, setup, teardown),
		cmocka_unit_test_setup_teardown(the_last_observer_forgets_first, setup, teardown),
		cmocka_unit_test_setup_teardown(an_end_that_a_tap_told_is_not_told_by_the_sweep,
						setup, teardown),
		cmocka_unit_test_setup_teardown(an_end_that_a_tap_leaves_to_the_sweep_is_told_once,
						setup, teardown),
		cmocka_unit_test_setup_teardown(what_the_events_tell_is_not_missed, setup,
						teardown),
		cmocka_unit_test_setup_teardown(an_end_under_way_is_left_to_whoever_tells_it, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_wish_is_not_told_by_the_taps, setup, teardown),
		cmocka_unit_test(who_sees_a_tsg_learns_of_its_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
