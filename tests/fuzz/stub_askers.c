// SPDX-License-Identifier: MIT
#include "stub_askers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "control/agents.h"
#include "requests/json.h"
#include "requests/state.h"
#include "figures/ledger_priv.h"
#include "figures/memory.h"
#include "hub/limited.h"
#include "hub/loop.h"
#include "process/pod_names.h"
#include "hub/records.h"
#include "figures/gpu_time.h"

struct gpusched_tsg stub_table[STUB_RECORDS];
uint64_t stub_open;

/* ---- the table ------------------------------------------------------------------------------- */

int gs_table_all(struct gs_table *t, struct gpusched_tsg **ret, size_t *ret_n)
{
	struct gpusched_tsg *recs = calloc(STUB_RECORDS + 1, sizeof(*recs));
	size_t n = 0;

	if (!recs)
		abort();
	for (size_t i = 0; i < STUB_RECORDS; i++)
		if (stub_table[i].task.id)
			recs[n++] = stub_table[i];
	*ret = recs;
	*ret_n = n;
	return 0;
}

int gs_table_get(struct gs_table *t, const struct gpusched_key *key, struct gpusched_tsg *ret)
{
	for (size_t i = 0; i < STUB_RECORDS; i++) {
		if (!stub_table[i].task.id || memcmp(&stub_table[i].key, key, sizeof(*key)))
			continue;
		*ret = stub_table[i];
		return 0;
	}
	return -ENOENT;
}

const struct gs_gpu *gs_record_gpu(const struct gs_hub *hub, const struct gpusched_tsg *rec)
{
	return rec->task.gpu < hub->ngpus ? &hub->gpus[rec->task.gpu] : NULL;
}

/* ---- the account ----------------------------------------------------------------------------- */

void gs_account_open(const struct gs_account *a, gs_turn_fn fn, void *user)
{
	const struct gs_turn turn = { .id = stub_open, .start_ns = 1, .end_ns = 2 };

	if (stub_open)
		fn(&turn, user);
}

void gs_account_gpu(const struct gs_account *a, uint32_t gpu, struct gs_account_gpu *ret)
{
	*ret = (struct gs_account_gpu){ .open = true };
}

uint64_t gs_account_counter(const struct gs_account *a, enum gs_account_counter c)
{
	return 0;
}

bool gs_agents_launches(const struct gs_control *ctl, const struct gpusched_tsg *rec, uint64_t *ret)
{
	*ret = 7;
	return rec->task.id % 3 == 0;
}

void gs_gpu_time_flush(struct gs_figures *fig)
{
}

json_t *gs_gpu_time_gpus_json(struct gs_figures *fig)
{
	return json_array();
}

/* ---- the rest of the service ----------------------------------------------------------------- */

bool gs_ledger_bring_up(struct gs_figures *fig, uint64_t until_ns)
{
	static unsigned int n;

	return ++n % 2;
}

double gs_ledger_share(struct gs_figures *fig, const struct group *g)
{
	return 0.5;
}

void gs_history_sums_add(struct gs_history_sums *inout, const struct gs_history_sums *s)
{
	inout->v[0] += s->v[0];
}

uint64_t gs_turns_percentile(const struct gs_turn_sums *t, unsigned int percent)
{
	return 0;
}

bool gs_pod_names(const char *cgroup, struct gs_pod_names *ret)
{
	*ret = (struct gs_pod_names){ 0 };
	return false;
}

void ledger_end_groups(struct gs_figures *fig)
{
}

void gs_stats_text(struct gs_requests *rs, FILE *f)
{
	fputs("begin\n", f);
}

void gs_stats_launches_text(struct gs_requests *rs, FILE *f)
{
}

void gs_state_metrics(const struct gs_requests *rs, FILE *f)
{
}

const char *gs_stats_class(const struct gs_requests *rs, uint32_t id)
{
	return "";
}

const char *gs_class_name(const struct gs_classes *c, uint32_t id)
{
	return NULL;
}

const char *gs_kind_name(uint16_t kind)
{
	return "compute";
}

json_t *gs_event_json(struct gs_hub *hub, const struct gpusched_event *ev)
{
	return json_pack("{s:s}", "event", "tsg-new");
}

json_t *gs_call_json(struct gs_hub *hub, const struct gs_engine_call *call)
{
	return json_pack("{s:s}", "event", "call");
}

const struct gs_policy_info *gs_policy_running(const struct gs_policy *p)
{
	return NULL;
}

void gs_loop_slice(struct gs_hub *hub, struct gs_sliced *w, bool again)
{
	if (again)
		gs_slices_again(&hub->slices, w);
	else
		gs_slices_add(&hub->slices, w);
}

/* ---- privacy --------------------------------------------------------------------------------- */

struct gs_view gs_view_of(struct gs_requests *rs, const struct gs_peer *peer)
{
	static const unsigned int others[] = { ~0u, GS_SEES_LOAD, GS_SEES_LOAD | GS_SEES_WHO,
					       GS_SEES_LOAD | GS_SEES_WHO | GS_SEES_TIMES };

	return (struct gs_view){ .uid = peer->uid, .others = others[peer->uid % 4] };
}

json_t *gs_view_event(const struct gs_view *v, uid_t owner, json_t *event)
{
	return json_incref(event);
}

uid_t gs_view_owner(struct gs_requests *rs, const struct gpusched_event *ev)
{
	return 0;
}

void gs_limited(struct gs_hub *hub, uid_t uid, enum gs_user_limit limit)
{
}

const char *gs_limit_name(enum gs_user_limit limit)
{
	return "limit";
}

uint64_t gs_limited_sum(const struct gs_hub *hub, enum gs_user_limit limit)
{
	return 0;
}

void gs_limited_each(const struct gs_hub *hub, gs_limited_fn fn, void *user)
{
}

/* ---- memory ---------------------------------------------------------------------------------- */

void gs_memory_gpu(const struct gs_figures *fig, size_t i, struct gs_memory_gpu *ret)
{
	*ret = (struct gs_memory_gpu){ .known = i % 2, .reason = "", .total_bytes = i << 30 };
}

void gs_memory_text(const struct gs_figures *fig, FILE *f)
{
}
