/* SPDX-License-Identifier: MIT */
/*
 * usage.h - how busy a GPU's graphics engine was, as the driver samples it seven times a second
 *
 * Pure. The driver keeps the last ten seconds of its samples. Each says for how much of its time the
 * engine was at work: a TSG that is loaded and idle does not count, other than in the log.
 */
#ifndef GPUSCHED_ACCOUNT_USAGE_H
#define GPUSCHED_ACCOUNT_USAGE_H

#include <stdbool.h>
#include <stdint.h>

/* How far the samples have been taken; all 0 at first. */
struct gs_usage {
	uint64_t newest;
};

/* Bytes of NV_CMD_USAGE's parameters; 0: of that branch (0: unknown) they are not known. */
uint32_t gs_usage_size(unsigned int branch);
/* Makes zeroed @params a question. */
void gs_usage_ask(void *params, unsigned int branch);
/*
 * From the answer: the mean of the samples since the last call, 0 to 1. False: there is none, or it is
 * the first call, which says how far back the next one goes.
 */
bool gs_usage_take(struct gs_usage *inout, const void *params, unsigned int branch, double *ret);

#endif /* GPUSCHED_ACCOUNT_USAGE_H */
