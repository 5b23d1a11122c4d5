/* SPDX-License-Identifier: MIT */
/*
 * file.h - a whole file that somebody named
 */
#ifndef GPUSCHED_BASIC_FILE_H
#define GPUSCHED_BASIC_FILE_H

#include <stddef.h>

#include "basic/error.h"

/*
 * A regular file of at most @max bytes, with a 0 behind it; to be freed. Anything else could keep
 * the reader waiting, or never end: -EISDIR, -ENOEXEC (FIFO, device, socket), -EFBIG; -errno.
 */
int gs_read_file(const char *path, size_t max, unsigned char **ret, size_t *ret_len,
		 struct gs_error *err);

/* The same for a file of ours; -EPERM: others than root and we may write it. */
int gs_read_own(const char *path, size_t max, unsigned char **ret, size_t *ret_len,
		struct gs_error *err);
/* Takes the place of @path in one step, with mode 0600: a reader sees the old one or the new one. */
int gs_file_replace(const char *path, const void *data, size_t len, struct gs_error *err);

/* Which boot of the machine this is, as text. */
#define GS_BOOT_ID_LEN 64
int gs_boot_id(char ret[GS_BOOT_ID_LEN]);

#endif /* GPUSCHED_BASIC_FILE_H */
