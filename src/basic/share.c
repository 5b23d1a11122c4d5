// SPDX-License-Identifier: MIT
#include "basic/share.h"

#include <stdlib.h>
#include <uthash.h>

struct gs_share_user {
	UT_hash_handle hh;
	uid_t uid;
	uint64_t n;
};

static uint64_t roots_of(uint64_t max)
{
	return max < GS_SHARE_OF_ROOT ? 1 : max / GS_SHARE_OF_ROOT;
}

bool gs_share_allows(uid_t uid, uint64_t own, uint64_t all, uint64_t max)
{
	if (!uid || all >= max)
		return all < max;
	return own + all < max - roots_of(max); /* 2 * own + others */
}

bool gs_share_yields(uid_t uid, uint64_t own, uint64_t max)
{
	return uid || own > roots_of(max);
}

static struct gs_share_user *find_share(const struct gs_shares *s, uid_t uid)
{
	struct gs_share_user *u = NULL;

	HASH_FIND(hh, s->users, &uid, sizeof(uid), u);
	return u;
}

uint64_t gs_shares_of(const struct gs_shares *s, uid_t uid)
{
	const struct gs_share_user *u = find_share(s, uid);

	return u ? u->n : 0;
}

bool gs_shares_take(struct gs_shares *s, uid_t uid, uint64_t max)
{
	struct gs_share_user *u = find_share(s, uid);

	if (!gs_share_allows(uid, u ? u->n : 0, s->all, max))
		return false;
	if (!u) {
		u = calloc(1, sizeof(*u));
		if (!u)
			return false;
		u->uid = uid;
		HASH_ADD(hh, s->users, uid, sizeof(u->uid), u);
	}
	u->n++;
	s->all++;
	return true;
}

void gs_shares_give(struct gs_shares *s, uid_t uid)
{
	struct gs_share_user *u = find_share(s, uid);

	if (!u)
		return;
	s->all--;
	if (--u->n)
		return;
	HASH_DEL(s->users, u);
	free(u);
}

void gs_shares_done(struct gs_shares *s)
{
	struct gs_share_user *u, *next;

	HASH_ITER(hh, s->users, u, next) {
		HASH_DEL(s->users, u);
		free(u);
	}
	*s = (struct gs_shares){ 0 };
}
