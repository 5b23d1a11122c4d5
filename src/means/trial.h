/* SPDX-License-Identifier: MIT */
/*
 * trial.h - the trial of CTA mode that shows how long a program's thread blocks are
 *
 * Pure. Beside a service with whole turns no policy puts a best-effort program into CTA mode, so
 * the length of the program's thread blocks would stay unknown. During a trial the service waits
 * longer. So a program gets one trial, which ends as soon as it has shown something. The number of
 * trials of a user and on a GPU is limited, however many programs somebody makes.
 */
#ifndef GPUSCHED_MEANS_TRIAL_H
#define GPUSCHED_MEANS_TRIAL_H

#include <stdbool.h>

#include "account/turns.h"

#define GS_TRIAL_S 2      /* a trial's longest duration */
#define GS_TRIAL_TRIES 3u /* most trials of a program, while they show nothing */
/*
 * Trials an hour. On one GPU they take 20 s at most, so half a percent of all requests may wait
 * longer.
 */
#define GS_TRIALS_GPU 10u
#define GS_TRIALS_USER 3u

/* The last trials, of all GPUs. */
#define GS_TRIALS 256u
struct gs_trials {
	struct {
		uint64_t ns; /* when the trial began; 0: none */
		uint32_t gpu, uid;
	} last[GS_TRIALS];
	unsigned int at;
};
/*
 * True if another trial may begin: on a GPU one a minute and GS_TRIALS_GPU an hour, for a user
 * GS_TRIALS_USER an hour.
 */
bool gs_trials_may(const struct gs_trials *t, uint32_t gpu, uint32_t uid, uint64_t now_ns);
void gs_trials_add(struct gs_trials *t, uint32_t gpu, uint32_t uid, uint64_t now_ns);

/*
 * True if the program has turns often enough for a trial to tell something. It had @turns in
 * @seconds.
 */
bool gs_trial_is_worth(double turns, double seconds);

struct gs_trial {
	uint64_t began_ns; /* 0: there is none */
	uint64_t drains;   /* the account's samples before CTA mode was in force */
	bool in_cta;       /* CTA mode was in force */
};

struct gs_trial gs_trial_begin(const struct gs_turn_sums *t, uint64_t now_ns);

enum gs_trial_verdict {
	GS_TRIAL_GOES_ON,
	GS_TRIAL_TOLD, /* *ret_us: how long the program takes to leave the GPU */
	/* the same, from few turns: its blocks are so long that the trial need not go on */
	GS_TRIAL_LONG,
	GS_TRIAL_VAIN,
	GS_TRIAL_NOT_HAD, /* the policy did not give it CTA mode */
};
/*
 * @mode: the mode in force. @slices_us: how long a request waits for the program under slices; 0:
 * not known.
 */
enum gs_trial_verdict gs_trial_look(struct gs_trial *trial, const struct gs_turn_sums *t,
				    uint32_t mode, uint32_t slices_us, uint64_t now_ns,
				    uint32_t *ret_us);

#endif /* GPUSCHED_MEANS_TRIAL_H */
