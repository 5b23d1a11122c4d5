/* SPDX-License-Identifier: MIT */
/*
 * program.h - identifies the program that a process runs, to recognize it at its next start
 *
 * Pure. The pid, the session and a container's id change with each start; the executable, the
 * script and the name of a service stay.
 */
#ifndef GPUSCHED_MEANS_PROGRAM_H
#define GPUSCHED_MEANS_PROGRAM_H

#include <stddef.h>
#include <sys/types.h>

#include "process/pod_names.h"

/* A key of a hash, so all bytes after a text's end must be 0. */
struct gs_program_id {
	uid_t uid;
	char exe[256]; /* a full path */
	/*
	 * an interpreter's script without its path, and the first argument, such as "serve"; "":
	 * neither
	 */
	char script[64];
	char place[136]; /* "NAME.service", or "NAMESPACE/CONTAINER" of a pod; "": neither */
};

/*
 * @args: @n bytes, each argument with its NUL; after a script only one argument counts. @pod: NULL:
 * the process is in no pod. -EINVAL: @exe is no full path, or too long.
 */
int gs_program_id(uid_t uid, const char *exe, const char *args, size_t n, const char *cgroup,
		  const struct gs_pod_names *pod, struct gs_program_id *ret);

#endif /* GPUSCHED_MEANS_PROGRAM_H */
