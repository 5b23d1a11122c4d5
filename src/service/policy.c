// SPDX-License-Identifier: MIT
/* The running policy: start, switch, stop, and what is done when it fails. */
#include <errno.h>
#include <string.h>

#include "basic/clock.h"
#include "basic/log.h"
#include "service/internal.h"

static void tell(struct gs_service *s, const char *policy, const char *what, const char *message)
{
	if (!gs_watched(s))
		return;
	gs_watch_emit(s, json_pack("{s:I, s:s, s:s, s:s, s:s?}", "time_ns", (json_int_t)gs_now_ns(),
				   "event", "policy", "policy", policy, "what", what, "message",
				   message && *message ? message : NULL));
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

/* A policy that wants launches runs without them where they cannot be counted. */
static void count_launches(struct gs_service *s)
{
	struct gs_error err = { 0 };

	if (gs_service_launches_update(s, &err))
		gs_log(LOG_WARNING, "%s", err.text);
}

int gs_service_policy_start(struct gs_service *s, const char *name, const char *const *options,
			    size_t n, struct gs_error *err)
{
	struct gs_policy_exit exit = { 0 };
	struct gs_policy *fresh = NULL;
	struct gs_beating beating;
	char old[GS_POLICY_NAME_LEN] = "";
	int old_fd = s->p ? gs_policy_fd(s->p) : -1, r;

	if (s->p)
		snprintf(old, sizeof(old), "%s", gs_policy_running(s->p)->name);
	if (old_fd >= 0)
		gs_loop_del(s, old_fd);
	gs_beating_start(&beating, s);
	r = gs_policy_start(s->o, name, options, n, s->p, &fresh, &exit, err);
	gs_beating_stop(&beating);
	if (r) {
		if (old_fd >= 0)
			gs_loop_add(s, old_fd);
		if (!exit.policy[0])
			snprintf(exit.policy, sizeof(exit.policy), "%s", name);
		/* the policy's fault, not the request's */
		if (exit.kind == GS_POLICY_EXIT_VERIFIER ||
		    (exit.kind == GS_POLICY_EXIT_REFUSED && r == -EINVAL))
			r = -EPROTO;
		tell(s, name, "refused", exit.message[0] ? exit.message : err ? err->text : NULL);
		keep_exit(s, &exit);
		return gs_fail(err, r, "policy '%s' cannot start: %s", name, strerror(-r));
	}
	free(exit.dump);
	if (old[0]) {
		struct gs_policy_exit switched = { .kind = GS_POLICY_EXIT_SWITCHED };

		snprintf(switched.policy, sizeof(switched.policy), "%s", old);
		snprintf(switched.message, sizeof(switched.message), "%.60s took over", name);
		keep_exit(s, &switched);
	}
	s->p = fresh;
	count_launches(s);
	if (gs_policy_fd(fresh) >= 0)
		gs_loop_add(s, gs_policy_fd(fresh));
	gs_cfg_policy_active(s->o, true);
	gs_engine_touch_all(s->e);
	gs_log(LOG_INFO, "policy %s started", gs_policy_running(fresh)->name);
	tell(s, gs_policy_running(fresh)->name, old[0] ? "switched" : "started", NULL);
	return 0;
}

void gs_service_policy_stop(struct gs_service *s, enum gs_policy_exit_kind kind,
			    const char *message)
{
	struct gs_policy_exit exit = { .kind = kind };
	struct gs_policy *p = s->p;

	if (!p)
		return;
	snprintf(exit.policy, sizeof(exit.policy), "%s", gs_policy_running(p)->name);
	snprintf(exit.message, sizeof(exit.message), "%s", message);
	if (gs_policy_fd(p) >= 0)
		gs_loop_del(s, gs_policy_fd(p));
	s->p = NULL;
	gs_policy_stop(p, kind);
	count_launches(s);
	gs_cfg_policy_active(s->o, false);
	gs_engine_touch_all(s->e);
	gs_log(LOG_INFO, "policy %s stopped: %s", exit.policy, message);
	tell(s, exit.policy, "stopped", message);
	keep_exit(s, &exit);
}

void gs_service_policy_dispatch(struct gs_service *s)
{
	struct gs_policy_exit exit = { 0 };
	char *dump;
	int r;

	r = gs_policy_dispatch(s->p, &exit);
	if (r > 0)
		gs_engine_touch_all(s->e);
	if (r >= 0)
		return;
	gs_log(LOG_ERR, "policy %s failed: %s", gs_policy_running(s->p)->name, exit.message);
	dump = exit.dump;
	gs_service_policy_stop(s, exit.kind ? exit.kind : GS_POLICY_EXIT_ERROR, exit.message);
	s->last_exit.code = exit.code;
	s->last_exit.dump = dump;
}
