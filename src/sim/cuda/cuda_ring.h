/* SPDX-License-Identifier: MIT */
/* cuda_ring.h - declares the ring through which work reaches the GPU, and the MPS client */
#ifndef GPUSCHED_SIM_CUDA_CUDA_RING_H
#define GPUSCHED_SIM_CUDA_CUDA_RING_H

#include "sim/cuda/cuda_priv.h"

/* cuda_ring.c */
CUresult cu_ring_make(int *ret_memfd);
/*
 * Begins to use a ring. Takes over both descriptors. @file: file of an MPS server; -1: our own
 * file.
 */
CUresult cu_ring_start(int memfd, int file);
int cu_slot_get(struct channel *ch);
void cu_slot_put(struct channel *ch);
/*
 * Submits @n entries, which the GPU sees at the same time. Waits while the channel is full.
 * *ret_at: the channel's counter when they are done.
 */
CUresult cu_submit(struct channel *ch, const struct sim_ring_entry *e, size_t n, uint64_t *ret_at);
bool cu_is_done(const struct channel *ch, uint64_t at);
CUresult cu_wait(const struct channel *ch, uint64_t at);

/*
 * In cuda_mps.c: becomes a client of the MPS server in $CUDA_MPS_PIPE_DIRECTORY. Succeeds without
 * change if there is no server.
 */
CUresult cu_mps_begin(struct cu_device *dev, int *inout_n, int ring_memfd, int *ret_file);
/* Gets channels of the server's compute TSG on that device. */
int cu_mps_channels(const struct cu_device *dev, struct tsg *t);
void cu_mps_put(const struct tsg *t);
bool cu_mps_alive(void);
/* Tells the server that one of our kernels made an invalid access. */
CUresult cu_mps_bad_access(void);

#endif /* GPUSCHED_SIM_CUDA_CUDA_RING_H */
