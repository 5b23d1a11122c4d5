/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Writes past the part of the record that it is given: the verifier refuses. */
#include "gpusched/policy.bpf.h"

GPUSCHED_POLICY(out_of_bounds, 0, 100, 0);

GPUSCHED_TIMESLICE_SET(t, us)
{
	t->priv[us & 63] = 1;
	return 0;
}
