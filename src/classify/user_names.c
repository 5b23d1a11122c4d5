// SPDX-License-Identifier: MIT
#include "classify/user_names.h"

#include <errno.h>
#include <grp.h>
#include <pthread.h>
#include <pwd.h>
#include <stdbool.h>
#include <string.h>

static pthread_mutex_t asking = PTHREAD_MUTEX_INITIALIZER; /* getpwnam() has one answer for all */

/* Name services say in several ways that there is no such name: getpwnam(3). */
static bool is_no_such(int code)
{
	return !code || code == ENOENT || code == ESRCH || code == EBADF || code == EPERM;
}

/* A name has no id. @code: the errno of the name service; @kind: "user" or "group". */
static int not_found(enum gs_naming naming, const char *kind, const char *name, int code,
		     struct gs_error *err)
{
	if (naming == GS_NAMING_LATER)
		gs_fail(err, -EAGAIN, "the name service has not said yet who %s '%s' is", kind,
			name);
	else if (is_no_such(code))
		gs_fail(err, -ENOENT, "there is no %s '%s'", kind, name);
	else
		gs_fail(err, -ENOENT, "the name service does not say who %s '%s' is: %s", kind,
			name, strerror(code));
	return naming == GS_NAMING_STRICT ? -ENOENT : GS_NAME_WAITS;
}

static int check_name(const char *kind, const char *name, struct gs_error *err)
{
	return *name ? 0 : gs_fail(err, -EINVAL, "the %s's name is empty", kind);
}

int gs_user_id(enum gs_naming naming, const char *name, uid_t *ret, struct gs_error *err)
{
	const struct passwd *pw;
	int r = check_name("user", name, err);

	if (r)
		return r;
	if (naming == GS_NAMING_LATER)
		return not_found(naming, "user", name, 0, err);
	pthread_mutex_lock(&asking);
	errno = 0;
	pw = getpwnam(name);
	if (pw)
		*ret = pw->pw_uid;
	else
		r = not_found(naming, "user", name, errno, err);
	pthread_mutex_unlock(&asking);
	return r;
}

int gs_user_group_id(enum gs_naming naming, const char *name, gid_t *ret, struct gs_error *err)
{
	const struct group *gr;
	int r = check_name("group", name, err);

	if (r)
		return r;
	if (naming == GS_NAMING_LATER)
		return not_found(naming, "group", name, 0, err);
	pthread_mutex_lock(&asking);
	errno = 0;
	gr = getgrnam(name);
	if (gr)
		*ret = gr->gr_gid;
	else
		r = not_found(naming, "group", name, errno, err);
	pthread_mutex_unlock(&asking);
	return r;
}
