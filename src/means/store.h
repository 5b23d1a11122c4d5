/* SPDX-License-Identifier: MIT */
/*
 * store.h - keeps the records of programs on disk: programs.db in the state directory
 *
 * The file is an SQLite database that only root may read. It is read once, at the daemon's start,
 * and always written as a whole.
 */
#ifndef GPUSCHED_MEANS_STORE_H
#define GPUSCHED_MEANS_STORE_H

#include "basic/error.h"
#include "means/remembered.h"

/*
 * Adds all rows of the file to @inout. Returns 0 also if there is no file yet. -ENOTSUP: it is from
 * a newer gpusched and must not be written. -EUCLEAN: it was damaged or older, and was renamed.
 * Other errors: it could not be read.
 */
int gs_store_read(const char *dir, struct gs_memory_of_programs *inout, struct gs_error *err);
/* Replaces all rows by @rows. Any thread may call this; it may take long if the disk is slow. */
int gs_store_write(const char *dir, const struct gs_remembered *rows, size_t n,
		   struct gs_error *err);

#endif /* GPUSCHED_MEANS_STORE_H */
