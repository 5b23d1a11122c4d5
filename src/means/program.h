/* SPDX-License-Identifier: MIT */
/*
 * program.h - which program a process runs, so that it is known again at its next start
 *
 * Pure. A pid, a session and a container's id are others at each start; executable, script and the
 * name of a service stay.
 */
#ifndef GPUSCHED_MEANS_PROGRAM_H
#define GPUSCHED_MEANS_PROGRAM_H

#include <stddef.h>
#include <sys/types.h>

#include "process/pod_names.h"

/* A key of a hash: bytes after a text's end are 0. */
struct gs_program_id {
	uid_t uid;
	char exe[256]; /* a full path */
	/* what an interpreter runs, without its folders, and a first word, as "serve"; "" neither */
	char script[64];
	char place[136]; /* "NAME.service", or "NAMESPACE/CONTAINER" of a pod; "" neither */
};

/*
 * @args: NUL after each, @n bytes; what follows a script is not looked at. @pod: NULL: not in one.
 * -EINVAL: @exe is no full path, or too long to be kept.
 */
int gs_program_id(uid_t uid, const char *exe, const char *args, size_t n, const char *cgroup,
		  const struct gs_pod_names *pod, struct gs_program_id *ret);

#endif /* GPUSCHED_MEANS_PROGRAM_H */
