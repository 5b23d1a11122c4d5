/* SPDX-License-Identifier: MIT */
/*
 * ranks.h - refuses to park a process that is one rank of a job, since the others wait for it
 *
 * Its environment says so (gs_reader_ranks()). PyTorch ends ranks that wait for 480 s. On a busy
 * machine the environment takes longer to read than a request may take, so the lock waits for it,
 * and for what the process's cgroups may still allocate.
 */
#ifndef GPUSCHED_PARK_RANKS_H
#define GPUSCHED_PARK_RANKS_H

#include <stdint.h>

#include "basic/error.h"

struct gs_parked;

/*
 * Before the lock: asks for the process's ranks. Returns 0 if there are no others, or if somebody
 * forces the parking; -ENOTSUP with a message if there are others, or if that cannot be known;
 * -EAGAIN: not known yet, ask again at *@ret_ns.
 */
int gs_park_ranks_look(struct gs_parked *p, uint64_t now_ns, uint64_t *ret_ns,
		       struct gs_error *err);

/* ---- for tests -------------------------------------------------------------------------------- */

/* @r: what gs_reader_ranks() returned; @ranks: its answer. Returns like gs_park_ranks_look(). */
int gs_park_ranks_judge(int r, uint32_t ranks, struct gs_error *err);

#endif /* GPUSCHED_PARK_RANKS_H */
