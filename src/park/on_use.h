/* SPDX-License-Identifier: MIT */
/*
 * on_use.h - brings parked programs back when they want to work again: UnparkOnUse=
 *
 * A program can forge the sign that it wants to work (sign.h). So a sign only brings back a program
 * that was parked automatically, or by its own user.
 */
#ifndef GPUSCHED_PARK_ON_USE_H
#define GPUSCHED_PARK_ON_USE_H

#include <stdbool.h>
#include <stdint.h>

struct gs_parked;
struct gs_parking;

/* Reports that a process's agent has counted @calls calls of libcuda since the process began. */
void gs_park_use_counts(struct gs_parking *pk, int32_t pid, uint64_t start_ns, uint64_t calls);
/* Whether a sign brings a parked program back before its time is over or a request comes. */
enum gs_park_back {
	/*
	 * no: its class is not in UnparkOnUse=, or gs_park_sign_may_return() forbids it otherwise
	 */
	GS_PARK_BACK_WORD,
	GS_PARK_BACK_BLIND, /* no: a sign would, but neither an agent nor probes would see it */
	GS_PARK_BACK_USE,   /* yes */
};
enum gs_park_back gs_park_use_back(const struct gs_parking *pk, const struct gs_parked *p);
/* Observer callback for each heartbeat: brings back programs that gave a sign. */
void gs_park_on_use_beat(void *self);

#endif /* GPUSCHED_PARK_ON_USE_H */
