/* SPDX-License-Identifier: MIT */
/*
 * local.h - handles of libgpusched that need no daemon
 *
 * Without a daemon, root gets the same service in this process. Another user gets the agents in the
 * user's own programs.
 */
#ifndef GPUSCHED_LOCAL_LOCAL_H
#define GPUSCHED_LOCAL_LOCAL_H

#include <stdint.h>

struct gpusched;

#define GS_LOCAL_READ_ONLY (1u << 0)   /* needs no lock */
#define GS_LOCAL_DAEMON_ONLY (1u << 1) /* like gpusched_open() */

/* Like gpusched_open(): *ret is set on failure, too, if memory allows. */
int gs_local_open(uint32_t flags, struct gpusched **ret);

#endif /* GPUSCHED_LOCAL_LOCAL_H */
