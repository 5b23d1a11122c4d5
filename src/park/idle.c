// SPDX-License-Identifier: MIT
#include "park/idle.h"

#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "basic/log.h"
#include "classify/classify.h"
#include "config/config.h"
#include "config/park_idle.h"
#include "figures/memory.h"
#include "hub/records.h"
#include "park/parking.h"
#include "table/table.h"

#define LOOK_NS (5 * NS_PER_S) /* how often we look for idle processes; memory is read as often */

static const struct gs_park_idle_rule *
rule_of(const struct gs_parking *pk, const struct gs_park_idle_rules *rules, uint32_t class_id)
{
	const char *name = gs_class_name(pk->hub->classes, class_id);

	for (size_t i = 0; name && i < rules->n; i++)
		if (!strcmp(rules->all[i].class_name, name))
			return &rules->all[i];
	return NULL;
}

uint64_t gs_park_idle_since(const struct gs_parking *pk, const struct gpusched_tsg *recs, size_t n)
{
	uint64_t since = 0, bytes = 0;

	for (size_t i = 0; i < n; i++) {
		struct gs_memory_process m;

		if (recs[i].task.kind != GPUSCHED_KIND_COMPUTE)
			continue;
		if (!gs_memory_of(pk->figures, &recs[i], &m) || !m.idle_since_ns)
			return 0;
		bytes += m.own_bytes;
		since = m.idle_since_ns > since ? m.idle_since_ns : since;
	}
	return bytes ? since : 0;
}

static void park(struct gs_parking *pk, const struct gs_park_idle_rule *rule,
		 const struct gpusched_tsg *recs, size_t n)
{
	uint64_t now = gs_now_ns(), since = gs_park_idle_since(pk, recs, n);
	const struct gs_park_ask ask = { .recs = recs,
					 .n = n,
					 .until_ns = rule->for_ns ? now + rule->for_ns : 0,
					 .by_itself = true };
	struct gs_park_idler *idler =
		gs_park_idler_find(pk, (int32_t)recs->task.pid, recs->owner_start_ns);
	struct gs_parked *p = NULL;
	struct gs_error err = { 0 };

	/* After told_ns, an event has named @idler->tsg: do not change it any more. */
	if (idler && !idler->told_ns)
		idler->tsg = recs->task.id;
	if (!since || now - since < rule->idle_ns || gs_parking_find(pk, (int32_t)recs->task.pid) ||
	    (idler && !gs_park_may_again(&idler->again, now)))
		return;
	idler = gs_park_idler_remember(pk, recs);
	if (!idler)
		return;
	if (!gs_parking_out(pk, &ask, &p, &err)) {
		gs_count(pk->hub, GS_SVC_PARKED_IDLE);
		gs_parked_unref(p);
		return;
	}
	idler->again.not_before_ns = now + GS_PARK_FAILED_NS;
	gs_count(pk->hub, GS_SVC_PARK_IDLE_LEFT);
	gs_log(LOG_INFO, "process %d (%s) is idle and not parked: %s", idler->process->pid,
	       idler->process->comm, err.text);
}

static int by_pid(const void *a, const void *b)
{
	const struct gpusched_tsg *x = a, *y = b;

	return (x->task.pid > y->task.pid) - (x->task.pid < y->task.pid);
}

static size_t those_there(const struct gs_parking *pk, struct gpusched_tsg *recs, size_t n)
{
	size_t there = 0;

	for (size_t i = 0; i < n; i++) {
		const struct gs_gpu *gpu = gs_record_gpu(pk->hub, &recs[i]);

		if (recs[i].flags & GPUSCHED_TSG_GONE)
			continue;
		recs[there] = recs[i];
		recs[there++].task.gpu = gpu ? gpu->index : GPUSCHED_GPU_UNKNOWN;
	}
	return there;
}

int gs_park_idle_records(const struct gs_parking *pk, struct gpusched_tsg **ret, size_t *ret_n)
{
	int r = gs_table_all(pk->hub->table, ret, ret_n);

	if (r)
		return r;
	*ret_n = those_there(pk, *ret, *ret_n);
	if (*ret_n)
		qsort(*ret, *ret_n, sizeof(**ret), by_pid);
	return 0;
}

static void look(struct gs_parking *pk, const struct gs_park_idle_rules *rules)
{
	CLEANUP_FREE struct gpusched_tsg *recs = NULL;
	size_t n = 0, most;

	if (gs_park_idle_records(pk, &recs, &n))
		return;
	for (size_t i = 0; i < n; i += most) {
		const struct gs_park_idle_rule *rule = rule_of(pk, rules, recs[i].task.class_id);

		for (most = 1; i + most < n && recs[i + most].task.pid == recs[i].task.pid;)
			most++;
		if (rule)
			park(pk, rule, &recs[i], most);
	}
}

void gs_park_idle_beat(void *self)
{
	struct gs_parking *pk = self;
	CLEANUP(gs_park_idle_rules_done) struct gs_park_idle_rules rules = { .n = 0 };
	uint64_t now = gs_now_ns();

	if (!pk->hub->opts.daemon || !pk->hub->config->park_idle.n || now - pk->looked_ns < LOOK_NS)
		return;
	pk->looked_ns = now;
	if (!gs_config_park_idle(pk->hub->config, pk->hub->classes, &rules, NULL))
		look(pk, &rules);
}
