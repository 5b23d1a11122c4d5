// SPDX-License-Identifier: MIT
/*
 * links.c - follows the links that exe= of rules names, again and again, in a thread
 *
 * An upgrade changes what /usr/bin/python3 leads to. A link may lead to a server that hangs.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>

#include "basic/clock.h"
#include "basic/log.h"
#include "classify/links.h"
#include "hub/task.h"
#include "intake/rescan.h"
#include "service/instance.h"

#define START_MS 500 /* the first classes are right, unless a link takes longer */
#define LEAVE_MS 1000
#define AGAIN_S 10u

struct gs_link_task {
	struct gs_task task;
	struct gs_links links;
	bool taken; /* at the start */
	bool ends;  /* the instance ends */
};

static int begin(struct gs_service *s);

static int on_due(sd_event_source *src, uint64_t us, void *user)
{
	struct gs_service *s = user;

	s->links_due = sd_event_source_disable_unref(s->links_due);
	begin(s);
	return 0;
}

static void plan(struct gs_service *s)
{
	if (sd_event_add_time_relative(s->hub->event, &s->links_due, CLOCK_BOOTTIME,
				       AGAIN_S * (NS_PER_S / NS_PER_US), 0, on_due, s) < 0)
		gs_log(LOG_ERR, "links that exe= names are not followed again: out of memory");
}

static void work(struct gs_task *e)
{
	gs_links_follow(&((struct gs_link_task *)e)->links);
}

static void end(struct gs_task *e)
{
	struct gs_link_task *t = (struct gs_link_task *)e;
	struct gs_service *s = e->owner;

	s->links = NULL;
	if (!t->ends && !t->taken && gs_links_put(s->hub->classes, &t->links)) {
		gs_log(LOG_NOTICE, "a file that exe= of a rule names leads elsewhere now");
		gs_rescan_all(s->intake);
	}
	if (!t->ends)
		plan(s);
	gs_task_unref(e);
}

static void task_free(struct gs_task *e)
{
	struct gs_link_task *t = (struct gs_link_task *)e;

	gs_links_done(&t->links);
	free(t);
}

static int begin(struct gs_service *s)
{
	struct gs_link_task *t = calloc(1, sizeof(*t));
	int r = t ? gs_links_of(s->hub->classes, &t->links) : -ENOMEM;

	if (!r && t->links.n) {
		t->task.work = work;
		t->task.end = end;
		t->task.free = task_free;
		r = gs_task_begin(&t->task, s->hub, s);
	} else if (!r) {
		r = -ENOENT; /* a reload may bring some */
	}
	if (!r) {
		s->links = t;
		return 0;
	}
	if (t)
		task_free(&t->task);
	plan(s);
	return r;
}

void gs_links_start(struct gs_service *s)
{
	struct pollfd p = { .events = POLLIN };

	if (!s->hub->opts.daemon || begin(s))
		return;
	p.fd = s->links->task.fd;
	if (poll(&p, 1, START_MS) > 0) {
		gs_links_put(s->hub->classes, &s->links->links);
		s->links->taken = true;
	}
}

void gs_links_end(struct gs_service *s)
{
	struct gs_link_task *t = s->links;

	s->links_due = sd_event_source_disable_unref(s->links_due);
	if (!t)
		return;
	t->ends = true;
	gs_task_leave(&t->task, LEAVE_MS);
	s->links = NULL;
}
