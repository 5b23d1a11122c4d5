// SPDX-License-Identifier: MIT
/*
 * late_names.c - preloaded library: a name service that knows the user slow after $SLOW_S seconds,
 * and the users slow and late only once the file $KNOWN exists, if that is set
 */
#include <dlfcn.h>
#include <errno.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

__attribute__((visibility("default"))) struct passwd *getpwnam(const char *name)
{
	static struct passwd late = { .pw_name = "late", .pw_uid = 4321 };
	const char *seconds = getenv("SLOW_S"), *known = getenv("KNOWN");
	struct passwd *(*next)(const char *name);

	if (!strcmp(name, "slow") && seconds)
		sleep((unsigned int)atoi(seconds));
	if (!strcmp(name, "late") || !strcmp(name, "slow")) {
		if (!known || !access(known, F_OK))
			return &late;
		errno = ECONNREFUSED;
		return NULL;
	}
	*(void **)&next = dlsym(RTLD_NEXT, "getpwnam");
	return next(name);
}
