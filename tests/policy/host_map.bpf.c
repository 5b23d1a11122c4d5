/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Tries to use the host's map of all records. */
#include "gpusched/policy.bpf.h"

GPUSCHED_POLICY(host_map, 0, 100, 0);

extern struct {
	int (*type)[BPF_MAP_TYPE_HASH];
	int (*max_entries)[GPUSCHED_MAX_TSGS];
	struct gpusched_key *key;
	struct gpusched_tsg *value;
} gs_tsgs SEC(".maps");

GPUSCHED_TASK_INIT(t)
{
	struct gpusched_key key = { 0, 0, 1 };
	struct gpusched_tsg *rec = bpf_map_lookup_elem(&gs_tsgs, &key);

	if (rec)
		rec->owner_fd = t->pid;
	return 0;
}
