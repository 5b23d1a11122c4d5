/* SPDX-License-Identifier: MIT */
/*
 * supervisor.h - starts a pool's supervisor, the process that manages the pool's MPS server
 *
 * The supervisor runs with the rights of its user. It starts the server when the first program
 * comes, registers the server with the daemon, reads the server's list of clients, and replaces a
 * server that accepts no new clients. When the pool has had no program for $GPUSCHED_POOL_IDLE
 * (default 60s), the supervisor ends the server and itself.
 */
#ifndef GPUSCHED_MPS_SUPERVISOR_H
#define GPUSCHED_MPS_SUPERVISOR_H

#include "mps/place.h"

/* Starts a supervisor for the pool if there is none. Returns 0 if a supervisor listens now. */
int gs_mps_supervisor_start(const struct gs_mps_place *p, const char *gpus, const char *class_name,
			    struct gs_error *err);

#endif /* GPUSCHED_MPS_SUPERVISOR_H */
