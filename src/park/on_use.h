/* SPDX-License-Identifier: MIT */
/*
 * on_use.h - parked programs that want to work again are brought back: UnparkOnUse=
 *
 * The sign (sign.h) is the program's own word. So it brings back what was parked by itself, or by
 * its user.
 */
#ifndef GPUSCHED_PARK_ON_USE_H
#define GPUSCHED_PARK_ON_USE_H

#include <stdbool.h>
#include <stdint.h>

struct gs_parked;
struct gs_parking;

/* The agent of a process has counted so many calls of libcuda since the process began. */
void gs_park_agent_counts(struct gs_parking *pk, int32_t pid, uint64_t start_ns, uint64_t calls);
/* Would a sign bring it back? */
enum gs_park_back {
	GS_PARK_BACK_WORD,  /* nobody asked for that, or may */
	GS_PARK_BACK_BLIND, /* it may, but nothing would tell */
	GS_PARK_BACK_USE,
};
enum gs_park_back gs_park_back_of(const struct gs_parking *pk, const struct gs_parked *p);
/* As an observer: brings back those that gave a sign. */
void gs_park_on_use_beat(void *self);

#endif /* GPUSCHED_PARK_ON_USE_H */
