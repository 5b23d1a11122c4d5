// SPDX-License-Identifier: MIT
#include "control/told_requests.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "basic/quiet.h"
#include "control/control.h"
#include "control/waker.h"
#include "policy/pstate.h"
#include "control/where_works.h"

#define WAKES 200u /* wake-ups by one page in a second */
#define LOOKS 2u   /* checks of a page within the rest that ends a request */

struct gs_told_requests {
	struct gs_control *ctl;
	struct gs_request_source source;
	struct gs_request_words words; /* the words read last from the source */
	sd_event_source *wake, *look;
	struct gs_waker *waker; /* NULL: gs_told_requests_wake() wakes us */
	struct gs_where where;
	unsigned int wakes;
	/*
	 * @open: a request is open. @stuck: it went on too long without a launch, and counts as
	 * ended until the next rest.
	 */
	bool open, stuck;
	/*
	 * @began_ns: when the request began, or was last seen to launch. @launches: the number at
	 * that time.
	 */
	uint64_t began_ns, launches;
	uint32_t begins;          /* the source's count, as handled last */
	uint64_t arrived_ns;      /* when the open request arrived */
	uint32_t arrivals, blurs; /* the source's counts, as handled last */
	bool blurred;             /* begin or end of the open request is uncertain */
	/* The page has woken us too often: it is ignored until the second is over. */
	bool deaf;
	uint32_t from; /* enum gpusched_request_from, of the last request; 0: none has begun */
};

static void refresh(struct gs_told_requests *rq)
{
	rq->source.read(rq->source.of, &rq->words);
}

/* Checks the value, since the program may write anything there. */
static uint32_t quiet_of(const struct gs_told_requests *rq)
{
	uint32_t us = rq->words.quiet_us;

	return us >= GS_QUIET_LEAST_US && us <= GS_QUIET_MOST_US ? us : 0;
}

uint32_t gs_told_requests_quiet_us(struct gs_told_requests *rq)
{
	refresh(rq);
	return quiet_of(rq);
}

uint32_t gs_told_requests_from(const struct gs_told_requests *rq)
{
	return rq->from ? rq->from : rq->source.from;
}

bool gs_told_requests_open(const struct gs_told_requests *rq)
{
	return rq->open;
}

/* The process's first TSG; 0: it has none, as a client of MPS. */
static uint64_t first_id(const struct gs_told_requests *rq)
{
	for (unsigned int i = 0; i < rq->where.n; i++)
		if (rq->where.tsgs[i].there)
			return rq->where.tsgs[i].id;
	return 0;
}

/*
 * Returns the shortest deadline of the process's TSGs in ns; 0: none has one. Sets *ret_id to the
 * first TSG with any deadline. It stands for the process: its figures count all requests, even if another
 * TSG's deadline is the shortest for a time.
 */
static uint64_t deadline_of(const struct gs_told_requests *rq, uint64_t *ret_id)
{
	uint64_t least_us = 0;
	struct gpusched_tsg rec;

	for (unsigned int i = 0; i < rq->where.n; i++) {
		if (!rq->where.tsgs[i].there ||
		    gs_table_get(rq->ctl->hub->table, &rq->where.tsgs[i].key, &rec) ||
		    !(rec.task.known & GPUSCHED_KNOWN_DEADLINE) || !rec.task.deadline_us)
			continue;
		if (!least_us)
			*ret_id = rec.task.id;
		if (!least_us || rec.task.deadline_us < least_us)
			least_us = rec.task.deadline_us;
	}
	return least_us * NS_PER_US;
}

/*
 * Reports that the open request has ended at @end, if its begin and end are known: other requests
 * may have begun and ended between two checks.
 */
static void tell_done(struct gs_told_requests *rq, uint64_t end)
{
	const struct gs_request_words *s = &rq->words;
	struct gs_request_done done = { 0 };
	bool known;

	if (rq->from == GPUSCHED_REQUEST_HINT)
		known = s->arrivals == rq->arrivals && s->blurs == rq->blurs;
	else
		known = s->begins == rq->begins && quiet_of(rq);
	if (!known || rq->blurred || end < rq->arrived_ns || end > gs_now_ns())
		return;
	done.end_ns = end;
	done.took_ns = end - rq->arrived_ns;
	done.id = first_id(rq);
	done.deadline_ns = deadline_of(rq, &done.id);
	if (done.id)
		gs_observers_request(&rq->ctl->hub->observers, &done);
}

static void tell_tsg(struct gs_told_requests *rq, struct gs_where_tsg *tsg, bool begins)
{
	struct gs_hub *hub = rq->ctl->hub;
	enum gpusched_run_op op = begins ? GPUSCHED_RUN_REQUEST_BEGIN : GPUSCHED_RUN_REQUEST_END;

	tsg->told = begins;
	if (gs_stock_ask(hub->policy, op, &tsg->key, GS_REQUEST_ARG(rq->from, quiet_of(rq))))
		return;
	if (hub->engine)
		gs_engine_touch(hub->engine, &tsg->key);
}

/*
 * Reports the open request's begin to the TSGs in which requests work, or its end to those that got
 * the begin.
 */
static bool tell_tsgs(struct gs_told_requests *rq)
{
	bool any = false;

	for (unsigned int i = 0; rq->ctl->hub->policy && i < rq->where.n; i++) {
		struct gs_where_tsg *tsg = &rq->where.tsgs[i];
		bool begins = rq->open && gs_where_works(&rq->where, tsg);

		/*
		 * a TSG that got a begin keeps it until the end, even if requests no longer work in
		 * it
		 */
		if (!tsg->there || tsg->told == begins || (rq->open && tsg->told))
			continue;
		tell_tsg(rq, tsg, begins);
		any = true;
	}
	return any;
}

static void tell(struct gs_told_requests *rq, bool begins)
{
	struct gs_hub *hub = rq->ctl->hub;

	rq->open = begins;
	if (begins) {
		rq->began_ns = rq->arrived_ns = gs_now_ns();
		rq->launches = rq->words.launches;
		gs_where_request(&rq->where, hub->account, rq->began_ns);
	}
	tell_tsgs(rq);
	if (hub->policy)
		gs_stock_nudge(hub->policy);
}

/* Reports the open request to further TSGs, if it turns out to work in them. */
static void tell_others(struct gs_told_requests *rq, uint64_t now)
{
	gs_where_look(&rq->where, rq->ctl->hub->account, now);
	if (tell_tsgs(rq))
		gs_stock_nudge(rq->ctl->hub->policy);
}

static void look_at(struct gs_told_requests *rq, uint64_t at)
{
	sd_event_source_set_time(rq->look, at / NS_PER_US);
	sd_event_source_set_enabled(rq->look, SD_EVENT_ONESHOT);
}

/* True if the program has been quiet. If not, *ret_again is when to check again. */
static bool is_quiet(const struct gs_told_requests *rq, uint64_t now, uint64_t *ret_again)
{
	uint64_t rest = rq->words.rest_ns, quiet = quiet_of(rq) * NS_PER_US;

	if (rq->from == GPUSCHED_REQUEST_HINT) {
		*ret_again = now + GS_QUIET_MOST_US * NS_PER_US;
		return !rq->words.hinted;
	}
	if (!quiet) /* the program did not learn a value for quiet */
		return true;
	*ret_again = rest && rest <= now ? rest + quiet : now + quiet / LOOKS;
	return rest && rest <= now && now - rest >= quiet;
}

/*
 * True if the open request has made no launch for too long. A service that is never quiet goes on
 * launching; one that hangs does not.
 */
static bool is_stuck(struct gs_told_requests *rq, uint64_t now)
{
	uint64_t launches = rq->words.launches;

	if (now <= rq->began_ns + GS_REQUEST_MOST_NS)
		return false;
	if (launches == rq->launches)
		return true;
	rq->launches = launches;
	rq->began_ns = now;
	return false;
}

static void look(struct gs_told_requests *rq, uint64_t now)
{
	uint64_t again = now;
	bool quiet = is_quiet(rq, now, &again);

	if (quiet)
		rq->stuck = false;
	/*
	 * A hint's end is noticed now. For other requests the page says since when the program
	 * rests.
	 */
	if (rq->open && quiet)
		tell_done(rq, rq->from == GPUSCHED_REQUEST_HINT ? now : rq->words.rest_ns);
	if (rq->open && (quiet || is_stuck(rq, now))) {
		rq->stuck = !quiet;
		tell(rq, false);
	} else if (rq->open) {
		tell_others(rq, now);
	}
	if (rq->open || rq->stuck)
		look_at(rq, again);
}

static int on_look(sd_event_source *src, uint64_t us, void *user)
{
	refresh(user);
	look(user, gs_now_ns());
	return 0;
}

/*
 * Launches within a hinted request begin no other request. A hint ends a request that the agent had
 * guessed from launches.
 */
static void take_hint(struct gs_told_requests *rq, uint32_t begins)
{
	if (!rq->open)
		return;
	if (rq->from != GPUSCHED_REQUEST_HINT && rq->words.hinted)
		tell(rq, false);
	else if (rq->from == GPUSCHED_REQUEST_HINT && rq->words.arrivals == rq->arrivals)
		rq->begins = begins;
}

/* Reads the source: a request may have ended, and another one begun. */
static void take_word(struct gs_told_requests *rq)
{
	bool was_open = rq->open;
	uint32_t begins, arrivals;

	refresh(rq);
	begins = rq->words.begins;
	take_hint(rq, begins);
	if (rq->open)
		look(rq, gs_now_ns());
	if (rq->open || rq->stuck || begins == rq->begins)
		return;
	rq->from = rq->words.hinted ? GPUSCHED_REQUEST_HINT : rq->source.from;
	arrivals = rq->words.arrivals - rq->arrivals;
	/* without a hint, the first request may have begun before anything was known of it */
	rq->blurred = rq->from == GPUSCHED_REQUEST_HINT ? arrivals != 1
							: was_open || arrivals || !rq->begins;
	rq->begins = begins;
	rq->arrivals += arrivals;
	rq->blurs = rq->words.blurs;
	tell(rq, true);
	look(rq, gs_now_ns());
}

void gs_told_requests_wake(struct gs_told_requests *rq)
{
	bool was_deaf = rq->deaf;

	if (rq->wakes >= WAKES)
		return;
	rq->deaf = ++rq->wakes >= WAKES;
	if (rq->deaf) {
		gs_count(rq->ctl->hub, GS_SVC_AGENT_WAKES_LEFT);
		if (rq->wake)
			sd_event_source_set_enabled(rq->wake, SD_EVENT_OFF);
	}
	take_word(rq);
	/* the request's begin was noticed late, or its end will be noticed late */
	rq->blurred = rq->blurred || was_deaf || rq->deaf;
}

static int on_wake(sd_event_source *src, int fd, uint32_t events, void *user)
{
	struct gs_told_requests *rq = user;

	if (events & (EPOLLHUP | EPOLLERR)) /* the program has closed its end */
		rq->wake = sd_event_source_disable_unref(rq->wake);
	else
		gs_waker_woken(rq->waker);
	gs_told_requests_wake(rq);
	return 0;
}

int gs_told_requests_new(struct gs_control *ctl, const struct gs_request_source *source,
			 struct gs_waker *waker, struct gs_told_requests **ret)
{
	struct gs_told_requests *rq = calloc(1, sizeof(*rq));
	int r;

	if (!rq)
		return -ENOMEM;
	*rq = (struct gs_told_requests){ .ctl = ctl, .source = *source };
	refresh(rq);
	r = sd_event_add_time(ctl->hub->event, &rq->look, CLOCK_MONOTONIC, 0, 50, on_look, rq);
	if (r >= 0)
		r = sd_event_source_set_enabled(rq->look, SD_EVENT_OFF);
	if (r >= 0 && waker) /* edge-triggered: the loop never reads what the program writes */
		r = sd_event_add_io(ctl->hub->event, &rq->wake, gs_waker_fd(waker),
				    EPOLLIN | EPOLLET, on_wake, rq);
	if (r < 0) {
		gs_told_requests_free(rq);
		return r;
	}
	rq->waker = waker;
	*ret = rq;
	return 0;
}

void gs_told_requests_free(struct gs_told_requests *rq)
{
	if (!rq)
		return;
	if (rq->open)
		tell(rq, false);
	sd_event_source_disable_unref(rq->wake);
	sd_event_source_disable_unref(rq->look);
	gs_waker_free(rq->waker);
	free(rq);
}

void gs_told_requests_calm(struct gs_told_requests *rq)
{
	rq->wakes = 0;
	if (rq->waker)
		gs_waker_drain(rq->waker);
	if (rq->wake)
		sd_event_source_set_enabled(rq->wake, SD_EVENT_ON);
}

void gs_told_requests_clear(struct gs_told_requests *rq)
{
	gs_where_clear(&rq->where);
}

void gs_told_requests_tsg(struct gs_told_requests *rq, const struct gpusched_tsg *rec)
{
	gs_where_add(&rq->where, rec);
}
