/* SPDX-License-Identifier: MIT */
/*
 * store.h - keeps what is known of programs on disk: programs.db in the state directory
 *
 * SQLite, readable only by root. The file is read once, at the start, and always written as a
 * whole.
 */
#ifndef GPUSCHED_MEANS_STORE_H
#define GPUSCHED_MEANS_STORE_H

#include "basic/error.h"
#include "means/memory.h"

/*
 * Adds all rows. 0 also if there is no file yet. -ENOTSUP: the file is a newer gpusched's and must
 * not be written. -EUCLEAN: it is damaged and was put aside. Else: it could not be read.
 */
int gs_store_read(const char *dir, struct gs_memory_of_programs *inout, struct gs_error *err);
/* Replaces all rows by @rows. For any thread; may take long if the disk is slow. */
int gs_store_write(const char *dir, const struct gs_remembered *rows, size_t n,
		   struct gs_error *err);

#endif /* GPUSCHED_MEANS_STORE_H */
