// SPDX-License-Identifier: MIT
#include "account/opening.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "basic/cleanup.h"

struct gs_opening {
	struct gs_lane *lane;
	struct gs_gpu gpu;
	struct gs_switchlog *log;
	struct gs_switchlog_clock clock;
	struct gs_error err;
	int code;
	bool over; /* set last: from then on the thread does not touch this */
};

static int open_log(void *user, void *params)
{
	struct gs_opening *o = user;

	o->code = gs_switchlog_open(&o->gpu, &o->log, &o->err);
	if (!o->code)
		o->code = gs_switchlog_clock(o->log, 0, &o->clock);
	__atomic_store_n(&o->over, true, __ATOMIC_RELEASE);
	return 0;
}

static int drop(void *user, void *params)
{
	struct gs_opening *o = user;

	gs_switchlog_close(o->log, 0);
	free(o);
	return 0;
}

int gs_opening_begin(const struct gs_gpu *gpu, uint64_t wait_ns, struct gs_opening **ret)
{
	CLEANUP_FREE struct gs_opening *o = calloc(1, sizeof(*o));
	int r = o ? gs_lane_new(&o->lane) : -ENOMEM;

	if (r)
		return r;
	o->gpu = *gpu;
	r = gs_lane_call(o->lane, open_log, o, NULL, 0, wait_ns);
	if (r && r != -EINPROGRESS) {
		gs_lane_end(o->lane, NULL, NULL, wait_ns);
		return r;
	}
	*ret = TAKE_PTR(o);
	return 0;
}

int gs_opening_take(struct gs_opening **inout, struct gs_switchlog **ret,
		    struct gs_switchlog_clock *ret_clock, struct gs_error *err)
{
	struct gs_opening *o = *inout;
	int r;

	if (!__atomic_load_n(&o->over, __ATOMIC_ACQUIRE))
		return -EINPROGRESS;
	*inout = NULL;
	r = o->code;
	if (err && r)
		*err = o->err;
	if (r) {
		gs_opening_leave(o, 0);
		return r;
	}
	gs_switchlog_use(o->log, o->lane);
	*ret = o->log;
	*ret_clock = o->clock;
	free(o);
	return 0;
}

void gs_opening_leave(struct gs_opening *o, uint64_t wait_ns)
{
	if (o)
		gs_lane_end(o->lane, drop, o, wait_ns);
}
