// SPDX-License-Identifier: MIT
/*
 * names.c - asks again for users and groups in the configuration that were not known at the start
 *
 * A directory may know a user only some time after a boot, or not answer for minutes. So a start
 * leaves lines with names out, and a thread asks for them: the start waits for it a moment only.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "basic/clock.h"
#include "basic/log.h"
#include "control/budgets.h"
#include "hub/task.h"
#include "intake/rescan.h"
#include "service/instance.h"

#define START_MS 500 /* most name services answer sooner, and the first classes are right then */
#define LEAVE_MS 1000
#define FIRST_S 2u /* until the second time; then twice as long each time */
#define MOST_S 60u

struct gs_names {
	struct gs_task task;
	struct gs_config *config; /* a copy: a reload may free the other */
	struct gs_declared made;
	struct gs_error err;
	int code;
	bool taken; /* or of no use any more, since the configuration was read again */
	bool ends;  /* the instance ends */
};

static bool has(const struct gs_texts *t, const char *at)
{
	for (size_t i = 0; i < t->n; i++)
		if (!strcmp(t->at[i], at))
			return true;
	return false;
}

/* False if a line that is in force would wait, since its name has no answer this time. */
static bool none_waits_anew(const struct gs_texts *before, const struct gs_texts *now)
{
	for (size_t i = 0; i < now->n; i++)
		if (!has(before, now->at[i]))
			return false;
	return true;
}

static void tell_known(const struct gs_texts *before, const struct gs_texts *now)
{
	for (size_t i = 0; i < before->n; i++)
		if (!has(now, before->at[i]))
			gs_log(LOG_NOTICE, "%s: the name is known now: the line is in force",
			       before->at[i]);
}

static int put_in_force(struct gs_service *s, struct gs_names *n)
{
	int r = gs_service_classes(s, n->made.classes, &n->err);

	if (r)
		return r;
	n->made.classes = NULL;
	r = gs_budgets_set(s->control, s->figures, &n->made.budgets, &n->err);
	gs_rescan_all(s->intake);
	gs_engine_touch_all(s->hub->engine);
	return r;
}

/* Before anything is classified and counted. */
static int put_in_force_at_start(struct gs_service *s, struct gs_names *n)
{
	int r = gs_service_classes(s, n->made.classes, &n->err);

	if (r)
		return r;
	n->made.classes = NULL;
	gs_budget_rules_done(&s->budgets);
	s->budgets = n->made.budgets;
	n->made.budgets = (struct gs_budget_rules){ .n = 0 };
	return 0;
}

static void take(struct gs_service *s, struct gs_names *n)
{
	const struct gs_texts before = s->hub->waiting;

	if (n->taken || !none_waits_anew(&before, &n->made.waiting))
		return;
	n->taken = true;
	if (!n->code && n->made.waiting.n < before.n)
		n->code = s->acts ? put_in_force(s, n) : put_in_force_at_start(s, n);
	if (n->code) {
		gs_log(LOG_ERR, "what waits for a name cannot be put in force: %s", n->err.text);
		return;
	}
	if (s->names_told)
		tell_known(&before, &n->made.waiting);
	s->hub->waiting = n->made.waiting;
	s->hub->waiting_budgets = n->made.waiting_budgets;
	n->made.waiting = before;
}

static void work(struct gs_task *e)
{
	struct gs_names *n = (struct gs_names *)e;

	n->code = gs_config_declare(n->config, GS_NAMING_KEEP, &n->made, &n->err);
}

static void plan(struct gs_service *s);
static int begin(struct gs_service *s);

static int on_due(sd_event_source *src, uint64_t us, void *user)
{
	struct gs_service *s = user;

	s->names_due = sd_event_source_disable_unref(src);
	if (begin(s))
		plan(s);
	return 0;
}

static void plan(struct gs_service *s)
{
	s->names_wait_s = s->names_wait_s ? 2 * s->names_wait_s : FIRST_S;
	if (s->names_wait_s > MOST_S)
		s->names_wait_s = MOST_S;
	if (sd_event_add_time_relative(s->hub->event, &s->names_due, CLOCK_BOOTTIME,
				       s->names_wait_s * (NS_PER_S / NS_PER_US), 0, on_due, s) < 0)
		gs_log(LOG_ERR, "nobody asks for the names of users again: out of memory");
}

static void end(struct gs_task *e)
{
	struct gs_names *n = (struct gs_names *)e;
	struct gs_service *s = e->owner;

	s->names = NULL;
	if (!n->ends) {
		take(s, n);
		if (s->hub->waiting.n)
			plan(s);
	}
	gs_task_unref(e);
}

static void names_free(struct gs_task *e)
{
	struct gs_names *n = (struct gs_names *)e;

	gs_config_free(n->config);
	gs_config_declared_done(&n->made);
	free(n);
}

static int begin(struct gs_service *s)
{
	struct gs_names *n = calloc(1, sizeof(*n));
	int r = n ? gs_config_copy(s->hub->config, &n->config) : -ENOMEM;

	if (!r) {
		n->task.work = work;
		n->task.end = end;
		n->task.free = names_free;
		r = gs_task_begin(&n->task, s->hub, s);
	}
	if (!r) {
		s->names = n;
	} else if (n) {
		gs_config_free(n->config);
		free(n);
	}
	return r;
}

void gs_names_start(struct gs_service *s)
{
	const struct gs_texts *w = &s->hub->waiting;
	struct pollfd p = { .events = POLLIN };

	if (!s->hub->opts.daemon || !w->n)
		return;
	if (begin(s)) {
		plan(s);
	} else {
		p.fd = s->names->task.fd;
		if (poll(&p, 1, START_MS) > 0)
			take(s, s->names);
	}
	s->names_told = true;
	for (size_t i = 0; i < w->n; i++)
		gs_log(LOG_WARNING, "%s: %s: the line is left out for now", w->at[i], w->text[i]);
}

void gs_names_replaced(struct gs_service *s)
{
	gs_config_clear_texts(&s->hub->waiting);
	s->hub->waiting_budgets = 0;
	s->names_due = sd_event_source_disable_unref(s->names_due);
	if (s->names)
		s->names->taken = true;
}

void gs_names_end(struct gs_service *s)
{
	struct gs_names *n = s->names;

	s->names_due = sd_event_source_disable_unref(s->names_due);
	if (!n)
		return;
	n->ends = true;
	gs_task_leave(&n->task, LEAVE_MS);
	s->names = NULL;
}
