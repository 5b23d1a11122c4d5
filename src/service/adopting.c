// SPDX-License-Identifier: MIT
/*
 * adopting.c - TSGs that no tap saw made: from before the taps, or made past them
 *
 * At the start, what takes no longer than two seconds is adopted at once. The rest, and the clients
 * that a tap sees used later, are errands: asking RM takes time, the more the more objects there are.
 * The loop then meets what was found, in slices.
 */
#include "service/adopting.h"

#include <errno.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "basic/grow.h"
#include "basic/log.h"
#include "service/errand.h"
#include "service/settle.h"
#include "service/instance.h"
#include "service/looking.h"
#include "service/loop.h"
#include "service/sweeping.h"
#include "taps/taps.h"

#define START_NS (2 * NS_PER_S)
#define ERRAND_NS (NS_PER_S / 2)
#define MAX_OF_USER 16
#define PAUSE_MIN_NS (10 * NS_PER_MS)
#define PAUSE_FACTOR 20 /* orphans take a twentieth of the time at most */

/* One errand, and what the loop does about what it found. */
struct gs_adopting_trip {
	struct gs_errand errand;
	struct gs_sliced sliced;
	struct gs_adoption *rest; /* the service's; NULL: it is for an orphan */
	struct gs_orphan orphan;
	struct gpusched_key *found;
	size_t n, size, at;
	uint64_t began_ns;
	int code;
	struct gs_adopted sum;
	struct gs_error err;
};

static void plan(struct gs_service *s);

/* ---- the thread ------------------------------------------------------------------------------ */

static void on_found(const struct gpusched_tsg *rec, void *user)
{
	struct gs_adopting_trip *t = user;

	if (!GS_GROW(t->found, t->size, t->n + 1)) /* else the policy sees it at its next start */
		t->found[t->n++] = rec->key;
}

/* The adoption is the service's, and outlives its trips. */
static void on_found_of_rest(const struct gpusched_tsg *rec, void *user)
{
	struct gs_service *s = user;

	if (s->adopting.trip)
		on_found(rec, s->adopting.trip);
}

static void trip_work(struct gs_errand *e)
{
	struct gs_adopting_trip *t = (struct gs_adopting_trip *)e;
	struct gs_service *s = e->s;

	if (t->rest)
		gs_adoption_step(t->rest, gs_now_ns() + ERRAND_NS);
	else
		t->code = gs_adopt_orphan(s->o, s->gpus, s->ngpus, t->orphan.pid, &t->orphan.key,
					  on_found, t, &t->sum, &t->err);
}

/* ---- the loop -------------------------------------------------------------------------------- */

static void end_rest(struct gs_service *s)
{
	const struct gs_adopted *sum = gs_adoption_sum(s->adopting.rest);

	if (sum->tsgs || sum->failed)
		gs_log(LOG_INFO, "adopted %u TSGs of %u processes, %u could not be read", sum->tsgs,
		       sum->processes, sum->failed);
	if (sum->left)
		gs_log(LOG_WARNING, "adoption: %u open files were not looked at to the end",
		       sum->left);
	s->counters[GS_SVC_ADOPTION_LEFT] += sum->left;
	gs_adoption_free(s->adopting.rest);
	s->adopting.rest = NULL;
}

static void end_trip(struct gs_service *s)
{
	struct gs_adopting_trip *t = TAKE_PTR(s->adopting.trip);
	uint64_t now = gs_now_ns(), pause = PAUSE_FACTOR * (now - t->began_ns);

	if (!t->rest)
		s->adopting.next_ns = now + (pause < PAUSE_MIN_NS ? PAUSE_MIN_NS : pause);
	if (t->n)
		gs_sweep_in(s, NS_PER_S);
	gs_errand_unref(&t->errand);
	plan(s);
}

static void meet(struct gs_service *s, struct gpusched_tsg *rec, pid_t *inout_noted)
{
	gs_observers_tell(&s->observers, rec, GPUSCHED_EV_TSG_NEW, 0);
	if (s->p) {
		gs_policy_ask(s->p, GPUSCHED_RUN_TASK_INIT, &rec->key, 0);
		gs_policy_ask(s->p, GPUSCHED_RUN_SCHEDULE, &rec->key, 0);
	}
	if (*inout_noted != (pid_t)rec->task.pid)
		gs_process_note(s, (pid_t)rec->task.pid, NULL);
	*inout_noted = (pid_t)rec->task.pid;
	gs_record_settle(s, rec);
}

static void meet_some(struct gs_sliced *w, uint64_t until_ns)
{
	struct gs_adopting_trip *t = GS_SLICED_OF(w, struct gs_adopting_trip, sliced);
	struct gs_service *s = t->errand.s;
	struct gpusched_tsg rec;
	pid_t noted = 0;

	for (; t->at < t->n && gs_now_ns() < until_ns; t->at++)
		if (!gs_table_get(s->o, &t->found[t->at], &rec))
			meet(s, &rec, &noted);
	if (t->at < t->n)
		gs_loop_slice(s, w, true);
	else
		end_trip(s);
}

static void trip_end(struct gs_errand *e)
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
	gs_loop_slice(e->s, &t->sliced, false);
}

static void trip_free(struct gs_errand *e)
{
	struct gs_adopting_trip *t = (struct gs_adopting_trip *)e;

	free(t->found);
	free(t);
}

/* @orphan: NULL: the rest of the start's. */
static void begin_trip(struct gs_service *s, const struct gs_orphan *orphan)
{
	struct gs_adopting_trip *t = calloc(1, sizeof(*t));
	int r;

	if (!t)
		return;
	t->errand = (struct gs_errand){ trip_work, trip_end, trip_free };
	t->began_ns = gs_now_ns();
	if (orphan)
		t->orphan = *orphan;
	else
		t->rest = s->adopting.rest;
	s->adopting.trip = t;
	r = gs_errand_begin(&t->errand, s);
	if (!r)
		return;
	gs_log(LOG_WARNING, "adoption: no thread: %s", strerror(-r));
	s->adopting.trip = NULL;
	gs_errand_unref(&t->errand);
	if (!orphan)
		end_rest(s);
	plan(s);
}

/* The next of the user that comes after the last one. */
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
	struct gs_service *s = user;
	struct gs_adopting *a = &s->adopting;
	struct gs_orphan orphan;
	struct gpusched_tsg rec;

	if (a->trip || !s->e)
		return 0;
	if (a->n && gs_now_ns() >= a->next_ns) {
		orphan = take_orphan(a);
		if (gs_table_get(s->o, &orphan.key, &rec)) { /* not there yet */
			begin_trip(s, &orphan);
			return 0;
		}
	} else if (a->rest && gs_adoption_due(a->rest) <= gs_now_ns()) {
		begin_trip(s, NULL);
		return 0;
	}
	plan(s);
	return 0;
}

static void plan(struct gs_service *s)
{
	struct gs_adopting *a = &s->adopting;
	uint64_t at = a->n ? a->next_ns : UINT64_MAX, rest;

	if (a->trip || !s->e) /* it begins, or ends */
		return;
	rest = a->rest ? gs_adoption_due(a->rest) : UINT64_MAX;
	if (a->rest && rest == UINT64_MAX)
		end_rest(s);
	at = rest < at ? rest : at;
	if (at == UINT64_MAX ||
	    (!a->due && sd_event_add_time(s->event, &a->due, CLOCK_MONOTONIC, 0, 0, on_due, s) < 0))
		return;
	sd_event_source_set_time(a->due, at / NS_PER_US);
	sd_event_source_set_enabled(a->due, SD_EVENT_ONESHOT);
}

/* ---- from outside ---------------------------------------------------------------------------- */

void gs_orphan_seen(struct gs_service *s, const struct gpusched_event *ev)
{
	struct gs_orphan new = { .pid = (pid_t)ev->pid, .key = ev->key };
	struct gs_adopting *a = &s->adopting;
	unsigned int of_user = 0;

	if (!s->config->adopt || gs_process_uid(new.pid, &new.uid))
		return;
	for (size_t i = 0; i < a->n; i++) {
		if (a->orphans[i].key.file == ev->key.file &&
		    a->orphans[i].key.client == ev->key.client &&
		    a->orphans[i].key.handle == ev->key.handle)
			return;
		of_user += a->orphans[i].uid == new.uid;
	}
	if (a->n == GS_MAX_ORPHANS || of_user == MAX_OF_USER) {
		gs_count(s, GS_SVC_ORPHANS_LEFT);
		return;
	}
	a->orphans[a->n++] = new;
	plan(s);
}

void gs_adopting_begin(struct gs_service *s)
{
	struct gs_error err = { 0 };
	int r = gs_adoption_new(s->o, s->gpus, s->ngpus, on_found_of_rest, s, &s->adopting.rest,
				&err);

	if (r < 0) {
		gs_fail(&err, r, "%s", strerror(-r));
		gs_log(LOG_WARNING, "adoption: %s", err.text);
		return;
	}
	gs_adoption_step(s->adopting.rest, gs_now_ns() + START_NS);
	if (gs_adoption_due(s->adopting.rest) == UINT64_MAX)
		end_rest(s);
}

void gs_adopting_go_on(struct gs_service *s)
{
	plan(s);
}

void gs_adopting_end(struct gs_service *s)
{
	struct gs_adopting *a = &s->adopting;
	struct gs_adopting_trip *t = a->trip;

	a->n = 0;
	a->due = sd_event_source_disable_unref(a->due);
	if (t) {
		t->errand.refs++;
		gs_errand_wait(&t->errand);
		gs_slices_drop(&s->slices, &t->sliced);
		if (a->trip) /* else it has met all meanwhile */
			gs_errand_unref(&t->errand);
		a->trip = NULL;
		gs_errand_unref(&t->errand);
	}
	gs_adoption_free(a->rest);
	a->rest = NULL;
}
