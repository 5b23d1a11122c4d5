/* SPDX-License-Identifier: MIT */
/*
 * env.h - the places of this instance: the machine's own, or one simulated GPU's
 *
 * `gpusched sim shell` gives its children GPUSCHED_SIM=DIR. Such an instance keeps everything under
 * DIR (own bpffs, run directory, table) and accepts only the simulated files registered there.
 * Without it an instance accepts only character devices of the NVIDIA driver.
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
	char state_dir[256]; /* /var/lib/gpusched or DIR/state: files that outlive a boot */
	double dilate;       /* GPUSCHED_DILATE: simulated time is this many times slower; 1.0 */
};

/* Filled once from the environment; never fails: a bad GPUSCHED_DILATE counts as 1. */
const struct gs_env *gs_env(void);

/*
 * Checks GPUSCHED_SIM, since DIR names files to call and memory to map. -EPERM: another user could
 * change it; other errors: it does not exist. 0 without GPUSCHED_SIM. For the start of a program.
 */
int gs_env_check(struct gs_error *err);

#endif /* GPUSCHED_BASIC_ENV_H */
