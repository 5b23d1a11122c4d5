// SPDX-License-Identifier: MIT
#include "requests/state.h"

#include <utlist.h>

#include "basic/clock.h"
#include "basic/env.h"
#include "figures/memory.h"
#include "figures/openmetrics.h"
#include "figures/window.h"
#include "requests/requests.h"

void gs_state_judge(const struct gs_requests *rs, const struct gs_trouble_counts *rose,
		    struct gs_findings *ret)
{
	const struct gs_died *died = &rs->control->died;

	gs_judge_state(
		&(struct gs_state_facts){
			.daemon = rs->hub->opts.daemon,
			.dry_run = rs->hub->opts.dry_run,
			.start_daemon = gs_env()->sim ? "gpuschedd &" : "systemctl start gpuschedd",
			.policy = rs->hub->policy ? gs_policy_running(rs->hub->policy)->name : NULL,
			.died = died->policy[0] ? died->policy : NULL,
			.died_why = died->message,
			.died_ns = died->ns,
			.rose = *rose,
		},
		ret);
}

void gs_state_metrics(const struct gs_requests *rs, FILE *f)
{
	struct gs_trouble_counts rose = { 0 };
	unsigned int n[GS_FINDING_MAX] = { 0 };
	struct gs_findings found = { 0 };
	const struct gs_parked *p;
	struct gs_window *w;

	if (!gs_window_past(rs->figures, GS_WINDOW_MAX_S * NS_PER_S, &w)) {
		gs_window_troubles(rs->figures, w, &rose);
		gs_window_free(w);
	}
	gs_state_judge(rs, &rose, &found);
	for (size_t i = 0; i < found.n; i++)
		n[found.all[i].kind]++;
	gs_findings_done(&found);
	gs_window_count(rs->figures, n);
	n[GS_FINDING_MEMORY_IDLE] = gs_memory_count_idle(rs->figures);
	DL_FOREACH(rs->parking->all, p)
		n[p->over == GS_PARKED_LOST ? GS_FINDING_PARK_LOST : GS_FINDING_PARKED]++;
	gs_metric_head(f, "findings", "gauge", "what gpusched status finds wrong, or notes");
	for (enum gs_finding_kind k = 0; k < GS_FINDING_MAX; k++)
		if (n[k])
			fprintf(f, "gpusched_findings{finding=\"%s\",level=\"%s\"} %u\n",
				gs_finding_name(k), gs_level_name(gs_finding_level(k)), n[k]);
	gs_metric_head(f, "policy_ends", "counter", "ends of policies");
	for (enum gs_policy_exit_kind k = GS_POLICY_EXIT_STOPPED; k < GS_POLICY_EXITS; k++)
		fprintf(f, "gpusched_policy_ends_total{reason=\"%s\"} %llu\n",
			gs_policy_exit_name(k), (unsigned long long)rs->control->policy_ends[k]);
}
