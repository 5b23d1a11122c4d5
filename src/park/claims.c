// SPDX-License-Identifier: MIT
#include "park/claims.h"

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "basic/env.h"
#include "basic/share.h"
#include "classify/job.h"
#include "figures/memory.h"
#include "hub/records.h"
#include "park/parking.h"
#include "table/started.h"

#define CLAIM_NS (120 * NS_PER_S)
#define HOLDERS 64 /* most processes of a job that are looked at */

uint64_t gs_park_claims_of_restores(const struct gs_parking *pk, size_t gpu)
{
	uint64_t sum;

	if (gpu >= GS_PARK_GPUS)
		return 0;
	sum = pk->busy && pk->asked.op == GS_PARK_IN ? pk->asked.bytes[gpu] : 0;
	for (size_t i = 0; i < GS_PARK_ASIDE; i++)
		if (pk->aside[i].helper.pid && pk->aside[i].asked.op == GS_PARK_IN)
			sum += pk->aside[i].asked.bytes[gpu];
	return sum;
}

/* Reads /proc for programs of its user only that have begun since. */
static bool is_of(struct gs_parking *pk, const struct gs_park_claim *c,
		  const struct gpusched_tsg *rec)
{
	if ((int32_t)rec->task.pid == c->pid)
		return true;
	return rec->task.uid == c->uid && rec->task.created_ns > c->since_ns && c->job &&
	       gs_job_of(pk->hub->table, (pid_t)rec->task.pid) == c->job;
}

static bool is_new(uint32_t *seen, size_t *n, uint32_t pid)
{
	for (size_t i = 0; i < *n; i++)
		if (seen[i] == pid)
			return false;
	if (*n == HOLDERS)
		return false;
	seen[(*n)++] = pid;
	return true;
}

/* GPU memory that the claim's job holds. */
static uint64_t held_by(struct gs_parking *pk, const struct gs_park_claim *c)
{
	CLEANUP_FREE struct gpusched_tsg *recs = NULL;
	struct gs_memory_process m;
	uint32_t seen[HOLDERS];
	size_t n = 0, nseen = 0;
	uint64_t sum = 0;

	if (gs_table_all(pk->hub->table, &recs, &n))
		return 0;
	for (size_t i = 0; i < n; i++) {
		const struct gs_gpu *gpu = gs_record_gpu(pk->hub, &recs[i]);

		if (gpu && gpu->index == c->gpu && is_of(pk, c, &recs[i]) &&
		    gs_memory_of(pk->figures, &recs[i], &m) &&
		    is_new(seen, &nseen, recs[i].task.pid))
			sum += m.own_bytes;
	}
	return sum;
}

static bool is_over(const struct gs_park_claim *c)
{
	double most = (double)CLAIM_NS * gs_env()->dilate;

	return (double)(gs_now_ns() - c->since_ns) > most ||
	       gs_started_still(c->pid, c->start_ns) == GS_STILL_NO;
}

static void drop(struct gs_park_claims *all, size_t i)
{
	all->all[i] = all->all[--all->n];
}

uint64_t gs_park_claims_open(struct gs_parking *pk, uint32_t gpu, int32_t but)
{
	struct gs_park_claims *all = &pk->claims;
	uint64_t sum = 0;

	for (size_t i = all->n; i--;) {
		const struct gs_park_claim *c = &all->all[i];
		uint64_t held;

		if (is_over(c)) {
			drop(all, i);
			continue;
		}
		if (c->gpu != gpu || c->pid == but)
			continue;
		held = held_by(pk, c);
		sum += held < c->bytes ? c->bytes - held : 0;
		if (held >= c->bytes)
			drop(all, i);
	}
	return sum;
}

void gs_park_claims_add(struct gs_parking *pk, const struct gs_park_claim *claim)
{
	struct gs_park_claims *all = &pk->claims;
	size_t own = 0;

	for (size_t i = all->n; i--;)
		if (is_over(&all->all[i]) ||
		    (all->all[i].pid == claim->pid && all->all[i].gpu == claim->gpu))
			drop(all, i);
	for (size_t i = 0; i < all->n; i++)
		own += all->all[i].uid == claim->uid;
	if (!gs_share_allows(claim->uid, own, all->n, GS_PARK_CLAIMS))
		return;
	all->all[all->n] = *claim;
	all->all[all->n].since_ns = gs_now_ns();
	all->all[all->n++].job = gs_job_of(pk->hub->table, (pid_t)claim->pid);
}
