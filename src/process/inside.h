/* SPDX-License-Identifier: MIT */
/*
 * inside.h - finds the pod or container of a process, and the process's pid inside of it
 *
 * Reads /proc without waiting for a lock of the process.
 */
#ifndef GPUSCHED_PROCESS_INSIDE_H
#define GPUSCHED_PROCESS_INSIDE_H

#include <stdbool.h>
#include <sys/types.h>

#include "process/pod.h"

/*
 * Gets the uid of the process's pod or, if there is no pod, the id of its container. False: the
 * process is in neither.
 */
bool gs_inside_of(pid_t pid, char ret[GS_CONTAINER_LEN]);
/*
 * The pid of process @pid in the pid namespace of process @viewer. 0: they are in different pid
 * namespaces, one has ended, or it is not known yet (reader.h).
 */
pid_t gs_inside_pid(pid_t pid, pid_t viewer);

#endif /* GPUSCHED_PROCESS_INSIDE_H */
