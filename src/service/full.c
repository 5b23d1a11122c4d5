// SPDX-License-Identifier: MIT
/*
 * The table is full, which the log says, with whom it is full of. Nobody's limit is reached by that,
 * so no event tells. And there is room again for those that were past their share.
 */
#include "basic/clock.h"
#include "basic/env.h"
#include "basic/log.h"
#include "gate/gate.h"
#include "service/adopting.h"
#include "service/instance.h"
#include "table/events.h"
#include "table/past.h"
#include "table/procs.h"

#define AGAIN_NS (10 * NS_PER_S)
#define PAST_AT_ONCE 64
#define UNSEEN_NS (10 * NS_PER_S)
#define LARGEST 64 /* processes looked at: with their shares they fill a map four times */

struct part {
	uid_t uid;
	unsigned int processes, entries;
};

/* Of the user who has most. */
static struct part largest_part(struct gs_table *t)
{
	struct gs_proc_size procs[LARGEST];
	size_t n = gs_procs_largest(t, procs, LARGEST), users = 0;
	struct part parts[LARGEST] = { 0 }, most = { 0 };

	for (size_t i = 0; i < n; i++) {
		size_t k = 0;
		uid_t uid;

		if (gs_process_uid(procs[i].pid, &uid))
			continue;
		while (k < users && parts[k].uid != uid)
			k++;
		users += k == users;
		parts[k].uid = uid;
		parts[k].processes++;
		parts[k].entries += procs[i].entries;
		if (parts[k].entries > most.entries)
			most = parts[k];
	}
	return most;
}

/* There is room again for a TSG that had none: it is adopted, as one that nobody saw made. */
static void take_in_past(struct gs_service *s)
{
	struct gs_past_tsg all[PAST_AT_ONCE];
	size_t n = s->e ? gs_past_fitting(s->o, all, PAST_AT_ONCE) : 0;

	for (size_t i = 0; i < n; i++)
		gs_orphan_seen(s, &(struct gpusched_event){ .pid = (uint32_t)all[i].pid,
							    .key = all[i].key });
}

/* Who waits at the gate for being past a share waits no longer than for a policy. */
static void let_in(struct gs_service *s)
{
	gs_gate_limit(s->o,
		      (uint64_t)((double)s->config->hold_limit_ms * NS_PER_MS * gs_env()->dilate));
}

/* Believed for a while: what follows from it is a look at all TSGs. */
static void look_for_unseen(struct gs_service *s, uint64_t now)
{
	if (gs_past_runs(s->o))
		s->unseen_until_ns = now + UNSEEN_NS;
	if (s->e)
		gs_engine_unseen(s->e, now < s->unseen_until_ns);
}

void gs_full_check(struct gs_service *s)
{
	uint64_t now = gs_now_ns(), full;
	struct part most;

	if (now >= s->past_next_ns) {
		s->past_next_ns = now + NS_PER_S;
		take_in_past(s);
		let_in(s);
		look_for_unseen(s, now);
	}
	if (now < s->full_next_ns || gs_tap_counter(s->o, GPUSCHED_CNT_TABLE_FULL, &full) ||
	    full == s->table_full)
		return;
	most = largest_part(s->o);
	gs_log(LOG_WARNING,
	       "the table is full: %llu TSGs, devices or processes were not recorded and are left "
	       "alone; user %u has most of it: %u entries in %u processes",
	       (unsigned long long)(full - s->table_full), most.uid, most.entries, most.processes);
	s->table_full = full;
	s->full_next_ns = now + AGAIN_NS;
}
