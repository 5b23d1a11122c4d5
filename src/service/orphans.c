// SPDX-License-Identifier: MIT
/*
 * orphans.c - TSGs that are used and not in the table: made before the taps, or past them
 *
 * Their clients are adopted one at a time, in turn by user, with a pause after each: asking RM about
 * a client takes the longer the more objects it has.
 */
#include <errno.h>
#include <string.h>

#include "basic/clock.h"
#include "basic/log.h"
#include "service/internal.h"
#include "taps/taps.h"

#define MAX_OF_USER 16
#define PAUSE_MIN_NS (10 * NS_PER_MS)
#define PAUSE_FACTOR 20 /* at most this part of the loop's time */

static void plan(struct gs_service *s)
{
	struct gs_orphans *o = &s->orphans;

	if (!o->n || !o->due)
		return;
	sd_event_source_set_time(o->due, o->next_ns / NS_PER_US);
	sd_event_source_set_enabled(o->due, SD_EVENT_ONESHOT);
}

/* The next of the user who comes after the last one. */
static struct gs_orphan take_next(struct gs_orphans *o)
{
	struct gs_orphan ret;
	size_t best = 0;

	for (size_t i = 1; i < o->n; i++)
		if (o->all[i].uid - o->last - 1 < o->all[best].uid - o->last - 1)
			best = i;
	ret = o->all[best];
	o->last = ret.uid;
	memmove(&o->all[best], &o->all[best + 1], (--o->n - best) * sizeof(ret));
	return ret;
}

static void meet(struct gs_service *s, struct gpusched_tsg *rec)
{
	gs_record_tell(s, rec, GPUSCHED_EV_TSG_NEW, 0);
	if (s->p) {
		gs_policy_ask(s->p, GPUSCHED_RUN_TASK_INIT, &rec->key, 0);
		gs_policy_ask(s->p, GPUSCHED_RUN_SCHEDULE, &rec->key, 0);
	}
	gs_process_reclassify(s, (pid_t)rec->task.pid);
}

static void adopt(struct gs_service *s, const struct gs_orphan *orphan)
{
	uint64_t began = gs_now_ns();
	struct gpusched_key key = { 0 };
	struct gs_adopted found = { 0 };
	struct gs_error err = { 0 };
	struct gpusched_tsg rec;

	if (gs_adopt_orphan(s->o, s->gpus, s->ngpus, orphan->pid, &orphan->key, &found, &err)) {
		gs_log(LOG_INFO, "adoption of process %d: %s", (int)orphan->pid, err.text);
		return;
	}
	if (!found.tsgs)
		return;
	gs_log(LOG_INFO, "adopted %u TSGs of process %d, which uses them", found.tsgs,
	       (int)orphan->pid);
	while (!gs_table_next(s->o, &key, &rec))
		if (rec.key.file == orphan->key.file && rec.key.client == orphan->key.client &&
		    (rec.flags & GPUSCHED_TSG_ADOPTED) && rec.task.created_ns >= began)
			meet(s, &rec);
	gs_loop_sweep_in(s, NS_PER_S);
}

static int on_due(sd_event_source *src, uint64_t us, void *user)
{
	struct gs_service *s = user;
	struct gs_orphans *o = &s->orphans;
	struct gs_orphan orphan;
	struct gpusched_tsg rec;
	uint64_t began = gs_now_ns();

	if (!o->n)
		return 0;
	orphan = take_next(o);
	if (gs_table_get(s->o, &orphan.key, &rec)) /* not there yet */
		adopt(s, &orphan);
	o->next_ns = gs_now_ns() + PAUSE_FACTOR * (gs_now_ns() - began);
	if (o->next_ns < began + PAUSE_MIN_NS)
		o->next_ns = began + PAUSE_MIN_NS;
	plan(s);
	return 0;
}

void gs_orphan_seen(struct gs_service *s, const struct gpusched_event *ev)
{
	struct gs_orphan new = { .pid = (pid_t)ev->pid, .key = ev->key };
	struct gs_orphans *o = &s->orphans;
	unsigned int of_user = 0;

	if (!s->config->adopt || gs_process_uid(new.pid, &new.uid))
		return;
	for (size_t i = 0; i < o->n; i++) {
		if (o->all[i].key.file == ev->key.file && o->all[i].key.client == ev->key.client &&
		    o->all[i].key.handle == ev->key.handle)
			return;
		of_user += o->all[i].uid == new.uid;
	}
	if (!o->due && sd_event_add_time(s->event, &o->due, CLOCK_MONOTONIC, 0, 0, on_due, s) < 0)
		return;
	if (o->n == GS_MAX_ORPHANS || of_user == MAX_OF_USER) {
		gs_count(s, GS_SVC_ORPHANS_LEFT);
		return;
	}
	o->all[o->n++] = new;
	plan(s);
}

void gs_orphans_end(struct gs_service *s)
{
	s->orphans.n = 0;
	s->orphans.due = sd_event_source_disable_unref(s->orphans.due);
}
