// SPDX-License-Identifier: MIT
/* Adds the new work of each TSG and GPU to all sums, from the account and the table. */
#include <stdlib.h>
#include <string.h>

#include "basic/clock.h"
#include "figures/ledger_priv.h"

static void add(uint64_t *sum, uint64_t now, uint64_t before)
{
	*sum += now > before ? now - before : 0;
}

/*
 * Takes the increase of the GPU time used. The account learns some seconds late that a TSG was
 * alone, so its figure may fall: then nothing is taken until it exceeds the old maximum.
 */
static void take_used(struct kept *k, const struct gs_turn_sums *t, struct gs_history_sums *d)
{
	uint64_t used_ns = gs_turn_used(t);

	add(&d->v[GS_SUM_USED], used_ns, k->used_ns);
	add(&d->v[GS_SUM_UNPRICED], t->unpriced, k->seen.unpriced);
	if (used_ns > k->used_ns)
		k->used_ns = used_ns;
}

/* Takes the increase of the account's sums. If the log was opened again, they began at 0. */
static void take_turns(struct gs_figures *fig, struct kept *k, struct gs_history_sums *d)
{
	struct gs_turn_sums t;

	if (!fig->hub->account || gs_account_of(fig->hub->account, k->id, &t))
		return;
	if (t.held_ns < k->seen.held_ns || t.turns < k->seen.turns) {
		k->seen = (struct gs_turn_sums){ 0 };
		k->used_ns = 0;
	}
	add(&d->v[GS_SUM_HELD], t.held_ns, k->seen.held_ns);
	add(&d->v[GS_SUM_CONTENDED], t.contended_ns, k->seen.contended_ns);
	add(&d->v[GS_SUM_ALONE], t.alone_ns, k->seen.alone_ns);
	add(&d->v[GS_SUM_WORKED], t.worked_ns, k->seen.worked_ns);
	add(&d->v[GS_SUM_WAIT], t.wait_ns, k->seen.wait_ns);
	add(&d->v[GS_SUM_WAITS], t.waits, k->seen.waits);
	add(&d->v[GS_SUM_TURNS], t.turns, k->seen.turns);
	add(&d->v[GS_SUM_CUT], t.ended[GS_TURN_SLICE], k->seen.ended[GS_TURN_SLICE]);
	take_used(k, &t, d);
	for (int i = 0; i < GS_WAIT_BUCKETS; i++)
		add(&d->wait_bucket[i], t.wait_bucket[i], k->seen.wait_bucket[i]);
	d->v[GS_SUM_SEEN] = 1;
	k->seen = t;
}

/* Takes growth since the last time. The launch counter may have begun again at 0. */
static void take_launches(struct gs_figures *fig, struct kept *k, struct gs_history_sums *d)
{
	struct gpusched_tsg rec;

	if (gs_table_get(fig->hub->table, &k->key, &rec) || rec.task.id != k->id ||
	    !(rec.task.known & GPUSCHED_KNOWN_LAUNCHES))
		return;
	if (rec.task.launches_since_ns != k->launches_since_ns)
		k->launches = 0;
	add(&d->v[GS_SUM_LAUNCHES], rec.task.launches, k->launches);
	d->v[GS_SUM_COUNTED] = 1;
	k->launches = rec.task.launches;
	k->launches_since_ns = rec.task.launches_since_ns;
	snprintf(k->who.comm, sizeof(k->who.comm), "%.*s", GPUSCHED_COMM_LEN, rec.task.comm);
}

void ledger_add(struct kept *k, const struct gs_history_sums *d)
{
	gs_history_sums_add(&k->pending, d);
	gs_history_sums_add(&k->total, d);
	k->news |= !gs_history_sums_is_nothing(d);
	if (k->group)
		gs_history_sums_add(&k->group->sums, d);
}

/* Adds the part of the present suspension that was not added before. */
static void take_suspended(struct kept *k, struct gs_history_sums *d)
{
	uint64_t now = gs_now_ns();

	if (k->suspended_ns)
		add(&d->v[GS_SUM_SUSPENDED], now, k->suspended_ns);
	if (k->request_ns)
		add(&d->v[GS_SUM_REQUEST], now, k->request_ns);
	k->suspended_ns = k->suspended_ns ? now : 0;
	k->request_ns = k->request_ns ? now : 0;
}

void ledger_suspended(struct kept *k, bool begins, bool for_request)
{
	struct gs_history_sums d = { 0 };

	take_suspended(k, &d);
	ledger_add(k, &d);
	k->suspended_ns = begins ? gs_now_ns() : 0;
	if (!begins)
		k->free_ns = gs_now_ns();
	k->request_ns = begins && for_request ? k->suspended_ns : 0;
}

/* Gaps in the records of the GPU's log. */
uint64_t ledger_gaps(const struct gs_figures *fig, uint32_t gpu)
{
	struct gs_account_gpu g = { 0 };

	if (fig->hub->account)
		gs_account_gpu(fig->hub->account, gpu, &g);
	return g.sums.gaps;
}

static void charge(const struct gs_figures *fig, const struct kept *k,
		   const struct gs_history_sums *d)
{
	uint64_t ns = d->v[GS_SUM_USED];

	if (fig->charged && ns)
		fig->charged(k->who.uid, k->who.cgroup, ns, fig->charged_user);
}

void ledger_take_tsg(struct gs_figures *fig, struct kept *k)
{
	uint64_t gaps = ledger_gaps(fig, k->who.gpu);
	struct gs_history_sums d = { 0 };

	take_turns(fig, k, &d);
	take_launches(fig, k, &d);
	take_suspended(k, &d);
	d.v[GS_SUM_FLAWED] = d.v[GS_SUM_SEEN] && gaps != k->gaps;
	k->gaps = gaps;
	ledger_add(k, &d);
	charge(fig, k, &d);
}

void ledger_take_gpu(struct gs_figures *fig, size_t i)
{
	struct gpu_kept *k = &fig->ledger->gpus[i];
	struct gs_history_sums d = { 0 };
	struct gs_account_gpu g = { 0 };

	if (fig->hub->account)
		gs_account_gpu(fig->hub->account, fig->hub->gpus[i].index, &g);
	if (!g.open || !g.sums.since_ns)
		return;
	if (g.sums.since_ns != k->seen.since_ns)
		k->seen = (struct gs_runlist_sums){ 0 };
	add(&d.v[GS_SUM_HELD], g.sums.held_ns, k->seen.held_ns);
	add(&d.v[GS_SUM_LOST], g.sums.lost_ns, k->seen.lost_ns);
	add(&d.v[GS_SUM_OPEN], g.sums.open_ns, k->seen.open_ns);
	add(&d.v[GS_SUM_UNKNOWN], g.sums.unknown_ns, k->seen.unknown_ns);
	add(&d.v[GS_SUM_TURNS], g.sums.switches, k->seen.switches);
	d.v[GS_SUM_SEEN] = 1;
	d.v[GS_SUM_FLAWED] = g.sums.gaps != k->seen.gaps;
	k->seen = g.sums;
	gs_history_sums_add(&k->pending, &d);
	gs_history_sums_add(&k->total, &d);
}
