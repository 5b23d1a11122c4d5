/* SPDX-License-Identifier: MIT */
/*
 * keeper.h - the process that has the control daemon and its servers as descendants
 *
 * When the supervisor ends for any reason, its keeper ends the control daemon and the servers:
 * first with "quit", then by SIGKILL. So no server outlives its pool.
 */
#ifndef GPUSCHED_MPS_KEEPER_H
#define GPUSCHED_MPS_KEEPER_H

#include "mps/place.h"

struct gs_mps_keeper {
	pid_t pid; /* pid of the keeper; 0: none */
	int hold;  /* the keeper works until all copies of this descriptor are closed */
};
#define GS_MPS_NO_KEEPER \
	{ \
		.pid = 0, .hold = -1 \
	}

/*
 * Starts the control daemon with this process's environment. The daemon answers only a while later.
 */
int gs_mps_keeper_start(const struct gs_mps_place *p, struct gs_mps_keeper *ret,
			struct gs_error *err);
/* True if the keeper has ended by itself, since the control daemon has ended. */
bool gs_mps_keeper_is_gone(struct gs_mps_keeper *k);
/* Ends the keeper and its descendants, within 20 s. */
void gs_mps_keeper_end(struct gs_mps_keeper *k);

#endif /* GPUSCHED_MPS_KEEPER_H */
