/* SPDX-License-Identifier: MIT */
/*
 * trial.h - finds out how long a program's thread blocks are, by a trial of CTA mode
 *
 * Pure. In CTA mode a program leaves the GPU when its running thread blocks end, which shows their
 * length. While a service with whole turns runs, no policy puts a best-effort program into this
 * mode, since the service would wait longer. So the daemon tries the mode once for each program,
 * and ends the trial as soon as it shows a result. The trials of each user and on each GPU are
 * limited, so that many programs of one user do no harm.
 */
#ifndef GPUSCHED_MEANS_TRIAL_H
#define GPUSCHED_MEANS_TRIAL_H

#include <stdbool.h>

#include "account/turns.h"

#define GS_TRIAL_S 2      /* a trial's longest duration */
#define GS_TRIAL_TRIES 3u /* most trials of a program, as long as they show no result */
/*
 * Most trials per hour. On one GPU they take 20 s of each hour at most, so about half a percent of
 * all requests may wait longer.
 */
#define GS_TRIALS_GPU 10u
#define GS_TRIALS_USER 3u

/* Ring of the last trials on all GPUs. */
#define GS_TRIALS 256u
struct gs_trials {
	struct {
		uint64_t ns; /* when the trial began; 0: none */
		uint32_t gpu, uid;
	} last[GS_TRIALS];
	unsigned int at;
};
/*
 * True if another trial may begin. Each GPU may have one trial a minute and GS_TRIALS_GPU an hour,
 * and each user GS_TRIALS_USER an hour.
 */
bool gs_trials_may(const struct gs_trials *t, uint32_t gpu, uint32_t uid, uint64_t now_ns);
void gs_trials_add(struct gs_trials *t, uint32_t gpu, uint32_t uid, uint64_t now_ns);

/* True if a program with @turns in @seconds has turns often enough for a trial to show a result. */
bool gs_trial_is_worth(double turns, double seconds);

struct gs_trial {
	uint64_t began_ns; /* 0: there is no trial */
	uint64_t drains;   /* the account's number of samples before CTA mode was in force */
	bool in_cta;       /* CTA mode was in force at some time */
};

struct gs_trial gs_trial_begin(const struct gs_turn_sums *t, uint64_t now_ns);

enum gs_trial_verdict {
	GS_TRIAL_GOES_ON,
	GS_TRIAL_TOLD, /* it has a result: *ret_us is how long the program takes to leave */
	/* it has a result from few turns: the blocks are so long that no more are needed */
	GS_TRIAL_LONG,
	GS_TRIAL_VAIN,    /* its time is over without a result */
	GS_TRIAL_NOT_HAD, /* the policy did not give it CTA mode */
};
/*
 * @mode: the preemption mode in force. @slices_us: how long a request waits for the program under
 * slices; 0: unknown.
 */
enum gs_trial_verdict gs_trial_look(struct gs_trial *trial, const struct gs_turn_sums *t,
				    uint32_t mode, uint32_t slices_us, uint64_t now_ns,
				    uint32_t *ret_us);

#endif /* GPUSCHED_MEANS_TRIAL_H */
