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

/*
 * The mount point of cgroup2, of the whole tree if possible; NULL: there is none. Looked for once.
 */
const char *gs_cgroup_root(void);
/*
 * The path of the process's present cgroup below the root: begins with "/", does not end with one.
 * Returns -ESRCH if the process is gone, -ENOENT if it is in no cgroup or in one that we cannot
 * see, or -ENAMETOOLONG.
 */
int gs_cgroup_path(pid_t pid, char ret[GS_CGROUP_PATH_LEN]);
/* True if @path is @above, or below it. */
bool gs_cgroup_is_in(const char *path, const char *above);
/* The id of the process's cgroup, as bpf_get_current_cgroup_id() returns it; 0: unknown. */
uint64_t gs_cgroup_of(pid_t pid);

#endif /* GPUSCHED_PROCESS_CGROUP_H */
