/* SPDX-License-Identifier: MIT */
/*
 * follow.h - gives people's settings of a process's TSGs to its new TSGs after parking
 */
#ifndef GPUSCHED_CONTROL_FOLLOW_H
#define GPUSCHED_CONTROL_FOLLOW_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct gpusched_tsg;
struct gs_saved;
struct gs_saved_tsg;
struct gs_end;

/* The observer's functions. */
void gs_follow_ended(void *self, const struct gs_end *end);
void gs_follow_record(void *self, const struct gpusched_tsg *rec);

/* ---- in saved.c ------------------------------------------------------------------------------ */

/* True if one more TSG of @uid may have its settings kept. */
bool gs_saved_has_room(const struct gs_saved *saved, uid_t uid);
/* TSG @t has ended. */
void gs_saved_drop(struct gs_saved *saved, struct gs_saved_tsg *t);
/* Moves entry @t to TSG @id, which has no entry yet. */
struct gs_saved_tsg *gs_saved_rename(struct gs_saved *saved, struct gs_saved_tsg *t, uint64_t id);

#endif /* GPUSCHED_CONTROL_FOLLOW_H */
