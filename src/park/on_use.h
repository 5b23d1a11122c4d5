/* SPDX-License-Identifier: MIT */
/*
 * on_use.h - brings parked programs back when they want to work again: UnparkOnUse=
 *
 * A program can forge the sign (sign.h). So a sign only brings back a program that was parked
 * automatically, or by its own user.
 */
#ifndef GPUSCHED_PARK_ON_USE_H
#define GPUSCHED_PARK_ON_USE_H

#include <stdbool.h>
#include <stdint.h>

struct gs_parked;
struct gs_parking;

/* The agent of a process has counted @calls calls of libcuda since the process began. */
void gs_park_agent_counts(struct gs_parking *pk, int32_t pid, uint64_t start_ns, uint64_t calls);
/* Does a sign bring a parked program back? */
enum gs_park_back {
	/* no: its class is not in UnparkOnUse=, or a sign must not bring this program back */
	GS_PARK_BACK_WORD,
	GS_PARK_BACK_BLIND, /* it would, but neither an agent nor probes would see the sign */
	GS_PARK_BACK_USE,
};
enum gs_park_back gs_park_back_of(const struct gs_parking *pk, const struct gs_parked *p);
/* As an observer: brings back programs that gave a sign. */
void gs_park_on_use_beat(void *self);

#endif /* GPUSCHED_PARK_ON_USE_H */
