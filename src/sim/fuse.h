/* SPDX-License-Identifier: MIT */
/*
 * fuse.h - serves the simulated RM in real time, behind a FUSE file system of NVIDIA device files
 *
 * One thread waits for FUSE requests, the clients' doorbells and the next event's time.
 */
#ifndef GPUSCHED_SIM_FUSE_H
#define GPUSCHED_SIM_FUSE_H

#include "basic/error.h"
#include "sim/params.h"
#include "sim/rm.h"

struct sim_server_config {
	const char *mountpoint;
	struct sim_rm_config rm;
	struct sim_params params;
	double dilate;
	uint64_t seed;
};

/*
 * Mounts and serves. Writes one byte to @ready_fd once mounted, and closes it. Returns when
 * unmounted or after SIGTERM.
 */
int sim_fuse_run(const struct sim_server_config *config, int ready_fd, struct gs_error *err);

#endif /* GPUSCHED_SIM_FUSE_H */
