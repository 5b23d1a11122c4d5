// SPDX-License-Identifier: MIT
#include "park/core.h"

#include <errno.h>

#include "basic/cleanup.h"
#include "basic/clock.h"

#define MEMORY_AGAIN_NS (2 * NS_PER_S)
/* pause after the first failure; each further failure doubles it */
#define TROUBLE_NS (NS_PER_S / 4)
#define TROUBLE_DOUBLINGS 8u

static struct gs_park_next call(enum gs_park_op op)
{
	return (struct gs_park_next){ .act = GS_PARK_ACT_CALL, .op = op };
}

static struct gs_park_next done(enum gs_park_act act)
{
	return (struct gs_park_next){ .act = act };
}

static struct gs_park_next towards_out(const struct gs_park *p, const struct gs_park_facts *f)
{
	if (p->is == GS_PARK_LOCKED)
		return call(GS_PARK_OUT);
	if (p->is == GS_PARK_IS_OUT)
		return done(GS_PARK_ACT_PARKED);
	return f->suspended ? done(GS_PARK_ACT_RESUME) : call(GS_PARK_LOCK);
}

struct gs_park_next gs_park_core_next(const struct gs_park *p, const struct gs_park_facts *f)
{
	if (p->lost)
		return done(GS_PARK_ACT_LOST);
	if (f->now_ns < p->not_before_ns)
		return (struct gs_park_next){ .act = GS_PARK_ACT_WAIT, .at_ns = p->not_before_ns };
	if (!p->known)
		return call(GS_PARK_STATE);
	if (p->is == GS_PARK_FAILED)
		return done(GS_PARK_ACT_LOST);
	if (p->wish == GS_PARK_WISH_OUT)
		return towards_out(p, f);
	if (p->is == GS_PARK_LOCKED)
		return call(GS_PARK_UNLOCK);
	if (p->is == GS_PARK_RUNNING)
		return done(GS_PARK_ACT_RUNS);
	return p->wish == GS_PARK_WISH_IN ? call(GS_PARK_IN) : done(GS_PARK_ACT_PARKED);
}

static void wait(struct gs_park *p, const struct gs_park_facts *f, uint64_t ns)
{
	p->not_before_ns = f->now_ns + (uint64_t)((double)ns * (f->dilate > 0 ? f->dilate : 1));
}

static void in_trouble(struct gs_park *p, const struct gs_park_facts *f)
{
	unsigned int n = p->troubles < TROUBLE_DOUBLINGS ? p->troubles : TROUBLE_DOUBLINGS;

	wait(p, f, TROUBLE_NS << n);
	p->troubles++;
}

void gs_park_core_give_up(struct gs_park *p)
{
	p->failed = true;
	p->wish = GS_PARK_WISH_SETTLE;
}

/* libcuda does not report the process's state, but we have not touched it, so it runs as before. */
static void leave_it(struct gs_park *p)
{
	gs_park_core_give_up(p);
	p->known = true;
	p->is = GS_PARK_RUNNING;
}

/*
 * The helper died or hung in the call, so the call's effect is unknown: the process's state is
 * asked for next. If the process turns out to be locked, gs_park_core_next() has it unlocked.
 */
static void left_open(struct gs_park *p, const struct gs_park_end *end,
		      const struct gs_park_facts *f)
{
	if (end->op == GS_PARK_STATE && end->code == -ETIMEDOUT && !p->touched) {
		leave_it(p);
		return;
	}
	p->known = false;
	in_trouble(p, f);
	if (p->wish == GS_PARK_WISH_OUT)
		gs_park_core_give_up(p);
}

static void refused(struct gs_park *p, const struct gs_park_end *end, const struct gs_park_facts *f)
{
	switch (end->op) {
	case GS_PARK_LOCK:
	case GS_PARK_OUT:
		gs_park_core_give_up(p);
		break;
	case GS_PARK_IN:
		p->lost = end->result == GS_PARK_CU_INVALID ||
			  end->result == GS_PARK_CU_NO_MEMORY || end->result == GS_PARK_CU_LOST;
		gs_park_core_give_up(p);
		break;
	case GS_PARK_STATE:
		in_trouble(p, f);
		if (p->touched)
			gs_park_core_give_up(p);
		else
			leave_it(p);
		break;
	default:
		in_trouble(p, f);
	}
}

void gs_park_core_took(struct gs_park *p, const struct gs_park_end *end,
		       const struct gs_park_facts *f)
{
	p->short_of_memory = end->code == -ENOSPC;
	p->touched |= end->op == GS_PARK_LOCK || end->op == GS_PARK_OUT;
	if (p->short_of_memory) {
		wait(p, f, MEMORY_AGAIN_NS);
		return;
	}
	if (end->code == -EPIPE || end->code == -ETIMEDOUT) {
		left_open(p, end, f);
		return;
	}
	if (end->code) { /* no call was made */
		in_trouble(p, f);
		if (p->wish == GS_PARK_WISH_OUT)
			gs_park_core_give_up(p);
		return;
	}
	p->known = end->state >= GS_PARK_RUNNING && end->state <= GS_PARK_FAILED;
	if (p->known)
		p->is = (enum gs_park_state)end->state;
	if (end->result) {
		refused(p, end, f);
		return;
	}
	p->troubles = 0;
	p->not_before_ns = 0;
	if (!p->known)
		in_trouble(p, f);
}

int gs_park_core_check_answer(const struct gs_park_request *rq, const struct gs_park_answer *a)
{
	const uint64_t most = 1ull << 45; /* bytes; no GPU has more memory than that */

	if (a->op != rq->op || a->seq != rq->seq || a->pid != rq->pid || a->code > 0 ||
	    a->code < -4095 || a->result < 0 || a->result > 9999 || a->state < -1 ||
	    a->state > GS_PARK_FAILED || a->gpu >= GS_PARK_GPUS || a->unsure > GS_PARK_GPUS ||
	    (a->kept > most && a->kept != GS_PARK_KEPT_UNKNOWN) ||
	    (a->code == -EDQUOT && rq->op != GS_PARK_OUT))
		return -EPROTO;
	for (unsigned int i = 0; i < GS_COUNT(a->bytes); i++)
		if (a->bytes[i] > most)
			return -EPROTO;
	/* after a call that succeeded, the process is in the state for which the call was made */
	if (!a->code && !a->result && a->state >= 0 &&
	    ((rq->op == GS_PARK_LOCK && a->state != GS_PARK_LOCKED) ||
	     (rq->op == GS_PARK_OUT && a->state != GS_PARK_IS_OUT) ||
	     (rq->op == GS_PARK_IN && a->state != GS_PARK_LOCKED) ||
	     (rq->op == GS_PARK_UNLOCK && a->state != GS_PARK_RUNNING)))
		return -EPROTO;
	return 0;
}
