/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Has a pinned map, which would outlive the policy. */
#include "gpusched/policy.bpf.h"

GPUSCHED_POLICY(pinned_map, 0, 100, 0);

struct {
	int (*type)[BPF_MAP_TYPE_ARRAY];
	int (*max_entries)[1];
	int (*pinning)[LIBBPF_PIN_BY_NAME];
	gs_u32 *key;
	gs_u64 *value;
} mine SEC(".maps");

GPUSCHED_TASK_INIT(t)
{
	gs_u32 zero = 0;
	gs_u64 *v = bpf_map_lookup_elem(&mine, &zero);

	if (v)
		*v = t->id;
	return 0;
}
