/* SPDX-License-Identifier: MIT */
/*
 * user_names.h - finds the ids of users and groups in the configuration
 *
 * A name service may take minutes, or know a user only some time after a boot.
 */
#ifndef GPUSCHED_CLASSIFY_USER_NAMES_H
#define GPUSCHED_CLASSIFY_USER_NAMES_H

#include <sys/types.h>

#include "basic/error.h"

enum gs_naming {
	GS_NAMING_STRICT, /* asks the name service; a name without an answer is a mistake */
	GS_NAMING_KEEP,   /* asks it; a line with such a name waits */
	GS_NAMING_LATER,  /* asks nobody; each line with a name waits */
};

#define GS_NAME_WAITS 1 /* no error: the line is kept until its name is known */

/*
 * Finds the id of a user or group. Returns GS_NAME_WAITS, with the reason in @err, if the line has
 * to wait for it; -ENOENT if there is no such name, or no answer; -EINVAL if @name is empty.
 * A thread that asks waits for another that does.
 */
int gs_user_id(enum gs_naming naming, const char *name, uid_t *ret, struct gs_error *err);
int gs_user_group_id(enum gs_naming naming, const char *name, gid_t *ret, struct gs_error *err);

#endif /* GPUSCHED_CLASSIFY_USER_NAMES_H */
