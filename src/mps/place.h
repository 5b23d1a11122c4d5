/* SPDX-License-Identifier: MIT */
/*
 * place.h - finds or makes the directory of a pool, which is a user's MPS server with a name
 *
 * Only the user can enter the directory (0700). It is $XDG_RUNTIME_DIR/gpusched/KIND-NAME. For
 * users and services without a runtime directory, the daemon makes one below its own. In it:
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
/* The control daemon's sockets are in a subfolder; a socket's path has at most 107 characters. */
#define GS_MPS_DIR_MAX 80

struct gs_mps_place {
	char name[GS_MPS_NAME_MAX + 1];
	bool share; /* true: a shared server, for clients of several classes */
	char dir[GS_MPS_DIR_MAX + 1];
};

/*
 * Finds or makes the directory of a pool. @name "": the default name. -EINVAL: @name is not
 * allowed; -ENOTSUP: this process is in a container, or there is no daemon.
 */
int gs_mps_place(const char *name, bool share, struct gs_mps_place *ret, struct gs_error *err);
/* Returns "pool" or "share": the name of the option, and the KIND in the directory's name. */
const char *gs_mps_place_kind(const struct gs_mps_place *p);
/* Empties folder "pipe" or "log". Call this when no process uses that folder any more. */
void gs_mps_place_clear(const struct gs_mps_place *p, const char *folder);

/*
 * Returns the UUIDs of the GPUs in $CUDA_VISIBLE_DEVICES, or of all. Indices would not do, since a
 * server's clients number the server's GPUs from 0. -ENODEV: one of the GPUs does not exist.
 */
int gs_mps_place_gpus(char ret[GS_MPS_UUIDS], struct gs_error *err);
/* True if both lists name the same GPUs, in any order. */
bool gs_mps_place_same_gpus(const char *a, const char *b);

/* Sends one request to the daemon, and frees @args. @ret may be NULL. */
int gs_mps_place_daemon(const char *verb, json_t *args, json_t **ret, struct gs_error *err);

#endif /* GPUSCHED_MPS_PLACE_H */
