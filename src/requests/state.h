/* SPDX-License-Identifier: MIT */
/*
 * state.h - findings about the instance as a whole
 */
#ifndef GPUSCHED_REQUESTS_STATE_H
#define GPUSCHED_REQUESTS_STATE_H

#include <stdio.h>

#include "figures/verdict.h"

struct gs_requests;

/* @rose: trouble in the window. */
void gs_state_judge(const struct gs_requests *rs, const struct gs_trouble_counts *rose,
		    struct gs_findings *ret);
/* gpusched_findings: how many there are of each kind, of those that one can tell without asking. */
void gs_state_metrics(const struct gs_requests *rs, FILE *f);

#endif /* GPUSCHED_REQUESTS_STATE_H */
