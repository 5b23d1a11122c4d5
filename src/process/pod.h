/* SPDX-License-Identifier: MIT */
/*
 * pod.h - finds the pod and the container in a cgroup's path, as Kubernetes, containerd, CRI-O,
 * Docker and Podman name cgroups
 *
 * Pure. A path contains only ids: the pod's uid and the container's id, no names, no namespace.
 */
#ifndef GPUSCHED_PROCESS_POD_H
#define GPUSCHED_PROCESS_POD_H

#include <stddef.h>

#define GS_POD_LEN 40       /* a UUID; for a static pod 32 hexadecimal digits */
#define GS_CONTAINER_LEN 80 /* 64 hexadecimal digits */

/*
 * Fills in the pod and the container; "" if the path names none. The outermost pod counts, and the
 * first container in it. So nothing within a container can pretend to be another pod. Returns the
 * length of the path up to the pod; without a pod, up to the container; 0: neither.
 */
size_t gs_pod_of(const char *cgroup, char pod[GS_POD_LEN], char container[GS_CONTAINER_LEN]);

#endif /* GPUSCHED_PROCESS_POD_H */
