/* SPDX-License-Identifier: MIT */
/* judge.h - computes costs from measured figures; all functions are pure */
#ifndef GPUSCHED_QUALIFY_JUDGE_H
#define GPUSCHED_QUALIFY_JUDGE_H

#include <stddef.h>

#include "qualify/qualify.h"
#include "rm/costs.h"

/*
 * The restore in us: the part of a turn that is neither save nor work. @part: the fraction of a
 * turn and its switch in which the GPU worked. NAN: the times do not add up.
 */
double qualify_judge_restore(double turn_us, double save_us, double switch_us, double part);
/*
 * The gap in us between two kernels of @kernel_us each, if @rate kernels end per second. NAN: the
 * result is not plausible.
 */
double qualify_judge_gap(double rate, double kernel_us);
/*
 * The number of turns of the first of @n programs, divided by the mean number of the others; 0: the
 * others have no turns.
 */
double qualify_judge_ratio(const unsigned int *turns, unsigned int n);
/*
 * Sets the reason @why for unknown results without a reason, among the first @nchecks checks and
 * the first @ncosts costs.
 */
void qualify_judge_leave_reasons(struct qualify_result *r, int nchecks, int ncosts,
				 const char *why);
/*
 * Makes the reason for results that only the log could give, from the error of opening the log
 * (@why). Leaves out the GPU's name at the beginning of @why and RM's status at its end.
 */
void qualify_judge_no_log_reason(const char *why, char *ret, size_t size);
/* Converts the results, measured at @now_s, to costs as the account uses them. */
struct gs_costs qualify_judge_costs(const struct qualify_result *r, uint64_t now_s);

#endif /* GPUSCHED_QUALIFY_JUDGE_H */
