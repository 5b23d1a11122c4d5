/* SPDX-License-Identifier: MIT */
/* cost.h - reads from the daemon's answer how much time a switch costs on a GPU */
#ifndef GPUSCHED_PREEMPT_COST_H
#define GPUSCHED_PREEMPT_COST_H

#include <stdint.h>

/* The cost of a switch on an H200 in us, for GPUs with an unknown cost. */
uint32_t cost_usual_us(void);
/*
 * Returns the time in us to save a TSG and switch on the GPU with @uuid (16 bytes), plus a margin.
 * @gpus_json: the daemon's answer to `gpus`. 0: the answer does not have this GPU or its costs.
 */
uint32_t cost_of_us(const char *gpus_json, const unsigned char *uuid);

#endif /* GPUSCHED_PREEMPT_COST_H */
