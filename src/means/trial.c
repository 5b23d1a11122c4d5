// SPDX-License-Identifier: MIT
#include "means/trial.h"

#include "basic/clock.h"
#include "gpusched/abi.h"

#define ENOUGH 12u /* turns after which other modes no longer affect the account's mean */
#define FRESH 6u   /* turns that suffice if the account had no turns in another mode */
#define FEW 4u     /* turns that suffice if the wait for a block is FAR times that for slices */
#define FAR 2u
/* turns per second; with fewer, a trial has too few turns that can be measured */
#define LEAST_RATE 40

bool gs_trials_may(const struct gs_trials *t, uint32_t gpu, uint32_t uid, uint64_t now_ns)
{
	unsigned int of_gpu = 0, of_user = 0;

	for (unsigned int i = 0; i < GS_TRIALS; i++) {
		uint64_t ns = t->last[i].ns;

		if (!ns || now_ns - ns >= 3600 * NS_PER_S)
			continue;
		if (i == t->at) /* the ring is full of trials of the last hour */
			return false;
		if (t->last[i].gpu == gpu && now_ns - ns < 60 * NS_PER_S)
			return false;
		of_gpu += t->last[i].gpu == gpu;
		of_user += t->last[i].uid == uid;
	}
	return of_gpu < GS_TRIALS_GPU && of_user < GS_TRIALS_USER;
}

void gs_trials_add(struct gs_trials *t, uint32_t gpu, uint32_t uid, uint64_t now_ns)
{
	t->last[t->at].ns = now_ns;
	t->last[t->at].gpu = gpu;
	t->last[t->at].uid = uid;
	t->at = (t->at + 1) % GS_TRIALS;
}

struct gs_trial gs_trial_begin(const struct gs_turn_sums *t, uint64_t now_ns)
{
	return (struct gs_trial){ .began_ns = now_ns, .drains = t->drains };
}

bool gs_trial_is_worth(double turns, double seconds)
{
	return seconds > 0 && turns >= LEAST_RATE * seconds;
}

enum gs_trial_verdict gs_trial_look(struct gs_trial *trial, const struct gs_turn_sums *t,
				    uint32_t mode, uint32_t slices_us, uint64_t now_ns,
				    uint32_t *ret_us)
{
	bool late = now_ns - trial->began_ns >= GS_TRIAL_S * NS_PER_S;
	uint64_t n;

	if (mode != GPUSCHED_PREEMPT_CTA || t->drain_nominal || t->drains < trial->drains)
		trial->drains = t->drains;
	trial->in_cta |= mode == GPUSCHED_PREEMPT_CTA;
	n = t->drains - trial->drains;
	*ret_us = (uint32_t)(t->drain_ns / NS_PER_US);
	if (n >= (trial->drains ? ENOUGH : FRESH))
		return GS_TRIAL_TOLD;
	if (n >= FEW && slices_us && *ret_us >= FAR * slices_us)
		return GS_TRIAL_LONG;
	if (!late)
		return GS_TRIAL_GOES_ON;
	return trial->in_cta ? GS_TRIAL_VAIN : GS_TRIAL_NOT_HAD;
}
