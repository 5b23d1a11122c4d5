/* SPDX-License-Identifier: MIT */
/* remote.h - sends requests to a daemon over its socket */
#ifndef GPUSCHED_LIB_REMOTE_H
#define GPUSCHED_LIB_REMOTE_H

#include "lib/handle.h"

struct remote;

/* -ECONNREFUSED, -ENOENT: no process listens there. */
int remote_new(const char *socket, struct remote **ret, struct gs_error *err);
void remote_free(struct remote *r);
/* The operations of a handle; their @self is a struct remote. */
extern const struct gs_handle_ops remote_ops;

/*
 * If the daemon of the default socket is starting, waits until it listens, but at most for @ns.
 * Returns false if none listens then.
 */
bool remote_await(uint64_t ns);

#endif /* GPUSCHED_LIB_REMOTE_H */
