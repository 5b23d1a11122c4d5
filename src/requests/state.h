/* SPDX-License-Identifier: MIT */
/*
 * state.h - findings about the instance as a whole
 */
#ifndef GPUSCHED_REQUESTS_STATE_H
#define GPUSCHED_REQUESTS_STATE_H

#include <stdio.h>

#include "figures/verdict.h"
#include "gpusched/abi.h"

struct gs_requests;

/* @rose: trouble in the window. */
void gs_state_judge(const struct gs_requests *rs, const struct gs_trouble_counts *rose,
		    struct gs_findings *ret);
/* @tsgs: how many each class has, by its id. */
void gs_state_judge_classes(const struct gs_requests *rs,
			    const unsigned int tsgs[GPUSCHED_MAX_CLASSES], struct gs_findings *ret);
/* Both, of the last ten seconds, of a daemon. */
void gs_state_look(const struct gs_requests *rs, struct gs_findings *ret);
/* gpusched_findings: how many there are of each kind, none of them asked for. */
void gs_state_metrics(const struct gs_requests *rs, FILE *f);

#endif /* GPUSCHED_REQUESTS_STATE_H */
