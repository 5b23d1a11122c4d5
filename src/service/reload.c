// SPDX-License-Identifier: MIT
/* reload.c - puts a changed configuration into force without a restart */
#include <string.h>

#include "basic/cleanup.h"
#include "basic/log.h"
#include "classify/words.h"
#include "service/instance.h"
#include "control/budgets.h"
#include "control/launches.h"
#include "intake/pods.h"
#include "intake/rescan.h"
#include "control/policy.h"
#include "control/starting.h"
#include "table/cfg.h"

/* Replaces the classes. On failure the old ones stay in force. */
static int reload_classes(struct gs_service *s, const struct gs_config *config,
			  struct gs_error *err)
{
	struct gs_classes *classes;
	int r = gs_config_classes(config, &classes, err);

	if (r)
		return r;
	r = gs_classes_publish(classes, s->hub->table);
	if (r) {
		gs_classes_publish(s->hub->classes, s->hub->table);
		gs_classes_free(classes);
		return gs_fail(err, r, "the classes cannot be published: %s", strerror(-r));
	}
	gs_words_move(classes, s->hub->classes);
	gs_classes_free(s->hub->classes);
	s->hub->classes = classes;
	return 0;
}

/*
 * Starts the configured policy, or stops the old one, if the configuration has changed there. If
 * the new policy cannot start, logs this, and the old one goes on.
 */
static void reload_policy(struct gs_service *s, const char *before)
{
	const struct gs_config *c = s->hub->config;
	CLEANUP_FREE char *now = gs_saved_configured(s->control);
	struct gs_error err = { 0 };
	struct gs_starting *t;

	if (!before || !now || !strcmp(before, now))
		return;
	if (!c->policy[0]) {
		gs_starting_call_off(s->control, "the configuration has none any more");
		gs_service_policy_stop(s->control, GS_POLICY_EXIT_STOPPED,
				       "the configuration has none any more");
		return;
	}
	if (gs_starting_begin(s->control, c->policy, c->policy_host,
			      (const char *const *)c->policy_options.text, c->policy_options.n, &t,
			      &err))
		gs_log(LOG_ERR, "policy %s does not start: %s", c->policy, err.text);
	else
		gs_starting_unref(t);
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

int gs_service_reload(struct gs_service *s, const struct gs_config *config, struct gs_error *err)
{
	CLEANUP_FREE char *before = gs_saved_configured(s->control);
	const struct gs_config *old = s->hub->config;
	int r = reload_classes(s, config, err);

	if (!r)
		r = gs_budgets_set(s->control, s->figures, config, err);
	if (r)
		return r;
	s->hub->config = config;
	gs_engine_limits(s->hub->engine, config->switch_cost_us, config->hold_limit_ms);
	gs_cfg_gate(s->hub->table, !s->hub->opts.dry_run && config->gate && !s->control->hooked);
	gs_records_look(s->intake);
	gs_engine_touch_all(s->hub->engine);
	if (strcmp(old->pod_logs, config->pod_logs) ||
	    strcmp(old->container_logs, config->container_logs) ||
	    strcmp(old->fractions, config->fractions) || strcmp(old->claims, config->claims) ||
	    strcmp(old->bundles, config->bundles))
		gs_pods_reload(s->intake);
	reload_policy(s, before);
	reload_launches(s);
	tell_unchanged(s, old);
	return 0;
}
