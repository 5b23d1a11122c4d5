// SPDX-License-Identifier: MIT
/*
 * late_names.c - preloaded library: a name service that knows the user and the group slow after
 * $SLOW_S seconds, and the users slow and late only once the file $KNOWN exists, if that is set. It
 * takes as long to say of which groups a user is
 */
#include <dlfcn.h>
#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void wait_for_answer(void)
{
	const char *seconds = getenv("SLOW_S");

	if (seconds)
		sleep((unsigned int)atoi(seconds));
}

__attribute__((visibility("default"))) struct group *getgrnam(const char *name)
{
	static char *none[] = { NULL };
	static struct group slow = { .gr_name = "slow", .gr_gid = 4322, .gr_mem = none };
	struct group *(*next)(const char *name);

	if (!strcmp(name, "slow")) {
		wait_for_answer();
		return &slow;
	}
	*(void **)&next = dlsym(RTLD_NEXT, "getgrnam");
	return next(name);
}

__attribute__((visibility("default"))) int getgrouplist(const char *user, gid_t group,
							gid_t *groups, int *ngroups)
{
	wait_for_answer();
	*ngroups = 0;
	return 0;
}

__attribute__((visibility("default"))) struct passwd *getpwnam(const char *name)
{
	static struct passwd late = { .pw_name = "late", .pw_uid = 4321 };
	const char *known = getenv("KNOWN");
	struct passwd *(*next)(const char *name);

	if (!strcmp(name, "slow"))
		wait_for_answer();
	if (!strcmp(name, "late") || !strcmp(name, "slow")) {
		if (!known || !access(known, F_OK))
			return &late;
		errno = ECONNREFUSED;
		return NULL;
	}
	*(void **)&next = dlsym(RTLD_NEXT, "getpwnam");
	return next(name);
}
