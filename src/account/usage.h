/* SPDX-License-Identifier: MIT */
/*
 * usage.h - reads the driver's samples of how busy a GPU's graphics engine was
 *
 * Pure. The driver takes seven samples a second and keeps the last ten seconds. Each sample gives
 * the fraction of its period in which the engine worked. Unlike in the switch log, a TSG that is
 * loaded but idle does not count.
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
 * Returns the mean of the samples in @params since the last call, 0 to 1. Returns false if there
 * are none, and at the first call, which only sets the starting point.
 */
bool gs_usage_take(struct gs_usage *inout, const void *params, unsigned int branch, double *ret);
/*
 * Returns for how long the engine has been idle up to the newest sample, ns: busy for less than
 * GS_USAGE_IDLE of each sample. The samples reach back ten seconds, so it may be more. The samples'
 * own times have no known unit, so the samples are counted.
 */
#define GS_USAGE_IDLE 0.05
uint64_t gs_usage_idle_ns(const void *params, unsigned int branch);

/* How busy the engine was, in the form that policies get. */
struct gs_usage_told {
	bool known;
	uint32_t busy_x100, idle_ms;
};
/* @part: the mean of the samples, 0 to 1. */
struct gs_usage_told gs_usage_told(double part, uint64_t idle_ns);

#endif /* GPUSCHED_ACCOUNT_USAGE_H */
