/* SPDX-License-Identifier: MIT */
/* judge.h - what follows from figures that were measured; pure */
#ifndef GPUSCHED_QUALIFY_JUDGE_H
#define GPUSCHED_QUALIFY_JUDGE_H

#include <stddef.h>

#include "qualify/qualify.h"
#include "rm/costs.h"

/*
 * us: what is left of a turn beside its save and its work. The work is @part of the time of turn and
 * switch. NAN: the parts do not add up.
 */
double qualify_restore(double turn_us, double save_us, double switch_us, double part);
/* us: between two kernels of @kernel_us, of which @rate end each second; NAN: it is no such gap. */
double qualify_gap(double rate, double kernel_us);
/* How many times the turns of the others the first of @n has; 0: others have none. */
double qualify_ratio(const unsigned int *turns, unsigned int n);
/* Gives the first @nchecks and @ncosts the reason @why, where nothing is known and none is given. */
void qualify_leave_reasons(struct qualify_result *r, int nchecks, int ncosts, const char *why);
/*
 * The reason for all that only a log would tell. @why: the error of opening it, less the GPU at its
 * beginning and RM's status at its end.
 */
void qualify_no_log_reason(const char *why, char *ret, size_t size);
/* Costs as the account knows them, of what was measured at @now_s; others are unknown. */
struct gs_costs qualify_as_costs(const struct qualify_result *r, uint64_t now_s);

#endif /* GPUSCHED_QUALIFY_JUDGE_H */
