/* SPDX-License-Identifier: MIT */
/*
 * identity.h - finds user, cgroup and command of processes, for rows on a screen
 *
 * Reads them from /proc with the viewer's own rights, once per TSG. A forked process reads the
 * command, since the owner of the process can make that read block (process/reader.h).
 */
#ifndef GPUSCHED_TOP_IDENTITY_H
#define GPUSCHED_TOP_IDENTITY_H

#include <jansson.h>
#include <stddef.h>

struct gs_identity;

int gs_identity_new(struct gs_identity **ret);
void gs_identity_free(struct gs_identity *identity);
/* Adds "user", "cgroup" and "command", if they are known, to @n rows from @first on. */
void gs_identity_add(struct gs_identity *identity, json_t *rows, size_t first, size_t n);

#endif /* GPUSCHED_TOP_IDENTITY_H */
