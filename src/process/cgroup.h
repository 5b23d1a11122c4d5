/* SPDX-License-Identifier: MIT */
/*
 * cgroup.h - finds a process's cgroup in the unified hierarchy (cgroup2), wherever it is mounted
 *
 * No function waits for a lock of the process.
 */
#ifndef GPUSCHED_PROCESS_CGROUP_H
#define GPUSCHED_PROCESS_CGROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define GS_CGROUP_PATH_LEN 384 /* where nodes are containers, a path has 322 */

/*
 * The mount point of cgroup2, of the whole tree if possible; NULL: there is none. It is looked up
 * once, at the first call.
 */
const char *gs_cgroup_root(void);
/*
 * Gets the path of the process's present cgroup below the root. It begins with "/" and has no "/"
 * at its end. -ESRCH: the process is gone; -ENOENT: it is in no cgroup that we can see;
 * -ENAMETOOLONG.
 */
int gs_cgroup_path(pid_t pid, char ret[GS_CGROUP_PATH_LEN]);
/*
 * True if root owns the folder of the cgroup that the first @len bytes of @path name. Users can make
 * cgroups of any name below one that they own, but then they own those, too.
 */
bool gs_cgroup_is_roots(const char *path, size_t len);
/* True if the cgroup @path is @above or a descendant of @above. */
bool gs_cgroup_is_in(const char *path, const char *above);
/* The id of the process's cgroup, as bpf_get_current_cgroup_id() returns it; 0: unknown. */
uint64_t gs_cgroup_of(pid_t pid);
/* Fills in the first processes of the cgroup @path, without those below. Returns how many. */
size_t gs_cgroup_pids(const char *path, pid_t *ret, size_t max);

/* Limits of the cgroups of a process. */
struct gs_cgroup_room {
	bool frozen;
	uint64_t free_bytes; /* host memory that they may still allocate; UINT64_MAX: no limit */
};
/*
 * Opens files of these cgroups, which users may watch (basic/procfs.h): for a reader's process.
 */
void gs_cgroup_room(pid_t pid, struct gs_cgroup_room *ret);

#endif /* GPUSCHED_PROCESS_CGROUP_H */
