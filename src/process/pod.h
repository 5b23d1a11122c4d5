/* SPDX-License-Identifier: MIT */
/*
 * pod.h - the pod and the container that a cgroup's path names, as Kubernetes, containerd, CRI-O,
 * Docker and Podman name their cgroups
 *
 * Pure. A path has ids alone: the pod's uid and the container's id, no names, no namespace.
 */
#ifndef GPUSCHED_PROCESS_POD_H
#define GPUSCHED_PROCESS_POD_H

#include <stddef.h>

#define GS_POD_LEN 40       /* a UUID; of a static pod 32 hexadecimal digits */
#define GS_CONTAINER_LEN 80 /* 64 hexadecimal digits */

/*
 * "" where the path names none. The outermost pod counts, and the first container in it: what is in
 * a container cannot pass for another pod. How long the path to the pod is, without a pod to the
 * container; 0: neither.
 */
size_t gs_pod_of(const char *cgroup, char pod[GS_POD_LEN], char container[GS_CONTAINER_LEN]);

#endif /* GPUSCHED_PROCESS_POD_H */
