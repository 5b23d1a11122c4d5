// SPDX-License-Identifier: MIT
/* parking_calls.c - chooses the next process, and handles the helper's answers and deaths */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <utlist.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "basic/env.h"
#include "basic/log.h"
#include "hub/limited.h"
#include "hub/loop.h"
#include "park/parking.h"

#define LOCK_MS 10000u
#define RESUME_NS (5 * NS_PER_S)
#define RESUME_LOOK_NS (50 * NS_PER_MS)
#define HELLO_NS (60 * NS_PER_S)
#define STATE_NS (10 * NS_PER_S)
#define COPY_NS (60 * NS_PER_S)     /* deadline of a copy out or in */
#define COPY_GIB_NS (2 * NS_PER_S)  /* added to the deadline for each GiB */
#define COPY_UNKNOWN (100ull << 30) /* bytes to assume if the size is unknown */
#define HELLO_AGAIN_NS (10 * NS_PER_S)
#define END_MS 15000

static uint64_t dilated(uint64_t ns)
{
	return (uint64_t)((double)ns * gs_env()->dilate);
}

/* ---- words ------------------------------------------------------------------------------------ */

static const char *const op_words[] = {
	[GS_PARK_HELLO] = "be loaded",
	[GS_PARK_STATE] = "tell its state",
	[GS_PARK_LOCK] = "lock it",
	[GS_PARK_OUT] = "take its memory out",
	[GS_PARK_IN] = "bring its memory back",
	[GS_PARK_UNLOCK] = "unlock it",
};

static const char *state_word(int state)
{
	static const char *const words[] = { "running", "locked", "out", "failed" };

	return state >= 0 && state < (int)GS_COUNT(words) ? words[state] : "not known";
}

static void say_refusal(const struct gs_park_end *end, struct gs_error *why)
{
	if (end->op == GS_PARK_LOCK && end->result == 600)
		gs_fail(why, -ETIMEDOUT,
			"its work did not end within 10 s (libcuda said 600): it runs on");
	else if (end->op == GS_PARK_IN && end->result == GS_PARK_CU_NO_MEMORY)
		gs_fail(why, -EREMOTEIO,
			"its restore met no memory (libcuda said 2): it never comes back");
	else if (end->op == GS_PARK_STATE)
		gs_fail(why, -ENOTSUP,
			"libcuda does not park it (it said %d when asked for its state)",
			end->result);
	else
		gs_fail(why, -EREMOTEIO, "libcuda could not %s: it said %d, and the state is %s",
			op_words[end->op], end->result, state_word(end->state));
}

/* Puts into words why a call was not made, or how it failed. */
static void say(const struct gs_park_end *end, struct gs_error *why)
{
	switch (end->code) {
	case 0:
		if (end->result)
			say_refusal(end, why);
		return;
	case -EPIPE:
		gs_fail(why, -EPIPE, "the helper died when it had to %s", op_words[end->op]);
		return;
	case -ETIMEDOUT:
		gs_fail(why, -ETIMEDOUT, "libcuda hung when it had to %s", op_words[end->op]);
		return;
	case -ENOSYS:
		gs_fail(why, -ENOTSUP,
			"no libcuda with checkpoint calls is installed here (driver 570 or newer)");
		return;
	case -ENOTSUP:
		gs_fail(why, -ENOTSUP, "the driver does not say how much memory it holds");
		return;
	case -ESRCH:
		gs_fail(why, -ESRCH, "it has ended");
		return;
	default:
		gs_fail(why, end->code, "the helper: %s", strerror(-end->code));
	}
}

/* ---- how a call ended ------------------------------------------------------------------------- */

static void took(struct gs_parking *pk, struct gs_parked *p, const struct gs_park_end *end)
{
	struct gs_park_facts f = gs_parking_facts(pk, p);
	bool waited = p->core.short_of_memory, failed = p->core.failed;

	gs_park_took(&p->core, end, &f);
	if (p->core.short_of_memory && !waited)
		gs_count(pk->hub, GS_SVC_PARK_WAITS);
	if (end->code != -ENOSPC)
		say(end, &p->why);
	if (p->core.failed && !failed) {
		gs_count(pk->hub, GS_SVC_PARK_FAILED);
		gs_log(LOG_NOTICE, "process %d (%s): %s", p->pid, p->comm, p->why.text);
	}
	gs_waits_happened(&pk->hub->waits, GS_ON_PARK);
}

static void end_call(struct gs_parking *pk, int code, const struct gs_park_answer *a)
{
	const struct gs_park_end end = {
		.op = (enum gs_park_op)pk->asked.op,
		.code = code ? code : a->code,
		.result = a ? a->result : 0,
		.state = a ? a->state : -1,
	};
	const struct gs_park_request none = { .op = GS_PARK_HELLO };
	struct gs_parked *p = pk->asked_of;

	pk->busy = false;
	pk->asked_of = NULL;
	gs_park_progress_begin(&pk->progress, pk->hub, &none);
	if (!p)
		return;
	if (a && end.op == GS_PARK_OUT && !end.code && !end.result) {
		memcpy(p->bytes, a->bytes, sizeof(p->bytes));
		p->out_ns = gs_now_ns() - pk->began_ns;
	}
	if (a && !a->code && a->unsure)
		gs_count(pk->hub, GS_SVC_PARK_UNSURE);
	if (a && end.op == GS_PARK_IN && !end.code && !end.result)
		p->restore_ns = gs_now_ns() - pk->began_ns;
	if (a && end.code == -ENOSPC) {
		p->lacking = a->gpu;
		p->free_bytes = a->bytes[a->gpu];
	}
	took(pk, p, &end);
}

void gs_parking_reap(struct gs_parking *pk)
{
	for (size_t i = 0; i < GS_PARK_DYING; i++)
		if (pk->dying[i].pid)
			gs_park_helper_reap(&pk->dying[i]);
}

static void bury(struct gs_parking *pk, const struct gs_park_helper *h)
{
	gs_parking_reap(pk);
	for (size_t i = 0; i < GS_PARK_DYING; i++)
		if (!pk->dying[i].pid) {
			pk->dying[i] = *h;
			return;
		}
	if (h->pidfd >= 0) /* the helper stays a zombie until this process ends */
		close(h->pidfd);
}

void gs_parking_leave_helper(struct gs_parking *pk, bool must)
{
	struct pollfd p = { .fd = pk->helper.pidfd, .events = POLLIN };

	if (!pk->helper.pid)
		return;
	pk->answers = sd_event_source_disable_unref(pk->answers);
	gs_park_helper_leave(&pk->helper, must);
	if (!must) /* the instance ends: wait until the helper has unlocked what it locked */
		poll(&p, 1, (int)((double)END_MS * gs_env()->dilate));
	bury(pk, &pk->helper);
	pk->helper = (struct gs_park_helper){ .fd = -1, .pidfd = -1 };
	pk->greeted = false;
}

/* Records the hang in the user's entry, or in place of the oldest entry. */
static void note_hung(struct gs_parking *pk, uint32_t uid)
{
	struct gs_parking_hung *at = pk->hung;

	for (size_t i = 0; i < GS_PARK_HUNG; i++) {
		if (pk->hung[i].ns && pk->hung[i].uid == uid) {
			at = &pk->hung[i];
			break;
		}
		if (pk->hung[i].ns < at->ns)
			at = &pk->hung[i];
	}
	*at = (struct gs_parking_hung){ .uid = uid, .ns = gs_now_ns() };
}

static void lose_helper(struct gs_parking *pk, int code)
{
	struct gs_parked *p = pk->asked_of, *q;
	bool was_busy = pk->busy;

	gs_parking_leave_helper(pk, true);
	if (!was_busy)
		return; /* no fault: the helper ends by itself after a minute without a request */
	gs_count(pk->hub, GS_SVC_PARK_HELPERS);
	gs_log(LOG_WARNING, "the helper that parks %s; another one takes its place",
	       code == -ETIMEDOUT ? "hangs and was killed" : "died");
	if (p && code == -ETIMEDOUT && p->uid) {
		note_hung(pk, p->uid);
		gs_limited(pk->hub, p->uid, GS_LIMIT_PARKING);
	}
	if (!p && pk->asked.op == GS_PARK_HELLO) { /* it died before its first answer */
		pk->greeted = true;
		pk->usable = -ENOSYS;
		pk->hello_ns = gs_now_ns();
	}
	/*
	 * The helper may have left other processes locked too, so ask for their states. Parked
	 * processes stay parked.
	 */
	DL_FOREACH(pk->all, q)
		if (q != p && q->over == GS_PARKED_UNDER_WAY)
			q->core.known = false;
	end_call(pk, code, NULL);
}

static int on_answer(sd_event_source *src, int fd, uint32_t revents, void *user)
{
	struct gs_parking *pk = user;
	struct gs_park_answer a;
	int r = gs_park_helper_answer(&pk->helper, &pk->asked, &a);

	if (r == -EAGAIN)
		return 0;
	if (r || !pk->busy) { /* the helper died, or its answer fits no request */
		lose_helper(pk, -EPIPE);
	} else if (a.op == GS_PARK_HELLO) {
		pk->busy = false;
		pk->greeted = true;
		pk->usable = a.code;
		pk->version = a.version;
		pk->hello_ns = gs_now_ns();
	} else {
		end_call(pk, 0, &a);
	}
	gs_parking_go_on(pk);
	return 0;
}

/* ---- asking ----------------------------------------------------------------------------------- */

static int start_helper(struct gs_parking *pk, struct gs_error *err)
{
	int r = gs_park_helper_start(&pk->helper, err);

	if (r)
		return r;
	r = sd_event_add_io(pk->hub->event, &pk->answers, pk->helper.fd, EPOLLIN, on_answer, pk);
	if (r >= 0)
		return 0;
	gs_parking_leave_helper(pk, true);
	return gs_fail(err, r, "the event loop: %s", strerror(-r));
}

static uint64_t time_for(const struct gs_parked *p, enum gs_park_op op)
{
	uint64_t bytes = p ? gs_parked_bytes(p) : 0;

	switch (op) {
	case GS_PARK_HELLO:
		return HELLO_NS;
	case GS_PARK_LOCK:
		return LOCK_MS * NS_PER_MS + STATE_NS;
	case GS_PARK_OUT:
	case GS_PARK_IN:
		bytes = bytes ? bytes : COPY_UNKNOWN;
		return COPY_NS + (bytes >> 30) * COPY_GIB_NS;
	default:
		return STATE_NS;
	}
}

static void send_to_helper(struct gs_parking *pk, struct gs_parked *p, enum gs_park_op op)
{
	struct gs_park_request *rq = &pk->asked;

	*rq = (struct gs_park_request){ .op = op, .seq = ++pk->seq };
	if (p) {
		rq->pid = p->pid;
		rq->start_ns = p->start_ns;
		rq->timeout_ms = (uint32_t)((double)LOCK_MS * gs_env()->dilate);
	}
	for (size_t i = 0; p && i < GS_PARK_GPUS; i++) {
		rq->bytes[i] = p->bytes[i];
		rq->margin[i] = op == GS_PARK_IN ? gs_park_margin(&pk->use[i], gs_now_ns()) : 0;
	}
	pk->busy = true;
	pk->asked_of = p;
	pk->began_ns = gs_now_ns();
	if (op == GS_PARK_LOCK)
		p->locked_ns = pk->began_ns;
	pk->deadline_ns = pk->began_ns + dilated(time_for(p, op));
	gs_park_progress_begin(&pk->progress, pk->hub, rq);
	if (gs_park_helper_ask(&pk->helper, rq))
		lose_helper(pk, -EPIPE);
}

static void fail_call(struct gs_parking *pk, struct gs_parked *p, enum gs_park_op op, int code)
{
	const struct gs_park_end end = { .op = op, .code = code, .state = -1 };

	took(pk, p, &end);
}

static void ask(struct gs_parking *pk, struct gs_parked *p, enum gs_park_op op)
{
	struct gs_error err = { 0 };
	bool unusable = pk->greeted && pk->usable;

	if (unusable && gs_now_ns() - pk->hello_ns < dilated(HELLO_AGAIN_NS)) {
		fail_call(pk, p, op, -ENOSYS);
		return;
	}
	if (unusable) /* libcuda may be installed by now: start a new helper, which looks again */
		gs_parking_leave_helper(pk, true);
	if (!pk->helper.pid && start_helper(pk, &err)) {
		gs_log(LOG_WARNING, "%s", err.text);
		fail_call(pk, p, op, -ECHILD);
		return;
	}
	if (pk->greeted)
		send_to_helper(pk, p, op);
	else
		send_to_helper(pk, NULL, GS_PARK_HELLO);
}

/*
 * Returns the rank of a call; the lowest is made first. A locked process comes first, since its
 * program stands still; then GS_PARK_STATE; then processes that root parked. Within a rank, the
 * list's order decides.
 */
static unsigned int rank(const struct gs_parked *p, enum gs_park_op op)
{
	if (op == GS_PARK_UNLOCK || (p->core.known && p->core.is == GS_PARK_LOCKED))
		return 0;
	return op == GS_PARK_STATE ? 1 : p->by ? 3 : 2;
}

static void await_resume(struct gs_parking *pk, struct gs_parked *p)
{
	if (gs_now_ns() - p->aside_ns < dilated(RESUME_NS)) {
		p->core.not_before_ns = gs_now_ns() + RESUME_LOOK_NS;
		return;
	}
	gs_fail(&p->why, -EREMOTEIO, "it is suspended, and could not be let run within 5 s");
	gs_park_give_up(&p->core);
	gs_count(pk->hub, GS_SVC_PARK_FAILED);
}

struct chosen {
	struct gs_parked *p;
	enum gs_park_op op;
	uint64_t at_ns; /* when to look again */
};

static void look(struct gs_parking *pk, struct gs_parked *p, struct chosen *c)
{
	struct gs_park_facts f = gs_parking_facts(pk, p);
	struct gs_park_next next = gs_park_next(&p->core, &f);

	if (next.act == GS_PARK_ACT_RESUME) {
		await_resume(pk, p);
		next = (struct gs_park_next){ GS_PARK_ACT_WAIT, .at_ns = p->core.not_before_ns };
	}
	if (next.act == GS_PARK_ACT_CALL && next.op == GS_PARK_LOCK &&
	    p->probe == GS_PARK_PROBE_AWAITED && f.now_ns < p->probe_ns)
		next = (struct gs_park_next){ GS_PARK_ACT_WAIT, .at_ns = p->probe_ns };
	switch (next.act) {
	case GS_PARK_ACT_CALL:
		if (!c->p || rank(p, next.op) < rank(c->p, c->op))
			*c = (struct chosen){ p, next.op, c->at_ns };
		break;
	case GS_PARK_ACT_WAIT:
		c->at_ns = next.at_ns < c->at_ns ? next.at_ns : c->at_ns;
		break;
	default:
		gs_parking_settle(pk, p, next.act);
	}
}

void gs_parking_go_on(struct gs_parking *pk)
{
	struct chosen c = { .at_ns = UINT64_MAX };
	struct gs_parked *p, *next;

	if (!pk->due)
		return;
	DL_FOREACH_SAFE(pk->all, p, next)
		if (p != pk->asked_of)
			look(pk, p, &c);
	gs_park_newcomers_tend(pk); /* first: new programs must wait before a restore begins */
	if (!pk->busy && c.p) {
		ask(pk, c.p, c.op);
		if (!pk->busy) /* the call could not be made: look again now */
			c.at_ns = gs_now_ns();
	}
	if (pk->busy && pk->deadline_ns < c.at_ns)
		c.at_ns = pk->deadline_ns;
	gs_loop_plan(pk->due, c.at_ns);
}

static int on_due(sd_event_source *src, uint64_t us, void *user)
{
	struct gs_parking *pk = user;

	if (pk->busy && gs_now_ns() >= pk->deadline_ns)
		lose_helper(pk, -ETIMEDOUT);
	gs_parking_reap(pk);
	gs_parking_go_on(pk);
	return 0;
}

int gs_parking_timer(struct gs_parking *pk, struct gs_error *err)
{
	int r = gs_loop_timer(pk->hub, on_due, pk, &pk->due);

	return r < 0 ? gs_fail(err, r, "the event loop: %s", strerror(-r)) : 0;
}
