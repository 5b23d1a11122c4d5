/* SPDX-License-Identifier: MIT */
/* remote.h - the connection to a daemon's socket */
#ifndef GPUSCHED_LIB_REMOTE_H
#define GPUSCHED_LIB_REMOTE_H

#include "lib/handle.h"

struct remote;

/* -ECONNREFUSED, -ENOENT: no process listens there. */
int remote_new(const char *socket, struct remote **ret, struct gs_error *err);
void remote_free(struct remote *r);
/* The operations of handles with a struct remote. */
extern const struct gs_handle_ops remote_ops;

/*
 * If a daemon of this machine is starting, waits until it listens, but at most for @ns. Returns
 * false if none listens then.
 */
bool remote_await(uint64_t ns);

#endif /* GPUSCHED_LIB_REMOTE_H */
