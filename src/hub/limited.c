// SPDX-License-Identifier: MIT
#include "hub/limited.h"

#include <inttypes.h>
#include <stdlib.h>
#include <uthash.h>

#include "basic/clock.h"
#include "basic/log.h"
#include "hub/hub.h"
#include "table/events.h"

/* Each user and limit gets at most one log line and one event in this time. */
#define AGAIN_NS (10 * NS_PER_S)
/* A range of subuids has 65536 users: users past this number share one row. */
#define USERS_MAX 256
#define OTHERS ((uid_t)-1)

static const struct {
	const char *name, *text;
} limits[GS_LIMIT_MAX] = {
#define X(sym, name, text) { name, text },
	GS_USER_LIMITS(X)
#undef X
};

struct gs_limited_user {
	UT_hash_handle hh;
	uid_t uid;
	struct {
		/* How often the limit struck, and how often it had when it was last reported. */
		uint64_t times, told;
		uint64_t next_ns; /* earliest time of the next report */
	} by[GS_LIMIT_MAX];
};

static struct gs_limited_user *find_or_new(struct gs_hub *hub, uid_t uid)
{
	struct gs_limited_user *u = NULL;

	HASH_FIND(hh, hub->limited, &uid, sizeof(uid), u);
	if (u)
		return u;
	if (HASH_COUNT(hub->limited) >= USERS_MAX && uid != OTHERS)
		return find_or_new(hub, OTHERS);
	u = calloc(1, sizeof(*u));
	if (!u)
		return NULL;
	u->uid = uid;
	HASH_ADD(hh, hub->limited, uid, sizeof(u->uid), u);
	return u;
}

static void tell(struct gs_hub *hub, uid_t uid, enum gs_user_limit limit, uint64_t times)
{
	gs_log(LOG_WARNING, "user %u past the limit '%s': %" PRIu64 " %s", uid, limits[limit].name,
	       times, limits[limit].text);
	if (hub->watched)
		gs_observers_say(&hub->observers,
				 json_pack("{s:I, s:s, s:I, s:s, s:I}", "time_ns",
					   (json_int_t)gs_now_ns(), "event",
					   gs_event_name(GPUSCHED_EV_LIMITED), "uid",
					   (json_int_t)uid, "limit", limits[limit].name, "times",
					   (json_int_t)times),
				 uid);
}

void gs_limited(struct gs_hub *hub, uid_t uid, enum gs_user_limit limit)
{
	gs_limited_times(hub, uid, limit, 1);
}

void gs_limited_times(struct gs_hub *hub, uid_t uid, enum gs_user_limit limit, uint64_t times)
{
	struct gs_limited_user *u = find_or_new(hub, uid);
	uint64_t now = gs_now_ns();

	if (!u)
		return;
	u->by[limit].times += times;
	if (now < u->by[limit].next_ns)
		return;
	u->by[limit].next_ns = now + AGAIN_NS;
	tell(hub, uid, limit, u->by[limit].times - u->by[limit].told);
	u->by[limit].told = u->by[limit].times;
}

const char *gs_limit_name(enum gs_user_limit limit)
{
	return limits[limit].name;
}

uint64_t gs_limited_sum(const struct gs_hub *hub, enum gs_user_limit limit)
{
	uint64_t sum = 0;

	for (const struct gs_limited_user *u = hub->limited; u; u = u->hh.next)
		sum += u->by[limit].times;
	return sum;
}

void gs_limited_each(const struct gs_hub *hub, gs_limited_fn fn, void *user)
{
	for (const struct gs_limited_user *u = hub->limited; u; u = u->hh.next)
		for (int i = 0; i < GS_LIMIT_MAX; i++)
			if (u->by[i].times)
				fn(u->uid, limits[i].name, u->by[i].times, user);
}

void gs_limited_free(struct gs_hub *hub)
{
	struct gs_limited_user *u, *next;

	HASH_ITER(hh, hub->limited, u, next) {
		HASH_DEL(hub->limited, u);
		free(u);
	}
}
