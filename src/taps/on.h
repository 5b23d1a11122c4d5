/* SPDX-License-Identifier: MIT */
/*
 * on.h - pins all of the taps into a temporary folder; private to the taps room
 */
#ifndef GPUSCHED_TAPS_ON_H
#define GPUSCHED_TAPS_ON_H

#include <stddef.h>

#include "basic/error.h"

struct gs_old_table;

/* The path of a temporary folder beside gs_env()->bpffs, named after this process. */
void gs_taps_tmp(char *ret, size_t size);
/*
 * Loads and attaches the taps, and pins them into @dir. @old (may be NULL): the table to take over.
 */
int gs_taps_pin(const char *dir, const struct gs_old_table *old, struct gs_error *err);

#endif /* GPUSCHED_TAPS_ON_H */
