/* SPDX-License-Identifier: MIT */
/*
 * file.h - reads and replaces whole files
 */
#ifndef GPUSCHED_BASIC_FILE_H
#define GPUSCHED_BASIC_FILE_H

#include <stddef.h>

#include "basic/error.h"

/*
 * Reads a regular file of at most @max bytes, and adds a 0; the caller frees *ret. Refuses other
 * files, since they could block the reader or never end: -EISDIR, -ENOEXEC (FIFO, device, socket),
 * -EFBIG; -errno.
 */
int gs_read_file(const char *path, size_t max, unsigned char **ret, size_t *ret_len,
		 struct gs_error *err);

/* gs_read_file() for a file of ours. -EPERM: users other than root and us can write it. */
int gs_file_read_own(const char *path, size_t max, unsigned char **ret, size_t *ret_len,
		     struct gs_error *err);
/*
 * Replaces @path in one step, with mode 0600. So a reader sees either the old file or the new one.
 */
int gs_file_replace(const char *path, const void *data, size_t len, struct gs_error *err);

/* The id of the machine's present boot. */
#define GS_BOOT_ID_LEN 64
int gs_file_boot_id(char ret[GS_BOOT_ID_LEN]);

#endif /* GPUSCHED_BASIC_FILE_H */
