// SPDX-License-Identifier: MIT
#include "park/turns.h"

#include "basic/clock.h"

#define HALF_NS (30 * NS_PER_S)
#define HUNG_FREE 3u /* a user waits from the third hang on */
#define WAIT_NS (10 * NS_PER_S)
#define WAIT_DOUBLINGS 8u
#define FORGET_NS (600 * NS_PER_S)

static const struct gs_park_user *find(const struct gs_park_turns *t, uint32_t uid)
{
	for (unsigned int i = 0; i < GS_PARK_USERS; i++)
		if (t->all[i].last_ns && t->all[i].uid == uid)
			return &t->all[i];
	return NULL;
}

/* The user's entry, or the entry without a wait with the oldest last call. */
static struct gs_park_user *enter(struct gs_park_turns *t, uint32_t uid, uint64_t now_ns)
{
	struct gs_park_user *u = (struct gs_park_user *)find(t, uid);

	if (u)
		return u;
	u = &t->all[0];
	for (unsigned int i = 1; i < GS_PARK_USERS; i++) {
		struct gs_park_user *o = &t->all[i];
		bool waits = o->until_ns > now_ns, u_waits = u->until_ns > now_ns;

		if (waits < u_waits || (waits == u_waits && o->last_ns < u->last_ns))
			u = o;
	}
	*u = (struct gs_park_user){ .uid = uid, .last_ns = now_ns };
	return u;
}

static uint64_t decayed(const struct gs_park_user *u, uint64_t now_ns)
{
	uint64_t halvings = (now_ns - u->last_ns) / HALF_NS;

	return halvings > 63 ? 0 : u->took_ns >> halvings;
}

void gs_park_turns_took(struct gs_park_turns *t, uint32_t uid, uint64_t now_ns, uint64_t took_ns)
{
	struct gs_park_user *u = enter(t, uid, now_ns);

	u->took_ns = decayed(u, now_ns) + took_ns;
	u->last_ns = now_ns;
}

void gs_park_turns_hung(struct gs_park_turns *t, uint32_t uid, uint64_t now_ns, double dilate)
{
	struct gs_park_user *u = enter(t, uid, now_ns);
	uint64_t from_ns = u->until_ns > u->hung_ns ? u->until_ns : u->hung_ns;
	unsigned int more;

	if (!uid)
		return;
	if (now_ns > from_ns + FORGET_NS) /* not from the last hang: later waits are longer */
		u->hung = 0;
	u->hung++;
	u->hung_ns = now_ns;
	if (u->hung < HUNG_FREE)
		return;
	more = u->hung - HUNG_FREE;
	more = more < WAIT_DOUBLINGS ? more : WAIT_DOUBLINGS;
	u->until_ns = now_ns + (uint64_t)((double)(WAIT_NS << more) * (dilate > 0 ? dilate : 1));
}

uint64_t gs_park_turns_of(const struct gs_park_turns *t, uint32_t uid, uint64_t now_ns)
{
	const struct gs_park_user *u = find(t, uid);

	return u ? decayed(u, now_ns) : 0;
}

uint64_t gs_park_turns_waits(const struct gs_park_turns *t, uint32_t uid, uint64_t now_ns)
{
	const struct gs_park_user *u = find(t, uid);

	return u && u->until_ns > now_ns ? u->until_ns : 0;
}
