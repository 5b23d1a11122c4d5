/* SPDX-License-Identifier: MIT */
/*
 * inside.h - the pod of a process in a container, and its pid as seen there
 *
 * Reads /proc and waits for no lock of the process.
 */
#ifndef GPUSCHED_PROCESS_INSIDE_H
#define GPUSCHED_PROCESS_INSIDE_H

#include <stdbool.h>
#include <sys/types.h>

#include "process/pod.h"

/*
 * Gets the uid of the process's pod or, without a pod, the container's id. Returns false if it is
 * in neither.
 */
bool gs_inside_of(pid_t pid, char ret[GS_CONTAINER_LEN]);
/*
 * The pid by which @viewer knows @pid; 0: they are in different pid namespaces, or one has ended.
 */
pid_t gs_inside_pid(pid_t pid, pid_t viewer);

#endif /* GPUSCHED_PROCESS_INSIDE_H */
