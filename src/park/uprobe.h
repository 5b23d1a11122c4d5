/* SPDX-License-Identifier: MIT */
/*
 * uprobe.h - sets uprobes that record when a parked program last called libcuda
 *
 * The probes act in that process only (Linux 6.6 and later). The probes and the record are pinned
 * in bpffs, so they also see calls that are made while no daemon runs. The caller must first check
 * with gs_launches_allowed() that probes may be set and removed.
 */
#ifndef GPUSCHED_PARK_UPROBE_H
#define GPUSCHED_PARK_UPROBE_H

#include <stdbool.h>
#include <stdint.h>

#include "basic/error.h"

/*
 * Sets probes in the library @fd for one process. This may take long, so call it in a thread.
 * -ENOTSUP: this kernel has no such probes; -ENOEXEC: the library has none of the functions.
 */
int gs_park_uprobe_set(int32_t pid, uint64_t start_ns, int fd, struct gs_error *err);
/*
 * Returns in *ret_ns when the process last called libcuda; 0: not since the probes were set.
 * -ENOENT: the process has no probes.
 */
int gs_park_uprobe_last(int32_t pid, uint64_t start_ns, uint64_t *ret_ns);
/*
 * Unpins the probes of all processes for which @keep returns false. The kernel removes the probes
 * a little later.
 */
void gs_park_uprobes_sweep(bool (*keep)(int32_t pid, uint64_t start_ns, const void *user),
			   const void *user);

#endif /* GPUSCHED_PARK_UPROBE_H */
