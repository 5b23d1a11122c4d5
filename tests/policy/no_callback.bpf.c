/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* A policy without callbacks. */
#include "gpusched/policy.bpf.h"

GPUSCHED_POLICY(no_callback, 0, 100, 0);
