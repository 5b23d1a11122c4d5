/* SPDX-License-Identifier: MIT */
/*
 * root.h - tells the machine's root from the root of a container
 *
 * The maker of a container chooses its user, so uid 0 alone proves nothing. The machine's root is
 * in the daemon's own pid and user namespaces, and in no container but the daemon's own. With
 * hostPID a daemon in a pod has the host's pid namespace.
 */
#ifndef GPUSCHED_PROCESS_ROOT_H
#define GPUSCHED_PROCESS_ROOT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum gs_root {
	GS_ROOT_NOT, /* another user */
	GS_ROOT_MACHINES,
	GS_ROOT_CONTAINERS, /* root of a container or of another namespace */
	GS_ROOT_UNKNOWN,    /* uid 0, but its namespaces or cgroups cannot be read */
};

/* Reads /proc, unless @uid says enough. Waits for no lock of the process. */
enum gs_root gs_root_of(pid_t pid, uid_t uid);

/*
 * True if the process is in the daemon's own pod, in whatever container, and in the daemon's pid and
 * user namespaces.
 */
bool gs_root_in_our_pod(pid_t pid);

/*
 * How much of the path of the process's cgroup names folders that the machine made. A container with
 * writable cgroups makes more below its own, and root owns those, too. @path: gs_cgroup_path()'s.
 */
size_t gs_root_made(pid_t pid, const char *path);

/* ---- private to the room; here for tests ----------------------------------------------------- */

/*
 * Where a process is, by files that wait for no lock of the process. The links in /proc/PID/ns do
 * wait. A namespace with our map of users can be made only with the right to map all of them.
 */
struct gs_root_place {
	unsigned int pids;    /* in status: 1 in our /proc's own pid namespace; 0: unknown */
	const char *user_map; /* text of uid_map; NULL: unknown */
	const char *cgroups;  /* text of cgroup; NULL: unknown */
};
/* Pure. @ours: where the daemon is. */
enum gs_root gs_root_judge(uid_t uid, const struct gs_root_place *its,
			   const struct gs_root_place *ours);
bool gs_root_same_pod(const struct gs_root_place *its, const struct gs_root_place *ours);
/* @its.cgroups is not used. */
size_t gs_root_made_of(const char *path, const struct gs_root_place *its,
		       const struct gs_root_place *ours);

#endif /* GPUSCHED_PROCESS_ROOT_H */
