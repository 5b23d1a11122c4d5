/* SPDX-License-Identifier: MIT */
/*
 * claims.h - adds up GPU memory that was promised and may not have been taken yet
 *
 * Restores under way have such memory, and programs for which make_room found it. A program's claim
 * ends when its job has as much, when it has ended, or after two minutes.
 */
#ifndef GPUSCHED_PARK_CLAIMS_H
#define GPUSCHED_PARK_CLAIMS_H

#include <stddef.h>
#include <stdint.h>

#define GS_PARK_CLAIMS 64u

struct gs_parking;

struct gs_park_claim {
	int32_t pid;
	uint32_t uid, gpu;
	uint64_t start_ns, bytes, since_ns, job;
};

struct gs_park_claims {
	struct gs_park_claim all[GS_PARK_CLAIMS];
	size_t n;
};

/* A process was promised memory. That is not noted if its user has its share of claims. */
void gs_park_claims_add(struct gs_parking *pk, const struct gs_park_claim *claim);
/* Adds up what programs were promised on @gpu and do not hold yet, without process @but. */
uint64_t gs_park_claims_open(struct gs_parking *pk, uint32_t gpu, int32_t but);
/* Adds up what restores under way may take on @gpu. */
uint64_t gs_park_claims_of_restores(const struct gs_parking *pk, size_t gpu);

#endif /* GPUSCHED_PARK_CLAIMS_H */
