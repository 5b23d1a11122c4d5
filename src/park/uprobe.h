/* SPDX-License-Identifier: MIT */
/*
 * uprobe.h - the kernel's note of when a parked program last called libcuda
 *
 * The probes are that process's alone (Linux 6.6 and later). They are pinned beside the table, so a
 * call that was made while no daemon ran is noted too. Setting and removing them is allowed where
 * gs_launches_allowed() says so, which the caller asks.
 */
#ifndef GPUSCHED_PARK_UPROBE_H
#define GPUSCHED_PARK_UPROBE_H

#include <stdbool.h>
#include <stdint.h>

#include "basic/error.h"

/*
 * Sets probes in the library @fd for one process. It may take long, so a thread may call it.
 * -ENOTSUP: no such probes on this kernel; -ENOEXEC: the library has none of the functions.
 */
int gs_park_uprobe_set(int32_t pid, uint64_t start_ns, int fd, struct gs_error *err);
/* When the process last called libcuda, 0: not since they are set. -ENOENT: it has no probes. */
int gs_park_uprobe_last(int32_t pid, uint64_t start_ns, uint64_t *ret_ns);
/* Removes the probes of all processes that @keep does not name. The kernel does so some time later. */
void gs_park_uprobes_sweep(bool (*keep)(int32_t pid, uint64_t start_ns, const void *user),
			   const void *user);

#endif /* GPUSCHED_PARK_UPROBE_H */
