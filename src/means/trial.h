/* SPDX-License-Identifier: MIT */
/*
 * trial.h - the trial of CTA mode that shows how long a program's thread blocks are
 *
 * Pure. Beside a service of whole turns nobody else puts a best-effort program into CTA mode, so its
 * blocks would stay unknown. Meanwhile the service waits longer. So a program has one trial, ended
 * as soon as it has shown something, and trials are few for a user and for a GPU, however many
 * programs somebody makes.
 */
#ifndef GPUSCHED_MEANS_TRIAL_H
#define GPUSCHED_MEANS_TRIAL_H

#include <stdbool.h>

#include "account/turns.h"

#define GS_TRIAL_S 2      /* longest */
#define GS_TRIAL_TRIES 3u /* of a program, where they show nothing */
/* In an hour; of one GPU 20 s, so half a percent of all requests. */
#define GS_TRIALS_GPU 10u
#define GS_TRIALS_USER 3u

/* The last trials, of all GPUs. */
#define GS_TRIALS 256u
struct gs_trials {
	struct {
		uint64_t ns; /* when it began; 0: none */
		uint32_t gpu, uid;
	} last[GS_TRIALS];
	unsigned int at;
};
/* One at a time for a GPU, one a minute, so many an hour, and as the user's other trials allow. */
bool gs_trials_may(const struct gs_trials *t, uint32_t gpu, uint32_t uid, uint64_t now_ns);
void gs_trials_add(struct gs_trials *t, uint32_t gpu, uint32_t uid, uint64_t now_ns);

/* Turns of others must end so many of its turns that two seconds tell enough. */
bool gs_trial_is_worth(double turns, double seconds);

struct gs_trial {
	uint64_t began_ns; /* 0: there is none */
	uint64_t drains;   /* samples before CTA mode was in force */
	bool in_cta;       /* it was */
};

enum gs_trial_verdict {
	GS_TRIAL_GOES_ON,
	GS_TRIAL_TOLD, /* *ret_us: how long it takes to leave */
	GS_TRIAL_LONG, /* the same, from few turns: no reason to go on */
	GS_TRIAL_VAIN,
	GS_TRIAL_NOT_HAD, /* its policy did not give it CTA mode */
};
/* @mode: in force. @slices_us: how long a request waits for it by slices; 0: not known. */
enum gs_trial_verdict gs_trial_look(struct gs_trial *trial, const struct gs_turn_sums *t,
				    uint32_t mode, uint32_t slices_us, uint64_t now_ns,
				    uint32_t *ret_us);

#endif /* GPUSCHED_MEANS_TRIAL_H */
