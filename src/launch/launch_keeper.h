/* SPDX-License-Identifier: MIT */
/*
 * launch_keeper.h - private to the launch probes
 */
#ifndef GPUSCHED_LAUNCH_LAUNCH_KEEPER_H
#define GPUSCHED_LAUNCH_LAUNCH_KEEPER_H

#include <stddef.h>
#include <stdint.h>

struct gs_keeper_job {
	const int *fds; /* the probes' links */
	size_t n;
	int libs_fd, forget_fd; /* map gs_launch_libs, program launch_forget */
	uint32_t lib;           /* number in that map */
};

/*
 * Forks the keeper. When this process is gone without a release the library counts no more and all
 * counts become unknown, within milliseconds.
 */
int gs_keeper_start(const struct gs_keeper_job *job, int *ret_fd);
/* The keeper closes the probes in its own time. */
void gs_keeper_release(int fd);

/* Returns when no probe that ran at the call runs any more. */
void gs_launch_quiesce(void);

#endif /* GPUSCHED_LAUNCH_LAUNCH_KEEPER_H */
