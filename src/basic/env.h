/* SPDX-License-Identifier: MIT */
/*
 * env.h - where this instance lives: the machine's own, or one simulated GPU's
 *
 * `gpusched sim shell` gives its children GPUSCHED_SIM=DIR. Such an instance keeps everything under
 * DIR (own bpffs, run directory, table) and accepts the simulated files registered there alone;
 * without it an instance accepts character devices of the NVIDIA driver alone.
 */
#ifndef GPUSCHED_BASIC_ENV_H
#define GPUSCHED_BASIC_ENV_H

#include <stdbool.h>

#include "basic/error.h"

struct gs_env {
	bool sim;
	char sim_dir[200];
	char bpffs[256];     /* directory of our pins: /sys/fs/bpf/gpusched or DIR/bpf/gpusched */
	char run_dir[256];   /* /run/gpusched or DIR/run */
	char socket[256];    /* run_dir/api */
	char lock[256];      /* run_dir/lock */
	char state_dir[256]; /* /var/lib/gpusched or DIR/state: what outlives a boot */
	double dilate;       /* GPUSCHED_DILATE: simulated time is this many times slower; 1.0 */
};

/* Filled once from the environment; never fails: a bad GPUSCHED_DILATE counts as 1. */
const struct gs_env *gs_env(void);

/*
 * DIR names the files to call and the memory to map. -EPERM: somebody else could change it; other
 * errors: it is not there. 0 without GPUSCHED_SIM. For the start of a program.
 */
int gs_env_check(struct gs_error *err);

#endif /* GPUSCHED_BASIC_ENV_H */
