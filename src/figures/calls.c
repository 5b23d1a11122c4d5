// SPDX-License-Identifier: MIT
/* Counts the engine's calls and their times, and logs those that fail. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "basic/log.h"
#include "figures/calls.h"
#include "figures/figures.h"

/* The last reason for which a call of a process failed. */
struct failure {
	int err;
	uint32_t status;
};

/* True if a call of the process failed for the same reason before. */
static bool is_known(const struct gs_figures *fig, const struct gs_engine_call *call)
{
	struct gs_process *p = gs_processes_find(fig->hub, (pid_t)call->pid);
	struct failure *last = p ? p->of[GS_PROCESS_FAILURE] : NULL;

	if (last && last->err == call->res.err && last->status == call->res.status)
		return true;
	if (p && !last)
		p->of[GS_PROCESS_FAILURE] = last = calloc(1, sizeof(*last));
	if (last)
		*last = (struct failure){ call->res.err, call->res.status };
	return false;
}

void gs_calls_process_ended(void *self, struct gs_process *p)
{
	free(p->of[GS_PROCESS_FAILURE]);
	p->of[GS_PROCESS_FAILURE] = NULL;
}

/*
 * Failing calls of one process for one reason are logged once; `gpusched stats` counts all of them.
 */
static void log_failure(const struct gs_figures *fig, const struct gs_engine_call *call)
{
	const char *status = gs_rm_status_name(call->res.status);
	bool by_rm = call->res.denied || call->res.err == -EREMOTEIO;

	if (is_known(fig, call))
		return;
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
