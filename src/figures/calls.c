// SPDX-License-Identifier: MIT
/* Counts the engine's calls and their times, and logs those that fail. */
#include <errno.h>
#include <string.h>

#include "basic/log.h"
#include "figures/calls.h"
#include "figures/figures.h"

/*
 * Failing calls of one process for one reason are logged once; `gpusched stats` counts all of them.
 */
static void log_failure(struct gs_figures *fig, const struct gs_engine_call *call)
{
	struct gs_failure *last = &fig->failures[call->pid % GS_ASKED];
	const struct gs_failure now = { call->pid, call->res.err, call->res.status };
	const char *status = gs_rm_status_name(call->res.status);
	bool by_rm = call->res.denied || call->res.err == -EREMOTEIO;

	if (!memcmp(last, &now, sizeof(now)))
		return;
	*last = now;
	/* -ESRCH: the process may have ended meanwhile. */
	gs_log(call->res.err == -ESRCH ? LOG_DEBUG : LOG_NOTICE,
	       "TSG %llu of process %u: %s failed: %s; further failures of this kind are counted",
	       (unsigned long long)call->id, call->pid, gs_rm_op_name(call->op),
	       by_rm && status ? status : strerror(-call->res.err));
}

void gs_calls_called(void *self, const struct gs_engine_call *call)
{
	struct gs_figures *fig = self;
	struct gs_call_stats *st = &fig->calls[call->op < GS_RM_OP_MAX ? call->op : 0];

	if (call->dry_run)
		return;
	st->count++;
	st->failed += call->res.err != 0;
	st->ns += call->res.ns;
	if (call->res.ns > st->max_ns)
		st->max_ns = call->res.ns;
	if (call->res.err)
		log_failure(fig, call);
}
