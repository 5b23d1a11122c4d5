/* SPDX-License-Identifier: MIT */
/* remote.h - a daemon on a socket */
#ifndef GPUSCHED_LIB_REMOTE_H
#define GPUSCHED_LIB_REMOTE_H

#include "lib/handle.h"

struct remote;

/* -ECONNREFUSED, -ENOENT: nobody listens there. */
int remote_new(const char *socket, struct remote **ret, struct gs_error *err);
void remote_free(struct remote *r);
/* The functions of handles that have a struct remote as their self. */
extern const struct gs_handle_ops remote_ops;

/*
 * While a daemon of this machine is starting: waits until it listens, at most for @ns. False: none
 * listens then.
 */
bool remote_await(uint64_t ns);

#endif /* GPUSCHED_LIB_REMOTE_H */
