// SPDX-License-Identifier: MIT
#include "figures/kept_off.h"

#include <stdio.h>

#include "basic/clock.h"
#include "figures/ledger_priv.h"
#include "figures/memory.h"
#include "figures/unread.h"
#include "figures/verdict.h"

/*
 * Most records that one look reads, shared out among users: it runs once a second while a GPU is
 * idle.
 */
#define LOOKED_MAX 256u

/* When the policy began to keep the TSG off the GPU; 0: it does not. */
static uint64_t off_since(const struct gpusched_tsg *rec, bool *ret_held)
{
	const uint32_t waits = GPUSCHED_TSG_HELD | GPUSCHED_TSG_GATED;

	*ret_held = rec->suspend_by == GPUSCHED_BY_ADMISSION ||
		    (rec->suspend_by == GPUSCHED_BY_NOBODY && (rec->flags & waits) == waits);
	if (rec->suspend_by == GPUSCHED_BY_POLICY || rec->suspend_by == GPUSCHED_BY_ADMISSION)
		return rec->suspended_ns;
	return *ret_held ? rec->task.created_ns : 0;
}

void gs_kept_off_take(struct gs_kept_off *k, const struct gs_figures *fig,
		      const struct gpusched_tsg *rec)
{
	struct gs_memory_process p;
	uint64_t since;
	bool held;

	if (rec->task.kind != GPUSCHED_KIND_COMPUTE || rec->flags & GPUSCHED_TSG_GONE)
		return;
	since = off_since(rec, &held);
	if (!since || (k->since_ns && since >= k->since_ns))
		return;
	if (gs_memory_of(fig, rec, &p) && p.idle_since_ns && p.idle_since_ns < since)
		return;
	*k = (struct gs_kept_off){ .since_ns = since,
				   .tsg = rec->task.id,
				   .pid = rec->task.pid,
				   .uid = rec->task.uid,
				   .held = held };
	snprintf(k->comm, sizeof(k->comm), "%.*s", GPUSCHED_COMM_LEN, rec->task.comm);
}

void gs_kept_off_judge(const struct gs_kept_off *k, const struct gs_figures *fig, size_t gpu,
		       struct gs_findings *ret)
{
	uint64_t now = gs_now_ns();
	struct gs_account_gpu a;

	if (!k->since_ns || !fig->hub->policy)
		return;
	gs_unread_gpu(fig->hub, gpu, &a);
	gs_verdict_kept_idle(
		&(struct gs_kept_idle_facts){
			.gpu = (int)fig->hub->gpus[gpu].index,
			.policy = gs_policy_running(fig->hub->policy)->name,
			.idle_ns = a.idle_ns,
			.off_ns = now > k->since_ns ? now - k->since_ns : 0,
			.now_ns = now,
			.tsg = k->tsg,
			.pid = k->pid,
			.uid = k->uid,
			.comm = k->comm,
			.held = k->held,
		},
		ret);
}

/* True if the TSG is suspended, or never had a turn: then it may wait for admission. */
static bool may_be_off(const struct kept *k)
{
	return k->suspended_ns || !k->samples;
}

void gs_kept_off_look(const struct gs_figures *fig, size_t gpu, struct gs_findings *ret)
{
	struct gs_kept_off off = { 0 };
	struct gs_shares looked = { 0 };
	struct gs_account_gpu a;

	if (!fig->hub->policy)
		return;
	gs_unread_gpu(fig->hub, gpu, &a);
	if (!a.idle_ns)
		return;
	for (const struct kept *k = fig->ledger->all; k && looked.all < LOOKED_MAX;
	     k = k->hh.next) {
		struct gpusched_tsg rec;

		if (!may_be_off(k) || k->who.gpu != fig->hub->gpus[gpu].index ||
		    !gs_shares_take(&looked, k->who.uid, LOOKED_MAX))
			continue;
		if (!gs_table_get(fig->hub->table, &k->key, &rec) && rec.task.id == k->id)
			gs_kept_off_take(&off, fig, &rec);
	}
	gs_shares_done(&looked);
	gs_kept_off_judge(&off, fig, gpu, ret);
}
