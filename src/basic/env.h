/* SPDX-License-Identifier: MIT */
/*
 * env.h - names the directories of this instance: the machine's, or one simulated GPU's
 *
 * `gpusched sim shell` gives its children GPUSCHED_SIM=DIR. Such an instance keeps everything under
 * DIR (own bpffs, run directory, table), and accepts only simulated files that are registered
 * there. Without GPUSCHED_SIM, an instance accepts only character devices of the NVIDIA driver.
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
	char state_dir[256]; /* /var/lib/gpusched or DIR/state: for files that outlive a boot */
	/*
	 * GPUSCHED_DILATE: how many times slower than real time simulated time runs; 1.0 if unset
	 */
	double dilate;
};

/*
 * Returns the directories, read once from the environment. Never fails: a bad GPUSCHED_DILATE
 * counts as 1.
 */
const struct gs_env *gs_env(void);

/* The command that starts a daemon of this instance: as root, or in the simulated GPU's shell. */
const char *gs_env_start_daemon(void);

/*
 * Checks DIR in GPUSCHED_SIM, since files below it are opened and mapped. -EPERM: another user
 * could change DIR; other errors: it does not exist. 0 without GPUSCHED_SIM. Call this at a
 * program's start.
 */
int gs_env_check(struct gs_error *err);

#endif /* GPUSCHED_BASIC_ENV_H */
