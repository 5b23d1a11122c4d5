// SPDX-License-Identifier: MIT
/* test_started.c - check the answers to "is it still that process", and what is done at unknown */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <errno.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "basic/clock.h"
#include "park/idlers.h"
#include "park/parking.h"
#include "table/started.h"

#define S NS_PER_S

static void one_rule_gives_each_answer(void **state)
{
	static const struct {
		int err;
		uint64_t now_ns, start_ns;
		enum gs_still still;
	} rows[] = {
		{ 0, 5 * S, 5 * S, GS_STILL_YES },
		{ 0, 5 * S, 5 * S + S / 200, GS_STILL_YES }, /* /proc rounds to ticks */
		{ 0, 7 * S, 5 * S, GS_STILL_NO },            /* the pid was reused */
		{ -ESRCH, 0, 5 * S, GS_STILL_NO },
		{ -ESRCH, 0, 0, GS_STILL_NO },
		{ 0, 5 * S, 0, GS_STILL_UNKNOWN },
		{ -EMFILE, 0, 5 * S, GS_STILL_UNKNOWN },
		{ -EMFILE, 5 * S, 5 * S, GS_STILL_UNKNOWN },
		{ -ENOTSUP, 7 * S, 5 * S, GS_STILL_UNKNOWN },
		{ -EPERM, 0, 5 * S, GS_STILL_UNKNOWN },
	};

	for (size_t i = 0; i < GS_COUNT(rows); i++)
		assert_int_equal(gs_process_still(rows[i].err, rows[i].now_ns, rows[i].start_ns),
				 rows[i].still);
}

static pid_t ended_child(void)
{
	pid_t pid = fork();

	if (!pid)
		_exit(0);
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	return pid;
}

/* No new descriptor can be opened until give_descriptors(), so no process can be looked at. */
static struct rlimit before;

static void take_descriptors(void)
{
	struct rlimit none;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	none = before;
	none.rlim_cur = 0;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
}

static void give_descriptors(void)
{
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
}

static uint64_t own_start_ns(void)
{
	uint64_t ns = 0;

	if (gs_started(getpid(), &ns))
		skip(); /* needs root */
	return ns;
}

static void the_kernel_is_asked(void **state)
{
	uint64_t own = own_start_ns();
	enum gs_still still;

	assert_int_equal(gs_started_still(getpid(), own), GS_STILL_YES);
	assert_int_equal(gs_started_still(getpid(), own + S), GS_STILL_NO);
	assert_int_equal(gs_started_still(ended_child(), own), GS_STILL_NO);
	assert_int_equal(gs_started_still(0, own), GS_STILL_NO);
	take_descriptors();
	still = gs_started_still(getpid(), own);
	give_descriptors();
	assert_int_equal(still, GS_STILL_UNKNOWN);
}

static void an_idle_program_is_forgotten_only_when_it_has_ended(void **state)
{
	static const struct gs_observer all[] = {
		{ "processes", 0, .beat = gs_processes_beat },
		{ "idle programs", 1, .process_ended = gs_park_idler_process_ended },
	};
	struct gs_hub hub = { .observers = { .all = all, .n = GS_COUNT(all) } };
	struct gs_parking pk = { .hub = &hub };
	void *selves[] = { &hub, &pk };
	struct gpusched_tsg own = { .owner_start_ns = own_start_ns(), .task.id = 1 };
	struct gpusched_tsg gone = { .owner_start_ns = own.owner_start_ns, .task.id = 2 };

	hub.observers.selves = selves;
	own.task.pid = (uint32_t)getpid();
	gone.task.pid = (uint32_t)ended_child();
	assert_non_null(gs_park_idler_remember(&pk, &own));
	assert_non_null(gs_park_idler_remember(&pk, &gone));
	take_descriptors();
	gs_observers_beat(&hub.observers);
	give_descriptors();
	assert_non_null(gs_park_idler_find(&pk, (int32_t)gone.task.pid, gone.owner_start_ns));
	gs_observers_beat(&hub.observers);
	assert_null(gs_park_idler_find(&pk, (int32_t)gone.task.pid, gone.owner_start_ns));
	assert_non_null(gs_park_idler_find(&pk, getpid(), own.owner_start_ns));
	assert_null(gs_park_idler_find(&pk, getpid(), own.owner_start_ns + S));
	gs_park_idlers_free(&pk);
	gs_processes_free(&hub);
}

/* Parking a wrong process would stop it; a process that is out waits for us to bring it back. */
static void unknown_stops_a_parking_but_no_return(void **state)
{
	struct gs_hub hub = { 0 };
	struct gs_parking pk = { .hub = &hub };
	struct gs_parked *p = gs_parked_new(getpid(), own_start_ns());
	int out;

	assert_non_null(p);
	assert_int_equal(sd_event_new(&hub.event), 0);
	p->start_ns += 10 * S;
	assert_int_equal(gs_parking_watch(&pk, p, false), -ESRCH);
	assert_int_equal(gs_parking_watch(&pk, p, true), -ESRCH);
	p->start_ns = 0; /* not known */
	assert_int_equal(gs_parking_watch(&pk, p, false), -EAGAIN);
	out = gs_parking_watch(&pk, p, true);
	p->ended = sd_event_source_disable_unref(p->ended);
	gs_parked_unref(p);
	sd_event_unref(hub.event);
	assert_int_equal(out, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_rule_gives_each_answer),
		cmocka_unit_test(the_kernel_is_asked),
		cmocka_unit_test(an_idle_program_is_forgotten_only_when_it_has_ended),
		cmocka_unit_test(unknown_stops_a_parking_but_no_return),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
