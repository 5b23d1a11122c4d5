// SPDX-License-Identifier: MIT
#include "requests/trace.h"

#include <string.h>
#include <uthash.h>
#include <utlist.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "control/agents.h"
#include "requests/requests.h"
#include "hub/loop.h"
#include "figures/gpu_time.h"
#include "requests/trace_lines.h"

#define TICK_NS (200 * NS_PER_MS)
#define TICK_COST_FACTOR 20 /* ticks use at most 1/20 of a CPU: costly ticks come less often */
#define TURNS_MAX 512       /* turns in one line */
#define REQUESTS_MAX 128    /* requests in one line */
#define LAUNCHES_MAX 512    /* TSGs with launches in one line */

/* A compute TSG. The hash table lists TSGs in the order of @number, the order of their arrival. */
struct traced {
	UT_hash_handle hh;
	uint64_t id, number;
	uint64_t launches; /* at the last tick */
	bool counted;      /* its launches are known */
	struct gs_traced_what what;
};

struct gs_trace_reader {
	struct gs_sliced sliced;
	struct gs_requests *rs;
	struct gs_view view;
	struct gs_trace_to to;
	struct traced *at;      /* the next TSG to report to this reader; NULL: all were reported */
	uint64_t knows;         /* TSGs up to this number were reported */
	bool counts;            /* a line with counters is due */
	struct traced *counted; /* the next TSG to add to @counters */
	json_t *counters;       /* the line to which launches are being added; NULL: none */
	/* during a flush: the lines of turns and of requests for this reader's rights */
	char *turns, *requests;
	struct gs_trace_reader *prev, *next;
};

struct gs_tracing {
	struct traced *tsgs;
	uint64_t number; /* the newest TSG's number */
	struct gs_trace_reader *readers;
	sd_event_source *tick;
	struct {
		struct gs_sliced sliced;
		struct gs_requests *rs;
		struct gpusched_tsg *recs;
		size_t n, at;
		uint64_t cost_ns;
	} look;
	struct {
		struct gs_turn turn;
		uid_t uid;
		uint64_t number; /* number of the turn's TSG */
	} turns[TURNS_MAX];
	size_t n;
	struct {
		struct gs_request_split split;
		uid_t uid;
		uint64_t number;
	} requests[REQUESTS_MAX];
	size_t nrequests;
};

static struct traced *find(const struct gs_tracing *t, uint64_t id)
{
	struct traced *found = NULL;

	HASH_FIND(hh, t->tsgs, &id, sizeof(id), found);
	return found;
}

/* Takes @o. Returns malloc'd text with the line's end; NULL if out of memory. */
static char *text_of(json_t *o)
{
	char *text = json_dumps(o, JSON_COMPACT), *line = NULL;

	json_decref(o);
	if (text && asprintf(&line, "%s\n", text) < 0)
		line = NULL;
	free(text);
	return line;
}

static void tell(const struct gs_trace_reader *r, const char *text)
{
	if (text)
		r->to.line(text, strlen(text), r->to.user);
}

static bool has_room(const struct gs_trace_reader *r)
{
	return r->to.has_room(r->to.user);
}

static void plan(struct gs_trace_reader *r)
{
	gs_loop_slice(r->rs->hub, &r->sliced, false);
}

/* ---- TSGs ------------------------------------------------------------------------------------ */

/* A TSG's line for readers that may not see its turns, and for readers that may. */
struct tsg_texts {
	char *of[2];
};

static void tell_tsg(const struct gs_trace_reader *r, const struct traced *t, struct tsg_texts *x)
{
	bool turns = gs_trace_sees_turns(&r->view, t->what.uid);

	if (!(gs_view_process(&r->view, t->what.uid) & GS_SEES_WHO))
		return;
	if (!x->of[turns])
		x->of[turns] = text_of(gs_trace_tsg_line(r->rs, t->id, &t->what, turns));
	tell(r, x->of[turns]);
}

static void texts_free(struct tsg_texts *x)
{
	free(x->of[0]);
	free(x->of[1]);
}

/*
 * Reports a new or changed TSG to all readers. If a reader's buffer is full, a new TSG is reported
 * to it later.
 */
static void tell_all_of(struct gs_tracing *t, struct traced *of)
{
	CLEANUP(texts_free) struct tsg_texts texts = { 0 };
	struct gs_trace_reader *r;

	DL_FOREACH(t->readers, r) {
		bool new = !r->at && r->knows < of->number;

		if (new && !has_room(r))
			r->at = of;
		else if (new || r->knows >= of->number)
			tell_tsg(r, of, &texts);
		if (new && !r->at)
			r->knows = of->number;
	}
}

/* Reports TSGs that the reader does not know yet. False: time is up, and more is left to do. */
static bool tell_known(struct gs_trace_reader *r, uint64_t until_ns)
{
	for (; r->at; r->at = r->at->hh.next) {
		CLEANUP(texts_free) struct tsg_texts texts = { 0 };

		if (gs_now_ns() >= until_ns)
			return false;
		if (!has_room(r))
			return true; /* gs_trace_reader_go_on() continues */
		tell_tsg(r, r->at, &texts);
		r->knows = r->at->number;
	}
	return true;
}

void gs_trace_record(void *self, const struct gpusched_tsg *rec)
{
	struct gs_requests *rs = self;
	struct gs_tracing *t = rs->tracing;
	struct gs_traced_what what = {
		.pid = rec->task.pid,
		.uid = rec->task.uid,
		.gpu = rec->task.gpu,
		.class_id = rec->task.class_id,
	};
	struct traced *of;

	if (!t || rec->task.kind != GPUSCHED_KIND_COMPUTE)
		return;
	memcpy(what.comm, rec->task.comm, sizeof(what.comm));
	what.comm[sizeof(what.comm) - 1] = '\0';
	of = find(t, rec->task.id);
	if (of && !memcmp(&of->what, &what, sizeof(what)))
		return;
	if (!of) {
		of = calloc(1, sizeof(*of));
		if (!of)
			return;
		of->id = rec->task.id;
		of->number = ++t->number;
		HASH_ADD(hh, t->tsgs, id, sizeof(of->id), of);
	}
	of->what = what;
	tell_all_of(t, of);
}

void gs_trace_ended(void *self, const struct gs_end *end)
{
	struct gs_requests *rs = self;
	struct gs_tracing *t = rs->tracing;
	struct traced *of = t ? find(t, end->id) : NULL;
	struct gs_trace_reader *r;

	if (!of)
		return;
	DL_FOREACH(t->readers, r) {
		if (r->at == of)
			r->at = of->hh.next;
		if (r->counted == of)
			r->counted = of->hh.next;
	}
	HASH_DEL(t->tsgs, of);
	free(of);
}

/* ---- turns ----------------------------------------------------------------------------------- */

void gs_trace_turn(void *self, const struct gs_turn *turn)
{
	struct gs_requests *rs = self;
	struct gs_tracing *t = rs->tracing;
	const struct traced *of = t ? find(t, turn->id) : NULL;

	if (!of)
		return;
	t->turns[t->n].turn = *turn;
	t->turns[t->n].number = of->number;
	t->turns[t->n++].uid = of->what.uid;
	if (t->n == TURNS_MAX)
		gs_trace_flush(rs);
}

void gs_trace_request(void *self, const struct gs_request_split *split)
{
	struct gs_requests *rs = self;
	struct gs_tracing *t = rs->tracing;
	const struct traced *of = t ? find(t, split->id) : NULL;

	if (!of)
		return;
	t->requests[t->nrequests].split = *split;
	t->requests[t->nrequests].number = of->number;
	t->requests[t->nrequests++].uid = of->what.uid;
	if (t->nrequests == REQUESTS_MAX)
		gs_trace_flush(rs);
}

/* True if the reader may see turns and requests of the user's TSG, and was told of it. */
static bool gets(const struct gs_trace_reader *r, uid_t uid, uint64_t number)
{
	return (!r->at || number <= r->knows) && gs_trace_sees_turns(&r->view, uid);
}

/* The line of requests for a reader; NULL: there are none. */
static char *requests_of(const struct gs_tracing *t, const struct gs_trace_reader *r)
{
	json_t *list = json_array();

	for (size_t i = 0; i < t->nrequests; i++)
		if (gets(r, t->requests[i].uid, t->requests[i].number))
			json_array_append_new(list, gs_trace_request_json(&t->requests[i].split));
	if (json_array_size(list))
		return text_of(gs_trace_requests_line(list));
	json_decref(list);
	return NULL;
}

/*
 * The line of turns for a reader: turns that it may see, of TSGs that were reported to it. NULL:
 * there are none.
 */
static char *turns_of(const struct gs_tracing *t, const struct gs_trace_reader *r)
{
	json_t *list = json_array();

	for (size_t i = 0; i < t->n; i++)
		if (gets(r, t->turns[i].uid, t->turns[i].number))
			json_array_append_new(list, gs_trace_turn_json(&t->turns[i].turn));
	if (json_array_size(list))
		return text_of(gs_trace_turns_line(list));
	json_decref(list);
	return NULL;
}

/*
 * Finds the first reader that gets the same lines as @r: it knows all TSGs and has the same
 * rights. Returns @r if no reader before it does.
 */
static const struct gs_trace_reader *like(const struct gs_tracing *t,
					  const struct gs_trace_reader *r)
{
	const struct gs_trace_reader *q = t->readers;

	while (q != r && (q->at || q->view.uid != r->view.uid || q->view.others != r->view.others))
		q = q->next;
	return q;
}

void gs_trace_flush(void *self)
{
	struct gs_requests *rs = self;
	struct gs_tracing *t = rs->tracing;
	struct gs_trace_reader *r;

	if (!t || (!t->n && !t->nrequests))
		return;
	DL_FOREACH(t->readers, r) {
		const struct gs_trace_reader *q = r->at ? r : like(t, r);

		if (q == r) {
			r->turns = turns_of(t, r);
			r->requests = requests_of(t, r);
		}
		tell(r, q->turns);
		tell(r, q->requests);
	}
	DL_FOREACH(t->readers, r) {
		free(TAKE_PTR(r->turns));
		free(TAKE_PTR(r->requests));
	}
	t->n = t->nrequests = 0;
}

/* ---- counters -------------------------------------------------------------------------------- */

/* Collects the turns that have not ended yet. */
struct open_turns {
	const struct gs_tracing *t;
	const struct gs_view *view;
	json_t *list;
};

static void add_open(const struct gs_turn *turn, void *user)
{
	struct open_turns *open = user;
	const struct traced *t = find(open->t, turn->id);

	if (t && gs_trace_sees_turns(open->view, t->what.uid))
		json_array_append_new(open->list, gs_trace_open_turn_json(turn));
}

static void begin_counters(struct gs_trace_reader *r)
{
	struct gs_requests *rs = r->rs;
	struct open_turns open = { rs->tracing, &r->view, json_array() };

	gs_account_open(rs->hub->account, add_open, &open);
	r->counters = gs_trace_counters_line(rs);
	json_object_set_new(r->counters, "open", open.list);
	r->counted = rs->tracing->tsgs;
}

/* Sends the counters with the launches of at most LAUNCHES_MAX TSGs; the rest takes more lines. */
static void tell_launches(struct gs_trace_reader *r)
{
	CLEANUP_FREE char *text = NULL;
	json_t *list = json_array();

	for (; r->counted && json_array_size(list) < LAUNCHES_MAX; r->counted = r->counted->hh.next)
		if (r->counted->counted &&
		    gs_view_process(&r->view, r->counted->what.uid) & GS_SEES_ALL)
			json_array_append_new(list, json_pack("[I, I]", (json_int_t)r->counted->id,
							      (json_int_t)r->counted->launches));
	json_object_set_new(r->counters, "launches", list);
	text = text_of(json_incref(r->counters));
	tell(r, text);
}

/* Sends the lines with counters. False: time is up, and more is left to do. */
static bool tell_counters(struct gs_trace_reader *r, uint64_t until_ns)
{
	if (!r->counters)
		begin_counters(r);
	do {
		if (gs_now_ns() >= until_ns)
			return false;
		tell_launches(r);
	} while (r->counted);
	json_decref(r->counters);
	r->counters = NULL;
	r->counts = false;
	return true;
}

/* ---- reading the table on a tick, for all readers together ----------------------------------- */

/*
 * False if the TSG ended after the table was read. Observers may already know of its end, so it
 * must not be added again.
 */
static bool is_there(const struct gs_requests *rs, const struct gpusched_tsg *rec)
{
	struct gpusched_tsg now;

	return !gs_table_get(rs->hub->table, &rec->key, &now) && now.task.id == rec->task.id &&
	       !(now.flags & GPUSCHED_TSG_GONE);
}

/*
 * Adds or updates a record's TSG, with its launches. They are known if probes count them, or if the
 * process's agent reports them.
 */
static void see(struct gs_requests *rs, const struct gpusched_tsg *rec)
{
	struct traced *of = find(rs->tracing, rec->task.id);

	if (of || is_there(rs, rec))
		gs_trace_record(rs, rec);
	of = find(rs->tracing, rec->task.id);
	if (!of)
		return;
	of->launches = rec->task.launches;
	of->counted = rec->task.known & GPUSCHED_KNOWN_LAUNCHES ||
		      gs_agents_launches(rs->control, rec, &of->launches);
}

static void end_look(struct gs_requests *rs)
{
	struct gs_tracing *t = rs->tracing;
	uint64_t pause = t->look.cost_ns * TICK_COST_FACTOR;
	struct gs_trace_reader *r;

	free(TAKE_PTR(t->look.recs));
	DL_FOREACH(t->readers, r) {
		r->counts = true;
		plan(r);
	}
	sd_event_source_set_time(t->tick,
				 (gs_now_ns() + (pause > TICK_NS ? pause : TICK_NS)) / NS_PER_US);
	sd_event_source_set_enabled(t->tick, SD_EVENT_ONESHOT);
}

static void look_slice(struct gs_sliced *w, uint64_t until_ns)
{
	struct gs_tracing *t = GS_SLICED_OF(w, struct gs_tracing, look.sliced);
	struct gs_requests *rs = t->look.rs;
	uint64_t begin = gs_thread_cpu_ns();

	for (; t->look.at < t->look.n && gs_now_ns() < until_ns; t->look.at++)
		see(rs, &t->look.recs[t->look.at]);
	t->look.cost_ns += gs_thread_cpu_ns() - begin;
	if (t->look.at < t->look.n)
		gs_loop_slice(rs->hub, w, true);
	else
		end_look(rs);
}

static int on_tick(sd_event_source *src, uint64_t us, void *user)
{
	struct gs_requests *rs = user;
	struct gs_tracing *t = rs->tracing;
	uint64_t begin = gs_thread_cpu_ns();

	if (!t->readers) {
		gs_trace_end(rs);
		return 0;
	}
	gs_gpu_time_flush(rs->figures);
	t->look.at = t->look.n = 0;
	if (gs_table_all(rs->hub->table, &t->look.recs, &t->look.n))
		t->look.recs = NULL;
	t->look.cost_ns = gs_thread_cpu_ns() - begin;
	gs_loop_slice(rs->hub, &t->look.sliced, false);
	return 0;
}

/* ---- life -------------------------------------------------------------------------------------- */

static int begin(struct gs_requests *rs)
{
	struct gs_tracing *t = calloc(1, sizeof(*t));
	int r;

	if (!t)
		return -ENOMEM;
	t->look.rs = rs;
	t->look.sliced = (struct gs_sliced){ .work = look_slice, .uid = GS_SLICES_OURS };
	r = sd_event_add_time(rs->hub->event, &t->tick, CLOCK_MONOTONIC, gs_now_ns() / NS_PER_US,
			      1000, on_tick, rs);
	if (r < 0) {
		free(t);
		return r;
	}
	rs->tracing = t;
	return 0;
}

static void reader_slice(struct gs_sliced *w, uint64_t until_ns)
{
	struct gs_trace_reader *r = GS_SLICED_OF(w, struct gs_trace_reader, sliced);

	if (!tell_known(r, until_ns) || (r->counts && !r->at && !tell_counters(r, until_ns)))
		gs_loop_slice(r->rs->hub, w, true);
}

int gs_trace_reader_new(struct gs_requests *rs, const struct gs_view *view,
			const struct gs_trace_to *to, struct gs_trace_reader **ret)
{
	int r = !rs->hub->account ? -ENOTSUP : rs->tracing ? 0 : begin(rs);
	CLEANUP_FREE struct gs_trace_reader *new = r ? NULL : calloc(1, sizeof(*new));
	CLEANUP_FREE char *first = NULL;

	if (!new)
		return r ? r : -ENOMEM;
	new->rs = rs;
	new->view = *view;
	new->to = *to;
	new->sliced = (struct gs_sliced){ .work = reader_slice, .uid = view->uid };
	new->at = rs->tracing->tsgs;
	first = text_of(gs_trace_first_line(rs, view));
	tell(new, first);
	DL_APPEND(rs->tracing->readers, new);
	plan(new);
	*ret = TAKE_PTR(new);
	return 0;
}

void gs_trace_reader_go_on(struct gs_trace_reader *r)
{
	if (r->rs->tracing)
		plan(r);
}

void gs_trace_reader_free(struct gs_trace_reader *r)
{
	if (!r)
		return;
	gs_slices_drop(&r->rs->hub->slices, &r->sliced);
	if (r->rs->tracing)
		DL_DELETE(r->rs->tracing->readers, r);
	json_decref(r->counters);
	free(r);
}

void gs_trace_end(struct gs_requests *rs)
{
	struct gs_tracing *tracing = rs->tracing;
	struct gs_trace_reader *r;
	struct traced *t, *next;

	if (!tracing)
		return;
	DL_FOREACH(tracing->readers, r) {
		gs_slices_drop(&rs->hub->slices, &r->sliced);
		r->at = r->counted = NULL;
	}
	HASH_ITER(hh, tracing->tsgs, t, next) {
		HASH_DEL(tracing->tsgs, t);
		free(t);
	}
	gs_slices_drop(&rs->hub->slices, &tracing->look.sliced);
	free(tracing->look.recs);
	sd_event_source_disable_unref(tracing->tick);
	free(tracing);
	rs->tracing = NULL;
}
