/* SPDX-License-Identifier: MIT */
/*
 * ends.h - finds ends of TSGs that no event reported
 *
 * This happens if events were lost, or if another process restored and swept. If a known TSG has no
 * record once all earlier events are handled, it has ended.
 */
#ifndef GPUSCHED_INTAKE_ENDS_H
#define GPUSCHED_INTAKE_ENDS_H

#include <stdbool.h>
#include <stddef.h>

#include "basic/slices.h"

struct gs_intake;

struct gs_ends {
	struct gs_sliced sliced;
	size_t handled; /* events handled since the check of the table */
	bool under_way; /* TSGs were ending at the check: repeat it after the next sweep */
};

void gs_ends_check(void *self);
/* Call it after a sweep. */
void gs_ends_swept(struct gs_intake *in);
void gs_ends_free(struct gs_intake *in);

#endif /* GPUSCHED_INTAKE_ENDS_H */
