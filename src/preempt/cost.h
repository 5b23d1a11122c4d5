/* SPDX-License-Identifier: MIT */
/* cost.h - what a switch costs this GPU, from the daemon's answer; pure */
#ifndef GPUSCHED_PREEMPT_COST_H
#define GPUSCHED_PREEMPT_COST_H

#include <stdint.h>

/* An H200's, for where nothing is known. */
uint32_t cost_usual_us(void);
/*
 * Saving and switching, with a margin, of the GPU with @uuid (16 bytes), from the answer of the verb
 * `gpus`; 0: it is not known, or not there.
 */
uint32_t cost_of_us(const char *gpus_json, const unsigned char *uuid);

#endif /* GPUSCHED_PREEMPT_COST_H */
