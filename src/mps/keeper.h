/* SPDX-License-Identifier: MIT */
/*
 * keeper.h - starts the keeper, the process that ends MPS servers together with their supervisor
 *
 * The control daemon and its servers are descendants of the keeper. When the supervisor ends for
 * any reason, the keeper ends the control daemon and the servers: first with "quit", then by
 * SIGKILL. So no server outlives its pool.
 */
#ifndef GPUSCHED_MPS_KEEPER_H
#define GPUSCHED_MPS_KEEPER_H

#include "mps/place.h"

struct gs_mps_keeper {
	pid_t pid; /* pid of the keeper; 0: none */
	int hold;  /* write end of a pipe; when all copies are closed, the keeper ends everything */
};
#define GS_MPS_NO_KEEPER \
	{ \
		.pid = 0, .hold = -1 \
	}

/*
 * Starts the keeper, which starts the control daemon with this process's environment. The control
 * daemon answers only a while later.
 */
int gs_mps_keeper_start(const struct gs_mps_place *p, struct gs_mps_keeper *ret,
			struct gs_error *err);
/* True if there is no keeper any more: it ends by itself when the control daemon has ended. */
bool gs_mps_keeper_is_gone(struct gs_mps_keeper *k);
/* Ends the keeper and its descendants, within 20 s. */
void gs_mps_keeper_end(struct gs_mps_keeper *k);

#endif /* GPUSCHED_MPS_KEEPER_H */
