/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Fails in its init, with a reason. */
#include "gpusched/policy.bpf.h"

GPUSCHED_POLICY(fails_in_init, 0, 100, 0);

GPUSCHED_INIT()
{
	gpusched_log("files that were looked at", 3);
	gpusched_fail(-7, "no configuration");
	gpusched_fail(-8, "a second failure does not count");
	return 0;
}
