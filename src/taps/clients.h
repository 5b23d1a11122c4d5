/* SPDX-License-Identifier: MIT */
/*
 * clients.h - RM clients and their TSGs, read through the open files to which they belong
 *
 * Asks RM alone: no table, no BPF. Takes some hundred blocking controls per client.
 */
#ifndef GPUSCHED_TAPS_CLIENTS_H
#define GPUSCHED_TAPS_CLIENTS_H

#include "taps/taps.h"

/* Client numbers that may exist, and the machine's GPUs. All zero: nothing is open. */
struct gs_clients {
	int own; /* our own control file and client, which may ask RM about others; -1: none */
	uint32_t own_client;
	/* RM says which clients exist. Otherwise every number is tried on every file. */
	bool asks;
	uint32_t *all; /* the newest first; 0: the file of that client was found */
	size_t n;
	const struct gs_gpu *gpus; /* owned by the caller */
	size_t ngpus;
};

/* Callers of gs_client_read() that need no list set .own to -1 instead. */
int gs_clients_list(struct gs_clients *ret, struct gs_error *err);
void gs_clients_free(struct gs_clients *c);
/* True if @client belongs to the open file @fd. */
bool gs_client_is_of(int fd, uint32_t client);

struct gs_client_look {
	const struct gs_holder *holder; /* holder of the file */
	uint32_t handle;                /* an object known to exist; 0: none */
	bool used; /* @handle is in use now: if its TSG has no engine, it counts as compute */
	/* called for each TSG; unknown fields are 0 */
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
