/* SPDX-License-Identifier: MIT */
/*
 * store.h - what is known of programs, on disk: programs.db of the state directory
 *
 * SQLite, readable by root alone. It is read once, at the start, and written whole.
 */
#ifndef GPUSCHED_MEANS_STORE_H
#define GPUSCHED_MEANS_STORE_H

#include "basic/error.h"
#include "means/memory.h"

/*
 * Adds what is there. 0 too where there is none yet; -ENOTSUP: a newer gpusched's, which must not be
 * written; else it is damaged, and is put aside.
 */
int gs_store_read(const char *dir, struct gs_memory_of_programs *inout, struct gs_error *err);
/* @rows instead of what is there. Any thread; takes long where a disk does. */
int gs_store_write(const char *dir, const struct gs_remembered *rows, size_t n,
		   struct gs_error *err);

#endif /* GPUSCHED_MEANS_STORE_H */
