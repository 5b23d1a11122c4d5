/* SPDX-License-Identifier: MIT */
/*
 * memory.h - reads how much memory a GPU has, and how much each process holds
 *
 * RM is asked by a client of our own, which is closed again, so that the GPU's file does not stay
 * open. RM answers from its own memory, under the locks of all GPUs; the GPU's firmware is not
 * called.
 */
#ifndef GPUSCHED_RM_MEMORY_H
#define GPUSCHED_RM_MEMORY_H

#include "rm/rm.h"

struct gs_rm_held {
	/* In our pid namespace; RM leaves out processes of other namespaces. */
	uint32_t pid;
	uint64_t own_bytes;    /* memory that the process alone has, or has made and shares */
	uint64_t shared_bytes; /* memory of other processes that it shares */
};

struct gs_rm_memory {
	uint64_t total_bytes;
	/* Part of the total that programs can have; the driver has the rest. */
	uint64_t heap_bytes;
	uint64_t free_bytes;     /* free part of the heap */
	struct gs_rm_held *held; /* by pid; only processes that hold memory */
	size_t n;
	bool cut;          /* RM lists at most 950 processes: there may be more */
	uint64_t spent_ns; /* time that the calls took */
};

/*
 * -ENOTSUP with the reason: RM does not tell (MIG); @spent_ns is set all the same. The caller calls
 * gs_rm_memory_done() in any case.
 */
int gs_rm_memory_read(const struct gs_gpu *gpu, unsigned int branch, struct gs_rm_memory *ret,
		      struct gs_error *err);
/* The same through an open control file, while the GPU's file is open; @fd keeps the client. */
int gs_rm_memory_ask(int fd, const struct gs_gpu *gpu, unsigned int branch,
		     struct gs_rm_memory *ret, struct gs_error *err);
void gs_rm_memory_done(struct gs_rm_memory *m);

#endif /* GPUSCHED_RM_MEMORY_H */
