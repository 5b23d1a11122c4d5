/* SPDX-License-Identifier: MIT */
/*
 * supervisor.h - the process that runs a pool: starts, watches and ends its MPS server
 *
 * The supervisor has the rights of its user. It starts the server with the first program, registers
 * it with the daemon, reads the server's list of clients, and replaces a server that takes no new
 * client. It ends the server, and itself, when no program has been there for $GPUSCHED_POOL_IDLE
 * (60s).
 */
#ifndef GPUSCHED_MPS_SUPERVISOR_H
#define GPUSCHED_MPS_SUPERVISOR_H

#include "mps/place.h"

/* Starts a supervisor for the pool if there is none. 0: a supervisor listens now. */
int gs_mps_supervisor_start(const struct gs_mps_place *p, const char *gpus, const char *class_name,
			    struct gs_error *err);

#endif /* GPUSCHED_MPS_SUPERVISOR_H */
