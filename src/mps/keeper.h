/* SPDX-License-Identifier: MIT */
/*
 * keeper.h - the process that has the control daemon and its servers as descendants
 *
 * When the supervisor ends, for any reason, its keeper ends both of them: first with "quit", then
 * by SIGKILL. So no server outlives its pool.
 */
#ifndef GPUSCHED_MPS_KEEPER_H
#define GPUSCHED_MPS_KEEPER_H

#include "mps/place.h"

struct gs_mps_keeper {
	pid_t pid; /* 0: none */
	int hold;  /* the keeper works until the last copy of this is closed */
};
#define GS_MPS_NO_KEEPER \
	{ \
		.pid = 0, .hold = -1 \
	}

/* Starts the control daemon, with this process's environment; it may be asked a while later. */
int gs_mps_keeper_start(const struct gs_mps_place *p, struct gs_mps_keeper *ret,
			struct gs_error *err);
/* It has ended by itself: the control daemon did. */
bool gs_mps_keeper_is_gone(struct gs_mps_keeper *k);
/* Ends it and what it has, within 20 s. */
void gs_mps_keeper_end(struct gs_mps_keeper *k);

#endif /* GPUSCHED_MPS_KEEPER_H */
