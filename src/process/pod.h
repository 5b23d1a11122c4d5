/* SPDX-License-Identifier: MIT */
/*
 * pod.h - finds the ids of the pod and the container in a cgroup's path
 *
 * Knows how Kubernetes, containerd, CRI-O, Docker, Podman and Amazon ECS name cgroups. A path
 * contains only the pod's uid and the container's id, no names and no namespace. Pure. The table of
 * real paths is tests/unit/cgroups.h.
 */
#ifndef GPUSCHED_PROCESS_POD_H
#define GPUSCHED_PROCESS_POD_H

#include <stddef.h>

#define GS_POD_LEN 40       /* for a UUID, or 32 hexadecimal digits of a static pod */
#define GS_CONTAINER_LEN 80 /* for 64 hexadecimal digits */

/*
 * Fills in the pod's uid and the container's id; "" if the path has none. Takes the outermost pod
 * and the container right below it, or the outermost container if there is no pod. So a cgroup made
 * inside a container cannot pass for another pod.
 * Returns the length of the path up to the end of the pod's part, or if there is no pod, of the
 * container's part; 0: the path has neither.
 */
size_t gs_pod_of(const char *cgroup, char pod[GS_POD_LEN], char container[GS_CONTAINER_LEN]);

#endif /* GPUSCHED_PROCESS_POD_H */
