/* SPDX-License-Identifier: MIT */
/*
 * placeholder.h - allocates GPU memory for a moment, to find out whether that much is free
 *
 * An RM client that we make allocates the memory, and neither maps nor uses it.
 */
#ifndef GPUSCHED_RM_PLACEHOLDER_H
#define GPUSCHED_RM_PLACEHOLDER_H

#include "rm/rm.h"

struct gs_placeholder {
	int fd, gpu_fd; /* -1: nothing is allocated */
};

/* -ENOSPC: less than @bytes is free. -ENOTSUP: RM refused for another reason. */
int gs_placeholder_take(const struct gs_gpu *gpu, uint64_t bytes, struct gs_placeholder *ret);
/* The memory is free when this returns. */
void gs_placeholder_drop(struct gs_placeholder *p);

#endif /* GPUSCHED_RM_PLACEHOLDER_H */
