// SPDX-License-Identifier: MIT
/* verbs_park.c - handles park, unpark and parked: moves a process's GPU memory out and back */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "basic/json_sheet.h"
#include "figures/verdict.h"
#include "hub/loop.h"
#include "park/on_use.h"
#include "requests/json.h"
#include "requests/requests.h"
#include "requests/selection.h"
#include "requests/verbs_park.h"

#define LOOK_NS (250 * NS_PER_MS) /* time between two checks whether the caller is connected */
#define MEMORY_NS (5 * NS_PER_S)  /* an unpark waits this long at most for free GPU memory */
#define TROUBLES 4                /* failed attempts after which a request is answered */
#define KNOWN_MS 15000u           /* `parked` waits this long at most after a daemon's start */

struct one {
	int32_t pid;
	char comm[GPUSCHED_COMM_LEN + 1];
	struct gs_parked *p; /* NULL: refused */
	struct gs_error why;
};

struct job {
	struct gs_requests *rs;
	struct gs_selection sel;
	struct one *all;
	size_t n;
	bool in;   /* unpark; false: park */
	bool over; /* the answer is complete */
	uint64_t began_ns;
};

/* If the caller disconnects before the answer, the programs that the request parked come back. */
static void job_free(void *state)
{
	struct job *j = state;

	for (size_t i = 0; i < j->n; i++) {
		struct gs_parked *p = j->all[i].p;

		if (p && !j->over && !j->in && p->over == GS_PARKED_UNDER_WAY)
			gs_parking_in(j->rs->parking, p);
		else if (p && !j->over && j->in && !j->rs->hub->opts.daemon)
			gs_parking_stay(j->rs->parking, p);
		gs_parked_unref(p);
	}
	gs_selection_free(&j->sel);
	free(j->all);
	free(j);
}

static struct job *begin(struct gs_request *rq)
{
	struct job *j = calloc(1, sizeof(*j));

	if (!j)
		return NULL;
	j->rs = rq->rs;
	j->began_ns = gs_now_ns();
	rq->state = j;
	rq->free_state = job_free;
	return j;
}

/* ---- waiting ---------------------------------------------------------------------------------- */

static bool waits_for_memory(const struct gs_parked *p)
{
	return p->over == GS_PARKED_UNDER_WAY && p->core.short_of_memory;
}

static bool is_settled(const struct job *j, const struct gs_parked *p, uint64_t now_ns)
{
	if (!p || p->over != GS_PARKED_UNDER_WAY || p->hangs)
		return true;
	if (p->core.failed &&
	    p->core.troubles >= TROUBLES) /* the answer does not wait for further attempts */
		return true;
	return j->in && waits_for_memory(p) && now_ns - j->began_ns > MEMORY_NS;
}

static bool is_done(const struct job *j, const struct gs_parked *p)
{
	return p && p->over == (j->in ? GS_PARKED_RUNS : GS_PARKED_IS_OUT);
}

static const char *why_not(const struct job *j, const struct one *one, char *text, size_t size)
{
	const struct gs_parked *p = one->p;

	if (!p)
		return one->why.text;
	if (waits_for_memory(p)) {
		snprintf(text, size, "it needs %.1f GiB and a margin, and GPU %u has %.1f GiB free",
			 (double)p->bytes[p->lacking] / (1 << 30), p->lacking,
			 (double)p->free_bytes / (1 << 30));
		return text;
	}
	if (p->over == GS_PARKED_GONE)
		return "it has ended";
	return p->why.text[0] ? p->why.text : gs_parked_state(p);
}

static int code_of(const struct one *one)
{
	if (!one->p)
		return one->why.code;
	return one->p->why.code == -ENOTSUP ? -ENOTSUP : -EREMOTEIO;
}

/* Little of a program that was alone stays, too: its context. */
#define STAYS_LEAST (16ull << 20)

/* Others have memory of it open, or may have: then that memory stays in use. */
static bool is_lent(const struct gs_parked *p)
{
	return p->exported && p->kept_bytes > STAYS_LEAST;
}

static json_t *stays_json(const struct gs_parked *p)
{
	bool known = p && is_lent(p) && p->kept_bytes != GS_PARK_KEPT_UNKNOWN;

	return known ? json_integer((json_int_t)p->kept_bytes) : json_null();
}

static void report_one(struct gs_request *rq, struct job *j, const struct one *one, json_t *results,
		       unsigned int *done, unsigned int *waiting, unsigned int *failed)
{
	bool ok = is_done(j, one->p), waits = !ok && one->p && waits_for_memory(one->p);
	uint64_t took = 0; /* 0: not measured */
	char text[160];
	const char *why = ok ? NULL : why_not(j, one, text, sizeof(text));

	*done += ok;
	*waiting += waits;
	*failed += !ok && !waits;
	if (!ok && !waits && !rq->err->text[0])
		gs_fail(rq->err, code_of(one), "process %d (%s): %s", one->pid, one->comm, why);
	if (ok)
		took = j->in ? one->p->restore_ns : one->p->out_ns;
	json_array_append_new(
		results,
		json_pack("{s:i, s:o, s:b, s:b, s:b, s:o, s:I, s:o, s:o}", "pid", one->pid, "comm",
			  gs_json_text(one->comm), "done", ok, "waits", waits, "lent",
			  ok && !j->in && is_lent(one->p), "stays_bytes",
			  stays_json(ok && !j->in ? one->p : NULL), "bytes",
			  (json_int_t)(one->p ? gs_parked_bytes(one->p) : 0), "took_ms",
			  took ? json_integer((json_int_t)(took / NS_PER_MS)) : json_null(),
			  "error", why ? gs_json_text(why) : json_null()));
}

static int report(struct gs_request *rq)
{
	struct job *j = rq->state;
	unsigned int done = 0, waiting = 0, failed = 0;
	json_t *results = json_array();

	j->over = true;
	for (size_t i = 0; i < j->n; i++)
		report_one(rq, j, &j->all[i], results, &done, &waiting, &failed);
	for (size_t i = 0; i < j->n && waiting && !rq->rs->hub->opts.daemon; i++)
		if (j->all[i].p && waits_for_memory(j->all[i].p))
			/* stays parked: without a daemon, nobody would bring it back later */
			gs_parking_stay(rq->rs->parking, j->all[i].p);
	json_object_set_new(rq->answer, "matched", json_integer((json_int_t)j->n));
	json_object_set_new(rq->answer, "changed", json_integer(done));
	json_object_set_new(rq->answer, "waiting", json_integer(waiting));
	json_object_set_new(rq->answer, "failed", json_integer(failed));
	json_object_set_new(rq->answer, "results", results);
	if (j->in)
		json_object_set_new(rq->answer, "gate",
				    json_boolean(gs_park_newcomers_gate(rq->rs->parking)));
	if (failed && !done && !waiting)
		return rq->err->code;
	*rq->err = (struct gs_error){ 0 };
	return 0;
}

static int step_settled(struct gs_request *rq, uint64_t now_ns)
{
	struct job *j = rq->state;

	for (size_t i = 0; i < j->n; i++) {
		if (is_settled(j, j->all[i].p, now_ns))
			continue;
		if (gs_request_is_left(rq))
			return gs_fail(rq->err, -ECANCELED, "the caller has left");
		rq->c.look_ns = now_ns + LOOK_NS;
		return -EINPROGRESS;
	}
	return report(rq);
}

/* ---- park ------------------------------------------------------------------------------------- */

static int may_park(struct gs_request *rq, const struct gs_selection *l)
{
	uid_t uid = rq->peer->uid;

	if (uid && !rq->rs->hub->config->allow_park)
		return gs_fail(rq->err, -EPERM, "only root may park here: AllowPark=no");
	for (size_t i = 0; uid && i < l->n; i++)
		if (l->recs[i].task.uid != uid)
			return gs_fail(rq->err, -EPERM,
				       "process %u belongs to another user: only root may park it",
				       l->recs[i].task.pid);
	return 0;
}

static int by_pid(const void *a, const void *b)
{
	uint32_t x = ((const struct gpusched_tsg *)a)->task.pid;
	uint32_t y = ((const struct gpusched_tsg *)b)->task.pid;

	return (x > y) - (x < y);
}

static int park_processes(struct gs_request *rq, struct job *j)
{
	uint64_t for_ns = (uint64_t)gs_arg_number(rq, "for_us") * NS_PER_US;
	struct gs_park_ask ask = { .by = rq->peer->uid,
				   .forced = gs_arg_true(rq, "force"),
				   .until_ns = for_ns ? gs_now_ns() + for_ns : 0 };
	struct gpusched_tsg *recs = j->sel.recs;

	qsort(recs, j->sel.n, sizeof(*recs), by_pid);
	j->all = calloc(j->sel.n, sizeof(*j->all));
	if (!j->all)
		return -ENOMEM;
	for (size_t i = 0; i < j->sel.n; i += ask.n) {
		struct one *one = &j->all[j->n++];

		ask.recs = &recs[i];
		for (ask.n = 1;
		     i + ask.n < j->sel.n && recs[i + ask.n].task.pid == recs[i].task.pid;)
			ask.n++;
		one->pid = (int32_t)recs[i].task.pid;
		snprintf(one->comm, sizeof(one->comm), "%.*s", GPUSCHED_COMM_LEN,
			 recs[i].task.comm);
		gs_parking_out(rq->rs->parking, &ask, &one->p, &one->why);
	}
	return gs_request_wait(rq, step_settled, GS_ON_PARK, 0);
}

static int step_select(struct gs_request *rq, uint64_t now_ns)
{
	struct job *j = rq->state;
	int r = gs_selection_step(rq, &j->sel);

	if (r)
		return r;
	if (!j->sel.n)
		return gs_selection_none(&rq->view, &j->sel.target, rq->err);
	r = may_park(rq, &j->sel);
	return r ? r : park_processes(rq, j);
}

int gs_verb_park(struct gs_request *rq)
{
	struct job *j = begin(rq);
	int r = j ? gs_selection_target(rq, &j->sel.target) : -ENOMEM;

	return r ? r : gs_request_work(rq, step_select);
}

/* ---- unpark ----------------------------------------------------------------------------------- */

/* Matches the process, by a made-up record: a parked process has no TSG. */
static bool matches(const struct gs_request *rq, const struct gs_target *t,
		    const struct gs_parked *p)
{
	struct gpusched_tsg rec = {
		.task = { .pid = (uint32_t)p->pid, .uid = p->uid, .class_id = p->class_id }
	};

	memcpy(rec.task.comm, p->comm, GPUSCHED_COMM_LEN);
	for (size_t i = 0; i < GS_PARK_GPUS; i++)
		if (p->bytes[i])
			rec.task.gpu = (uint32_t)i;
	return gs_view_finds(&rq->view, t, &rec) && gs_target_match(t, &rec, 0);
}

static int may_unpark(struct gs_request *rq, const struct gs_parked *p, struct gs_error *err)
{
	uid_t uid = rq->peer->uid;

	if (uid && p->uid != uid)
		return gs_fail(err, -EPERM,
			       "it belongs to another user: only root may bring it back");
	if (uid && p->by != uid && !p->by_itself)
		return gs_fail(err, -EPERM, "root has parked it: only root may bring it back");
	return 0;
}

/* Collects the matching processes, in the order in which they were parked. */
static int choose(struct gs_request *rq, struct job *j)
{
	struct gs_parked *p, *next;
	size_t room = 0;

	DL_FOREACH(rq->rs->parking->all, p)
		room++;
	j->all = calloc(room + 1, sizeof(*j->all));
	if (!j->all)
		return -ENOMEM;
	DL_FOREACH_SAFE(rq->rs->parking->all, p, next) {
		struct one *one = &j->all[j->n];

		if (!matches(rq, &j->sel.target, p))
			continue;
		j->n++;
		one->pid = p->pid;
		snprintf(one->comm, sizeof(one->comm), "%s", p->comm);
		if (may_unpark(rq, p, &one->why))
			continue;
		gs_parked_ref(p);
		one->p = p;
	}
	return 0;
}

int gs_verb_unpark(struct gs_request *rq)
{
	struct job *j = begin(rq);
	int r = j ? gs_selection_target(rq, &j->sel.target) : -ENOMEM;

	if (!r)
		r = choose(rq, j);
	if (r)
		return r;
	j->in = true;
	if (!j->n && gs_target_kind(&j->sel.target) != GS_TARGET_ALL)
		return gs_fail(rq->err, -ENOENT,
			       "%s matches no parked process: 'gpusched parked' "
			       "shows them",
			       j->sel.target.whole);
	for (size_t i = 0; i < j->n; i++) {
		if (!j->all[i].p)
			continue;
		j->all[i].p->urgent |= !rq->peer->uid;
		gs_parking_in(rq->rs->parking, j->all[i].p);
	}
	return gs_request_wait(rq, step_settled, GS_ON_PARK, 0);
}

/* ---- parked processes ------------------------------------------------------------------------- */

static const char *const back_words[] = {
	[GS_PARK_BACK_WORD] = "word",
	[GS_PARK_BACK_BLIND] = "word",
	[GS_PARK_BACK_USE] = "use",
};

static json_t *sign_json(const struct gs_parking *pk, const struct gs_parked *p)
{
	const char *sign = gs_park_sign_may_return(pk, p) ? gs_park_sign_of(p) : NULL;

	return sign ? json_string(sign) : json_null();
}

json_t *gs_parked_list_json(struct gs_request *rq)
{
	json_t *list = json_array();
	const struct gs_parked *p;

	DL_FOREACH(rq->rs->parking->all, p) {
		json_t *o = NULL;

		if (!(gs_view_process(&rq->view, p->uid) & GS_SEES_WHO))
			continue;
		o = gs_parked_json(rq->rs->parking, p);
		json_object_set_new(o, "class", json_string(gs_stats_class(rq->rs, p->class_id)));
		json_object_set_new(o, "back_on",
				    json_string(back_words[gs_park_use_back(rq->rs->parking, p)]));
		gs_json_put_number(o, "waiting_threads", p->waiters >= 0, (uint64_t)p->waiters);
		json_object_set_new(o, "sign", sign_json(rq->rs->parking, p));
		/* as in the list of TSGs, only the owner and root see errors */
		if (rq->peer->uid && p->uid != rq->peer->uid)
			json_object_set_new(o, "error", json_null());
		json_array_append_new(list, o);
	}
	return list;
}

void gs_parked_judge(struct gs_request *rq, struct gs_findings *ret)
{
	const struct gs_parked *p;

	DL_FOREACH(rq->rs->parking->all, p) {
		enum gs_park_back back = gs_park_use_back(rq->rs->parking, p);

		if (gs_view_process(&rq->view, p->uid) & GS_SEES_WHO)
			gs_verdict_parked(
				&(struct gs_parked_facts){ .pid = (uint32_t)p->pid,
							   .uid = p->uid,
							   .comm = p->comm,
							   .lost = p->over == GS_PARKED_LOST,
							   .waits = waits_for_memory(p),
							   .by_root = !p->by,
							   .by_itself = p->by_itself,
							   .by_policy = p->by_policy,
							   .guest = (uint32_t)p->guest,
							   .sign = back == GS_PARK_BACK_USE
									   ? gs_park_sign_of(p)
									   : NULL,
							   .waiters = p->waiters,
							   .blind = back == GS_PARK_BACK_BLIND,
							   .bytes = gs_parked_bytes(p),
							   .since_ns = p->since_ns },
				ret);
	}
}

static struct gs_in_vain_facts facts_of(const struct gs_park_idler *i)
{
	return (struct gs_in_vain_facts){ .tsg = i->tsg,
					  .pid = (uint32_t)i->process->pid,
					  .uid = i->process->uid,
					  .comm = i->process->comm,
					  .since_ns = i->told_ns };
}

void gs_parked_judge_in_vain(const struct gs_requests *rs, const struct gs_view *view,
			     struct gs_findings *ret)
{
	const struct gs_park_idler *i;

	DL_FOREACH(rs->parking->idlers, i) {
		const struct gs_in_vain_facts v = facts_of(i);

		if (i->told_ns && (!view || gs_view_process(view, v.uid) & GS_SEES_WHO))
			gs_verdict_in_vain(&v, ret);
	}
}

static int step_known(struct gs_request *rq, uint64_t now_ns)
{
	const struct gs_parked *p;

	DL_FOREACH(rq->rs->parking->all, p)
		if (p->over == GS_PARKED_UNDER_WAY && p->core.wish == GS_PARK_WISH_SETTLE &&
		    !gs_completion_is_late(&rq->c, now_ns))
			return -EINPROGRESS;
	json_object_set_new(rq->answer, "parked", gs_parked_list_json(rq));
	return 0;
}

int gs_verb_parked(struct gs_request *rq)
{
	return gs_request_wait(rq, step_known, GS_ON_PARK, KNOWN_MS);
}
