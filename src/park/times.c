// SPDX-License-Identifier: MIT
#include "park/times.h"

#include <string.h>
#include <utlist.h>

#include "basic/clock.h"
#include "figures/parked_time.h"
#include "park/parking.h"

#define MINUTE_NS (60 * NS_PER_S)

static bool counts(const struct gs_parked *p)
{
	return p->who.pid && p->over != GS_PARKED_LOST;
}

void gs_park_time_begin(struct gs_parking *pk, struct gs_parked *p)
{
	if (p->who.pid || !pk->hub->opts.daemon)
		return;
	p->who = (struct gs_history_who){ .pid = p->pid, .start_ns = p->start_ns, .uid = p->uid };
	memcpy(p->who.comm, p->comm, sizeof(p->who.comm));
	gs_parked_time_place(pk->figures, p->class_id, &p->who);
	p->told_ns = p->told_ns ? p->told_ns : p->since_ns;
}

void gs_park_time_tell(struct gs_parking *pk, struct gs_parked *p)
{
	uint64_t now = gs_now_ns();

	if (!counts(p) || now <= p->told_ns)
		return;
	for (uint32_t i = 0; i < GS_PARK_GPUS; i++)
		if (p->bytes[i])
			gs_parked_time_add(pk->figures, &p->who, i, now - p->told_ns);
	p->told_ns = now;
	/* The file must have the new told_ns, from which the next daemon continues. */
	pk->dirty = true;
}

static void tell_older(struct gs_parking *pk, uint64_t ns)
{
	struct gs_parked *p;

	DL_FOREACH(pk->all, p)
		if (gs_now_ns() - p->told_ns >= ns)
			gs_park_time_tell(pk, p);
}

void gs_park_time_tell_all(struct gs_parking *pk)
{
	tell_older(pk, NS_PER_S);
}

void gs_park_time_beat(struct gs_parking *pk)
{
	const struct gs_parked *p;

	DL_FOREACH(pk->all, p)
		if (counts(p) && gs_now_ns() - p->told_ns >= MINUTE_NS) {
			/* all processes at once, since each change rewrites the file */
			tell_older(pk, NS_PER_S);
			return;
		}
}

void gs_park_time_ended(struct gs_parking *pk, struct gs_parked *p)
{
	gs_park_time_tell(pk, p);
	if (p->who.pid)
		gs_parked_time_ended(pk->figures, &p->who);
}
