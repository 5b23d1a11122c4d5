// SPDX-License-Identifier: MIT
#include "requests/unread.h"

#include <errno.h>
#include <stdlib.h>
#include <uthash.h>

#include "basic/user_limits.h"
#include "hub/limited.h"
#include "requests/requests.h"

struct gs_unread_user {
	UT_hash_handle hh;
	uid_t uid;
	size_t bytes;
};

static struct gs_unread_user *find_or_new(struct gs_requests *rs, uid_t uid)
{
	struct gs_unread_user *u = NULL;

	HASH_FIND(hh, rs->unread, &uid, sizeof(uid), u);
	if (u)
		return u;
	u = calloc(1, sizeof(*u));
	if (!u)
		return NULL;
	u->uid = uid;
	HASH_ADD(hh, rs->unread, uid, sizeof(u->uid), u);
	return u;
}

static void forget(struct gs_requests *rs, struct gs_unread_user *u)
{
	HASH_DEL(rs->unread, u);
	free(u);
}

int gs_unread_hold(struct gs_requests *rs, uid_t uid, size_t bytes, size_t *inout_held,
		   struct gs_error *err)
{
	struct gs_unread_user *u;

	if (bytes == *inout_held)
		return 0;
	u = find_or_new(rs, uid);
	if (!u)
		return -ENOMEM;
	if (uid && bytes > *inout_held && bytes > GS_UNREAD_SMALL &&
	    u->bytes - *inout_held + bytes > GS_USER_MAY_UNREAD) {
		gs_limited(rs->hub, uid, GS_LIMIT_ANSWERS);
		return gs_fail(err, -EBUSY,
			       "your answers that are not read yet take up %u MiB: read them first",
			       GS_USER_MAY_UNREAD >> 20);
	}
	u->bytes += bytes - *inout_held;
	*inout_held = bytes;
	if (!u->bytes)
		forget(rs, u);
	return 0;
}

void gs_unread_drop(struct gs_requests *rs, uid_t uid, size_t *inout_held)
{
	gs_unread_hold(rs, uid, 0, inout_held, NULL);
}
