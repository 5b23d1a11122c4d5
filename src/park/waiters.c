// SPDX-License-Identifier: MIT
#include "park/waiters.h"

#include <errno.h>
#include <utlist.h>

#include "basic/clock.h"
#include "park/parking.h"

#define LOOK_NS (3 * NS_PER_S)
#define AT_ONCE 8u

static void look(struct gs_parked *p)
{
	uint32_t n = 0;
	int r = gs_reader_waiters(p->pid, &n);

	p->waiters_ns = gs_now_ns();
	if (r != -EAGAIN && r != -EBUSY)
		p->waiters = r ? GS_PARK_WAITERS_UNKNOWN : (int)n;
}

/* Nobody needs the estimate for a program that a sign brings back. */
static bool is_wanted(const struct gs_parking *pk, const struct gs_parked *p)
{
	return p->over == GS_PARKED_IS_OUT &&
	       !(gs_park_sign_of(p) && gs_park_sign_may_return(pk, p));
}

void gs_park_waiters_beat(void *self)
{
	struct gs_parking *pk = self;
	struct gs_parked *p;
	unsigned int n = 0;

	if (!pk->hub->opts.daemon)
		return;
	DL_FOREACH(pk->all, p) {
		if (!is_wanted(pk, p)) {
			p->waiters = GS_PARK_WAITERS_UNKNOWN;
			p->waiters_ns = 0;
		} else if (n < AT_ONCE && gs_now_ns() - p->waiters_ns >= LOOK_NS) {
			look(p);
			n++;
		}
	}
}

void gs_park_waiters_answered(void *self, enum gs_reader_what what, pid_t pid)
{
	struct gs_parking *pk = self;
	struct gs_parked *p = what == GS_READER_WAITERS ? gs_parking_find(pk, pid) : NULL;

	if (p && is_wanted(pk, p))
		look(p);
}
