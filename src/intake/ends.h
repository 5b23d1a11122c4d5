/* SPDX-License-Identifier: MIT */
/*
 * ends.h - finds the ends of TSGs that nobody told
 *
 * Events were lost, or somebody else put everything back and swept. A record that the table has
 * lost has ended, once all events of before are handled.
 */
#ifndef GPUSCHED_INTAKE_ENDS_H
#define GPUSCHED_INTAKE_ENDS_H

#include <stdbool.h>
#include <stddef.h>

#include "basic/slices.h"

struct gs_intake;

struct gs_ends {
	struct gs_sliced sliced;
	size_t handled; /* events since the look at the table */
	bool under_way; /* TSGs there were ending: look again after the next sweep */
};

void gs_ends_check(void *self);
/* After a sweep. */
void gs_ends_swept(struct gs_intake *in);
void gs_ends_free(struct gs_intake *in);

#endif /* GPUSCHED_INTAKE_ENDS_H */
