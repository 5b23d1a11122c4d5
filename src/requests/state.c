// SPDX-License-Identifier: MIT
#include "requests/state.h"

#include <utlist.h>

#include "basic/clock.h"
#include "basic/env.h"
#include "control/starting.h"
#include "figures/ledger.h"
#include "figures/memory.h"
#include "figures/openmetrics.h"
#include "figures/window.h"
#include "control/harm.h"
#include "process/pod_names.h"
#include "requests/budget.h"
#include "requests/harm.h"
#include "requests/json.h"
#include "requests/requests.h"

/* Processes without a class, as a container's root chose what a rule matches. */
static unsigned int root_passed(const struct gs_hub *hub)
{
	unsigned int n = 0;

	for (const struct gs_process *p = hub->processes.by_pid; p; p = p->hh.next)
		n += p->root_passed && p->ntsgs && !p->ended;
	return n;
}

void gs_state_judge(const struct gs_requests *rs, const struct gs_trouble_counts *rose,
		    struct gs_findings *ret)
{
	const struct gs_died *died = &rs->control->died;
	const struct gs_texts *left = &rs->hub->config->left_out, *waiting = &rs->hub->waiting;

	gs_verdict_state(
		&(struct gs_state_facts){
			.daemon = rs->hub->opts.daemon,
			.dry_run = rs->hub->opts.dry_run,
			.unknown_branch = rs->hub->watch_only ? rs->hub->branch : 0,
			.start_daemon = gs_env_start_daemon(),
			.policy = rs->hub->policy ? gs_policy_running(rs->hub->policy)->name : NULL,
			.differs = gs_starting_differs(rs->control),
			.left_out = left->n + waiting->n,
			.left_out_at = left->n      ? left->at[0]
				       : waiting->n ? waiting->at[0]
						    : "",
			.waiting = waiting->n,
			.waiting_budgets = rs->hub->waiting_budgets,
			.root_passed = root_passed(rs->hub),
			.pods_unwatched = gs_pods_unwatched(),
			.died = died->policy[0] ? died->policy : NULL,
			.died_start = rs->control->started_as,
			.died_why = died->message,
			.died_ns = died->ns,
			.rose = *rose,
		},
		ret);
}

void gs_state_judge_classes(const struct gs_requests *rs,
			    const unsigned int tsgs[GPUSCHED_MAX_CLASSES], struct gs_findings *ret)
{
	const struct gs_policy *policy = rs->hub->policy;
	const struct gs_policy_info *info = policy ? gs_policy_running(policy) : NULL;

	for (uint32_t i = 1; i < GPUSCHED_MAX_CLASSES; i++)
		if (tsgs[i])
			gs_verdict_class(
				&(struct gs_class_facts){
					.name = gs_stats_class(rs, i),
					.policy = info ? info->name : NULL,
					.ignored = info && gs_policy_info_ignores(
								   info, gs_stats_class(rs, i)),
					.beside_lc = tsgs[GPUSCHED_CLASS_LC] > 0,
					.acts_on = info ? info->classes : NULL,
				},
				ret);
}

void gs_state_judge_suspended(const struct gpusched_tsg *rec, struct gs_findings *ret)
{
	char comm[GPUSCHED_COMM_LEN + 1];

	if (rec->suspend_by != GPUSCHED_BY_PERSON || rec->task.kind != GPUSCHED_KIND_COMPUTE)
		return;
	snprintf(comm, sizeof(comm), "%.*s", GPUSCHED_COMM_LEN, rec->task.comm);
	gs_verdict_suspended(
		&(struct gs_suspended_facts){ .pid = rec->task.pid,
					      .uid = rec->task.uid,
					      .comm = comm,
					      .gpu = (int)rec->task.gpu,
					      .tsg = rec->task.id,
					      .since_ns = rec->suspended_ns,
					      .for_a_while = rec->suspend_until_ns != 0 },
		ret);
}

/* It looks at few records: what people have set is kept. */
static void judge_all_suspended(const struct gs_requests *rs, struct gs_findings *ret)
{
	const struct gs_saved *saved = &rs->control->saved;
	struct gpusched_tsg rec;

	for (size_t i = 0; i < saved->ntsgs; i++)
		if (saved->tsgs[i].set.valid & GPUSCHED_RUNNABLE && !saved->tsgs[i].pending &&
		    !gs_table_get(rs->hub->table, &saved->tsgs[i].key, &rec) &&
		    rec.task.id == saved->tsgs[i].id)
			gs_state_judge_suspended(&rec, ret);
}

void gs_state_look(const struct gs_requests *rs, struct gs_findings *ret)
{
	unsigned int tsgs[GPUSCHED_MAX_CLASSES] = { 0 };
	struct gs_trouble_counts rose = { 0 };
	struct gs_window *w;

	if (!gs_window_past(rs->figures, GS_WINDOW_MAX_S * NS_PER_S, &w)) {
		gs_window_troubles(rs->figures, w, &rose);
		gs_window_free(w);
	}
	gs_state_judge(rs, &rose, ret);
	gs_ledger_classes(rs->figures, tsgs);
	gs_state_judge_classes(rs, tsgs, ret);
}

void gs_state_metrics(const struct gs_requests *rs, FILE *f)
{
	unsigned int n[GS_FINDING_MAX] = { 0 };
	struct gs_findings found = { 0 };
	const struct gs_park_idler *idler;
	const struct gs_parked *p;

	gs_state_look(rs, &found);
	gs_harm_judge(rs, NULL, &found);
	judge_all_suspended(rs, &found);
	for (size_t i = 0; i < found.n; i++)
		n[found.all[i].kind]++;
	gs_verdict_done(&found);
	DL_FOREACH(rs->parking->idlers, idler)
		n[GS_FINDING_PARK_IN_VAIN] += idler->told_ns != 0;
	gs_window_count(rs->figures, n);
	n[GS_FINDING_MEMORY_IDLE] = gs_memory_look_idle(rs->figures);
	DL_FOREACH(rs->parking->all, p)
		n[p->over == GS_PARKED_LOST ? GS_FINDING_PARK_LOST : GS_FINDING_PARKED]++;
	n[GS_FINDING_BUDGET] = gs_budgets_used_up(rs);
	gs_openmetrics_head(f, "findings", "gauge", "what gpusched status finds wrong, or notes");
	for (enum gs_finding_kind k = 0; k < GS_FINDING_MAX; k++)
		if (n[k])
			fprintf(f, "gpusched_findings{finding=\"%s\",level=\"%s\"} %u\n",
				gs_verdict_name(k), gs_verdict_level_name(gs_verdict_level(k)),
				n[k]);
	gs_harm_metrics(rs->control, f);
	gs_openmetrics_head(f, "policy_ends", "counter", "ends of policies");
	for (enum gs_policy_exit_kind k = GS_POLICY_EXIT_STOPPED; k < GS_POLICY_EXITS; k++)
		fprintf(f, "gpusched_policy_ends_total{reason=\"%s\"} %llu\n",
			gs_policy_exit_name(k), (unsigned long long)rs->control->policy_ends[k]);
}
