// SPDX-License-Identifier: MIT
/*
 * reap.c - plans sweeps for the holders of the driver's files, and ends records without one
 *
 * A task looks for holders: that takes longer the more descriptors users have. The loop reports the
 * ends.
 */
#include "intake/reap.h"

#include <errno.h>
#include <string.h>

#include "basic/clock.h"
#include "basic/log.h"
#include "intake/ends.h"
#include "hub/task.h"
#include "intake/intake.h"
#include "hub/loop.h"
#include "taps/taps.h"

#define MAX_NS (10 * NS_PER_S)
#define COST_FACTOR 10000 /* the pause after a sweep is this multiple of the sweep's cost */
#define SOON_FACTOR 2 /* the same for sweeps that users' exits cause: at most a third of the time */

struct gs_sweep_task {
	struct gs_task task;
	struct gs_sliced sliced;
	struct gs_sweep *sweep;
	uint64_t cpu_ns;
	int code;
	struct gs_error err;
};

static void sweep_work(struct gs_task *e)
{
	struct gs_sweep_task *t = (struct gs_sweep_task *)e;

	t->code = gs_sweep_look(t->sweep, &t->err);
	t->cpu_ns = gs_thread_cpu_ns(); /* the thread's start counts too */
}

static void on_denied_end(const struct gpusched_tsg *rec, void *user)
{
	struct gs_intake *in = user;

	gs_observers_end(&in->hub->observers, rec, GS_END_DENIED);
}

/* Ends the record. That does no harm if a tap or a sweep is ending it too. */
void gs_reap_denied(struct gs_intake *in, const struct gpusched_tsg *rec)
{
	gs_log(in->denied_pid == rec->task.pid ? LOG_DEBUG : LOG_NOTICE,
	       "TSG %llu of process %u: the driver does not have it any more, so its record ends",
	       (unsigned long long)rec->task.id, rec->task.pid);
	in->denied_pid = rec->task.pid;
	if (!gs_sweep_one(in->hub->table, rec, on_denied_end, in))
		gs_jobs_let_go(in->hub->engine);
}

void gs_reap_in(struct gs_intake *in, uint64_t ns)
{
	uint64_t due_ns = gs_now_ns() + ns, planned;
	int enabled = SD_EVENT_OFF;

	if (!in->sweep)
		return;
	sd_event_source_get_enabled(in->sweep, &enabled);
	if (enabled && !sd_event_source_get_time(in->sweep, &planned) &&
	    planned <= due_ns / NS_PER_US)
		return;
	if (ns < GS_SWEEP_MIN_NS)
		gs_loop_plan(in->sweep, due_ns);
	else
		gs_loop_plan_about(in->sweep, due_ns);
}

static void on_swept(const struct gpusched_tsg *rec, void *user)
{
	struct gs_intake *in = user;

	gs_count(in->hub, GS_SVC_SWEPT);
	gs_observers_end(&in->hub->observers, rec, GS_END_SWEEP);
}

/*
 * Plans the next sweep. An exit is reported before the process's files are closed, and a living
 * process may close descriptors without a report. With a large table a sweep is costly. So the
 * longer sweeps take, the rarer they are.
 */
static void end_sweep(struct gs_intake *in, uint64_t cpu_ns)
{
	uint64_t next = cpu_ns * COST_FACTOR;
	bool again = in->sweeping.again;

	in->sweeping = (struct gs_reap){ .not_before_ns = gs_now_ns() + cpu_ns * SOON_FACTOR };
	if (in->hub->engine)
		gs_jobs_let_go(in->hub->engine);
	if (in->hub->launches)
		gs_launches_sweep(in->hub->launches);
	gs_ends_swept(in);
	if (again)
		gs_reap_in(in, GS_SWEEP_SOON_NS);
	if (gs_table_is_empty(in->hub->table))
		return;
	next = next < GS_SWEEP_MIN_NS ? GS_SWEEP_MIN_NS : next > MAX_NS ? MAX_NS : next;
	gs_reap_in(in, next);
}

static void tell_ends(struct gs_sliced *w, uint64_t until_ns)
{
	struct gs_sweep_task *t = GS_SLICED_OF(w, struct gs_sweep_task, sliced);
	struct gs_intake *in = t->task.owner;

	if (!gs_sweep_end(t->sweep, until_ns, on_swept, in)) {
		gs_loop_slice(in->hub, w, true);
		return;
	}
	end_sweep(in, t->cpu_ns);
	gs_task_unref(&t->task);
}

static void sweep_end(struct gs_task *e)
{
	struct gs_sweep_task *t = (struct gs_sweep_task *)e;

	if (t->code < 0) {
		gs_fail(&t->err, t->code, "%s", strerror(-t->code));
		gs_log(LOG_WARNING, "sweep: %s", t->err.text);
	}
	t->sliced = (struct gs_sliced){ .work = tell_ends, .uid = GS_SLICES_OURS };
	gs_loop_slice(e->hub, &t->sliced, false);
}

static void sweep_free(struct gs_task *e)
{
	struct gs_sweep_task *t = (struct gs_sweep_task *)e;

	gs_sweep_free(t->sweep);
	free(t);
}

static int begin(struct gs_intake *in)
{
	struct gs_sweep_task *t = calloc(1, sizeof(*t));
	int r;

	if (!t)
		return -ENOMEM;
	t->task = (struct gs_task){ sweep_work, sweep_end, sweep_free };
	r = gs_sweep_new(in->hub->table, &t->sweep);
	if (!r)
		r = gs_task_begin(&t->task, in->hub, in);
	if (r < 0)
		sweep_free(&t->task);
	else
		in->sweeping.task = t;
	return r;
}

/* A sweep under way may have passed the files in question, so another one follows it. */
void gs_reap_sweep(struct gs_intake *in)
{
	uint64_t now = gs_now_ns();
	int r;

	if (in->sweeping.task) {
		in->sweeping.again = true;
		return;
	}
	if (now < in->sweeping.not_before_ns) {
		gs_reap_in(in, in->sweeping.not_before_ns - now);
		return;
	}
	gs_count(in->hub, GS_SVC_SWEEPS);
	r = begin(in);
	if (r < 0) {
		gs_log(LOG_WARNING, "sweep: %s", strerror(-r));
		gs_reap_in(in, GS_SWEEP_MIN_NS);
	}
}

/* Ends that were not found yet are left to the next daemon. */
void gs_reap_end(struct gs_intake *in)
{
	struct gs_sweep_task *t = in->sweeping.task;

	in->sweep = sd_event_source_disable_unref(in->sweep); /* no other sweep starts */
	if (!t)
		return;
	t->task.refs++;
	gs_task_wait(&t->task);
	if (in->sweeping.task) {
		gs_slices_drop(&in->hub->slices, &t->sliced);
		gs_task_unref(&t->task);
	}
	gs_task_unref(&t->task);
}
