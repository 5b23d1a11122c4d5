// SPDX-License-Identifier: MIT
#include "park/parking_room.h"

#include <utlist.h>

#include "config/config.h"
#include "park/parking.h"
#include "process/reader.h"

struct gs_park_check gs_parking_room(const struct gs_parking *pk, const struct gs_parked *p)
{
	struct gs_park_check c = {
		.pid = p->pid,
		.park_memory_pct = pk->hub->config->park_memory,
		.has_share = p->uid && (p->by || p->by_itself),
	};
	const struct gs_parked *other;
	struct gs_cgroup_room room;
	int r;

	DL_FOREACH(pk->all, other) {
		if (other == p)
			continue;
		c.parked_bytes += gs_parked_bytes(other);
		c.user_bytes += other->uid == p->uid ? gs_parked_bytes(other) : 0;
	}
	gs_park_check_read(&c);
	r = gs_reader_room(p->pid, &room);
	c.unread = (r == -EAGAIN || r == -EBUSY) && !p->cgroups_known;
	if (r)
		room = p->cgroups; /* as read before; no limits if that was not possible */
	c.frozen = room.frozen;
	c.cgroup_free = c.unread ? 0 : room.free_bytes;
	return c;
}
