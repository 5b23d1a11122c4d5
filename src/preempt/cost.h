/* SPDX-License-Identifier: MIT */
/* cost.h - what a switch costs this GPU, from the daemon's answer; pure */
#ifndef GPUSCHED_PREEMPT_COST_H
#define GPUSCHED_PREEMPT_COST_H

#include <stdint.h>

/* The cost on an H200, for GPUs with an unknown cost. */
uint32_t cost_usual_us(void);
/*
 * Returns the time to save and switch on the GPU with @uuid (16 bytes), with a margin. @gpus_json:
 * the answer of the verb `gpus`. 0: the cost is not known, or the GPU is not in the answer.
 */
uint32_t cost_of_us(const char *gpus_json, const unsigned char *uuid);

#endif /* GPUSCHED_PREEMPT_COST_H */
