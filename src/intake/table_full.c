// SPDX-License-Identifier: MIT
/* Logs which user fills a full table. No limit was reached, so there is no event. */
#include "basic/clock.h"
#include "basic/log.h"
#include "intake/intake.h"
#include "process/process.h"
#include "table/events.h"
#include "table/procs.h"
#include "table/started.h"

#define AGAIN_NS (10 * NS_PER_S)
#define LARGEST 64 /* processes looked at: if each has used its quota, they fill a map four times */

struct part {
	uid_t uid;
	unsigned int processes, entries;
};

/* The user that has the most records. */
static struct part largest_part(struct gs_table *t)
{
	struct gs_proc_size procs[LARGEST];
	size_t n = gs_procs_largest(t, procs, LARGEST), users = 0;
	struct part parts[LARGEST] = { 0 }, most = { 0 };

	for (size_t i = 0; i < n; i++) {
		size_t k = 0;
		uid_t uid;

		if (gs_process_uid(procs[i].pid, &uid) ||
		    gs_started_still(procs[i].pid, procs[i].start_ns) != GS_STILL_YES)
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

void gs_full_check(struct gs_intake *in)
{
	uint64_t now = gs_now_ns(), full;
	struct part most;

	if (now < in->full_next_ns)
		return;
	in->full_next_ns = now + GS_BEATS_SECOND_NS;
	if (gs_events_counter(in->hub->table, GPUSCHED_CNT_TABLE_FULL, &full) ||
	    full == in->table_full)
		return;
	most = largest_part(in->hub->table);
	gs_log(LOG_WARNING,
	       "the table is full: %llu TSGs, devices or processes were not recorded and are left "
	       "alone; user %u has most of it: %u entries in %u processes",
	       (unsigned long long)(full - in->table_full), most.uid, most.entries, most.processes);
	in->table_full = full;
	in->full_next_ns = now + AGAIN_NS;
}
