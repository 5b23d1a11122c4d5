/* SPDX-License-Identifier: MIT */
/*
 * klog.h - reads new records of the kernel's log, where the driver reports errors
 *
 * /dev/kmsg, from its end on, in a thread: users may watch that file, and a read then walks all of
 * their watches. An instance with a simulated GPU reads the file "kmsg" of its directory, with one
 * record in each line.
 */
#ifndef GPUSCHED_CONTROL_KLOG_H
#define GPUSCHED_CONTROL_KLOG_H

#include <stddef.h>
#include <stdint.h>

struct gs_klog;

/* -errno: the log cannot be read, as in a container. */
int gs_klog_open(struct gs_klog **ret);
void gs_klog_close(struct gs_klog *k);
/*
 * Calls @fn for each new record, up to a few hundred; the next call goes on. *@inout_lost counts
 * records that were dropped before they were read. 0, or -errno.
 */
int gs_klog_read(struct gs_klog *k, void (*fn)(const char *record, size_t n, void *user),
		 void *user, uint64_t *inout_lost);

#endif /* GPUSCHED_CONTROL_KLOG_H */
