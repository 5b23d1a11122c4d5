/* SPDX-License-Identifier: MIT */
/*
 * local.h - opens handles of libgpusched that also work without a daemon
 *
 * Without a daemon, root gets the same service in this process (instance.h). For other users, the
 * agents in their own programs do the work (agents.h).
 */
#ifndef GPUSCHED_LOCAL_LOCAL_H
#define GPUSCHED_LOCAL_LOCAL_H

#include <stdint.h>

struct gpusched;

#define GS_LOCAL_READ_ONLY (1u << 0)   /* without a daemon: take no lock, refuse changes */
#define GS_LOCAL_DAEMON_ONLY (1u << 1) /* fail without a daemon, like gpusched_open() */

/* Like gpusched_open(), *ret is set even after a failure, if memory allows. */
int gs_local_open(uint32_t flags, struct gpusched **ret);

#endif /* GPUSCHED_LOCAL_LOCAL_H */
