// SPDX-License-Identifier: MIT
/* At each heartbeat: do the hooks still ask the policy, and has gpusched.ko put everything back? */
#include "basic/cleanup.h"
#include "basic/log.h"
#include "gpusched/module.h"
#include "rm/module.h"
#include "service/host.h"
#include "service/instance.h"
#include "service/policy.h"
#include "table/cfg.h"

/* The hooks have stopped asking: a policy that is asked too late is not what somebody has chosen. */
static void look_at_hooks(struct gs_service *s)
{
	struct gs_policy_exit exit = { .kind = GS_POLICY_EXIT_ERROR };
	struct gs_error err = { 0 };
	struct gs_module m = { 0 };

	if (!s->hooked)
		return;
	exit.code = gs_hooked_state(s->hooked, &err);
	if (!exit.code || (exit.code > 0 && gs_module_about(&m, NULL)))
		return;
	if (exit.code < 0) {
		snprintf(exit.message, sizeof(exit.message), "%.255s", err.text);
	} else if (m.ended == GPUSCHED_MODULE_EXIT_TIMEOUT) {
		exit.kind = GS_POLICY_EXIT_STALLED;
		exit.code = -ETIME;
		snprintf(exit.message, sizeof(exit.message),
			 "policy %.31s: a callback took %d ms in the driver's hooks",
			 gs_policy_running(s->p)->name, m.ended_code);
	} else {
		return;
	}
	gs_service_policy_failed(s, &exit);
}

/* The module has put everything back, and the records say otherwise: as if another had acted. */
static void put_back(struct gs_service *s)
{
	CLEANUP_FD int lock = -1;
	struct gs_restored done = { 0 };

	gs_count(s, GS_SVC_MODULE_LOST);
	gs_log(LOG_WARNING, "gpusched.ko had not heard this daemon for too long");
	if (gs_lock_overtake(&lock, NULL) || gs_cfg_next_epoch(s->o)) /* the guardian is at it */
		return;
	gs_restore(s->o, s->branch, &done, NULL);
	gs_observers_restored(&s->observers);
}

void gs_host_beat(struct gs_service *s)
{
	if (s->opts.daemon && gs_module_beat() == -ETIMEDOUT)
		put_back(s);
	look_at_hooks(s);
}
