/* SPDX-License-Identifier: MIT */
/*
 * gsload_cuda.h - uses a GPU through the libcuda.so.1 that dlopen() finds
 *
 * This is the system's libcuda, or the simulated GPU's stand-in.
 */
#ifndef GPUSCHED_LOAD_GSLOAD_CUDA_H
#define GPUSCHED_LOAD_GSLOAD_CUDA_H

#include <stddef.h>
#include <stdint.h>

#include "basic/cuda.h"

struct gsload_cuda {
	CUDA_FUNCTIONS(CUDA_MEMBER, CUDA_MEMBER)
	cu_handle context, function, hold, stream, hold_stream;
	cu_address out;
	char name[96];
	int multiprocessors, clock_khz;
};

/*
 * Loads libcuda and makes @contexts contexts on GPU @ordinal. The first context gets the kernels
 * and becomes current. Returns 0, or -1 after one line on stderr.
 */
int gsload_cuda_open(struct gsload_cuda *c, int ordinal, unsigned int contexts);
/* Occupies memory without using it, until the context is destroyed. */
void gsload_cuda_keep(struct gsload_cuda *c, size_t bytes);
/* Loads the kernel gs_stream, and allocates @bytes of memory for it. */
void gsload_cuda_stream(struct gsload_cuda *c, size_t bytes, cu_handle *ret_function,
			cu_address *ret_at);
/* Ends the program with one line if a call failed. */
void gsload_check(const struct gsload_cuda *c, cu_result r, const char *what);

#endif /* GPUSCHED_LOAD_GSLOAD_CUDA_H */
