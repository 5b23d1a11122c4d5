/* SPDX-License-Identifier: MIT */
/*
 * leaving.h - how long a TSG takes to leave the GPU in each mode, from the account's sums
 *
 * Pure. As long as the account does not know how long a slice really lasts, times are longer by
 * what the slice is longer than its name says. Then the difference of two modes alone can be
 * believed, so both are told or neither.
 */
#ifndef GPUSCHED_MEANS_LEAVING_H
#define GPUSCHED_MEANS_LEAVING_H

#include "account/turns.h"
#include "means/choice.h"

/* Begins with zeroes. */
struct gs_leaving {
	uint32_t mode, timeslice_us; /* the present ones */
	bool nominal;
	uint64_t drains; /* number of samples when these began */
	uint32_t cilp_us, cta_us;
};

/* Call it about once a second, with the settings that are in force. */
void gs_leaving_look(struct gs_leaving *l, const struct gs_turn_sums *t, uint32_t mode,
		     uint32_t timeslice_us);
/* Fills the two times of @e; 0: not known. */
void gs_leaving_tell(const struct gs_leaving *l, struct gs_evidence *e);

#endif /* GPUSCHED_MEANS_LEAVING_H */
