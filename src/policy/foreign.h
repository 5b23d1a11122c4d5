/* SPDX-License-Identifier: MIT */
/*
 * foreign.h - recognizes policies of other kinds, which gpusched does not start
 */
#ifndef GPUSCHED_POLICY_FOREIGN_H
#define GPUSCHED_POLICY_FOREIGN_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Says in one line what a source without GPUSCHED_POLICY() is, and what starts it. NULL: it is of
 * no kind that is known.
 */
const char *gs_foreign_source(const char *text, size_t len);
/* The same for a section of an object. */
const char *gs_foreign_section(const char *name);

#endif /* GPUSCHED_POLICY_FOREIGN_H */
