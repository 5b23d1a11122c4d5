/* SPDX-License-Identifier: MIT */
/*
 * hush.h - collects libbpf's messages while this thread loads, links or attaches something
 *
 * The library never prints: a refusal by the kernel is an ordinary result with a reason. libbpf has
 * one print function for all threads. So each thread has a buffer of its own between begin and end.
 * Messages of other threads are printed as usual.
 */
#ifndef GPUSCHED_TABLE_HUSH_H
#define GPUSCHED_TABLE_HUSH_H

#include <stddef.h>

/*
 * Collects warnings in @buf (NULL: drops them), one per line, and logs them at debug level. Cuts
 * text that does not fit. Calls do not nest within a thread; @buf must exist until the end.
 */
void gs_hush_begin(char *buf, size_t size);
void gs_hush_end(void);
/* Cuts @buf to its first line. Returns @buf, or @otherwise if there was no message. */
const char *gs_hush_first(char *buf, const char *otherwise);

#endif /* GPUSCHED_TABLE_HUSH_H */
