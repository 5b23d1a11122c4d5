/* SPDX-License-Identifier: MIT */
/*
 * usage.h - how busy a GPU's graphics engine was, as the driver samples it seven times a second
 *
 * Pure. The driver keeps the last ten seconds of its samples. Each sample says for which part of
 * its time the engine was at work. Unlike in the log, a TSG that is loaded and idle does not count.
 */
#ifndef GPUSCHED_ACCOUNT_USAGE_H
#define GPUSCHED_ACCOUNT_USAGE_H

#include <stdbool.h>
#include <stdint.h>

/* How far the samples have been read; all 0 at first. */
struct gs_usage {
	uint64_t newest;
};

/* The size of NV_CMD_USAGE's parameters in this branch; 0: unknown. */
uint32_t gs_usage_size(unsigned int branch);
/* Fills zeroed @params for the query. */
void gs_usage_ask(void *params, unsigned int branch);
/*
 * Takes from the answer the mean of the samples since the last call, 0 to 1. Returns false if there
 * is none; and at the first call, which only sets where the next one starts.
 */
bool gs_usage_take(struct gs_usage *inout, const void *params, unsigned int branch, double *ret);

#endif /* GPUSCHED_ACCOUNT_USAGE_H */
