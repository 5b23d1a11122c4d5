/* SPDX-License-Identifier: MIT */
/* judge.h - computes costs from measured figures; pure */
#ifndef GPUSCHED_QUALIFY_JUDGE_H
#define GPUSCHED_QUALIFY_JUDGE_H

#include <stddef.h>

#include "qualify/qualify.h"
#include "rm/costs.h"

/*
 * The restore in us: the rest of a turn after its save and its work. The work is @part of the time
 * of turn and switch. NAN: the parts do not add up.
 */
double qualify_restore(double turn_us, double save_us, double switch_us, double part);
/*
 * The gap in us between two kernels of @kernel_us, of which @rate end each second. NAN: the times
 * do not fit.
 */
double qualify_gap(double rate, double kernel_us);
/* Turns of the first of @n, divided by the mean turns of the others; 0: the others have none. */
double qualify_ratio(const unsigned int *turns, unsigned int n);
/*
 * Gives the reason @why to those of the first @nchecks and @ncosts that are unknown and have no
 * reason yet.
 */
void qualify_leave_reasons(struct qualify_result *r, int nchecks, int ncosts, const char *why);
/*
 * Makes the reason for all that only the log could show. @why: the error of opening the log, from
 * which the GPU at its beginning and RM's status at its end are left out.
 */
void qualify_no_log_reason(const char *why, char *ret, size_t size);
/* Converts what was measured at @now_s to the account's costs; others are unknown. */
struct gs_costs qualify_as_costs(const struct qualify_result *r, uint64_t now_s);

#endif /* GPUSCHED_QUALIFY_JUDGE_H */
