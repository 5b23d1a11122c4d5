// SPDX-License-Identifier: MIT
#include "figures/parked_time.h"

#include <stdlib.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "figures/ledger_priv.h"
#include "process/cgroup.h"

void gs_parked_time_place(const struct gs_figures *fig, uint32_t class_id,
			  struct gs_history_who *who)
{
	const char *name = class_id ? gs_class_name(fig->hub->classes, class_id) : NULL;
	const struct gs_process *process = gs_processes_find(fig->hub, who->pid);
	const struct proc *p;

	snprintf(who->class, sizeof(who->class), "%s", name ? name : "");
	if (gs_cgroup_path(who->pid, who->cgroup))
		who->cgroup[0] = '\0';
	else
		gs_pod_names(who->cgroup, &who->pod);
	/* some of the process's TSGs may not have ended yet */
	p = process && fig->ledger ? process->of[GS_PROCESS_LEDGER] : NULL;
	if (p && p->start_ns == who->start_ns)
		memcpy(who->job, p->job, sizeof(who->job));
}

static const struct gs_gpu *gpu_of(const struct gs_figures *fig, uint32_t index)
{
	for (size_t i = 0; i < fig->hub->ngpus; i++)
		if (fig->hub->gpus[i].index == index)
			return &fig->hub->gpus[i];
	return NULL;
}

void gs_parked_time_add(struct gs_figures *fig, const struct gs_history_who *who, uint32_t gpu,
			uint64_t ns)
{
	const struct gs_history_sums sums = { .v = { [GS_SUM_PARKED] = ns } };
	const struct gs_gpu *g = gpu_of(fig, gpu);
	CLEANUP_FREE struct kept *k = NULL;

	if (!fig->ledger || !g || !(k = calloc(1, sizeof(*k))))
		return;
	k->who = *who;
	k->who.gpu = gpu;
	snprintf(k->who.gpu_uuid, sizeof(k->who.gpu_uuid), "%s", g->uuid);
	snprintf(k->who.policy, sizeof(k->who.policy), "%s",
		 fig->hub->policy ? gs_policy_running(fig->hub->policy)->name : "");
	ledger_join(fig, k);
	ledger_add(k, &sums);
	ledger_leave(k);
	if (fig->ledger->history)
		gs_history_add(fig->ledger->history, &k->who, (ns + NS_PER_S / 2) / NS_PER_S,
			       &sums);
}

void gs_parked_time_ended(struct gs_figures *fig, const struct gs_history_who *who)
{
	if (gs_ledger_history(fig))
		gs_history_ended(fig->ledger->history, who->pid, who->start_ns);
}
