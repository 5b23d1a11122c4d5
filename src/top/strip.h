/* SPDX-License-Identifier: MIT */
/*
 * strip.h - the turns of each GPU in the last second, for one line of a screen. Pure.
 */
#ifndef GPUSCHED_TOP_STRIP_H
#define GPUSCHED_TOP_STRIP_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

struct gs_strip;
int gs_strip_new(struct gs_strip **ret);
void gs_strip_free(struct gs_strip *s);
/* Takes a line of the daemon's stream (GET /v1/trace). */
void gs_strip_line(struct gs_strip *s, const json_t *line);
/*
 * Divides the last known second into @n (at least 1) equal parts, and says which TSG had each: its
 * id; 0: none. The number of a TSG's parts follows from its time; it had a turn in each of them.
 * Returns 0, or -ENODATA: no turn of that GPU is known.
 */
int gs_strip_read(const struct gs_strip *s, uint32_t gpu, uint64_t *ids, size_t n);

#endif /* GPUSCHED_TOP_STRIP_H */
