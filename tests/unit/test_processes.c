// SPDX-License-Identifier: MIT
/* test_processes.c - check when a process is met, changed and ended, and that each end comes once */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "figures/calls.h"
#include "figures/figures.h"
#include "hub/hub.h"
#include "intake/settle.h"
#include "table/started.h"

#define S NS_PER_S
#define PID 0x7ffffff0u /* no process has these pids */

static struct gs_hub hub;
static struct {
	unsigned int met, ended, changed[GS_PROCESS_CGROUP + 1];
	const struct gs_process *last;
} seen;
static bool keeps; /* a room keeps something of each process that is met */

static void on_met(void *self, struct gs_process *p)
{
	seen.met++;
	seen.last = p;
	p->of[GS_PROCESS_COUNTED] = keeps ? &seen : NULL;
}

static void on_changed(void *self, struct gs_process *p, enum gs_process_change what)
{
	seen.changed[what]++;
}

static void on_ended(void *self, struct gs_process *p)
{
	seen.ended++;
	p->of[GS_PROCESS_COUNTED] = NULL;
}

static const struct gs_observer all[] = {
	{ "processes", .tapped = gs_processes_tapped, .seen = gs_processes_seen,
	  .ended = gs_processes_ended, .events_lost = gs_processes_events_lost,
	  .beat = gs_processes_beat },
	{ "room", .process_met = on_met, .process_changed = on_changed, .process_ended = on_ended },
};
static void *selves[] = { &hub };

static int setup(void **state)
{
	memset(&hub, 0, sizeof(hub));
	memset(&seen, 0, sizeof(seen));
	keeps = false;
	hub.observers = (struct gs_observers){ .all = all, .n = GS_COUNT(all), .selves = selves };
	return 0;
}

static int teardown(void **state)
{
	gs_observers_free(&hub.observers);
	gs_processes_free(&hub);
	return 0;
}

static struct gpusched_tsg tsg(uint64_t id, uint32_t pid, uint64_t start_ns)
{
	return (struct gpusched_tsg){
		.key = { .handle = (uint32_t)id },
		.owner_start_ns = start_ns,
		.task = { .id = id, .pid = pid, .uid = 1000, .comm = "program" },
	};
}

static void see(const struct gpusched_tsg *rec)
{
	gs_observers_know(&hub.observers, rec);
	gs_observers_seen(&hub.observers, rec);
}

static void see_new(uint64_t id, uint32_t pid, uint64_t start_ns)
{
	const struct gpusched_tsg rec = tsg(id, pid, start_ns);

	see(&rec);
}

static void tap(enum gpusched_event_type type, uint64_t id, uint32_t pid)
{
	const struct gpusched_event ev = {
		.type = type, .id = id, .pid = pid, .key.handle = (uint32_t)id, .comm = "other"
	};

	gs_observers_tapped(&hub.observers, &ev);
}

static void expect(unsigned int met, unsigned int ended)
{
	assert_int_equal(seen.met, met);
	assert_int_equal(seen.ended, ended);
}

/* A child that ends when it is told to; its true start. */
static pid_t child(uint64_t *ret_start_ns)
{
	pid_t pid = fork();

	if (!pid) {
		pause();
		_exit(0);
	}
	assert_true(pid > 0);
	if (gs_started(pid, ret_start_ns)) {
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		skip(); /* needs root */
	}
	return pid;
}

static void end_child(pid_t pid)
{
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

/* ---------------------------------------------------------------------------------------------- */

static void a_process_lasts_from_its_first_tsg_to_its_last(void **state)
{
	see_new(1, PID, S);
	see_new(1, PID, S);
	see_new(2, PID, S);
	expect(1, 0);
	assert_int_equal(gs_processes_find(&hub, PID)->ntsgs, 2);
	assert_string_equal(gs_processes_find(&hub, PID)->comm, "program");
	tap(GPUSCHED_EV_TSG_FREE, 1, PID);
	tap(GPUSCHED_EV_TSG_FREE, 1, PID); /* the sweep reports it again */
	expect(1, 0);
	tap(GPUSCHED_EV_TSG_FREE, 2, PID);
	expect(1, 1);
	assert_null(gs_processes_find(&hub, PID));
}

static void an_exit_ends_it_before_its_tsgs(void **state)
{
	see_new(1, PID, S);
	tap(GPUSCHED_EV_EXIT, 0, PID);
	expect(1, 1);
	assert_null(gs_processes_find(&hub, PID));
	see_new(1, PID, S); /* the sweep has not come yet */
	see_new(2, PID, S);
	tap(GPUSCHED_EV_EXIT, 0, PID);
	expect(1, 1);
	tap(GPUSCHED_EV_TSG_FREE, 1, PID);
	expect(1, 1);
	assert_null(hub.processes.busy);
}

static void another_start_is_another_process(void **state)
{
	see_new(1, PID, S);
	see_new(2, PID, 5 * S);
	expect(2, 1);
	assert_int_equal(gs_processes_find(&hub, PID)->start_ns, 5 * S);
	see_new(3, PID, S); /* a late word of the first */
	expect(2, 1);
	tap(GPUSCHED_EV_TSG_FREE, 1, PID);
	assert_non_null(gs_processes_find(&hub, PID));
	tap(GPUSCHED_EV_TSG_FREE, 2, PID);
	expect(2, 2);
}

static void a_tsg_may_go_to_another_process(void **state)
{
	see_new(1, PID, S);
	see_new(1, PID + 1, 2 * S);
	expect(2, 1);
	assert_null(gs_processes_find(&hub, PID));
	assert_int_equal(gs_processes_find(&hub, PID + 1)->ntsgs, 1);
}

static void changes_are_told_once(void **state)
{
	struct gpusched_tsg rec = tsg(1, PID, S);

	see(&rec);
	rec.task.class_id = 3;
	rec.task.cgroup_id = 4;
	see(&rec);
	see(&rec);
	tap(GPUSCHED_EV_EXEC, 0, PID);
	tap(GPUSCHED_EV_EXEC, 0, PID + 1);
	assert_int_equal(seen.changed[GS_PROCESS_CLASS], 1);
	assert_int_equal(seen.changed[GS_PROCESS_CGROUP], 1);
	assert_int_equal(seen.changed[GS_PROCESS_EXEC], 1);
	assert_string_equal(gs_processes_find(&hub, PID)->comm, "other");
	assert_int_equal(gs_processes_find(&hub, PID)->class_id, 3);
}

static void a_room_keeps_it_without_tsgs_until_it_is_gone(void **state)
{
	uint64_t start_ns = 0;
	pid_t pid = child(&start_ns);

	keeps = true;
	see_new(1, (uint32_t)pid, start_ns);
	tap(GPUSCHED_EV_TSG_FREE, 1, (uint32_t)pid);
	gs_observers_beat(&hub.observers);
	expect(1, 0);
	assert_int_equal(seen.changed[GS_PROCESS_UID], 1); /* it is ours, not user 1000's */
	end_child(pid);
	gs_observers_beat(&hub.observers);
	expect(1, 1);
}

static void a_room_that_lets_go_of_it_ends_it(void **state)
{
	uint64_t start_ns = 0;
	pid_t pid = child(&start_ns);
	const struct gs_process_who who = { pid, getuid(), start_ns, NULL };
	struct gs_process *p;

	keeps = true;
	p = gs_processes_meet(&hub, &who);
	gs_observers_beat(&hub.observers);
	expect(1, 0);
	p->of[GS_PROCESS_COUNTED] = NULL;
	gs_observers_beat(&hub.observers);
	expect(1, 1);
	end_child(pid);
}

static void only_a_watched_process_with_tsgs_is_checked(void **state)
{
	see_new(1, PID, S);
	gs_observers_beat(&hub.observers);
	expect(1, 0);
	gs_processes_watch(&hub, gs_processes_find(&hub, PID), true);
	gs_observers_beat(&hub.observers);
	expect(1, 1);
	tap(GPUSCHED_EV_TSG_FREE, 1, PID);
	expect(1, 1);
}

static void lost_events_have_it_checked(void **state)
{
	see_new(1, PID, S);
	gs_observers_events_lost(&hub.observers, PID);
	expect(1, 1);
}

static void each_beat_checks_a_part(void **state)
{
	keeps = true;
	for (uint32_t i = 0; i < 1000; i++) {
		const struct gs_process_who who = { (pid_t)(PID - i), i % 5, S, NULL };

		assert_non_null(gs_processes_meet(&hub, &who));
	}
	gs_observers_beat(&hub.observers);
	assert_in_range(seen.ended, 1, 200);
	for (unsigned int i = 0; i < 10; i++)
		gs_observers_beat(&hub.observers);
	expect(1000, 1000);
	assert_null(hub.processes.checked);
}

/* One user's processes leave room for others; a TSG without a process ends as any other. */
static void past_the_limit_tsgs_live_on(void **state)
{
	unsigned int met;

	for (uint32_t i = 0; i < GS_PROCESSES_MAX; i++)
		see_new(1 + i, PID - i, S);
	met = seen.met;
	assert_in_range(met, GS_PROCESSES_MAX / 3, GS_PROCESSES_MAX / 2);
	assert_int_equal(hub.counters[GS_SVC_PROCESSES_LEFT], GS_PROCESSES_MAX - met);
	for (uint32_t i = 0; i < GS_PROCESSES_MAX; i++)
		tap(GPUSCHED_EV_TSG_FREE, 1 + i, PID - i);
	expect(met, met);
	assert_null(hub.observers.known);
	see_new(1, PID, S);
	expect(met + 1, met);
}

static void the_end_of_an_instance_ends_all(void **state)
{
	const struct gs_process_who who = { (pid_t)PID, 1000, S, NULL };

	keeps = true;
	see_new(1, PID + 1, S);
	see_new(2, PID + 2, S);
	tap(GPUSCHED_EV_EXIT, 0, PID + 2);
	gs_processes_meet(&hub, &who);
	expect(3, 1);
	gs_processes_free(&hub);
	expect(3, 3);
	gs_processes_free(&hub);
	assert_null(gs_processes_find(&hub, (pid_t)PID));
}

static void fail_call(struct gs_figures *fig, uint32_t pid, int err)
{
	const struct gs_engine_call call = { .pid = pid, .id = 1, .res.err = err };

	gs_calls_called(fig, &call);
}

/* What is only remembered for a while ends with the process's last TSG. */
static void memory_of_failures_keeps_no_process(void **state)
{
	static const struct gs_observer of_figures[] = {
		{ "processes", 0, .tapped = gs_processes_tapped, .seen = gs_processes_seen,
		  .ended = gs_processes_ended, .beat = gs_processes_beat },
		{ "calls", 1, .process_ended = gs_calls_process_ended },
		{ "jobs", 1, .process_ended = gs_settle_job_ended },
	};
	struct gs_figures fig = { .hub = &hub };
	void *both[] = { &hub, &fig };
	const struct gs_process *p;

	hub.observers = (struct gs_observers){ of_figures, GS_COUNT(of_figures), both, NULL };
	fail_call(&fig, PID, -EREMOTEIO); /* no process is known */
	see_new(1, PID, S);
	p = gs_processes_find(&hub, PID);
	assert_null(p->of[GS_PROCESS_FAILURE]);
	fail_call(&fig, PID, -EREMOTEIO);
	assert_non_null(p->of[GS_PROCESS_FAILURE]);
	tap(GPUSCHED_EV_TSG_FREE, 1, PID);
	assert_null(gs_processes_find(&hub, PID));
	assert_null(hub.processes.checked);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(a_process_lasts_from_its_first_tsg_to_its_last),
		T(an_exit_ends_it_before_its_tsgs),
		T(another_start_is_another_process),
		T(a_tsg_may_go_to_another_process),
		T(changes_are_told_once),
		T(a_room_keeps_it_without_tsgs_until_it_is_gone),
		T(a_room_that_lets_go_of_it_ends_it),
		T(only_a_watched_process_with_tsgs_is_checked),
		T(lost_events_have_it_checked),
		T(each_beat_checks_a_part),
		T(past_the_limit_tsgs_live_on),
		T(memory_of_failures_keeps_no_process),
		T(the_end_of_an_instance_ends_all),
	};
#undef T

	return cmocka_run_group_tests(tests, NULL, NULL);
}
