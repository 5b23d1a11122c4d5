// SPDX-License-Identifier: MIT
/*
 * verbs_observe.c - handles observe_on, observe_off, observe_status and restore
 *
 * They turn the taps on and off, and restore all settings. They also work without a daemon.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "basic/env.h"
#include "basic/log.h"
#include "classify/rules.h"
#include "gate/gate.h"
#include "requests/requests.h"
#include "hub/json.h"
#include "control/lock.h"
#include "hub/loop.h"
#include "intake/rescan.h"
#include "control/policy.h"
#include "control/restoring.h"
#include "control/starting.h"
#include "control/takeover.h"
#include "requests/verbs.h"
#include "table/procs.h"
#include "taps/taps.h"
#include "engine/restore.h"

#define SETTLE_MS 2000

/* ---- observe --------------------------------------------------------------------------------- */

int gs_verb_observe_status(struct gs_request *rq)
{
	static const char *const names[] = {
#define X(sym, name, text) name,
		GPUSCHED_TAP_COUNTERS(X)
#undef X
	};
	struct gs_taps_status st = { 0 };
	struct gs_error why = { 0 };
	json_t *counters = json_object(), *o = rq->answer;
	int r;

	json_object_set_new(o, "counters", counters);
	r = gs_taps_status(&st, rq->err);
	if (r)
		return gs_fail(rq->err, r, "the taps cannot be read: %s", strerror(-r));
	json_object_set_new(o, "on", json_boolean(st.on));
	json_object_set_new(o, "complete", json_boolean(st.complete));
	gs_json_put_number(o, "version", st.version, st.version);
	r = st.gate ? 0 : gs_gate_probe(&why);
	json_object_set_new(o, "gate", json_boolean(st.gate));
	gs_json_put_text(o, "gate_reason", r ? why.text : NULL);
	gs_json_put_number(o, "tsgs", st.on, st.tsgs);
	gs_json_put_number(o, "processes", st.on, st.procs);
	for (size_t i = 0; i < GS_COUNT(names); i++)
		gs_json_put_number(counters, names[i], st.on, st.counters[i]);
	return 0;
}

int gs_verb_observe_on(struct gs_request *rq)
{
	struct gs_error why = { 0 };
	CLEANUP_FD int lock = -1;
	int r = gs_taps_on(&why);

	if (r == -ESTALE || r == -EUCLEAN) { /* replaces old taps, if no other process uses them */
		r = gs_service_lock(&lock, rq->err);
		if (!r)
			r = gs_takeover_taps_ready(rq->err);
	}
	return r ? gs_fail(rq->err, r, "%s", why.text) : gs_verb_observe_status(rq);
}

/* ---- restore --------------------------------------------------------------------------------- */

static void fill_restored(json_t *o, const struct gs_restored *done)
{
	json_object_set_new(o, "changed", json_integer(done->changed));
	json_object_set_new(o, "restored", json_integer(done->restored));
	json_object_set_new(o, "gone", json_integer(done->gone));
	json_object_set_new(o, "failed", json_integer(done->failed));
	json_object_set_new(o, "continued", json_integer(done->continued));
	json_object_set_new(o, "time_us", json_integer((json_int_t)(done->ns / 1000)));
}

static void unref(void *state)
{
	gs_task_unref(state);
}

static int step_restored(struct gs_request *rq, uint64_t now_ns)
{
	const struct gs_restoring *t = rq->state;

	if (!t->task.over)
		return -EINPROGRESS;
	fill_restored(rq->answer, &t->done);
	return t->code ? gs_fail(rq->err, t->code, "%s", t->err.text) : 0;
}

/* First waits for calls under way, and for the calls that the stop of the policy causes. */
static int step_settled(struct gs_request *rq, uint64_t now_ns)
{
	static const struct gs_restored nothing;
	struct gs_restoring *t = NULL;
	int r;

	if (!gs_engine_idle(rq->rs->hub->engine) && !gs_completion_is_late(&rq->c, now_ns))
		return -EINPROGRESS;
	if (rq->rs->hub->opts.dry_run) {
		fill_restored(rq->answer, &nothing);
		return 0;
	}
	r = gs_restoring_begin(rq->rs->control, &t, rq->err);
	if (r)
		return r;
	rq->state = &t->task;
	rq->free_state = unref;
	return gs_request_wait(rq, step_restored, GS_ON_TASK, 0);
}

/*
 * Counts the classes that commands gave to processes and, with @classes, to cgroups. Takes them back
 * if that was asked for; @in NULL: without an instance, the next one classifies the processes.
 */
static void put_classes(struct gs_request *rq, struct gs_table *t, struct gs_classes *classes,
			struct gs_intake *in)
{
	CLEANUP_FREE pid_t *pids = NULL;
	bool drop = gs_arg_true(rq, "classes");
	size_t n = 0, cgroups = classes ? gs_rules_count_cgroups(classes, drop) : 0;
	bool known = !gs_procs_classed(t, &pids, &n);

	for (size_t i = 0; drop && known && i < n; i++)
		gs_proc_unclass(t, pids[i]);
	if (drop && in && n + cgroups) /* in slices: there may be thousands */
		gs_rescan_all(in);
	gs_json_put_number(rq->answer, "classes", known, n + cgroups);
}

/* Does so without an instance. An older version's table is not read: "classes" is null then. */
static void put_classes_alone(struct gs_request *rq)
{
	struct gs_table *t;

	json_object_set_new(rq->answer, "classes", json_null());
	if (gs_table_open(&t, NULL))
		return;
	put_classes(rq, t, NULL, NULL);
	gs_table_close(t);
}

static int restore_here(struct gs_request *rq)
{
	if (!gs_arg_true(rq, "keep"))
		gs_saved_forget(rq->rs->control);
	gs_starting_call_off(rq->rs->control, "a person restored everything");
	gs_policy_note_death(rq->rs->control);
	rq->rs->control->wanted.by_config = false;
	gs_service_policy_stop(rq->rs->control, GS_POLICY_EXIT_STOPPED,
			       "a person restored everything");
	put_classes(rq, rq->rs->hub->table, rq->rs->hub->classes, rq->rs->intake);
	return gs_request_wait(rq, step_settled, GS_ON_ENGINE, SETTLE_MS);
}

/*
 * Takes the lock of the instance. If a daemon that no longer responds holds it, sets *ret_beside:
 * the restore then goes on in spite of that daemon.
 */
static int take_lock(struct gs_request *rq, int *ret_fd, bool *ret_beside)
{
	struct gs_error busy = { 0 };
	int r = gs_service_lock(ret_fd, &busy);

	if (r == -EBUSY && !gs_service_lock_overtake(ret_fd, rq->err)) {
		*ret_beside = true;
		return 0;
	}
	return r ? gs_fail(rq->err, r, "%s", busy.text) : 0;
}

/* Restores from the pinned table, or from what is left of it, without daemon and configuration. */
static int restore_alone(struct gs_request *rq)
{
	CLEANUP_FD int lock = -1;
	struct gs_restored done = { 0 };
	bool beside = false;
	uint64_t begin = gs_now_ns();
	int r;

	fill_restored(rq->answer, &done);
	if (!gs_arg_true(rq, "keep"))
		gs_saved_forget_file();
	if (access(gs_env()->bpffs, F_OK) && errno == ENOENT)
		return 0;
	r = take_lock(rq, &lock, &beside);
	if (!r)
		r = gs_takeover_restore(beside, &done, rq->err);
	if (done.changed && gs_arg_true(rq, "keep"))
		gs_report_write(&done, begin, NULL);
	fill_restored(rq->answer, &done);
	json_object_set_new(rq->answer, "overtook", json_boolean(beside));
	put_classes_alone(rq);
	return r;
}

int gs_verb_restore(struct gs_request *rq)
{
	return rq->rs ? restore_here(rq) : restore_alone(rq);
}

/* Restores before it removes the taps: their table has the settings to restore. */
int gs_verb_observe_off(struct gs_request *rq)
{
	int r;

	/* refused even if the daemon does not respond: the taps are not removed under a daemon */
	if (rq->rs || gs_service_lock_has_daemon())
		return gs_fail(rq->err, -EBUSY,
			       "a running instance needs the taps: stop gpuschedd first");
	r = restore_alone(rq);
	json_object_clear(rq->answer);
	if (r == -ENODATA) {
		gs_log(LOG_WARNING, "%s", rq->err->text);
		rq->err->code = 0;
		r = 0;
	}
	if (r)
		return r;
	gs_launches_forget();
	if (gs_launches_clear(false, rq->err)) {
		gs_log(LOG_NOTICE, "the launch probes stay, and count nothing: %s", rq->err->text);
		*rq->err = (struct gs_error){ 0 };
	}
	return gs_taps_off(rq->err);
}
