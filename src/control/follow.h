/* SPDX-License-Identifier: MIT */
/* follow.h - what people set for the TSGs of a process follows it over a parking, to its new TSGs */
#ifndef GPUSCHED_CONTROL_FOLLOW_H
#define GPUSCHED_CONTROL_FOLLOW_H

#include <stdint.h>

struct gpusched_tsg;
struct gs_saved;
struct gs_saved_tsg;
struct gs_end;

/* As observers. */
void gs_follow_ended(void *self, const struct gs_end *end);
void gs_follow_record(void *self, const struct gpusched_tsg *rec);

/* ---- saved.c: for these alone ----------------------------------------------------------------- */

/* @t is from now on that of TSG @id, which has none. */
struct gs_saved_tsg *gs_saved_rename(struct gs_saved *saved, struct gs_saved_tsg *t, uint64_t id);

#endif /* GPUSCHED_CONTROL_FOLLOW_H */
