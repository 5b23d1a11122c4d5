/* SPDX-License-Identifier: MIT */
/*
 * leaving.h - computes how long a TSG takes to leave the GPU in each mode, from the account's sums
 *
 * Pure. While the account does not know how long a slice really lasts, each measured time is too
 * long, by the unknown difference between the real and the nominal slice. Then only the difference
 * of the two modes is meaningful, so we report the times of the two modes or none.
 */
#ifndef GPUSCHED_MEANS_LEAVING_H
#define GPUSCHED_MEANS_LEAVING_H

#include "account/turns.h"
#include "means/choice.h"

/* All zero at first. */
struct gs_leaving {
	uint32_t mode, timeslice_us; /* the settings in force */
	bool nominal;                /* the account assumes the nominal length of a slice */
	uint64_t drains; /* the account's number of samples when the settings came into force */
	uint32_t cilp_us, cta_us; /* time to leave in each mode; 0: unknown */
};

/* Call it about once a second, with the settings that are in force. */
void gs_leaving_look(struct gs_leaving *l, const struct gs_turn_sums *t, uint32_t mode,
		     uint32_t timeslice_us);
/* Fills the two leave times of @e; 0: unknown. */
void gs_leaving_tell(const struct gs_leaving *l, struct gs_evidence *e);

#endif /* GPUSCHED_MEANS_LEAVING_H */
