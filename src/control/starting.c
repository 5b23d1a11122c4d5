// SPDX-License-Identifier: MIT
/*
 * Starts policies and launch counting, one start at a time. The long parts run in a task: compiler,
 * linker, verifier, attaching. The loop then puts the result in place.
 */
#include "control/starting.h"

#include <errno.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/log.h"
#include "gpusched/policy_types.h"
#include "hub/task.h"
#include "control/control.h"
#include "control/agents.h"
#include "control/launches.h"
#include "hub/loop.h"
#include "policy/build.h"
#include "control/policy.h"

struct gs_starting {
	struct gs_task task;
	char *name; /* name of the policy; NULL: only counting starts */
	enum gs_host_word host;
	char **options;
	size_t noptions;
	/* Begin to count launches, even if the policy does not need them. */
	bool count;
	bool may_count;
	/* A task that ends counting and must be over before this start; NULL: none. */
	struct gs_task *ending;
	/* frees the policy that this one replaces; must be over first */
	struct gs_task *discarding;

	/* these belong to the thread until it is over */
	struct gs_policy *policy;
	struct gs_hooked *hooked;
	struct gs_policy_exit exit;
	struct gs_launches *launches;
	struct gs_error err, launches_err;
	int code, launches_code;

	bool cancelled;
	bool chosen, permanent; /* a person chose the policy */
};

static void starting_free(struct gs_task *e)
{
	struct gs_starting *t = (struct gs_starting *)e;

	for (size_t i = 0; i < t->noptions; i++)
		free(t->options[i]);
	gs_task_unref(t->ending);
	gs_task_unref(t->discarding);
	free(t->options);
	free(t->name);
	free(t->exit.dump);
	free(t);
}

void gs_starting_unref(struct gs_starting *t)
{
	gs_task_unref(&t->task);
}

void gs_starting_chosen(struct gs_starting *t, bool permanent)
{
	((struct gs_control *)t->task.owner)->wanted.by_config = false;
	t->permanent = permanent;
	t->chosen = true;
}

/* ---- the thread ------------------------------------------------------------------------------ */

static void starting_work(struct gs_task *e)
{
	struct gs_starting *t = (struct gs_starting *)e;
	bool count = t->count;
	bool hooked = t->host == GS_HOST_HOOKED && !e->hub->opts.dry_run;

	if (t->name)
		t->code = gs_policy_prepare(e->hub->table, hooked, t->name,
					    (const char *const *)t->options, t->noptions,
					    &t->policy, &t->exit, &t->err);
	if (!t->code && t->name && hooked)
		t->code = gs_hooked_new(t->policy, &t->hooked, &t->exit, &t->err);
	if (t->discarding)
		gs_task_follow(t->discarding, &t->cancelled);
	if (!t->code && t->name)
		count |= t->may_count && gs_policy_running(t->policy)->flags & GPUSCHED_F_WORK;
	if (t->code || !count)
		return;
	if (t->ending && !gs_task_follow(t->ending, &t->cancelled))
		t->launches_code = gs_fail(&t->launches_err, -ECANCELED, "called off");
	else
		t->launches_code =
			gs_launches_new(e->hub->table, gs_service_launches_trusted(e->owner),
					&t->launches, &t->launches_err);
}

/* ---- begin ----------------------------------------------------------------------------------- */

static int copy_wish(struct gs_starting *t, const char *name, const char *const *options, size_t n)
{
	if (!name)
		return 0;
	t->name = strdup(name);
	t->options = calloc(n + 1, sizeof(*t->options));
	if (!t->name || !t->options)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		t->options[i] = strdup(options[i]);
		if (!t->options[i])
			return -ENOMEM;
		t->noptions++;
	}
	return 0;
}

static int refuse_second(const struct gs_starting *t, struct gs_error *err)
{
	if (t->cancelled)
		return gs_fail(
			err, -EBUSY,
			"a start that was called off is still ending: try again in a moment");
	if (t->name)
		return gs_fail(err, -EBUSY,
			       "policy %s is being started: try again when that is done, or call "
			       "it off by 'sudo gpusched policy stop'",
			       t->name);
	return gs_fail(err, -EBUSY, "launches begin to be counted: try again when that is done");
}

static void starting_end(struct gs_task *e);

int gs_starting_begin(struct gs_control *ctl, const char *name, const char *host,
		      const char *const *options, size_t n, struct gs_starting **ret,
		      struct gs_error *err)
{
	enum gs_host_word where;
	struct gs_starting *t;
	int r;

	if (ctl->starting)
		return refuse_second(ctl->starting, err);
	r = gs_host_vet(ctl, host, &where, err);
	if (r)
		return r;
	t = calloc(1, sizeof(*t));
	if (!t)
		return gs_fail(err, -ENOMEM, "out of memory");
	t->task = (struct gs_task){ starting_work, starting_end, starting_free };
	t->host = where;
	t->may_count = ctl->hub->opts.daemon && !ctl->hub->launches;
	t->count = t->may_count && gs_service_launches_wanted(ctl);
	t->ending = gs_service_launches_ending(ctl);
	if (t->ending)
		t->ending->refs++;
	t->discarding = ctl->discarding;
	if (t->discarding)
		t->discarding->refs++;
	gs_policy_build_forbid(false);
	r = copy_wish(t, name, options, n);
	if (r) {
		starting_free(&t->task);
		return r;
	}
	r = gs_task_begin(&t->task, ctl->hub, ctl);
	if (r < 0) {
		gs_starting_unref(t);
		return gs_fail(err, r, "nothing can be started now: %s", strerror(-r));
	}
	ctl->starting = t;
	*ret = t;
	return 0;
}

/* ---- end ------------------------------------------------------------------------------------- */

static void put_launches(struct gs_starting *t)
{
	struct gs_control *ctl = t->task.owner;

	if (t->launches_code)
		gs_log(LOG_WARNING, "%s", t->launches_err.text);
	if (!t->launches)
		return;
	ctl->hub->launches = TAKE_PTR(t->launches);
	gs_launches_catch_up(ctl->hub->launches);
	gs_service_launches_go_on(ctl);
}

/* Begins counting if something wants it, though it was turned off during the start. */
static void count_after_all(struct gs_control *ctl)
{
	struct gs_starting *t;

	if (ctl->hub->opts.daemon && !ctl->hub->launches && gs_service_launches_wanted(ctl) &&
	    !gs_starting_begin(ctl, NULL, NULL, NULL, 0, &t, NULL))
		gs_starting_unref(t);
}

/* A policy with its host and options as one text, malloc'd; NULL: out of memory. */
static char *text_of(const char *name, enum gs_host_word host, const char *const *options, size_t n)
{
	size_t len = 0;
	char *text = NULL;
	FILE *f = open_memstream(&text, &len);

	if (!f)
		return NULL;
	fprintf(f, "%s\n%s", name, gs_host_name(host));
	for (size_t i = 0; i < n; i++)
		fprintf(f, "\n%s", options[i]);
	fclose(f);
	return text;
}

static char *text_of_start(const struct gs_starting *t)
{
	return text_of(t->name, t->host, (const char *const *)t->options, t->noptions);
}

/* NULL: the configuration names no policy, or one that cannot run here. */
static char *text_configured(const struct gs_control *ctl)
{
	const struct gs_config *c = ctl->hub->config;
	enum gs_host_word host;

	if (!c->policy[0] || gs_host_vet(ctl, c->policy_host, &host, NULL))
		return NULL;
	return text_of(c->policy, host, (const char *const *)c->policy_options.text,
		       c->policy_options.n);
}

static bool is_same(const char *a, const char *b)
{
	return a && b && !strcmp(a, b);
}

/* True if the configured policy does not run. @text: the configured policy. */
static bool differs(const struct gs_control *ctl, const char *text)
{
	const char *runs = ctl->hub->policy ? ctl->wanted.runs : NULL;

	if (!ctl->hub->config->policy[0])
		return runs;
	return !text || !runs || strcmp(text, runs) != 0;
}

static void put_policy(struct gs_starting *t)
{
	struct gs_control *ctl = t->task.owner;
	char *text = text_of_start(t);

	if (!t->code)
		t->code = gs_host_use(ctl, t->host, &t->err);
	if (t->code)
		gs_policy_discard(TAKE_PTR(t->policy));
	t->code = gs_service_policy_put(ctl, t->name, TAKE_PTR(t->policy), &t->exit, t->code,
					&t->err);
	if (!t->code) {
		gs_host_put(ctl, t->host, TAKE_PTR(t->hooked));
		free(ctl->wanted.runs);
		ctl->wanted.runs = TAKE_PTR(text);
	}
	free(text);
	gs_hooked_free(TAKE_PTR(t->hooked));
	gs_host_settle(ctl);
}

static void put_in_place(struct gs_starting *t)
{
	struct gs_control *ctl = t->task.owner;

	put_launches(t);
	if (t->name)
		put_policy(t);
	else if (t->launches_code) {
		((struct gs_control *)t->task.owner)->launches_asked = false;
		t->code = t->launches_code;
		t->err = t->launches_err;
	}
	if (t->name && t->code && !t->chosen) {
		CLEANUP_FREE char *text = text_configured(ctl), *started = text_of_start(t);

		ctl->wanted.gave_up |= is_same(text, started);
	}
	if (t->name && t->code && t->task.refs == 1) /* nobody waits for the result, so log it */
		gs_log(LOG_ERR, "policy %s does not start: %s", t->name, t->err.text);
	/* the configuration may have been read again meanwhile: then it decides */
	if (t->name && !t->code && t->chosen && !ctl->wanted.by_config)
		gs_saved_choose(t->task.owner, t->name, gs_host_name(t->host),
				(const char *const *)t->options, t->noptions);
	if (t->name && !t->code && t->permanent)
		t->code = gs_permanent_keep(t->task.owner, (const char *const *)t->options,
					    t->noptions, &t->err);
	gs_service_launches_update(t->task.owner);
	gs_agents_look(t->task.owner);
	if (t->name && !t->code && !t->launches_code)
		count_after_all(t->task.owner);
}

/* Begins to start the configured policy. If it cannot run, logs that, and the old one goes on. */
static void start_configured(struct gs_control *ctl)
{
	const struct gs_config *c = ctl->hub->config;
	struct gs_error err = { 0 };
	struct gs_starting *t;

	if (!gs_starting_begin(ctl, c->policy, c->policy_host,
			       (const char *const *)c->policy_options.text, c->policy_options.n, &t,
			       &err)) {
		gs_starting_unref(t);
		return;
	}
	ctl->wanted.gave_up = true;
	gs_log(LOG_ERR, "policy %s does not start: %s", c->policy, err.text);
}

/* The start under way: calls it off if the configuration has changed since. */
static void follow_start(struct gs_control *ctl, const char *text)
{
	const struct gs_starting *t = ctl->starting;
	CLEANUP_FREE char *starts = NULL;

	if (!t->name || t->chosen || t->cancelled)
		return; /* its end looks again */
	starts = text_of_start(t);
	if (!is_same(text, starts))
		gs_starting_call_off(ctl, "the configuration has changed again");
}

/*
 * Compares the configured policy with the one that runs, and not with an earlier wish: a start may
 * be under way, or may have been refused because of another one.
 */
static void follow_configuration(struct gs_control *ctl)
{
	CLEANUP_FREE char *text = NULL;

	if (!ctl->wanted.by_config || ctl->wanted.gave_up || ctl->ends)
		return;
	text = text_configured(ctl);
	if (ctl->starting)
		follow_start(ctl, text);
	else if (ctl->hub->config->policy[0] && differs(ctl, text))
		start_configured(ctl);
	if (!ctl->hub->config->policy[0])
		gs_service_policy_stop(ctl, GS_POLICY_EXIT_STOPPED,
				       "the configuration has none any more");
}

static void starting_end(struct gs_task *e)
{
	struct gs_starting *t = (struct gs_starting *)e;

	((struct gs_control *)e->owner)->starting = NULL;
	if (t->cancelled) {
		gs_policy_discard(t->policy);
		gs_hooked_free(t->hooked);
		if (((struct gs_control *)e->owner)->launching_ends)
			gs_launches_free(TAKE_PTR(t->launches));
		if (t->launches)
			put_launches(t); /* something else may want launches counted */
		gs_service_launches_update(e->owner);
	} else {
		put_in_place(t);
	}
	follow_configuration(e->owner);
}

void gs_starting_configured(struct gs_control *ctl, bool changed)
{
	ctl->wanted.by_config |= changed;
	ctl->wanted.gave_up = false;
	follow_configuration(ctl);
}

const char *gs_starting_differs(const struct gs_control *ctl)
{
	CLEANUP_FREE char *text = NULL;

	if (!ctl->wanted.by_config || ctl->starting)
		return NULL;
	text = text_configured(ctl);
	return differs(ctl, text) ? ctl->hub->config->policy : NULL;
}

void gs_starting_cancel(struct gs_control *ctl)
{
	if (!ctl->starting)
		return;
	__atomic_store_n(&ctl->starting->cancelled, true, __ATOMIC_SEQ_CST);
	gs_policy_build_forbid(true);
}

void gs_starting_end(struct gs_control *ctl)
{
	ctl->ends = true;
	if (!ctl->starting)
		return;
	gs_starting_cancel(ctl);
	gs_task_wait(&ctl->starting->task);
}

const char *gs_starting_policy(const struct gs_control *ctl)
{
	return ctl->starting && !ctl->starting->cancelled ? ctl->starting->name : NULL;
}

bool gs_starting_counts(const struct gs_control *ctl)
{
	return ctl->starting && ctl->starting->count;
}

/* ---- results --------------------------------------------------------------------------------- */

int gs_starting_result(const struct gs_starting *t, struct gs_error *err)
{
	if (t->cancelled)
		return gs_fail(err, -ECANCELED, "%s was called off before it had started",
			       t->name ? t->name : "counting launches");
	if (!t->task.over)
		return -EINPROGRESS;
	return t->code ? gs_fail(err, t->code, "%s", t->err.text) : 0;
}

int gs_starting_now(struct gs_control *ctl, const char *name, const char *host,
		    const char *const *options, size_t n, struct gs_error *err)
{
	struct gs_starting *t;
	int r = gs_starting_begin(ctl, name, host, options, n, &t, err);

	if (r)
		return r;
	gs_task_wait(&t->task);
	r = gs_starting_result(t, err);
	gs_starting_unref(t);
	return r;
}

bool gs_starting_call_off(struct gs_control *ctl, const char *message)
{
	const char *name = gs_starting_policy(ctl);

	if (!name)
		return false;
	gs_policy_called_off(ctl, name, message);
	gs_starting_cancel(ctl);
	return true;
}
