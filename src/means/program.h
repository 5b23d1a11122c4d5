/* SPDX-License-Identifier: MIT */
/*
 * program.h - identifies the program that a process runs, to recognize it at its next start
 *
 * Pure. The identity consists of the executable, the script and the name of the service. The pid,
 * the session and a container's id are no part of it, since they change with each start.
 */
#ifndef GPUSCHED_MEANS_PROGRAM_H
#define GPUSCHED_MEANS_PROGRAM_H

#include <stddef.h>
#include <sys/types.h>

#include "process/pod_names.h"

/* Used as a hash key, so all bytes after the end of a text must be 0. */
struct gs_program_id {
	uid_t uid;
	char exe[256]; /* a full path */
	/*
	 * For an interpreter, its script without the path; then the first argument, if it is a
	 * plain word such as "serve". "": neither.
	 */
	char script[64];
	char place[136]; /* "NAME.service", or "NAMESPACE/CONTAINER" of a pod; "": neither */
};

/*
 * Computes the identity. @args: @n bytes, each argument ends with a NUL. @pod: NULL: the process is
 * in no pod. -EINVAL: @exe is no full path, or too long.
 */
int gs_program_id(uid_t uid, const char *exe, const char *args, size_t n, const char *cgroup,
		  const struct gs_pod_names *pod, struct gs_program_id *ret);

#endif /* GPUSCHED_MEANS_PROGRAM_H */
