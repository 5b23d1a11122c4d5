/* SPDX-License-Identifier: MIT */
/*
 * join.h - lets the program of `gpusched run --pool` join a pool
 */
#ifndef GPUSCHED_MPS_JOIN_H
#define GPUSCHED_MPS_JOIN_H

#include "mps/place.h"

struct gs_mps_joined {
	int sock;              /* connection to the supervisor, see link.h */
	int server;            /* the server's pid; 0: it starts with its first client */
	char server_class[40]; /* class that the daemon has for the server */
};

/*
 * Lets this process and its descendants join the pool, and sets their environment variables for it.
 * @sm_percent: the part of the GPU's multiprocessors that they may use; 0: all. -ENOTSUP with the
 * reason: impossible here, or in this pool.
 */
int gs_mps_join(const struct gs_mps_place *p, const char *class_name, unsigned int sm_percent,
		struct gs_mps_joined *ret, struct gs_error *err);

/*
 * Ends the pool's server and supervisor, which would otherwise wait for further programs. Returns 0
 * once server and supervisor have ended. -ETIMEDOUT: programs are in the pool, or the end takes
 * longer.
 */
int gs_mps_join_end(const struct gs_mps_place *p, unsigned int timeout_ms);

#endif /* GPUSCHED_MPS_JOIN_H */
