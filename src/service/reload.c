// SPDX-License-Identifier: MIT
/*
 * reload.c - puts a changed configuration into force without a restart
 *
 * A name service may take minutes to find a user, so the configuration is read, and what it
 * declares is made, in a thread.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/log.h"
#include "config/budget_rule.h"
#include "hub/task.h"
#include "service/instance.h"
#include "control/budgets.h"
#include "control/launches.h"
#include "intake/pods.h"
#include "intake/rescan.h"
#include "process/pod_names.h"
#include "control/policy.h"
#include "control/starting.h"
#include "table/cfg.h"

struct gs_reload {
	struct gs_task task;
	struct gs_service_reload how;
	sd_event_source *late; /* tells that it takes long */
	bool again;            /* another one was asked for meanwhile */
	bool ends;             /* the instance ends */
	/* made by the thread */
	struct gs_config *config;
	struct gs_declared made;
	struct gs_error err;
	int code;
};

#define LATE_US 3000000ull
#define LEAVE_MS 1000 /* at the daemon's end, for a name service that does not answer */

/*
 * Follows the configuration with the policy. If the new policy cannot start, that is logged and a
 * finding, and the old one goes on.
 */
static void reload_policy(struct gs_service *s, const char *before)
{
	CLEANUP_FREE char *now = gs_saved_configured(s->control);

	gs_starting_configured(s->control, before && now && strcmp(before, now) != 0);
}

static void reload_launches(struct gs_service *s)
{
	struct gs_starting *t;

	gs_service_launches_update(s->control);
	if (gs_service_launches_wanted(s->control) && !s->hub->launches && !s->control->starting &&
	    !gs_starting_begin(s->control, NULL, NULL, NULL, 0, &t, NULL))
		gs_starting_unref(t);
}

/* Logs changed keys that take effect only when the daemon starts. */
static void tell_unchanged(const struct gs_service *s, const struct gs_config *old)
{
	const struct gs_config *now = s->hub->config;
	const struct {
		const char *key;
		bool differs;
	} keys[] = {
		{ "Adopt=", old->adopt != now->adopt },
		{ "Account=", old->account != now->account },
		{ "History=", old->history != now->history },
		{ "HistoryDays=", old->history_days != now->history_days },
		{ "HistorySize=", old->history_mib != now->history_mib },
		{ "UnknownDriver=", old->unknown_driver != now->unknown_driver },
	};

	for (size_t i = 0; i < GS_COUNT(keys); i++)
		if (keys[i].differs)
			gs_log(LOG_NOTICE, "%s takes effect at the next start", keys[i].key);
	if (!s->hub->watch_only && s->hub->opts.dry_run != now->dry_run)
		gs_log(LOG_WARNING,
		       "DryRun= takes effect at the next start: until then calls are %s",
		       s->hub->opts.dry_run ? "not made" : "made");
}

static int apply(struct gs_service *s, struct gs_reload *l)
{
	CLEANUP_FREE char *before = gs_saved_configured(s->control);
	const struct gs_config *old = s->hub->config, *config = l->config;
	int r = gs_service_classes(s, l->made.classes, &l->err);

	if (r)
		return r;
	l->made.classes = NULL;
	r = gs_budgets_set(s->control, s->figures, &l->made.budgets, &l->err);
	if (r)
		return r;
	s->hub->config = config;
	gs_names_replaced(s);
	gs_engine_limits(s->hub->engine, config->switch_cost_us, config->hold_limit_ms);
	gs_cfg_gate(s->hub->table, !s->hub->opts.dry_run && config->gate && !s->control->hooked);
	gs_rescan_all(s->intake);
	gs_engine_touch_all(s->hub->engine);
	if (strcmp(old->pod_logs, config->pod_logs) ||
	    strcmp(old->container_logs, config->container_logs) ||
	    strcmp(old->fractions, config->fractions) || strcmp(old->claims, config->claims) ||
	    strcmp(old->bundles, config->bundles) || gs_pods_unwatched())
		gs_pods_reload(s->intake);
	reload_policy(s, before);
	reload_launches(s);
	tell_unchanged(s, old);
	return 0;
}

static void reload_work(struct gs_task *e)
{
	struct gs_reload *l = (struct gs_reload *)e;

	l->code = l->how.read(l->how.user, &l->config, &l->err);
	if (!l->code)
		l->code = gs_config_declare(l->config, GS_NAMING_STRICT, &l->made, &l->err);
}

static int on_late(sd_event_source *src, uint64_t us, void *user)
{
	struct gs_reload *l = user;

	l->late = sd_event_source_disable_unref(l->late);
	gs_log(LOG_WARNING, "the new configuration is not in force yet: a name service, or a file "
			    "that it is in, does not answer");
	if (!l->ends)
		l->how.waits(l->how.user);
	return 0;
}

static void reload_end(struct gs_task *e)
{
	struct gs_reload *l = (struct gs_reload *)e;
	struct gs_service *s = e->owner;
	struct gs_error err = { 0 };

	s->reload = NULL;
	l->late = sd_event_source_disable_unref(l->late);
	if (l->ends) {
		gs_task_unref(e);
		return;
	}
	if (!l->code)
		l->code = apply(s, l);
	l->how.done(l->how.user, l->code ? NULL : TAKE_PTR(l->config), l->code, &l->err);
	if (l->again && gs_service_reload(s, &l->how, &err))
		l->how.done(l->how.user, NULL, -ENOMEM, &err);
	gs_task_unref(e);
}

static void reload_free(struct gs_task *e)
{
	struct gs_reload *l = (struct gs_reload *)e;

	gs_config_free(l->config);
	gs_config_declared_done(&l->made);
	free(l);
}

int gs_service_reload(struct gs_service *s, const struct gs_service_reload *how,
		      struct gs_error *err)
{
	struct gs_reload *l;
	int r;

	if (s->reload) {
		s->reload->again = true;
		return 0;
	}
	l = calloc(1, sizeof(*l));
	if (!l)
		return gs_fail(err, -ENOMEM, "out of memory");
	l->how = *how;
	l->task.work = reload_work;
	l->task.end = reload_end;
	l->task.free = reload_free;
	r = gs_task_begin(&l->task, s->hub, s);
	if (r) {
		free(l);
		return gs_fail(err, r, "no thread: %s", strerror(-r));
	}
	s->reload = l;
	/* without a timer it only is not told */
	sd_event_add_time_relative(s->hub->event, &l->late, CLOCK_BOOTTIME, LATE_US, 0, on_late, l);
	return 0;
}

void gs_reload_end(struct gs_service *s)
{
	struct gs_reload *l = s->reload;

	if (!l)
		return;
	l->ends = true;
	l->late = sd_event_source_disable_unref(l->late);
	gs_task_leave(&l->task, LEAVE_MS);
	s->reload = NULL;
}
