// SPDX-License-Identifier: MIT
/*
 * adoption.c - adopts TSGs that no tap saw made: from before the taps, or made past them
 *
 * At the start, for less than two seconds, TSGs are adopted at once. The rest is left to tasks.
 * Tasks also adopt a TSG that has no record when a tap later sees it in use. Asking RM takes longer
 * the more objects a client has. The loop then settles the TSGs that were found, in slices.
 */
#include "intake/adoption.h"

#include <errno.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "basic/grow.h"
#include "basic/log.h"
#include "basic/share.h"
#include "basic/user_limits.h"
#include "hub/limited.h"
#include "hub/task.h"
#include "intake/settle.h"
#include "intake/intake.h"
#include "intake/rescan.h"
#include "hub/loop.h"
#include "intake/reap.h"
#include "table/events.h"
#include "taps/taps.h"

#define START_NS (2 * NS_PER_S)
#define ERRAND_NS (NS_PER_S / 2)
#define PAUSE_MIN_NS (10 * NS_PER_MS)
#define PAUSE_FACTOR 20 /* adopting orphans takes a twentieth of the time at most */

/* One task, and the loop's work on the TSGs that it found. */
struct gs_adopting_trip {
	struct gs_task task;
	struct gs_sliced sliced;
	struct gs_adoption *rest; /* the service's adoption; NULL: the task is for an orphan */
	struct gs_orphan orphan;
	struct gpusched_key *found;
	size_t n, size, at;
	uint64_t began_ns;
	int code;
	struct gs_adopted sum;
	struct gs_error err;
};

static void plan(struct gs_intake *in);

/* ---- the thread ------------------------------------------------------------------------------ */

static void on_found(const struct gpusched_tsg *rec, void *user)
{
	struct gs_adopting_trip *t = user;

	/* If there is no memory, the policy sees the TSG only at the policy's next start. */
	if (!GS_GROW(t->found, t->size, t->n + 1))
		t->found[t->n++] = rec->key;
}

/* The adoption outlives each task, so its callback gets @in, and finds the present task there. */
static void on_found_of_rest(const struct gpusched_tsg *rec, void *user)
{
	struct gs_intake *in = user;

	if (in->adopting.trip)
		on_found(rec, in->adopting.trip);
}

static void trip_work(struct gs_task *e)
{
	struct gs_adopting_trip *t = (struct gs_adopting_trip *)e;
	struct gs_intake *in = e->owner;

	if (t->rest)
		gs_adoption_step(t->rest, gs_now_ns() + ERRAND_NS);
	else
		t->code = gs_adopt_orphan(in->hub->table, in->hub->gpus, in->hub->ngpus,
					  t->orphan.pid, &t->orphan.key, on_found, t, &t->sum,
					  &t->err);
}

/* ---- the loop -------------------------------------------------------------------------------- */

static void name_left(uid_t uid, unsigned int files, void *user)
{
	gs_limited_times(user, uid, GS_LIMIT_FILES, files);
}

static void end_rest(struct gs_intake *in)
{
	const struct gs_adopted *sum = gs_adoption_sum(in->adopting.rest);

	if (sum->tsgs || sum->failed)
		gs_log(LOG_INFO, "adopted %u TSGs of %u processes, %u could not be read", sum->tsgs,
		       sum->processes, sum->failed);
	if (sum->left)
		gs_log(LOG_WARNING, "adoption: %u open files were not looked at to the end",
		       sum->left);
	in->hub->counters[GS_SVC_ADOPTION_LEFT] += sum->left;
	gs_adoption_each_left(in->adopting.rest, name_left, in->hub);
	gs_adoption_free(in->adopting.rest);
	in->adopting.rest = NULL;
}

static void end_trip(struct gs_intake *in)
{
	struct gs_adopting_trip *t = TAKE_PTR(in->adopting.trip);
	uint64_t now = gs_now_ns(), pause = PAUSE_FACTOR * (now - t->began_ns);

	if (!t->rest)
		in->adopting.next_ns = now + (pause < PAUSE_MIN_NS ? PAUSE_MIN_NS : pause);
	if (t->n)
		gs_reap_in(in, NS_PER_S);
	gs_task_unref(&t->task);
	plan(in);
}

static void meet(struct gs_intake *in, struct gpusched_tsg *rec, pid_t *inout_noted)
{
	gs_observers_tell(&in->hub->observers, rec, GPUSCHED_EV_TSG_NEW, 0);
	if (in->hub->policy) {
		gs_stock_ask(in->hub->policy, GPUSCHED_RUN_TASK_INIT, &rec->key, 0);
		gs_stock_ask(in->hub->policy, GPUSCHED_RUN_SCHEDULE, &rec->key, 0);
	}
	if (*inout_noted != (pid_t)rec->task.pid)
		gs_settle_process(in, (pid_t)rec->task.pid, NULL);
	*inout_noted = (pid_t)rec->task.pid;
	gs_record_settle(in, rec);
	gs_rescan_new(in, rec);
}

static void meet_some(struct gs_sliced *w, uint64_t until_ns)
{
	struct gs_adopting_trip *t = GS_SLICED_OF(w, struct gs_adopting_trip, sliced);
	struct gs_intake *in = t->task.owner;
	struct gpusched_tsg rec;
	pid_t noted = 0;

	for (; t->at < t->n && gs_now_ns() < until_ns; t->at++)
		if (!gs_table_get(in->hub->table, &t->found[t->at], &rec))
			meet(in, &rec, &noted);
	if (t->at < t->n)
		gs_loop_slice(in->hub, w, true);
	else
		end_trip(in);
}

static void trip_end(struct gs_task *e)
{
	struct gs_adopting_trip *t = (struct gs_adopting_trip *)e;

	if (t->code)
		gs_log(t->code == -ENOENT ? LOG_DEBUG : LOG_INFO, "adoption of process %d: %s",
		       (int)t->orphan.pid, t->err.text);
	else if (!t->rest && t->n)
		gs_log(LOG_INFO, "adopted %zu TSGs of process %d, which uses them", t->n,
		       (int)t->orphan.pid);
	t->sliced.work = meet_some;
	t->sliced.uid = t->rest ? GS_SLICES_OURS : (int64_t)t->orphan.uid;
	gs_loop_slice(e->hub, &t->sliced, false);
}

static void trip_free(struct gs_task *e)
{
	struct gs_adopting_trip *t = (struct gs_adopting_trip *)e;

	free(t->found);
	free(t);
}

/* @orphan: NULL: the rest of the adoption at start. */
static void begin_trip(struct gs_intake *in, const struct gs_orphan *orphan)
{
	struct gs_adopting_trip *t = calloc(1, sizeof(*t));
	int r;

	if (!t)
		return;
	t->task = (struct gs_task){ trip_work, trip_end, trip_free };
	t->began_ns = gs_now_ns();
	if (orphan)
		t->orphan = *orphan;
	else
		t->rest = in->adopting.rest;
	in->adopting.trip = t;
	r = gs_task_begin(&t->task, in->hub, in);
	if (!r)
		return;
	gs_log(LOG_WARNING, "adoption: no thread: %s", strerror(-r));
	in->adopting.trip = NULL;
	gs_task_unref(&t->task);
	if (!orphan)
		end_rest(in);
	plan(in);
}

/* Takes an orphan of the user after the last one served, so that each user gets a share. */
static struct gs_orphan take_orphan(struct gs_adopting *a)
{
	struct gs_orphan ret;
	size_t best = 0;

	for (size_t i = 1; i < a->n; i++)
		if (a->orphans[i].uid - a->last - 1 < a->orphans[best].uid - a->last - 1)
			best = i;
	ret = a->orphans[best];
	a->last = ret.uid;
	memmove(&a->orphans[best], &a->orphans[best + 1], (--a->n - best) * sizeof(ret));
	return ret;
}

static int on_due(sd_event_source *src, uint64_t us, void *user)
{
	struct gs_intake *in = user;
	struct gs_adopting *a = &in->adopting;
	struct gs_orphan orphan;
	struct gpusched_tsg rec;

	if (a->trip || !in->hub->engine)
		return 0;
	if (a->n && gs_now_ns() >= a->next_ns) {
		orphan = take_orphan(a);
		/* The table does not have the TSG yet. */
		if (gs_table_get(in->hub->table, &orphan.key, &rec)) {
			begin_trip(in, &orphan);
			return 0;
		}
	} else if (a->rest && gs_adoption_due(a->rest) <= gs_now_ns()) {
		begin_trip(in, NULL);
		return 0;
	}
	plan(in);
	return 0;
}

static void plan(struct gs_intake *in)
{
	struct gs_adopting *a = &in->adopting;
	uint64_t at = a->n ? a->next_ns : UINT64_MAX, rest;

	if (a->trip || !in->hub->engine) /* a task is under way, or the instance begins or ends */
		return;
	rest = a->rest ? gs_adoption_due(a->rest) : UINT64_MAX;
	if (a->rest && rest == UINT64_MAX)
		end_rest(in);
	at = rest < at ? rest : at;
	if (at == UINT64_MAX ||
	    (!a->due &&
	     sd_event_add_time(in->hub->event, &a->due, CLOCK_MONOTONIC, 0, 0, on_due, in) < 0))
		return;
	sd_event_source_set_time(a->due, at / NS_PER_US);
	sd_event_source_set_enabled(a->due, SD_EVENT_ONESHOT);
}

/* ---- entry points ---------------------------------------------------------------------------- */

void gs_adopting_seen(struct gs_intake *in, const struct gpusched_event *ev)
{
	struct gs_orphan new = { .pid = (pid_t)ev->pid, .key = ev->key };
	struct gs_adopting *a = &in->adopting;
	unsigned int of_user = 0;

	if (!in->hub->config->adopt || gs_event_uid(ev, &new.uid))
		return;
	for (size_t i = 0; i < a->n; i++) {
		if (a->orphans[i].key.file == ev->key.file &&
		    a->orphans[i].key.client == ev->key.client &&
		    a->orphans[i].key.handle == ev->key.handle)
			return;
		of_user += a->orphans[i].uid == new.uid;
	}
	if (of_user == GS_USER_MAY_ORPHANS ||
	    !gs_share_allows(new.uid, of_user, a->n, GS_MAX_ORPHANS)) {
		gs_count(in->hub, GS_SVC_ORPHANS_LEFT);
		gs_limited(in->hub, new.uid, GS_LIMIT_ADOPTION);
		return;
	}
	a->orphans[a->n++] = new;
	plan(in);
}

void gs_adopting_begin(struct gs_intake *in)
{
	struct gs_error err = { 0 };
	int r = gs_adoption_new(in->hub->table, in->hub->gpus, in->hub->ngpus, on_found_of_rest, in,
				&in->adopting.rest, &err);

	if (r < 0) {
		gs_fail(&err, r, "%s", strerror(-r));
		gs_log(LOG_WARNING, "adoption: %s", err.text);
		return;
	}
	gs_adoption_step(in->adopting.rest, gs_now_ns() + START_NS);
	if (gs_adoption_due(in->adopting.rest) == UINT64_MAX)
		end_rest(in);
}

void gs_adopting_go_on(struct gs_intake *in)
{
	plan(in);
}

void gs_adopting_end(struct gs_intake *in)
{
	struct gs_adopting *a = &in->adopting;
	struct gs_adopting_trip *t = a->trip;

	a->n = 0;
	a->due = sd_event_source_disable_unref(a->due);
	if (t) {
		t->task.refs++;
		gs_task_wait(&t->task);
		gs_slices_drop(&in->hub->slices, &t->sliced);
		if (a->trip) /* otherwise the service has settled all records meanwhile */
			gs_task_unref(&t->task);
		a->trip = NULL;
		gs_task_unref(&t->task);
	}
	gs_adoption_free(a->rest);
	a->rest = NULL;
}
