/* SPDX-License-Identifier: MIT */
/*
 * memory.h - what memory a GPU has, and which process holds how much of it
 *
 * RM is asked by a client of our own, which is closed again: nothing keeps the GPU's file open. It
 * answers from its own memory, under the locks of all GPUs; the GPU's firmware is not called.
 */
#ifndef GPUSCHED_RM_MEMORY_H
#define GPUSCHED_RM_MEMORY_H

#include "rm/rm.h"

struct gs_rm_held {
	uint32_t pid;          /* in our pid namespace; RM leaves out processes of others */
	uint64_t own_bytes;    /* pieces that it has alone, or made and shares */
	uint64_t shared_bytes; /* pieces of others, which have them as well */
};

struct gs_rm_memory {
	uint64_t total_bytes;
	uint64_t heap_bytes;     /* of it, what programs can have; the rest is the driver's own */
	uint64_t free_bytes;     /* of the heap */
	struct gs_rm_held *held; /* by pid; only processes that hold something */
	size_t n;
	bool cut;          /* RM lists 950 processes at most: there may be more */
	uint64_t spent_ns; /* the calls took so long */
};

/*
 * -ENOTSUP: RM does not tell, with the reason (MIG); @spent_ns is known all the same. The caller
 * calls gs_rm_memory_done() in any case.
 */
int gs_rm_memory_read(const struct gs_gpu *gpu, unsigned int branch, struct gs_rm_memory *ret,
		      struct gs_error *err);
/* The same on an open control file, while the GPU's file is open; @fd keeps the client. */
int gs_rm_memory_ask(int fd, const struct gs_gpu *gpu, unsigned int branch,
		     struct gs_rm_memory *ret, struct gs_error *err);
void gs_rm_memory_done(struct gs_rm_memory *m);

#endif /* GPUSCHED_RM_MEMORY_H */
