// SPDX-License-Identifier: MIT
/*
 * Checks at each heartbeat whether the hooks still ask the policy, and whether gpusched.ko has
 * restored everything.
 */
#include "basic/cleanup.h"
#include "basic/log.h"
#include "gpusched/module.h"
#include "rm/module.h"
#include "control/host.h"
#include "control/control.h"
#include "control/policy.h"
#include "table/cfg.h"
#include "engine/lock.h"
#include "engine/restore.h"

/*
 * Stops the policy if the hooks have stopped asking it. Without them it would be asked too late,
 * and the user chose a host that asks in time.
 */
static void look_at_hooks(struct gs_control *ctl)
{
	struct gs_policy_exit exit = { .kind = GS_POLICY_EXIT_ERROR };
	struct gs_error err = { 0 };
	struct gs_module m = { 0 };

	if (!ctl->hooked)
		return;
	exit.code = gs_hooked_state(ctl->hooked, &err);
	if (!exit.code || (exit.code > 0 && gs_module_about(&m, NULL)))
		return;
	if (exit.code < 0) {
		snprintf(exit.message, sizeof(exit.message), "%.255s", err.text);
	} else if (m.ended == GPUSCHED_MODULE_EXIT_TIMEOUT) {
		exit.kind = GS_POLICY_EXIT_STALLED;
		exit.code = -ETIME;
		snprintf(exit.message, sizeof(exit.message),
			 "policy %.31s: a callback took %d ms in the driver's hooks",
			 gs_policy_running(ctl->hub->policy)->name, m.ended_code);
	} else {
		return;
	}
	gs_service_policy_failed(ctl, &exit);
}

/*
 * The module has restored everything, so the records are wrong. Restores by the records too, in a
 * new epoch, as another process would.
 */
static void put_back(struct gs_control *ctl)
{
	CLEANUP_FD int lock = -1;
	struct gs_restored done = { 0 };

	gs_count(ctl->hub, GS_SVC_MODULE_LOST);
	gs_log(LOG_WARNING, "gpusched.ko had not heard this daemon for too long");
	if (gs_lock_overtake(&lock, NULL) ||
	    gs_cfg_next_epoch(ctl->hub->table)) /* the guardian is restoring too */
		return;
	gs_restore(ctl->hub->table, ctl->hub->branch, &done, NULL);
	gs_observers_restored(&ctl->hub->observers);
}

void gs_host_beat(void *self)
{
	struct gs_control *ctl = self;
	if (ctl->hub->opts.daemon && gs_module_beat() == -ETIMEDOUT)
		put_back(ctl);
	look_at_hooks(ctl);
}
