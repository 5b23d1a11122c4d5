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

/* @rose: counters that rose within the window. */
void gs_state_judge(const struct gs_requests *rs, const struct gs_trouble_counts *rose,
		    struct gs_findings *ret);
/* @tsgs: the number of TSGs of each class, by class id. */
void gs_state_judge_classes(const struct gs_requests *rs,
			    const unsigned int tsgs[GPUSCHED_MAX_CLASSES], struct gs_findings *ret);
/* Judges both for a daemon's last ten seconds. */
void gs_state_look(const struct gs_requests *rs, struct gs_findings *ret);
/*
 * Writes gpusched_findings: the number of findings of each kind, including those that are hidden
 * from people.
 */
void gs_state_metrics(const struct gs_requests *rs, FILE *f);

#endif /* GPUSCHED_REQUESTS_STATE_H */
