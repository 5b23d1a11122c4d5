/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* A policy of a later ABI, with a longer declaration. */
#include "gpusched/policy.bpf.h"

GPUSCHED_LICENSE_TEXT;

struct later {
	struct gpusched_policy_desc known;
	gs_u64 more[8];
};
extern const struct later gpusched_policy;
GPUSCHED_DESC const struct later gpusched_policy = {
	.known = { .magic = GPUSCHED_DESC_MAGIC, .abi = 99, .name = "abi_future" },
};

GPUSCHED_TASK_INIT(t)
{
	return 0;
}
