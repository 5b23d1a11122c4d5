/* SPDX-License-Identifier: MIT */
/*
 * state.h - judges the instance as a whole, and exports the numbers of findings
 */
#ifndef GPUSCHED_REQUESTS_STATE_H
#define GPUSCHED_REQUESTS_STATE_H

#include <stdio.h>

#include "figures/verdict.h"
#include "gpusched/abi.h"

struct gs_requests;

/* Adds findings about the daemon and its policy. @rose: how much trouble counters rose lately. */
void gs_state_judge(const struct gs_requests *rs, const struct gs_trouble_counts *rose,
		    struct gs_findings *ret);
/* Adds findings about classes with TSGs. @tsgs: the number of TSGs of each class, by class id. */
void gs_state_judge_classes(const struct gs_requests *rs,
			    const unsigned int tsgs[GPUSCHED_MAX_CLASSES], struct gs_findings *ret);
/* Adds a finding if a person has suspended the TSG. */
void gs_state_judge_suspended(const struct gpusched_tsg *rec, struct gs_findings *ret);
/* Judges the daemon and its classes for the last ten seconds, as alerts need it. */
void gs_state_look(const struct gs_requests *rs, struct gs_findings *ret);
/*
 * Writes the metric gpusched_findings: the number of findings of each kind, including findings that
 * some users may not see. Also writes gpusched_policy_ends.
 */
void gs_state_metrics(const struct gs_requests *rs, FILE *f);

#endif /* GPUSCHED_REQUESTS_STATE_H */
