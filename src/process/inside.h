/* SPDX-License-Identifier: MIT */
/*
 * inside.h - what a process in a container is to others in it: which pod, which pid
 *
 * Reads /proc and waits for no lock of the process.
 */
#ifndef GPUSCHED_PROCESS_INSIDE_H
#define GPUSCHED_PROCESS_INSIDE_H

#include <stdbool.h>
#include <sys/types.h>

#include "process/pod.h"

/* The pod's uid; without a pod the container's id. Returns false if @pid is in neither. */
bool gs_inside_of(pid_t pid, char ret[GS_CONTAINER_LEN]);
/* @pid as @viewer knows it; 0: they are in different pid namespaces, or one is gone. */
pid_t gs_inside_pid(pid_t pid, pid_t viewer);

#endif /* GPUSCHED_PROCESS_INSIDE_H */
