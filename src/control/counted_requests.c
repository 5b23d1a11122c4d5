// SPDX-License-Identifier: MIT
#include "control/counted_requests.h"

#include <stdlib.h>

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
	struct gs_control *ctl;
	pid_t pid;
	struct gs_told_requests *request;
	uint32_t quiet_us;
	uint32_t dropped; /* begins that caused no event, at the last look */
	bool there;       /* seen at the present look */
};

struct gs_counted {
	struct counted *all[GS_MAX_RESTS];
	size_t n;
	uint64_t looked_ns;
	const struct gs_launches *launches; /* the counting in which the processes are watched */
};

static struct counted *find(const struct gs_counted *c, pid_t pid)
{
	for (size_t i = 0; c && i < c->n; i++)
		if (c->all[i]->pid == pid)
			return c->all[i];
	return NULL;
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
	if (!l || gs_watched_get(l, one->pid, &rests))
		return;
	ret->rest_ns = rests.rest_ns;
	ret->launches = rests.launches;
	ret->begins = rests.begins;
	ret->quiet_us = one->quiet_us;
}

static void drop(struct gs_control *ctl, size_t i)
{
	struct gs_counted *c = ctl->counted;
	struct counted *one = c->all[i];

	gs_told_requests_free(one->request);
	if (ctl->hub->launches && ctl->hub->launches == c->launches)
		gs_watched_drop(ctl->hub->launches, one->pid);
	free(one);
	c->all[i] = c->all[--c->n];
}

static struct counted *add(struct gs_control *ctl, pid_t pid)
{
	struct gs_counted *c = ctl->counted;
	struct counted *one = c->n < GS_MAX_RESTS ? calloc(1, sizeof(*one)) : NULL;
	const struct gs_request_source source = { read_words, one, GPUSCHED_REQUEST_COUNT };

	if (!one) {
		gs_count(ctl->hub, GS_SVC_COUNTED_LEFT);
		return NULL;
	}
	one->ctl = ctl;
	one->pid = pid;
	if (gs_watched_add(ctl->hub->launches, pid) ||
	    gs_told_requests_new(ctl, &source, NULL, &one->request)) {
		gs_watched_drop(ctl->hub->launches, pid);
		free(one);
		gs_count(ctl->hub, GS_SVC_COUNTED_LEFT);
		return NULL;
	}
	return c->all[c->n++] = one;
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
	pid_t pid = (pid_t)rec->task.pid;
	struct counted *one = find(ctl->counted, pid);

	if (!may_request(rec) || gs_agents_requests(ctl, pid))
		return;
	if (!one)
		one = add(ctl, pid);
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
	if (gs_watched_get(ctl->hub->launches, one->pid, &rests))
		return false;
	ctl->hub->counters[GS_SVC_AGENT_WAKES_LEFT] += rests.dropped - one->dropped;
	one->dropped = rests.dropped;
	quiet = gs_quiet_us(&rests.rests);
	if (quiet != one->quiet_us && !gs_watched_quiet(ctl->hub->launches, one->pid, quiet))
		one->quiet_us = quiet;
	return true;
}

static void look(struct gs_control *ctl)
{
	CLEANUP_FREE struct gpusched_tsg *recs = NULL;
	struct gs_counted *c = ctl->counted;
	bool lasting = ctl->hub->launches && gs_service_launches_lasting(ctl);
	size_t n = 0;

	/* if only a command counts launches, it must not change what the policy does */
	if (!lasting || gs_table_all(ctl->hub->table, &recs, &n))
		n = 0;
	if (ctl->hub->launches != c->launches)
		while (c->n)
			drop(ctl, c->n - 1);
	c->launches = ctl->hub->launches;
	for (size_t i = 0; i < c->n; i++)
		c->all[i]->there = false;
	for (size_t i = 0; i < n; i++)
		take(ctl, &recs[i]);
	for (size_t i = c->n; i--;)
		if (!c->all[i]->there || !learn(ctl, c->all[i]))
			drop(ctl, i);
}

void gs_counted_beat(void *self)
{
	struct gs_control *ctl = self;
	uint64_t now = gs_now_ns();

	if (!ctl->counted)
		return;
	ctl->hub->beat_soon |= ctl->counted->n != 0;
	if (now < ctl->counted->looked_ns + LOOK_NS)
		return;
	ctl->counted->looked_ns = now;
	if (ctl->hub->launches || ctl->counted->n)
		look(ctl);
}

void gs_counted_tapped(void *self, const struct gpusched_event *ev)
{
	struct gs_control *ctl = self;
	struct gs_counted *c = ctl->counted;
	pid_t pid = (pid_t)ev->pid;

	if (ev->type == GPUSCHED_EV_REQUEST) {
		struct counted *one = find(c, pid);

		if (one)
			gs_told_requests_wake(one->request);
		return;
	}
	if (ev->type != GPUSCHED_EV_EXEC && ev->type != GPUSCHED_EV_EXIT)
		return;
	for (size_t i = 0; c && i < c->n; i++)
		if (c->all[i]->pid == pid) {
			drop(ctl, i);
			return;
		}
}

void gs_counted_start(struct gs_control *ctl)
{
	if (ctl->hub->opts.daemon)
		ctl->counted = calloc(1, sizeof(*ctl->counted));
}

void gs_counted_end(struct gs_control *ctl)
{
	while (ctl->counted && ctl->counted->n)
		drop(ctl, ctl->counted->n - 1);
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
	one = find(ctl->counted, (pid_t)rec->task.pid);
	return one ? one->request : NULL;
}
