/* SPDX-License-Identifier: MIT */
/*
 * placeholder.h - memory of a GPU that is kept for a moment, to know that it can be had
 *
 * Allocated by a client of our own; neither mapped nor used.
 */
#ifndef GPUSCHED_RM_PLACEHOLDER_H
#define GPUSCHED_RM_PLACEHOLDER_H

#include "rm/rm.h"

struct gs_placeholder {
	int fd, gpu_fd; /* -1: there is none */
};

/* -ENOSPC: there is not so much. -ENOTSUP: RM did not say that, and did not give it either. */
int gs_placeholder_take(const struct gs_gpu *gpu, uint64_t bytes, struct gs_placeholder *ret);
/* The memory is free when this returns. */
void gs_placeholder_drop(struct gs_placeholder *p);

#endif /* GPUSCHED_RM_PLACEHOLDER_H */
