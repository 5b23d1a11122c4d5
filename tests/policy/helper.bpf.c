/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Uses a kernel helper that policies may not use. */
#include "gpusched/policy.bpf.h"

GPUSCHED_POLICY(helper, 0, 100, 0);

GPUSCHED_TASK_INIT(t)
{
	char c[8] = { 1 };

	return (int)bpf_probe_write_user((void *)t->priv[1], c, sizeof(c));
}
