/* SPDX-License-Identifier: MIT */
/*
 * on.h - private to the taps room: pinning all of it into a folder of its own
 */
#ifndef GPUSCHED_TAPS_ON_H
#define GPUSCHED_TAPS_ON_H

#include <stddef.h>

#include "basic/error.h"

struct gs_old_table;

/* A folder beside gs_env()->bpffs, of this process. */
void gs_taps_tmp(char *ret, size_t size);
/* Loads, attaches, pins into @dir; @old (may be NULL): what is taken over. */
int gs_taps_pin(const char *dir, const struct gs_old_table *old, struct gs_error *err);

#endif /* GPUSCHED_TAPS_ON_H */
