/* SPDX-License-Identifier: MIT */
/*
 * clients.h - reads RM clients and their TSGs, through the open files to which they belong
 *
 * Asks only RM: uses no table and no BPF. One client takes some hundred blocking calls.
 */
#ifndef GPUSCHED_TAPS_CLIENTS_H
#define GPUSCHED_TAPS_CLIENTS_H

#include "taps/taps.h"

/*
 * Client numbers that may exist, and the machine's GPUs. An all-zero struct holds nothing to free.
 */
struct gs_clients {
	int own; /* our own control file, through which we ask about others; -1: none */
	uint32_t own_client;
	/* True if RM says which clients exist. If false, every number is tried on every file. */
	bool asks;
	uint32_t *all; /* client numbers, newest first; 0: already found on another file */
	size_t n;
	const struct gs_gpu *gpus; /* owned by the caller */
	size_t ngpus;
};

/*
 * Fills the list of clients. A caller of gs_client_read() that needs no list sets .own to -1
 * instead.
 */
int gs_clients_list(struct gs_clients *ret, struct gs_error *err);
void gs_clients_free(struct gs_clients *c);
/* True if @client belongs to the open file @fd. */
bool gs_client_is_of(int fd, uint32_t client);

struct gs_client_look {
	const struct gs_holder *holder; /* the process through which the file is read */
	uint32_t handle;                /* an object known to exist; 0: none */
	bool used; /* @handle is in use now: if its TSG has no engine, it counts as compute */
	/* called for each TSG; a field that RM does not tell is 0 */
	void (*found)(void *user, const struct gpusched_tsg *rec,
		      const struct gpusched_channels *ch);
	void *user;
};

/*
 * Returns 0, or a negative errno if the client's objects could not be listed. *ret_failed: number
 * of TSGs left out.
 */
int gs_client_read(const struct gs_clients *c, int fd, uint32_t client,
		   const struct gs_client_look *look, unsigned int *ret_failed);

#endif /* GPUSCHED_TAPS_CLIENTS_H */
