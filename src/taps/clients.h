/* SPDX-License-Identifier: MIT */
/*
 * clients.h - RM clients and their TSGs, read through the open files that carry them
 *
 * Asks RM alone: no table, no BPF. Blocks for some hundred controls a client.
 */
#ifndef GPUSCHED_TAPS_CLIENTS_H
#define GPUSCHED_TAPS_CLIENTS_H

#include "taps/taps.h"

/* Client numbers that may exist, and the machine's GPUs. Zeroed: nothing is open. */
struct gs_clients {
	int own; /* our own control file, with a client that RM tells about others; -1: none */
	uint32_t own_client;
	bool asks;     /* RM says which clients exist; else every file is asked for every number */
	uint32_t *all; /* the newest first; 0: one that was seen */
	size_t n;
	const struct gs_gpu *gpus; /* the caller's */
	size_t ngpus;
};

/* Without a list: .own = -1. */
int gs_clients_list(struct gs_clients *ret, struct gs_error *err);
void gs_clients_free(struct gs_clients *c);
/* Is it a client of the open file @fd? */
bool gs_client_is_of(int fd, uint32_t client);

struct gs_client_look {
	const struct gs_holder *holder; /* of the file */
	uint32_t handle;                /* an object known to be there; 0: none is */
	bool used; /* its owner uses it just now: a TSG without work is taken for a compute one */
	/* Called for each TSG; what is not known stays 0. */
	void (*found)(void *user, const struct gpusched_tsg *rec,
		      const struct gpusched_channels *ch);
	void *user;
};

/* 0, or a negative errno: its objects could not be listed. *ret_failed: TSGs that were left out. */
int gs_client_read(const struct gs_clients *c, int fd, uint32_t client,
		   const struct gs_client_look *look, unsigned int *ret_failed);

#endif /* GPUSCHED_TAPS_CLIENTS_H */
