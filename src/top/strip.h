/* SPDX-License-Identifier: MIT */
/*
 * strip.h - keeps the turns of each GPU in the last second, for one line of a screen; pure
 */
#ifndef GPUSCHED_TOP_STRIP_H
#define GPUSCHED_TOP_STRIP_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

struct gs_strip;
int gs_strip_new(struct gs_strip **ret);
void gs_strip_free(struct gs_strip *s);
/* Reads one line of the daemon's stream (GET /v1/trace). */
void gs_strip_line(struct gs_strip *s, const json_t *line);
/*
 * Divides the last known second into @n (at least 1) equal parts, and stores which TSG to show for
 * each: its id, or 0 for none. The TSG ran in that part, and its number of parts matches its GPU
 * time. Returns 0, or -ENODATA: no turn of that GPU is known.
 */
int gs_strip_read(const struct gs_strip *s, uint32_t gpu, uint64_t *ids, size_t n);

#endif /* GPUSCHED_TOP_STRIP_H */
