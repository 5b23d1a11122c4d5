// SPDX-License-Identifier: MIT
#include "control/counted_requests.h"

#include <stdlib.h>
#include <utlist.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "basic/quiet.h"
#include "control/agents.h"
#include "control/control.h"
#include "control/launches.h"
#include "control/told_requests.h"
#include "launch/watched.h"

#define LOOK_NS GS_BEATS_SECOND_NS

/* One process. Its address must not change, since its request source points to it. */
struct counted {
	struct counted *prev, *next;
	struct gs_control *ctl;
	struct gs_process *process;
	struct gs_told_requests *request;
	uint32_t quiet_us;
	uint32_t dropped; /* begins that caused no event, at the last look */
	bool there;       /* seen at the present look */
};

struct gs_counted {
	struct counted *all;
	uint64_t looked_ns;
	const struct gs_launches *launches; /* the counting in which the processes are watched */
};

static struct counted *counted_of(const struct gs_process *p)
{
	return p ? p->of[GS_PROCESS_COUNTED] : NULL;
}

/*
 * Reads the process's requests. Once counting has ended, all is zero: then an open request counts
 * as over.
 */
static void read_words(void *of, struct gs_request_words *ret)
{
	const struct counted *one = of;
	const struct gs_launches *l = one->ctl->hub->launches;
	struct gs_rests rests;

	*ret = (struct gs_request_words){ 0 };
	if (!l || gs_watched_get(l, one->process->pid, &rests))
		return;
	ret->rest_ns = rests.rest_ns;
	ret->launches = rests.launches;
	ret->begins = rests.begins;
	ret->quiet_us = one->quiet_us;
}

static void drop_counted(struct gs_control *ctl, struct counted *one)
{
	struct gs_counted *c = ctl->counted;

	gs_told_requests_free(one->request);
	if (ctl->hub->launches && ctl->hub->launches == c->launches)
		gs_watched_drop(ctl->hub->launches, one->process->pid);
	one->process->of[GS_PROCESS_COUNTED] = NULL;
	DL_DELETE(c->all, one);
	free(one);
}

static struct counted *add_counted(struct gs_control *ctl, struct gs_process *p)
{
	struct counted *one = calloc(1, sizeof(*one));
	const struct gs_request_source source = { read_words, one, GPUSCHED_REQUEST_COUNT };

	if (!one) {
		gs_count(ctl->hub, GS_SVC_COUNTED_LEFT);
		return NULL;
	}
	one->ctl = ctl;
	one->process = p;
	/* the map of what is watched has the limit */
	if (gs_watched_add(ctl->hub->launches, p->pid) ||
	    gs_told_requests_new(ctl, &source, NULL, &one->request)) {
		gs_watched_drop(ctl->hub->launches, p->pid);
		free(one);
		gs_count(ctl->hub, GS_SVC_COUNTED_LEFT);
		return NULL;
	}
	p->of[GS_PROCESS_COUNTED] = one;
	DL_APPEND(ctl->counted->all, one);
	return one;
}

/* True if policies may hold other TSGs for requests of this TSG's class. */
static bool may_request(const struct gpusched_tsg *rec)
{
	uint32_t class_id = rec->task.class_id;

	return rec->task.kind == GPUSCHED_KIND_COMPUTE && !(rec->flags & GPUSCHED_TSG_GONE) &&
	       (class_id == GPUSCHED_CLASS_LC || class_id >= GPUSCHED_CLASS_FIRST_USER);
}

static void take(struct gs_control *ctl, const struct gpusched_tsg *rec)
{
	struct gs_process *p = gs_processes_find(ctl->hub, (pid_t)rec->task.pid);
	struct counted *one = counted_of(p);

	if (!p || !may_request(rec) || gs_agents_requests(ctl, p->pid))
		return;
	if (!one)
		one = add_counted(ctl, p);
	if (!one)
		return;
	if (!one->there)
		gs_told_requests_clear(one->request);
	one->there = true;
	gs_told_requests_tsg(one->request, rec);
}

/*
 * Updates how long a rest must be to end a request. Returns false if counting has begun anew, so
 * that the process is no longer watched.
 */
static bool learn(struct gs_control *ctl, struct counted *one)
{
	struct gs_rests rests;
	uint32_t quiet;

	gs_told_requests_calm(one->request);
	if (gs_watched_get(ctl->hub->launches, one->process->pid, &rests))
		return false;
	ctl->hub->counters[GS_SVC_AGENT_WAKES_LEFT] += rests.dropped - one->dropped;
	one->dropped = rests.dropped;
	quiet = gs_quiet_us(&rests.rests);
	if (quiet != one->quiet_us &&
	    !gs_watched_quiet(ctl->hub->launches, one->process->pid, quiet))
		one->quiet_us = quiet;
	return true;
}

static void look(struct gs_control *ctl)
{
	CLEANUP_FREE struct gpusched_tsg *recs = NULL;
	struct gs_counted *c = ctl->counted;
	struct counted *one, *next;
	bool lasting = ctl->hub->launches && gs_service_launches_lasting(ctl);
	size_t n = 0;

	/* if only a command counts launches, it must not change what the policy does */
	if (!lasting || gs_table_all(ctl->hub->table, &recs, &n))
		n = 0;
	while (ctl->hub->launches != c->launches && c->all)
		drop_counted(ctl, c->all);
	c->launches = ctl->hub->launches;
	DL_FOREACH(c->all, one)
		one->there = false;
	for (size_t i = 0; i < n; i++)
		take(ctl, &recs[i]);
	DL_FOREACH_SAFE(c->all, one, next)
		if (!one->there || !learn(ctl, one))
			drop_counted(ctl, one);
}

void gs_counted_beat(void *self)
{
	struct gs_control *ctl = self;
	uint64_t now = gs_now_ns();

	if (!ctl->counted)
		return;
	ctl->hub->beat_soon |= ctl->counted->all != NULL;
	if (now < ctl->counted->looked_ns + LOOK_NS)
		return;
	ctl->counted->looked_ns = now;
	if (ctl->hub->launches || ctl->counted->all)
		look(ctl);
}

void gs_counted_tapped(void *self, const struct gpusched_event *ev)
{
	const struct gs_control *ctl = self;
	const struct counted *one = NULL;

	if (ev->type == GPUSCHED_EV_REQUEST)
		one = counted_of(gs_processes_find(ctl->hub, (pid_t)ev->pid));
	if (one)
		gs_told_requests_wake(one->request);
}

void gs_counted_process_ended(void *self, struct gs_process *p)
{
	struct counted *one = counted_of(p);

	if (one)
		drop_counted(self, one);
}

void gs_counted_process_changed(void *self, struct gs_process *p, enum gs_process_change what)
{
	if (what == GS_PROCESS_EXEC)
		gs_counted_process_ended(self, p);
}

void gs_counted_start(struct gs_control *ctl)
{
	if (ctl->hub->opts.daemon)
		ctl->counted = calloc(1, sizeof(*ctl->counted));
}

void gs_counted_end(struct gs_control *ctl)
{
	while (ctl->counted && ctl->counted->all)
		drop_counted(ctl, ctl->counted->all);
	free(ctl->counted);
	ctl->counted = NULL;
}

struct gs_told_requests *gs_requests_of(const struct gs_control *ctl,
					const struct gpusched_tsg *rec)
{
	struct gs_told_requests *told = NULL;
	const struct counted *one;

	if (!ctl || rec->task.kind != GPUSCHED_KIND_COMPUTE)
		return NULL;
	told = gs_agents_requests(ctl, (pid_t)rec->task.pid);
	if (told)
		return told;
	one = counted_of(gs_processes_find(ctl->hub, (pid_t)rec->task.pid));
	return one ? one->request : NULL;
}
