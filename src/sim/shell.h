/* SPDX-License-Identifier: MIT */
/*
 * shell.h - runs a command in a world with simulated GPUs: `gpusched sim shell`
 *
 * A world is a private mount namespace with its own bpffs and run directory. It has the simulated
 * nvidia files in /dev, and the stand-in libcuda first in the library path. The shell changes
 * nothing outside, and leaves nothing behind, however it ends.
 */
#ifndef GPUSCHED_SIM_SHELL_H
#define GPUSCHED_SIM_SHELL_H

#include <limits.h>

#include "basic/parse.h"

/*
 * Runs @command; NULL: a shell. Options: gpus, branch, mig, dilate, seed, params, refuse, hang.
 * Returns the command's exit code, or GS_EXIT_* after one line on stderr.
 */
int sim_cmd_shell(const struct gs_option_text *opts, size_t n, char **command);

/* ---- parts, in shell_world.c and shell_reap.c ---------------------------------------------- */

struct sim_world {
	char dir[64];            /* the value of GPUSCHED_SIM */
	char programs[PATH_MAX]; /* the folder of this program */
	unsigned int gpus;
	int server; /* process id of the simulator */
};

/*
 * Makes the world's directory. First cleans up after shells that were killed: removes their
 * directories, and kills processes in their worlds.
 */
int sim_world_new(struct sim_world *w, struct gs_error *err);
/* Makes the private mounts DIR/bpf and DIR/run. Call this before the simulator starts. */
int sim_world_enter(struct sim_world *w, struct gs_error *err);
/* Makes the new /dev and DIR/simfiles. Call this once the simulator has mounted DIR/dev. */
int sim_world_devices(struct sim_world *w, struct gs_error *err);
/*
 * Sets GPUSCHED_SIM, GPUSCHED_DILATE, LD_LIBRARY_PATH and PATH. Writes the script DIR/join, which
 * sets them as well.
 */
int sim_world_environment(const struct sim_world *w, double dilate, struct gs_error *err);
void sim_world_remove(struct sim_world *w);

/* Ends every process that the command left behind. The caller must be a subreaper. */
void sim_reap_all(int except);
/*
 * Kills all processes in the world of directory @dir except @except, whether or not they are our
 * children.
 */
void sim_reap_world(const char *dir, int except);

#endif /* GPUSCHED_SIM_SHELL_H */
