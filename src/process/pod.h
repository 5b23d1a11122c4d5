/* SPDX-License-Identifier: MIT */
/*
 * pod.h - the pod and the container that a cgroup's path names, as Kubernetes, containerd, CRI-O,
 * Docker and Podman name their cgroups
 *
 * Pure. A path has ids alone: the pod's uid and the container's id, no names, no namespace.
 */
#ifndef GPUSCHED_PROCESS_POD_H
#define GPUSCHED_PROCESS_POD_H

#define GS_POD_LEN 40       /* a UUID */
#define GS_CONTAINER_LEN 80 /* 64 hexadecimal digits */

/* "" where the path names none. */
void gs_pod_of(const char *cgroup, char pod[GS_POD_LEN], char container[GS_CONTAINER_LEN]);

#endif /* GPUSCHED_PROCESS_POD_H */
