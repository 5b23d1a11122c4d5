/* SPDX-License-Identifier: MIT */
/*
 * memory.h - reads how much memory a GPU has, and how much each process holds
 *
 * gs_rm_memory_read() makes an RM client and frees it again, so that the GPU's file does not stay
 * open. RM answers from its own memory, with the locks of all GPUs held. It does not call the
 * firmware.
 */
#ifndef GPUSCHED_RM_MEMORY_H
#define GPUSCHED_RM_MEMORY_H

#include "rm/rm.h"

struct gs_rm_held {
	/* pid in our namespace; RM leaves out processes that have no pid there */
	uint32_t pid;
	uint64_t own_bytes;    /* memory that this process allocated, shared or not */
	uint64_t shared_bytes; /* memory that another process allocated and shares with this one */
};

struct gs_rm_memory {
	uint64_t total_bytes;
	/* The part of the memory that programs can have; the driver keeps the rest. */
	uint64_t heap_bytes;
	uint64_t free_bytes;     /* free part of the heap */
	struct gs_rm_held *held; /* sorted by pid; only processes that hold memory */
	size_t n;                /* entries in @held */
	bool cut;                /* RM listed 950 processes, its maximum: more may exist */
	uint64_t spent_ns;       /* duration of the calls */
};

/*
 * -ENOTSUP with the reason: RM does not list holders of memory, for example in MIG mode. Call
 * gs_rm_memory_done() even after an error. @ret->spent_ns is always set.
 */
int gs_rm_memory_read(const struct gs_gpu *gpu, unsigned int branch, struct gs_rm_memory *ret,
		      struct gs_error *err);
/*
 * Like gs_rm_memory_read(), but uses @fd, a control file (/dev/nvidiactl) that the caller has
 * opened. The caller must also have the GPU's file open during the call. The RM client made here is
 * freed only when @fd is closed.
 */
int gs_rm_memory_ask(int fd, const struct gs_gpu *gpu, unsigned int branch,
		     struct gs_rm_memory *ret, struct gs_error *err);
void gs_rm_memory_done(struct gs_rm_memory *m);

#endif /* GPUSCHED_RM_MEMORY_H */
