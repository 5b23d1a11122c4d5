// SPDX-License-Identifier: MIT
#include "figures/alerts.h"

#include <stdlib.h>

#include "basic/share.h"
#include "basic/user_limits.h"

#define MINUTE_NS (60 * NS_PER_S)
#define USERS_MAX 1024
/* After this long without a check, nothing is known of the time in between. */
#define STALL_NS NS_PER_S

struct gs_alert_user {
	UT_hash_handle hh;
	uid_t uid;
	/*
	 * @open: the user's alerts under way. @began: the alerts that began within the minute from
	 * @minute_ns.
	 */
	unsigned int open, began;
	uint64_t minute_ns;
};

static struct gs_alert_user *find_user(const struct gs_alerts *a, uid_t uid)
{
	struct gs_alert_user *u = NULL;

	HASH_FIND(hh, a->users, &uid, sizeof(uid), u);
	return u;
}

/* Forgets a user that has no alert under way and had none in the last minute. */
static void forget_users(struct gs_alerts *a, uint64_t now)
{
	struct gs_alert_user *u, *next;

	HASH_ITER(hh, a->users, u, next) {
		if (u->open || now - u->minute_ns < MINUTE_NS)
			continue;
		HASH_DEL(a->users, u);
		free(u);
	}
}

/* Counts one more alert for the user. Returns NULL if the user has used up its share. */
static struct gs_alert_user *take_share(struct gs_alerts *a, uid_t uid, uint64_t now)
{
	struct gs_alert_user *u = find_user(a, uid);

	if (!u) {
		forget_users(a, now);
		u = HASH_COUNT(a->users) < USERS_MAX ? calloc(1, sizeof(*u)) : NULL;
		if (!u)
			return NULL;
		u->uid = uid;
		u->minute_ns = now;
		HASH_ADD(hh, a->users, uid, sizeof(u->uid), u);
	}
	if (now - u->minute_ns >= MINUTE_NS) {
		u->minute_ns = now;
		u->began = 0;
	}
	if (uid && (u->open >= GS_USER_MAY_ALERTS || u->began >= GS_USER_MAY_ALERTS_A_MINUTE))
		return NULL;
	if (!gs_share_allows(uid, u->open, HASH_COUNT(a->all), GS_ALERTS_MAX))
		return NULL;
	u->open++;
	u->began++;
	return u;
}

static struct gs_alert *begin(struct gs_alerts *a, const struct gs_alert_key *key,
			      const struct gs_finding *f, uint64_t now, uint64_t id_floor)
{
	struct gs_alert *al = calloc(1, sizeof(*al));

	if (!al)
		return NULL;
	al->key = *key;
	al->finding = *f;
	al->began_ns = al->seen_ns = now;
	al->id = a->last_id = id_floor > a->last_id ? id_floor : a->last_id + 1;
	HASH_ADD(hh, a->all, key, sizeof(al->key), al);
	return al;
}

const struct gs_alert *gs_alerts_see(struct gs_alerts *a, const struct gs_finding *f,
				     uint64_t now_ns, uint64_t id_floor, bool *ret_left)
{
	const struct gs_alert_key key = { f->tsg, (int32_t)f->kind, f->gpu };
	struct gs_alert_user *u = NULL;
	struct gs_alert *al = NULL;

	*ret_left = false;
	HASH_FIND(hh, a->all, &key, sizeof(key), al);
	if (al) {
		al->seen_ns = now_ns;
		return NULL;
	}
	*ret_left = HASH_COUNT(a->all) >= GS_ALERTS_MAX;
	if (!*ret_left && f->tsg) {
		u = take_share(a, f->uid, now_ns);
		*ret_left = !u;
	}
	if (*ret_left)
		return NULL;
	al = begin(a, &key, f, now_ns, id_floor);
	if (!al && u)
		u->open--;
	return al;
}

static bool is_over(const struct gs_alert *al, uint64_t now)
{
	return now > al->seen_ns && now - al->seen_ns >= GS_ALERT_CALM_NS;
}

struct gs_alert *gs_alerts_take_over(struct gs_alerts *a, uint64_t now_ns)
{
	bool stalled = now_ns - a->tended_ns > STALL_NS + GS_ALERT_CALM_NS / 2;
	struct gs_alert *al, *next;
	struct gs_alert_user *u;

	a->tended_ns = now_ns;
	HASH_ITER(hh, a->all, al, next) {
		if (stalled)
			al->seen_ns = now_ns;
		if (!is_over(al, now_ns))
			continue;
		HASH_DEL(a->all, al);
		u = al->key.tsg ? find_user(a, al->finding.uid) : NULL;
		if (u)
			u->open--;
		return al;
	}
	return NULL;
}

void gs_alerts_done(struct gs_alerts *a)
{
	struct gs_alert_user *u, *next_user;
	struct gs_alert *al, *next;

	HASH_ITER(hh, a->all, al, next) {
		HASH_DEL(a->all, al);
		free(al);
	}
	HASH_ITER(hh, a->users, u, next_user) {
		HASH_DEL(a->users, u);
		free(u);
	}
	*a = (struct gs_alerts){ 0 };
}
