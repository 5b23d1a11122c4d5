// SPDX-License-Identifier: MIT
/* parking_calls.c - chooses the next process, and handles the helper's answers and deaths */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <string.h>
#include <utlist.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "basic/env.h"
#include "basic/log.h"
#include "basic/user_limits.h"
#include "hub/limited.h"
#include "hub/loop.h"
#include "park/parking.h"
#include "park/parking_room.h"
#include "park/ranks.h"

#define LOCK_MS 10000u
#define RESUME_NS (5 * NS_PER_S)
#define RESUME_LOOK_NS (50 * NS_PER_MS)
#define HELLO_NS (60 * NS_PER_S)
#define STATE_NS NS_PER_S
#define COPY_NS (10 * NS_PER_S)    /* after this a copy out or in is set aside */
#define COPY_GIB_NS (2 * NS_PER_S) /* added to that for each GiB */
#define COPY_UNKNOWN (10ull << 30) /* bytes to assume if the size is unknown */
#define ASIDE_AGAIN_NS NS_PER_S    /* pause if no copy more can be set aside */
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
	else if (end->op == GS_PARK_IN && end->result == GS_PARK_CU_INVALID)
		gs_fail(why, -EREMOTEIO,
			"it had memory of another process open (libcuda said 1): it never comes "
			"back");
	else if (end->op == GS_PARK_OUT && end->result == GS_PARK_CU_NOT_SUPPORTED)
		gs_fail(why, -ENOTSUP,
			"libcuda does not park it: it has managed memory (libcuda said 801)");
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
	case -EXDEV:
		gs_fail(why, -ENOTSUP,
			"it has memory of another process open (CUDA IPC): it would never come "
			"back");
		return;
	case -ESRCH:
		gs_fail(why, -ESRCH, "it has ended");
		return;
	default:
		gs_fail(why, end->code, "the helper: %s", strerror(-end->code));
	}
}

/* It held more than was known when it was checked. */
static void say_no_room(struct gs_parking *pk, struct gs_parked *p)
{
	struct gs_park_check c = gs_parking_room(pk, p);

	c.bytes_known = true;
	c.bytes = gs_parked_bytes(p);
	if (!gs_park_check_memory(&c, &p->why))
		gs_fail(&p->why, -ENOMEM, "the host had no room for its %.1f GiB",
			(double)c.bytes / (double)(1ull << 30));
}

/* ---- how a call ended ------------------------------------------------------------------------- */

static void took(struct gs_parking *pk, struct gs_parked *p, const struct gs_park_end *end)
{
	struct gs_park_facts f = gs_parking_facts(pk, p);
	bool waited = p->core.short_of_memory, failed = p->core.failed;

	gs_park_core_took(&p->core, end, &f);
	if (p->core.short_of_memory && !waited)
		gs_count(pk->hub, GS_SVC_PARK_WAITS);
	if (end->code == -EDQUOT)
		say_no_room(pk, p);
	else if (end->code != -ENOSPC)
		say(end, &p->why);
	if (p->core.failed && !failed) {
		gs_count(pk->hub, GS_SVC_PARK_FAILED);
		gs_log(LOG_NOTICE, "process %d (%s): %s", p->pid, p->comm, p->why.text);
	}
	gs_completions_happened(&pk->hub->waits, GS_ON_PARK);
}

/* A call that has ended. */
struct ended {
	const struct gs_park_request *rq;
	struct gs_parked *p; /* NULL: HELLO, or the process has ended */
	uint64_t began_ns;
};

static void note_copied(struct gs_parked *p, const struct gs_park_end *end,
			const struct gs_park_answer *a, uint64_t took)
{
	if (end->code == -ENOSPC) {
		p->lacking = a->gpu;
		p->free_bytes = a->bytes[a->gpu];
	}
	if (end->code == -EDQUOT)
		memcpy(p->bytes, a->bytes, sizeof(p->bytes));
	if (end->code || end->result)
		return;
	if (end->op == GS_PARK_OUT) {
		memcpy(p->bytes, a->bytes, sizeof(p->bytes));
		p->out_ns = took;
		p->kept_bytes = a->kept;
	} else if (end->op == GS_PARK_IN) {
		p->restore_ns = took;
	}
}

/* If libcuda does not park it today, it will not tomorrow, and each try stops the program. */
static void note_unfit(struct gs_parking *pk, const struct gs_parked *p)
{
	struct gs_process *process = gs_park_idler_process(pk, p->pid, p->start_ns);

	if (process)
		process->of[GS_PROCESS_UNFIT] = pk;
}

static void take_end(struct gs_parking *pk, const struct ended *e, int code,
		     const struct gs_park_answer *a)
{
	const struct gs_park_end end = {
		.op = (enum gs_park_op)e->rq->op,
		.code = code ? code : a->code,
		.result = a ? a->result : 0,
		.state = a ? a->state : -1,
	};
	uint64_t now = gs_now_ns();

	if (!e->p)
		return;
	gs_park_turns_took(&pk->turns, e->p->uid, now, now - e->began_ns);
	e->p->hangs = false;
	if (end.op == GS_PARK_OUT && end.result == GS_PARK_CU_NOT_SUPPORTED)
		note_unfit(pk, e->p);
	if (a && !a->code && a->unsure)
		gs_count(pk->hub, GS_SVC_PARK_UNSURE);
	if (a)
		note_copied(e->p, &end, a, now - e->began_ns);
	took(pk, e->p, &end);
}

static void end_call(struct gs_parking *pk, int code, const struct gs_park_answer *a)
{
	const struct gs_park_request none = { .op = GS_PARK_HELLO };
	const struct ended e = { &pk->asked, pk->asked_of, pk->began_ns };

	pk->busy = false;
	pk->asked_of = NULL;
	gs_park_progress_begin(&pk->progress, pk->hub, &none);
	take_end(pk, &e, code, a);
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

static void note_hung(struct gs_parking *pk, uint32_t uid)
{
	gs_park_turns_hung(&pk->turns, uid, gs_now_ns(), gs_env()->dilate);
	gs_limited(pk->hub, uid, GS_LIMIT_PARKING);
}

/*
 * A helper that is gone may have left other processes locked too, so asks for their states. Parked
 * processes stay parked.
 */
static void forget_states(struct gs_parking *pk, const struct gs_parked *but)
{
	struct gs_parked *q;

	DL_FOREACH(pk->all, q)
		if (q != but && q->over == GS_PARKED_UNDER_WAY)
			q->core.known = false;
}

static void lose_helper(struct gs_parking *pk, int code)
{
	struct gs_parked *p = pk->asked_of;
	bool was_busy = pk->busy;

	gs_parking_leave_helper(pk, true);
	if (!was_busy)
		return; /* no fault: the helper ends by itself after a minute without a request */
	gs_count(pk->hub, GS_SVC_PARK_HELPERS);
	gs_log(LOG_WARNING, "the helper that parks %s; another one takes its place",
	       code == -ETIMEDOUT ? "hangs and was killed" : "died");
	if (p && code == -ETIMEDOUT && p->uid)
		note_hung(pk, p->uid);
	if (!p && pk->asked.op == GS_PARK_HELLO) { /* it died before its first answer */
		pk->greeted = true;
		pk->usable = -ENOSYS;
		pk->hello_ns = gs_now_ns();
	}
	forget_states(pk, p);
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

/* ---- copies that were set aside --------------------------------------------------------------- */

static void end_aside(struct gs_parking *pk, struct gs_park_aside *l, int code,
		      const struct gs_park_answer *a)
{
	const struct ended e = { &l->asked, l->asked_of, l->began_ns };

	l->answers = sd_event_source_disable_unref(l->answers);
	gs_park_helper_leave(&l->helper, false); /* it unlocks the process by itself */
	bury(pk, &l->helper);
	l->helper = (struct gs_park_helper){ .fd = -1, .pidfd = -1 };
	l->asked_of = NULL;
	take_end(pk, &e, code, a);
	if (e.p && !e.p->core.lost && e.p->core.is != GS_PARK_IS_OUT)
		e.p->core.known = false;
}

static int on_aside(sd_event_source *src, int fd, uint32_t revents, void *user)
{
	struct gs_park_aside *l = user;
	struct gs_parking *pk = l->room;
	struct gs_park_answer a;
	int r = gs_park_helper_answer(&l->helper, &l->asked, &a);

	if (r == -EAGAIN)
		return 0;
	end_aside(pk, l, r ? -EPIPE : 0, r ? NULL : &a);
	gs_parking_go_on(pk);
	return 0;
}

static unsigned int asides_of(const struct gs_parking *pk, uint32_t uid)
{
	unsigned int n = 0;

	for (size_t i = 0; i < GS_PARK_ASIDE; i++)
		n += pk->aside[i].helper.pid && pk->aside[i].uid == uid;
	return n;
}

/* True if root itself asked for what is done with @p. */
static bool is_by_root(const struct gs_parked *p)
{
	return p->urgent || (!p->by && !p->by_itself);
}

/*
 * The places that a copy for @p may take: the last is for root's programs, and the one before also
 * for users' programs that root asks for.
 */
static size_t places_for(const struct gs_parked *p)
{
	if (!p->uid)
		return GS_PARK_ASIDE;
	return is_by_root(p) ? GS_PARK_ASIDE - 1 : GS_PARK_ASIDE - 2;
}

static struct gs_park_aside *free_place(struct gs_parking *pk, size_t places)
{
	for (size_t i = 0; i < places; i++)
		if (!pk->aside[i].helper.pid)
			return &pk->aside[i];
	return NULL;
}

/*
 * No copy begins without a place for it. Otherwise a copy that hangs could never be set aside, and
 * would keep the helper from all others.
 */
static bool has_place(struct gs_parking *pk, const struct gs_parked *p)
{
	return free_place(pk, places_for(p));
}

/* Leaves the current copy to its helper. The next call gets another one. */
static bool set_aside(struct gs_parking *pk)
{
	const struct gs_park_request none = { .op = GS_PARK_HELLO };
	struct gs_parked *p = pk->asked_of;
	uint32_t uid = pk->asked_uid;
	struct gs_park_aside *l = free_place(pk, pk->asked_places);

	if (!l)
		return false;
	/* an event loop takes a descriptor once only */
	pk->answers = sd_event_source_disable_unref(pk->answers);
	if (sd_event_add_io(pk->hub->event, &l->answers, pk->helper.fd, EPOLLIN, on_aside, l) < 0) {
		lose_helper(pk, -ETIMEDOUT);
		return true;
	}
	l->room = pk;
	l->helper = pk->helper;
	l->asked = pk->asked;
	l->asked_of = p;
	l->began_ns = pk->began_ns;
	l->uid = uid;
	pk->helper = (struct gs_park_helper){ .fd = -1, .pidfd = -1 };
	pk->greeted = pk->busy = false;
	pk->asked_of = NULL;
	gs_park_progress_begin(&pk->progress, pk->hub, &none);
	forget_states(pk, p);
	gs_count(pk->hub, GS_SVC_PARK_ASIDE);
	if (!p)
		return true;
	p->hangs = true;
	gs_fail(&p->why, -ETIMEDOUT, "libcuda still has to %s, after %" PRIu64 " s",
		op_words[l->asked.op], (uint64_t)((gs_now_ns() - l->began_ns) / NS_PER_S));
	gs_log(LOG_WARNING, "process %d (%s): %s; others go on meanwhile", p->pid, p->comm,
	       p->why.text);
	gs_park_turns_took(&pk->turns, uid, gs_now_ns(), gs_now_ns() - l->began_ns);
	if (uid)
		note_hung(pk, uid);
	gs_completions_happened(&pk->hub->waits, GS_ON_PARK);
	return true;
}

static bool is_copy(const struct gs_park_request *rq)
{
	return rq->op == GS_PARK_OUT || rq->op == GS_PARK_IN;
}

/* A call took too long. One that only asks, locks or unlocks is ended together with its helper. */
static void overdue(struct gs_parking *pk)
{
	if (!is_copy(&pk->asked))
		lose_helper(pk, -ETIMEDOUT);
	else if (!set_aside(pk))
		pk->deadline_ns = gs_now_ns() + ASIDE_AGAIN_NS;
}

/*
 * Root's `unpark` does not wait until a user's copy is overdue: with much memory that takes
 * minutes. True: the copy was set aside. Otherwise *inout_at_ns is when to try, at the latest.
 */
static bool hurry(struct gs_parking *pk, const struct gs_parked *next, uint64_t *inout_at_ns)
{
	uint64_t now = gs_now_ns(), at = pk->began_ns + dilated(COPY_NS);

	if (!pk->busy || !next || !next->urgent || !pk->asked_uid || !is_copy(&pk->asked) ||
	    (pk->asked_of && is_by_root(pk->asked_of)))
		return false;
	if (now >= at && set_aside(pk))
		return true;
	at = now < at ? at : now + ASIDE_AGAIN_NS;
	*inout_at_ns = at < *inout_at_ns ? at : *inout_at_ns;
	return false;
}

void gs_parking_leave_aside(struct gs_parking *pk)
{
	for (size_t i = 0; i < GS_PARK_ASIDE; i++) {
		struct gs_park_aside *l = &pk->aside[i];

		if (!l->helper.pid)
			continue;
		l->answers = sd_event_source_disable_unref(l->answers);
		gs_park_helper_leave(&l->helper, false);
		bury(pk, &l->helper);
		l->helper = (struct gs_park_helper){ .fd = -1, .pidfd = -1 };
	}
}

static bool is_asked(const struct gs_parking *pk, const struct gs_parked *p)
{
	bool asked = pk->asked_of == p;

	for (size_t i = 0; i < GS_PARK_ASIDE; i++)
		asked |= pk->aside[i].asked_of == p;
	return asked;
}

/*
 * Bytes of a GPU that a restore must leave, since others were promised them. Root's
 * wishes do not wait for programs that have yet to take theirs.
 */
static uint64_t promised(struct gs_parking *pk, const struct gs_parked *p, size_t gpu)
{
	uint64_t sum = gs_park_claims_of_restores(pk, gpu);

	return p->uid && !is_by_root(p) ? sum + gs_park_claims_open(pk, (uint32_t)gpu, 0) : sum;
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
		if (op == GS_PARK_IN)
			rq->margin[i] =
				gs_park_margin(&pk->use[i], gs_now_ns()) + promised(pk, p, i);
	}
	if (p && op == GS_PARK_OUT) {
		struct gs_park_check c = gs_parking_room(pk, p);

		rq->room = gs_park_check_room(&c);
	}
	pk->busy = true;
	pk->asked_of = p;
	pk->asked_uid = p ? p->uid : 0;
	pk->asked_places = p ? places_for(p) : 0;
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
 * Returns the rank of a call; the lowest is made first. Processes that root wants back come first;
 * then a locked one, since its program stands still; then root's own, and those that root parked.
 * The others, idle ones and those that a policy parked included, take turns by user. Within a rank,
 * the list's order decides.
 */
static unsigned int rank(const struct gs_parked *p, enum gs_park_op op)
{
	if (p->urgent)
		return 0;
	if (op == GS_PARK_UNLOCK || (p->core.known && p->core.is == GS_PARK_LOCKED))
		return 1;
	return !p->uid || is_by_root(p) ? 2 : 3;
}

/* True if a call for @p goes before the one that was chosen. */
static bool goes_first(const struct gs_parking *pk, const struct gs_parked *p, enum gs_park_op op,
		       const struct gs_parked *chosen, enum gs_park_op chosen_op)
{
	unsigned int a = rank(p, op), b = chosen ? rank(chosen, chosen_op) : a + 1;
	uint64_t now = gs_now_ns();

	if (a != b)
		return a < b;
	return gs_park_turns_of(&pk->turns, p->uid, now) <
	       gs_park_turns_of(&pk->turns, chosen->uid, now);
}

/*
 * The time until which no call is made for @p, since calls for its user hung, or copies that hang
 * have all places; 0: now.
 */
static uint64_t kept_until(struct gs_parking *pk, const struct gs_parked *p, enum gs_park_op op)
{
	if (op == GS_PARK_IN && !has_place(pk, p))
		return UINT64_MAX; /* until one of them ends */
	if (!p->uid || is_by_root(p) || op == GS_PARK_UNLOCK)
		return 0;
	if (asides_of(pk, p->uid) >= GS_USER_MAY_COPIES)
		return UINT64_MAX; /* until one of them ends */
	return gs_park_turns_waits(&pk->turns, p->uid, gs_now_ns());
}

static void await_resume(struct gs_parking *pk, struct gs_parked *p)
{
	if (gs_now_ns() - p->aside_ns < dilated(RESUME_NS)) {
		p->core.not_before_ns = gs_now_ns() + RESUME_LOOK_NS;
		return;
	}
	gs_fail(&p->why, -EREMOTEIO, "it is suspended, and could not be let run within 5 s");
	gs_park_core_give_up(&p->core);
	gs_count(pk->hub, GS_SVC_PARK_FAILED);
}

/* Gives a park up if @p has no place: a program must not wait locked, or without the engine. */
static bool may_go_out(struct gs_parking *pk, struct gs_parked *p, enum gs_park_op op)
{
	if ((op != GS_PARK_LOCK && op != GS_PARK_OUT) || has_place(pk, p))
		return true;
	gs_fail(&p->why, -EBUSY, "copies that hang have all helpers: nothing more is parked");
	gs_park_core_give_up(&p->core);
	gs_count(pk->hub, GS_SVC_PARK_FAILED);
	return false;
}

struct chosen {
	struct gs_parked *p;
	enum gs_park_op op;
	uint64_t at_ns; /* when to look again */
};

/* Before the lock: a rank of a job is left alone. */
static void await_ranks(struct gs_parking *pk, struct gs_parked *p, struct gs_park_next *inout_next)
{
	struct gs_error why = { 0 };
	uint64_t at = 0;
	int r = gs_park_ranks_look(p, gs_now_ns(), &at, &why);

	if (!r)
		return;
	if (r != -EAGAIN) {
		p->why = why;
		gs_park_core_give_up(&p->core);
		gs_count(pk->hub, GS_SVC_PARK_FAILED);
	}
	*inout_next = (struct gs_park_next){ GS_PARK_ACT_WAIT, .at_ns = at };
}

static void look(struct gs_parking *pk, struct gs_parked *p, struct chosen *c)
{
	struct gs_park_facts f = gs_parking_facts(pk, p);
	struct gs_park_next next = gs_park_core_next(&p->core, &f);

	if (next.act == GS_PARK_ACT_RESUME) {
		await_resume(pk, p);
		next = (struct gs_park_next){ GS_PARK_ACT_WAIT, .at_ns = p->core.not_before_ns };
	}
	if (next.act == GS_PARK_ACT_CALL && next.op == GS_PARK_LOCK &&
	    p->probe == GS_PARK_PROBE_AWAITED && f.now_ns < p->probe_ns)
		next = (struct gs_park_next){ GS_PARK_ACT_WAIT, .at_ns = p->probe_ns };
	if (next.act == GS_PARK_ACT_CALL && next.op == GS_PARK_LOCK)
		await_ranks(pk, p, &next);
	if (next.act == GS_PARK_ACT_CALL && !may_go_out(pk, p, next.op))
		next = gs_park_core_next(&p->core, &f);
	if (next.act == GS_PARK_ACT_CALL && kept_until(pk, p, next.op))
		next = (struct gs_park_next){ GS_PARK_ACT_WAIT,
					      .at_ns = kept_until(pk, p, next.op) };
	switch (next.act) {
	case GS_PARK_ACT_CALL:
		if (goes_first(pk, p, next.op, c->p, c->op))
			*c = (struct chosen){ p, next.op, c->at_ns };
		break;
	case GS_PARK_ACT_WAIT:
		c->at_ns = next.at_ns < c->at_ns ? next.at_ns : c->at_ns;
		break;
	default:
		gs_parking_settle(pk, p, next.act);
	}
}

static struct chosen choose(struct gs_parking *pk)
{
	struct chosen c = { .at_ns = UINT64_MAX };
	struct gs_parked *p, *next;

	DL_FOREACH_SAFE(pk->all, p, next)
		if (!is_asked(pk, p))
			look(pk, p, &c);
	return c;
}

void gs_parking_go_on(struct gs_parking *pk)
{
	struct chosen c;

	if (!pk->due)
		return;
	c = choose(pk);
	if (hurry(pk, c.p, &c.at_ns))
		c = choose(pk);     /* states are not known any more */
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
		overdue(pk);
	gs_parking_reap(pk);
	gs_parking_go_on(pk);
	return 0;
}

int gs_parking_timer(struct gs_parking *pk, struct gs_error *err)
{
	int r = gs_loop_timer(pk->hub, on_due, pk, &pk->due);

	return r < 0 ? gs_fail(err, r, "the event loop: %s", strerror(-r)) : 0;
}
