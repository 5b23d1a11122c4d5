/* SPDX-License-Identifier: MIT */
/*
 * cgroup.h - a process's cgroup in the unified hierarchy (cgroup2), wherever that is mounted
 *
 * Nothing here waits for the process.
 */
#ifndef GPUSCHED_PROCESS_CGROUP_H
#define GPUSCHED_PROCESS_CGROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define GS_CGROUP_PATH_LEN 256

/* Where it is mounted, in full where that can be had; NULL: nowhere. Looked for once. */
const char *gs_cgroup_root(void);
/*
 * Its path below the root now: "/" first, no slash at the end. -ESRCH: it is gone; -ENOENT: it is
 * in none, or outside of what we see; -ENAMETOOLONG.
 */
int gs_cgroup_path(pid_t pid, char ret[GS_CGROUP_PATH_LEN]);
/* Is @path @above, or below it? */
bool gs_cgroup_is_in(const char *path, const char *above);
/* The id of a process's cgroup, as bpf_get_current_cgroup_id() has it; 0: not known. */
uint64_t gs_cgroup_of(pid_t pid);

#endif /* GPUSCHED_PROCESS_CGROUP_H */
