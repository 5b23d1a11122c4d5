/* SPDX-License-Identifier: MIT */
/*
 * memory.h - reads how much memory a GPU has, and how much each process holds
 *
 * A client of our own asks RM, and is closed again, so that the GPU's file does not stay open. RM
 * answers from its own memory, under the locks of all GPUs; the GPU's firmware is not called.
 */
#ifndef GPUSCHED_RM_MEMORY_H
#define GPUSCHED_RM_MEMORY_H

#include "rm/rm.h"

struct gs_rm_held {
	/* In our pid namespace; RM leaves out processes of other namespaces. */
	uint32_t pid;
	uint64_t own_bytes;    /* memory that only this process has, or that it made and shares */
	uint64_t shared_bytes; /* memory that it shares and another process made */
};

struct gs_rm_memory {
	uint64_t total_bytes;
	/* The part of the memory that programs can have; the driver keeps the rest. */
	uint64_t heap_bytes;
	uint64_t free_bytes;     /* free part of the heap */
	struct gs_rm_held *held; /* by pid; only processes that hold memory */
	size_t n;
	bool cut;          /* RM's list is full with 950 processes: there may be more */
	uint64_t spent_ns; /* duration of the calls */
};

/*
 * -ENOTSUP with the reason: RM does not tell (MIG). Call gs_rm_memory_done() in any case; @spent_ns
 * is always set.
 */
int gs_rm_memory_read(const struct gs_gpu *gpu, unsigned int branch, struct gs_rm_memory *ret,
		      struct gs_error *err);
/*
 * gs_rm_memory_read() through @fd, an open control file that keeps our client. The GPU's file must
 * be open meanwhile.
 */
int gs_rm_memory_ask(int fd, const struct gs_gpu *gpu, unsigned int branch,
		     struct gs_rm_memory *ret, struct gs_error *err);
void gs_rm_memory_done(struct gs_rm_memory *m);

#endif /* GPUSCHED_RM_MEMORY_H */
