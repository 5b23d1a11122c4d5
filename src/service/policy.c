// SPDX-License-Identifier: MIT
/* The running policy: start, switch, stop, and what is done when it fails. */
#include "service/policy.h"

#include <errno.h>
#include <string.h>

#include "basic/clock.h"
#include "basic/log.h"
#include "service/instance.h"
#include "table/cfg.h"

static void tell(struct gs_service *s, const char *policy, const char *what, const char *message)
{
	if (!s->watched)
		return;
	gs_observers_say(&s->observers,
			 json_pack("{s:I, s:s, s:s, s:s, s:s?}", "time_ns", (json_int_t)gs_now_ns(),
				   "event", "policy", "policy", policy, "what", what, "message",
				   message && *message ? message : NULL),
			 GS_NOBODY);
}

/* Takes @exit (its dump). */
static void keep_exit(struct gs_service *s, struct gs_policy_exit *exit)
{
	if (exit->kind == GS_POLICY_EXIT_NONE) {
		free(exit->dump);
		return;
	}
	if (!exit->ns)
		exit->ns = gs_now_ns();
	free(s->last_exit.dump);
	s->last_exit = *exit;
}

/* Takes @exit's dump. Returns @code, or what it means to the caller. */
static int refuse(struct gs_service *s, const char *name, struct gs_policy_exit *exit, int code,
		  struct gs_error *err)
{
	if (!exit->policy[0])
		snprintf(exit->policy, sizeof(exit->policy), "%s", name);
	/* the policy's fault, not the request's */
	if (exit->kind == GS_POLICY_EXIT_VERIFIER ||
	    (exit->kind == GS_POLICY_EXIT_REFUSED && code == -EINVAL))
		code = -EPROTO;
	tell(s, name, "refused", exit->message[0] ? exit->message : err ? err->text : NULL);
	if (exit->dump && err)
		snprintf(err->text + strlen(err->text), sizeof(err->text) - strlen(err->text),
			 " ('gpusched policy get' has its words)");
	keep_exit(s, exit);
	memset(exit, 0, sizeof(*exit));
	return gs_fail(err, code, "policy '%s' cannot start: %s", name, strerror(-code));
}

static void watch_ticks(struct gs_service *s);

uint64_t gs_service_kicks(const struct gs_service *s, uint64_t *ret_left)
{
	uint64_t granted = 0, left = 0;

	if (s->p)
		gs_policy_kicks(s->p, &granted, &left);
	if (ret_left)
		*ret_left = left;
	return granted;
}

/* The old one's exit record, and the new one into the loop. */
static void take_over(struct gs_service *s, struct gs_policy *p, const char *name, const char *old)
{
	struct gs_policy_exit switched = { .kind = GS_POLICY_EXIT_SWITCHED };

	if (old[0]) {
		snprintf(switched.policy, sizeof(switched.policy), "%s", old);
		snprintf(switched.message, sizeof(switched.message), "%.60s took over", name);
		keep_exit(s, &switched);
	}
	s->p = p;
	watch_ticks(s);
	s->overruled_logged = 0;
	gs_engine_policy_flags(s->e, gs_policy_running(p)->flags);
	gs_observers_policy_changed(&s->observers);
	gs_engine_touch_all(s->e);
	gs_log(LOG_INFO, "policy %s started", gs_policy_running(p)->name);
	tell(s, gs_policy_running(p)->name, old[0] ? "switched" : "started", NULL);
}

int gs_service_policy_put(struct gs_service *s, const char *name, struct gs_policy *p,
			  struct gs_policy_exit *exit, int code, struct gs_error *err)
{
	uint64_t left, granted = gs_service_kicks(s, &left);
	char old[GS_POLICY_NAME_LEN] = "";

	if (code)
		return refuse(s, name, exit, code, err);
	if (s->p) {
		snprintf(old, sizeof(old), "%s", gs_policy_running(s->p)->name);
		s->ticks = sd_event_source_disable_unref(s->ticks);
	}
	free(exit->dump);
	gs_observers_policy_changes(&s->observers);
	code = gs_policy_take_over(p, s->p, exit, err);
	if (!code) {
		s->counters[GS_SVC_KICKS] += granted;
		s->counters[GS_SVC_KICKS_LEFT] += left;
		take_over(s, p, name, old);
		return 0;
	}
	if (s->p)
		watch_ticks(s);
	gs_engine_touch_all(s->e); /* what it had seen begins anew, without a word of it */
	return refuse(s, name, exit, code, err);
}

void gs_service_policy_stop(struct gs_service *s, enum gs_policy_exit_kind kind,
			    const char *message)
{
	struct gs_policy_exit exit = { .kind = kind };
	uint64_t left, granted = gs_service_kicks(s, &left);
	struct gs_policy *p = s->p;

	if (!p)
		return;
	snprintf(exit.policy, sizeof(exit.policy), "%s", gs_policy_running(p)->name);
	snprintf(exit.message, sizeof(exit.message), "%s", message);
	s->ticks = sd_event_source_disable_unref(s->ticks);
	s->counters[GS_SVC_KICKS] += granted;
	s->counters[GS_SVC_KICKS_LEFT] += left;
	gs_observers_policy_changes(&s->observers);
	s->p = NULL;
	s->host = GS_HOST_STOCK;
	gs_host_settle(s);
	gs_policy_stop(p, kind);
	gs_observers_policy_changed(&s->observers);
	gs_cfg_policy_active(s->o, false);
	gs_engine_touch_all(s->e);
	gs_log(LOG_INFO, "policy %s stopped: %s", exit.policy, message);
	tell(s, exit.policy, "stopped", message);
	keep_exit(s, &exit);
}

void gs_service_policy_failed(struct gs_service *s, const struct gs_policy_exit *exit)
{
	gs_log(LOG_ERR, "policy %s failed: %s", gs_policy_running(s->p)->name, exit->message);
	if (s->saved.policy.chosen)
		gs_saved_choose(s, NULL, NULL, NULL, 0);
	gs_service_policy_stop(s, exit->kind ? exit->kind : GS_POLICY_EXIT_ERROR, exit->message);
	s->last_exit.code = exit->code;
	s->last_exit.dump = exit->dump;
}

/* Logged once for each policy and reason: a user can have any number of TSGs. */
void gs_policy_log_overruled(struct gs_service *s, const struct gpusched_tsg *rec, uint32_t why)
{
	uint32_t news = why & ~s->overruled_logged;

	for (unsigned int i = 0; i < GS_OVERRULE_MAX; i++)
		if (news & 1u << i)
			gs_log(LOG_NOTICE,
			       "tsg %llu of pid %u is overruled: %s; 'gpusched list' shows others",
			       (unsigned long long)rec->task.id, rec->task.pid,
			       gs_overrule_text(i));
	s->overruled_logged |= why;
}

void gs_policy_overtaken(struct gs_service *s)
{
	if (s->p)
		gs_cfg_policy_active(s->o, true);
}

void gs_policy_called_off(struct gs_service *s, const char *name, const char *message)
{
	struct gs_policy_exit exit = { .kind = GS_POLICY_EXIT_STOPPED };

	snprintf(exit.policy, sizeof(exit.policy), "%s", name);
	snprintf(exit.message, sizeof(exit.message), "%s", message);
	gs_log(LOG_INFO, "policy %s: %s", name, message);
	tell(s, name, "stopped", message);
	keep_exit(s, &exit);
}

static int on_tick(sd_event_source *src, int fd, uint32_t revents, void *user)
{
	struct gs_service *s = user;
	struct gs_policy_exit exit = { 0 };
	int r;

	r = gs_policy_dispatch(s->p, &exit);
	if (r > 0)
		gs_engine_touch_all(s->e);
	if (r < 0)
		gs_service_policy_failed(s, &exit);
	return 0;
}

static void watch_ticks(struct gs_service *s)
{
	int r = sd_event_add_io(s->event, &s->ticks, gs_policy_fd(s->p), EPOLLIN, on_tick, s);

	if (r < 0)
		gs_log(LOG_ERR, "policy %s cannot be watched: %s", gs_policy_running(s->p)->name,
		       strerror(-r));
}
