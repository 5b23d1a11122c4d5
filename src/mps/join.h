/* SPDX-License-Identifier: MIT */
/*
 * join.h - how `gpusched run --pool` gets its program into a pool
 */
#ifndef GPUSCHED_MPS_JOIN_H
#define GPUSCHED_MPS_JOIN_H

#include "mps/place.h"

struct gs_mps_joined {
	int sock;              /* to the supervisor, see link.h */
	int server;            /* pid; 0: it starts with its first client */
	char server_class[40]; /* as the daemon has it */
};

/*
 * This process and its descendants may enter: the environment says how. @sm_percent 0: all of the
 * GPU. -ENOTSUP: not possible here, or not in this pool, with the reason.
 */
int gs_mps_join(const struct gs_mps_place *p, const char *class_name, unsigned int sm_percent,
		struct gs_mps_joined *ret, struct gs_error *err);

/*
 * Ends the pool's server and its supervisor, which would stay for those to come, and waits for that.
 * 0: none is there. -ETIMEDOUT: programs are there, or it is still at it.
 */
int gs_mps_end(const struct gs_mps_place *p, unsigned int timeout_ms);

#endif /* GPUSCHED_MPS_JOIN_H */
