// SPDX-License-Identifier: MIT
/* Starts, switches and stops the running policy, and handles its failure. */
#include "control/policy.h"

#include <errno.h>
#include <string.h>

#include "basic/clock.h"
#include "basic/log.h"
#include "control/control.h"
#include "control/discarding.h"
#include "hub/limited.h"
#include "table/cfg.h"

static void tell(struct gs_control *ctl, const char *policy, const char *what, const char *message)
{
	gs_observers_say(&ctl->hub->observers,
			 json_pack("{s:I, s:s, s:s, s:s, s:s?}", "time_ns", (json_int_t)gs_now_ns(),
				   "event", "policy", "policy", policy, "what", what, "message",
				   message && *message ? message : NULL),
			 GS_NOBODY);
}

/* Keeps @exit as the last policy's exit record. Takes @exit with its dump. */
static void keep_exit(struct gs_control *ctl, struct gs_policy_exit *exit)
{
	if (exit->kind == GS_POLICY_EXIT_NONE) {
		free(exit->dump);
		return;
	}
	if (!exit->ns)
		exit->ns = gs_now_ns();
	ctl->policy_ends[exit->kind]++;
	free(ctl->last_exit.dump);
	ctl->last_exit = *exit;
}

/*
 * Keeps @exit, and takes its dump. Returns @code, or a code that says that the policy is at fault.
 */
static int refuse(struct gs_control *ctl, const char *name, struct gs_policy_exit *exit, int code,
		  struct gs_error *err)
{
	if (!exit->policy[0])
		snprintf(exit->policy, sizeof(exit->policy), "%s", name);
	/* the policy failed, not the request */
	if (exit->kind == GS_POLICY_EXIT_VERIFIER ||
	    (exit->kind == GS_POLICY_EXIT_REFUSED && code == -EINVAL))
		code = -EPROTO;
	tell(ctl, name, "refused", exit->message[0] ? exit->message : err ? err->text : NULL);
	if (exit->dump && err)
		snprintf(err->text + strlen(err->text), sizeof(err->text) - strlen(err->text),
			 " ('gpusched policy get' has its words)");
	keep_exit(ctl, exit);
	memset(exit, 0, sizeof(*exit));
	return gs_fail(err, code, "policy '%s' cannot start: %s", name, strerror(-code));
}

static void watch_ticks(struct gs_control *ctl);

static void name_refused(uid_t uid, uint32_t times, void *user)
{
	if (uid)
		gs_limited_times(user, uid, GS_LIMIT_KICKS, times);
}

void gs_policy_beat(void *self)
{
	const struct gs_control *ctl = self;

	if (!ctl->hub->policy)
		return;
	gs_stock_take_refused(ctl->hub->policy, name_refused, ctl->hub);
	ctl->hub->beat_soon |= !gs_stock_rests(ctl->hub->policy);
}

uint64_t gs_service_policy_kicks(const struct gs_control *ctl, uint64_t *ret_left)
{
	uint64_t granted = 0, left = 0;

	if (ctl->hub->policy)
		gs_stock_kicks(ctl->hub->policy, &granted, &left);
	if (ret_left)
		*ret_left = left;
	return granted;
}

/* Keeps the old policy's exit record, and adds the new policy to the loop. */
static void take_over(struct gs_control *ctl, struct gs_policy *p, const char *name,
		      const char *old)
{
	struct gs_policy_exit switched = { .kind = GS_POLICY_EXIT_SWITCHED };

	if (old[0]) {
		snprintf(switched.policy, sizeof(switched.policy), "%s", old);
		snprintf(switched.message, sizeof(switched.message), "%.60s took over", name);
		keep_exit(ctl, &switched);
	}
	ctl->hub->policy = p;
	ctl->died.policy[0] = '\0';
	free(ctl->started_as);
	ctl->started_as = gs_saved_is_copy(name) ? NULL : strdup(name);
	watch_ticks(ctl);
	ctl->overruled_logged = 0;
	gs_engine_policy_flags(ctl->hub->engine, gs_policy_running(p)->flags);
	gs_observers_policy_changed(&ctl->hub->observers);
	gs_engine_touch_all(ctl->hub->engine);
	gs_log(LOG_INFO, "policy %s started", gs_policy_running(p)->name);
	tell(ctl, gs_policy_running(p)->name, old[0] ? "switched" : "started", NULL);
}

int gs_service_policy_put(struct gs_control *ctl, const char *name, struct gs_policy *p,
			  struct gs_policy_exit *exit, int code, struct gs_error *err)
{
	uint64_t left, granted = gs_service_policy_kicks(ctl, &left);
	char old[GS_POLICY_NAME_LEN] = "";

	if (code)
		return refuse(ctl, name, exit, code, err);
	if (ctl->hub->policy) {
		snprintf(old, sizeof(old), "%s", gs_policy_running(ctl->hub->policy)->name);
		ctl->ticks = sd_event_source_disable_unref(ctl->ticks);
	}
	free(exit->dump);
	gs_policy_beat(ctl);
	gs_observers_policy_changes(&ctl->hub->observers);
	code = gs_policy_take_over(p, ctl->hub->policy, exit, err);
	if (!code) {
		ctl->hub->counters[GS_SVC_KICKS] += granted;
		ctl->hub->counters[GS_SVC_KICKS_LEFT] += left;
		take_over(ctl, p, name, old);
		return 0;
	}
	if (ctl->hub->policy)
		watch_ticks(ctl);
	gs_discarding_begin(ctl, p);
	/* wishes of all TSGs may have changed without events */
	gs_engine_touch_all(ctl->hub->engine);
	return refuse(ctl, name, exit, code, err);
}

void gs_service_policy_stop(struct gs_control *ctl, enum gs_policy_exit_kind kind,
			    const char *message)
{
	struct gs_policy_exit exit = { .kind = kind };
	uint64_t left, granted = gs_service_policy_kicks(ctl, &left);
	struct gs_policy *p = ctl->hub->policy;

	if (!p)
		return;
	snprintf(exit.policy, sizeof(exit.policy), "%s", gs_policy_running(p)->name);
	snprintf(exit.message, sizeof(exit.message), "%s", message);
	ctl->ticks = sd_event_source_disable_unref(ctl->ticks);
	ctl->hub->counters[GS_SVC_KICKS] += granted;
	ctl->hub->counters[GS_SVC_KICKS_LEFT] += left;
	gs_policy_beat(ctl);
	gs_observers_policy_changes(&ctl->hub->observers);
	ctl->hub->policy = NULL;
	ctl->host = GS_HOST_STOCK;
	gs_host_settle(ctl);
	if (gs_policy_end(p, kind))
		gs_discarding_begin(ctl, p);
	gs_observers_policy_changed(&ctl->hub->observers);
	gs_cfg_policy_active(ctl->hub->table, false);
	gs_engine_touch_all(ctl->hub->engine);
	gs_log(LOG_INFO, "policy %s stopped: %s", exit.policy, message);
	tell(ctl, exit.policy, kind == GS_POLICY_EXIT_STOPPED ? "stopped" : "failed", message);
	keep_exit(ctl, &exit);
}

void gs_service_policy_failed(struct gs_control *ctl, const struct gs_policy_exit *exit)
{
	const char *name = gs_policy_running(ctl->hub->policy)->name;

	if (strstr(exit->message, name)) /* most reasons contain the policy's name */
		gs_log(LOG_ERR, "%s", exit->message);
	else
		gs_log(LOG_ERR, "policy %s failed: %s", name, exit->message);
	if (ctl->saved.policy.chosen)
		gs_saved_choose(ctl, NULL, NULL, NULL, 0);
	ctl->wanted.by_config = false; /* it is not tried again: the finding says that it failed */
	gs_service_policy_stop(ctl, exit->kind ? exit->kind : GS_POLICY_EXIT_ERROR, exit->message);
	ctl->last_exit.code = exit->code;
	ctl->last_exit.dump = exit->dump;
	memcpy(ctl->died.policy, ctl->last_exit.policy, sizeof(ctl->died.policy));
	memcpy(ctl->died.message, ctl->last_exit.message, sizeof(ctl->died.message));
	ctl->died.ns = ctl->last_exit.ns;
}

bool gs_policy_note_death(struct gs_control *ctl)
{
	bool died = ctl->died.policy[0];

	ctl->died.policy[0] = '\0';
	return died;
}

/* Logs each reason once per policy, since a user may have any number of TSGs. */
void gs_policy_log_overruled(struct gs_control *ctl, const struct gpusched_tsg *rec, uint32_t why)
{
	uint32_t news = why & ~ctl->overruled_logged;

	for (unsigned int i = 0; i < GS_OVERRULE_MAX; i++)
		if (news & 1u << i)
			gs_log(LOG_NOTICE,
			       "tsg %llu of pid %u is overruled: %s; 'gpusched list' shows others",
			       (unsigned long long)rec->task.id, rec->task.pid,
			       gs_core_overrule_text(i));
	ctl->overruled_logged |= why;
}

void gs_policy_overtaken(void *self)
{
	struct gs_control *ctl = self;
	if (ctl->hub->policy)
		gs_cfg_policy_active(ctl->hub->table, true);
}

void gs_policy_called_off(struct gs_control *ctl, const char *name, const char *message)
{
	struct gs_policy_exit exit = { .kind = GS_POLICY_EXIT_STOPPED };

	snprintf(exit.policy, sizeof(exit.policy), "%s", name);
	snprintf(exit.message, sizeof(exit.message), "%s", message);
	gs_log(LOG_INFO, "policy %s: %s", name, message);
	tell(ctl, name, "stopped", message);
	keep_exit(ctl, &exit);
}

static int on_tick(sd_event_source *src, int fd, uint32_t revents, void *user)
{
	struct gs_control *ctl = user;
	struct gs_policy_exit exit = { 0 };
	int r;

	r = gs_stock_dispatch(ctl->hub->policy, &exit);
	if (r > 0)
		gs_engine_touch_all(ctl->hub->engine);
	if (r < 0)
		gs_service_policy_failed(ctl, &exit);
	return 0;
}

static void watch_ticks(struct gs_control *ctl)
{
	int r = sd_event_add_io(ctl->hub->event, &ctl->ticks, gs_stock_fd(ctl->hub->policy),
				EPOLLIN, on_tick, ctl);

	if (r < 0)
		gs_log(LOG_ERR, "policy %s cannot be watched: %s",
		       gs_policy_running(ctl->hub->policy)->name, strerror(-r));
}
