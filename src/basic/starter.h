/* SPDX-License-Identifier: MIT */
/*
 * starter.h - recognizes programs that only start others, by the name of their executable
 */
#ifndef GPUSCHED_BASIC_STARTER_H
#define GPUSCHED_BASIC_STARTER_H

#include <stddef.h>
#include <string.h>

/* ASAN_OPTIONS of programs into which an agent is preloaded, if the user has set none. */
#define GS_STARTER_ASAN "verify_asan_link_order=0"

enum gs_starter {
	GS_STARTER_NONE,
	GS_STARTER_HERE, /* a shell, nohup, ...: the program that it starts has its environment */
	GS_STARTER_ELSEWHERE /* the program runs in a container, in a job, or on another machine */
};

/* @exe: a path, or its last part. */
static inline enum gs_starter gs_starter_of(const char *exe)
{
	static const char *const here[] = { "sh",      "bash",     "dash",    "zsh",     "ksh",
					    "mksh",    "fish",     "busybox", "env",     "nohup",
					    "nice",    "ionice",   "taskset", "numactl", "chrt",
					    "timeout", "setsid",   "setpriv", "stdbuf",  "time",
					    "tini",    "dumb-init" };
	static const char *const elsewhere[] = { "docker", "podman",      "nerdctl", "kubectl",
						 "crictl", "ctr",         "enroot",  "apptainer",
						 "srun",   "singularity", "salloc",  "sbatch",
						 "ssh" };
	const char *slash = strrchr(exe, '/'), *name = slash ? slash + 1 : exe;

	for (size_t i = 0; i < sizeof(here) / sizeof(here[0]); i++)
		if (!strcmp(name, here[i]))
			return GS_STARTER_HERE;
	for (size_t i = 0; i < sizeof(elsewhere) / sizeof(elsewhere[0]); i++)
		if (!strcmp(name, elsewhere[i]))
			return GS_STARTER_ELSEWHERE;
	return GS_STARTER_NONE;
}

#endif /* GPUSCHED_BASIC_STARTER_H */
