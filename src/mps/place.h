/* SPDX-License-Identifier: MIT */
/*
 * place.h - a pool: a user's MPS server with a name, and its directory
 *
 * Only the user can enter the directory (0700): $XDG_RUNTIME_DIR/gpusched/KIND-NAME, or one that the
 * daemon makes under its run directory for users, and services, without a runtime directory. In it:
 *   api     the supervisor's socket
 *   lock    held while a supervisor is started
 *   pipe/   CUDA_MPS_PIPE_DIRECTORY
 *   log/    CUDA_MPS_LOG_DIRECTORY
 */
#ifndef GPUSCHED_MPS_PLACE_H
#define GPUSCHED_MPS_PLACE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "basic/error.h"

#define GS_MPS_NAME_MAX 32
#define GS_MPS_UUIDS 800 /* UUIDs of 16 GPUs, with commas */
/* The control daemon's sockets lie below it, and a socket's path has at most 107 characters. */
#define GS_MPS_DIR_MAX 80

struct gs_mps_place {
	char name[GS_MPS_NAME_MAX + 1];
	bool share; /* it takes clients of several classes */
	char dir[GS_MPS_DIR_MAX + 1];
};

/*
 * Finds or makes the place of a pool. @name "": the default name. -EINVAL: not a name; -ENOTSUP: in
 * a container, or without a daemon.
 */
int gs_mps_place(const char *name, bool share, struct gs_mps_place *ret, struct gs_error *err);
/* "pool" or "share": the name of the option and of the directory. */
const char *gs_mps_kind(const struct gs_mps_place *p);
/* Empties folder "pipe" or "log". Call this when no process uses it any more. */
void gs_mps_place_clear(const struct gs_mps_place *p, const char *folder);

/*
 * The UUIDs of the GPUs that this process may use, from $CUDA_VISIBLE_DEVICES. UUIDs, since a
 * server's clients number GPUs anew. -ENODEV: one of them does not exist.
 */
int gs_mps_gpus(char ret[GS_MPS_UUIDS], struct gs_error *err);
/* True if both lists name the same GPUs, in any order. */
bool gs_mps_same_gpus(const char *a, const char *b);

/* Sends one request to the daemon. Takes @args; @ret may be NULL. */
int gs_mps_daemon(const char *verb, json_t *args, json_t **ret, struct gs_error *err);

#endif /* GPUSCHED_MPS_PLACE_H */
