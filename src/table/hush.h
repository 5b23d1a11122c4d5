/* SPDX-License-Identifier: MIT */
/*
 * hush.h - collects libbpf's messages in a buffer while this thread loads, links or attaches
 * something
 *
 * The library never prints: the kernel's refusal is an ordinary answer with a reason. libbpf has
 * one print function for all threads. So each thread has its own buffer between begin and end, and
 * messages of other threads are printed as without this.
 */
#ifndef GPUSCHED_TABLE_HUSH_H
#define GPUSCHED_TABLE_HUSH_H

#include <stddef.h>

/*
 * Warnings are logged at debug level and collected in @buf (NULL: dropped), one per line; text that
 * does not fit is cut. Not nested within a thread; @buf must last until the end.
 */
void gs_hush_begin(char *buf, size_t size);
void gs_hush_end(void);
/* Cuts @buf to its first line; returns @buf, or @otherwise if there was no message. */
const char *gs_hush_first(char *buf, const char *otherwise);

#endif /* GPUSCHED_TABLE_HUSH_H */
