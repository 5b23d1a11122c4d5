// SPDX-License-Identifier: MIT
/* set, preempt, suspend, resume: what a person does to TSGs by hand. */
#include <inttypes.h>
#include <limits.h>
#include <string.h>
#include <strings.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "requests/requests.h"
#include "hub/json.h"
#include "hub/loop.h"
#include "hub/records.h"
#include "requests/selection.h"
#include "requests/verbs.h"

#define ANSWER_MS 5000 /* a call that takes longer is reported as failed */

static int parse_settings(struct gs_request *rq, struct gpusched_settings *set, bool *ret_clear)
{
	*ret_clear = gs_arg_true(rq, "clear");
	gs_args_settings(rq->args, set);
	if (*ret_clear && set->valid)
		return gs_fail(rq->err, -EINVAL, "clear and a setting exclude each other");
	if (!*ret_clear && !set->valid)
		return gs_fail(rq->err, -EINVAL,
			       "what to set is missing: timeslice_us, interleave or preempt_mode");
	return 0;
}

/* ---- rights --------------------------------------------------------------------------------- */

/* The TSG's settings: those in @persons as a person set them, the others as its program asked. */
static struct gpusched_settings without(const struct gpusched_tsg *rec, uint32_t persons)
{
	struct gpusched_settings s = { 0 };

	for (unsigned int i = 0; i < GS_NFIELDS; i++) {
		const struct gpusched_settings *from =
			persons & GS_BIT(i) ? &rec->manual : &rec->task.asked;

		gs_field_put(&s, GS_BIT(i),
			     from->valid & GS_BIT(i) ? gs_field_get(from, GS_BIT(i))
						     : gs_settings[i].def);
	}
	return s;
}

static bool is_above(const struct gpusched_settings *a, const struct gpusched_settings *b,
		     uint32_t which)
{
	for (unsigned int i = 0; i < GS_NFIELDS; i++) {
		uint32_t x = gs_field_get(a, GS_BIT(i)), y = gs_field_get(b, GS_BIT(i));

		if (which & GS_BIT(i) && (gs_settings[i].less_is_more ? x < y : x > y))
			return true;
	}
	return false;
}

/*
 * True if the request would raise the TSG. Owners may lower their own TSGs, and undo that. Only
 * root may give more than the program asked for, more than root set, or more than the running
 * policy wants.
 */
static bool raises(struct gs_requests *rs, const struct gpusched_tsg *rec,
		   const struct gpusched_settings *set, bool clear)
{
	const struct gs_saved_tsg *t = gs_saved_find(&rs->control->saved, rec->task.id);
	uint32_t roots = rec->manual.valid & ~(t ? t->own : 0);
	const struct gpusched_settings *want = &rec->task.want;
	struct gpusched_settings now = without(rec, roots), cleared = without(rec, 0);

	if (clear)
		return is_above(&cleared, &now, roots & rec->task.asked.valid);
	return is_above(set, &now, set->valid) ||
	       (rs->hub->policy && is_above(set, want, set->valid & want->valid & ~roots));
}

/*
 * Keeps the TSGs that the peer owns. If one process or TSG was named, another user's is an error.
 */
static int own_only(struct gs_request *rq, const struct gs_target *t, struct gpusched_tsg *recs,
		    size_t *inout_n)
{
	size_t kept = 0, n = *inout_n;

	for (size_t i = 0; i < n; i++) {
		if (!rq->peer->uid || recs[i].task.uid == rq->peer->uid)
			recs[kept++] = recs[i];
		else if (gs_target_narrow(t))
			return gs_fail(rq->err, -EPERM,
				       "process %u belongs to another user: only root may touch it",
				       recs[i].task.pid);
	}
	if (n && !kept)
		return gs_fail(rq->err, -EPERM,
			       "%s matches only processes of other users: only root may touch them",
			       t->whole);
	*inout_n = kept;
	return 0;
}

/* ---- waiting for the calls ------------------------------------------------------------------- */

struct manual {
	struct gpusched_settings set;
	uint64_t for_ns;
	uint32_t clear; /* settings to clear; 0: settings are set */
};

struct job {
	struct gs_selection sel; /* the TSGs */
	/* Checks that this may be done to the TSG. NULL: owning it is enough. */
	int (*check)(struct gs_request *rq, const struct gpusched_tsg *rec);
	int (*act)(struct gs_request *rq, const struct gpusched_tsg *rec, struct gs_error *err);
	struct manual m;
	/* How many TSGs, from the first on, each stage is done with. */
	size_t acted, settled, reported;
	unsigned int accepted, changed, failed;
	int *codes;                      /* per record: the engine's immediate result */
	struct gs_error first, unsuited; /* of the results */
	uint32_t which;                  /* settings that were asked for; 0: none */
	bool clear;                      /* the settings are to be as the owner asked */
	bool preempt;                    /* each TSG gets a preempt call */
	bool resume;                     /* a person's suspension is undone */
	json_t *results;
	int code;  /* the first TSG's failure */
	char *why; /* that failure, as text */
};

static bool same(const struct gpusched_settings *a, const struct gpusched_settings *b, uint32_t f)
{
	uint32_t both = a->valid & b->valid & f;

	for (unsigned int i = 0; i < GS_NFIELDS; i++)
		if (both & GS_BIT(i) && gs_field_get(a, GS_BIT(i)) != gs_field_get(b, GS_BIT(i)))
			return false;
	return true;
}

enum state { WAITS, DONE, FAILED, GONE, NOT_DONE };

static enum state preempt_state(struct gs_requests *rs, struct gpusched_tsg *rec)
{
	struct gs_rm_result res = { 0 };
	int r = gs_engine_preempted(rs->hub->engine, &rec->key, &res);

	rec->last_status = res.status;
	return !r ? DONE : r == -EINPROGRESS ? WAITS : r == -ENOENT ? GONE : FAILED;
}

/* The state of one TSG: its wish has been accepted, has failed, or is under way. */
static enum state state_of(struct gs_requests *rs, const struct job *j, size_t i,
			   struct gpusched_tsg *ret)
{
	struct gpusched_settings is;
	uint32_t which = j->which;

	if (j->codes[i])
		return FAILED;
	if (gs_table_get(rs->hub->table, &j->sel.recs[i].key, ret) ||
	    ret->task.id != j->sel.recs[i].task.id)
		return GONE;
	if (rs->hub->opts.dry_run)
		return NOT_DONE;
	if (j->preempt)
		return preempt_state(rs, ret);
	if (j->resume && ret->suspend_by == GPUSCHED_BY_PERSON)
		return ret->errors ? FAILED : WAITS;
	if (!which)
		return DONE;
	/* a mode beside other settings applies to the compute TSGs among the matched ones */
	if (ret->task.kind != GPUSCHED_KIND_COMPUTE)
		which &= ~GPUSCHED_PREEMPT_MODE;
	is = gs_record_is(ret);
	if (!j->clear && (is.valid & which) == which && same(&is, &ret->manual, which))
		return DONE;
	/* what a policy wants from now on is no concern of this request */
	if (j->clear && !(ret->changed & which & ~ret->task.want.valid))
		return DONE;
	return ret->errors ? FAILED : WAITS;
}

/* The first failure of a call is the answer. The engine tries again afterwards. */
static bool all_settled(struct gs_requests *rs, struct job *j)
{
	struct gpusched_tsg now;

	while (j->settled < j->sel.n && state_of(rs, j, j->settled, &now) != WAITS)
		j->settled++;
	return j->settled == j->sel.n;
}

static json_t *is_json(const struct gpusched_tsg *rec)
{
	const struct gpusched_settings is = gs_record_is(rec);

	return gs_settings_json(&is);
}

static json_t *result_json(const struct job *j, size_t i, enum state st,
			   const struct gpusched_tsg *now, const char *why)
{
	char unknown[32];
	const char *text = NULL;

	if (st == FAILED && j->codes[i])
		text = why;
	else if (st == FAILED && !now->last_status)
		text = "the call did not reach the driver";
	else if (st == FAILED) {
		text = gs_rm_status_name(now->last_status);
		snprintf(unknown, sizeof(unknown), "status 0x%x", now->last_status);
		text = text ? text : unknown;
	} else if (st == GONE)
		text = "the TSG ended meanwhile";
	else if (st == WAITS)
		text = "not done within 5 s";
	else if (st == NOT_DONE)
		text = "nothing is done: DryRun=yes";
	return json_pack("{s:I, s:i, s:b, s:s?, s:o}", "id", (json_int_t)j->sel.recs[i].task.id,
			 "pid", (int)j->sel.recs[i].task.pid, "done", st == DONE, "error", text,
			 "is", st == DONE ? is_json(now) : json_null());
}

static void report_one(struct gs_requests *rs, struct job *j, size_t i)
{
	struct gpusched_tsg now = { 0 };
	enum state st = state_of(rs, j, i, &now);
	json_t *one = result_json(j, i, st, &now, j->first.text);

	j->changed += st == DONE;
	j->failed += st != DONE && st != NOT_DONE;
	if (st != DONE && st != NOT_DONE && !j->why) {
		j->why = strdup(json_string_value(json_object_get(one, "error")) ?: "failed");
		j->code = j->codes[i]   ? j->codes[i]
			  : st == GONE  ? -ENOENT
			  : st == WAITS ? -ETIMEDOUT
					: -EREMOTEIO;
	}
	json_array_append_new(j->results, one);
}

/* Fills the answer. If all failed, it is an error with the first reason. */
static int step_report(struct gs_request *rq, uint64_t now_ns)
{
	struct job *j = rq->state;

	for (; j->reported < j->sel.n && gs_request_has_time(rq); j->reported++)
		report_one(rq->rs, j, j->reported);
	if (j->reported < j->sel.n)
		return -EINPROGRESS;
	json_object_set_new(rq->answer, "matched", json_integer((json_int_t)j->sel.n));
	json_object_set_new(rq->answer, "changed", json_integer(j->changed));
	json_object_set_new(rq->answer, "failed", json_integer(j->failed));
	json_object_set_new(rq->answer, "results", TAKE_PTR(j->results));
	if (j->failed && !j->changed)
		return gs_fail(rq->err, j->code, "%s%s",
			       j->code == -EREMOTEIO ? "the driver said " : "", j->why);
	return 0;
}

static int step_settled(struct gs_request *rq, uint64_t now_ns)
{
	struct job *j = rq->state;

	if (!gs_engine_idle(rq->rs->hub->engine) && !gs_completion_is_late(&rq->c, now_ns) &&
	    !all_settled(rq->rs, j))
		return -EINPROGRESS;
	j->results = json_array();
	return gs_request_work(rq, step_report);
}

/* ---- acting ---------------------------------------------------------------------------------- */

static void act_on(struct gs_request *rq, struct job *j, size_t i)
{
	const struct gpusched_tsg *rec = &j->sel.recs[i];
	struct gpusched_tsg now;
	struct gs_error e = { 0 };

	/* the TSG may have ended since it was chosen, and another one may have its handle */
	if (!gs_table_get(rq->rs->hub->table, &rec->key, &now) && now.task.id == rec->task.id)
		j->codes[i] = j->act(rq, rec, &e);
	j->accepted += !j->codes[i];
	if (j->codes[i] == -ENOTSUP)
		j->unsuited = e;
	else if (j->codes[i] && !j->first.code)
		j->first = e;
}

static int step_act(struct gs_request *rq, uint64_t now_ns)
{
	struct job *j = rq->state;

	for (; j->acted < j->sel.n && gs_request_has_time(rq); j->acted++)
		act_on(rq, j, j->acted);
	if (j->acted < j->sel.n)
		return -EINPROGRESS;
	/*
	 * Only a mode was given, and the target matched copy TSGs beside compute TSGs: copy TSGs
	 * have no mode, so they did not fail.
	 */
	for (size_t i = 0; i < j->sel.n && j->accepted; i++)
		if (j->codes[i] == -ENOTSUP && j->sel.recs[i].task.kind != GPUSCHED_KIND_COMPUTE)
			j->codes[i] = 0;
	if (!j->first.code)
		j->first = j->unsuited;
	return gs_request_wait(rq, step_settled, GS_ON_ENGINE, ANSWER_MS);
}

/* Nothing is done if any of the TSGs may not be touched. */
static int step_select(struct gs_request *rq, uint64_t now_ns)
{
	struct job *j = rq->state;
	struct gs_selection *l = &j->sel;
	int r = gs_selection_step(rq, l);

	if (r)
		return r;
	r = l->n ? own_only(rq, &l->target, l->recs, &l->n)
		 : gs_target_nothing(&rq->view, &l->target, rq->err);
	for (size_t i = 0; !r && rq->peer->uid && j->check && i < l->n; i++)
		r = j->check(rq, &l->recs[i]);
	if (r)
		return r;
	j->codes = calloc(l->n, sizeof(*j->codes));
	return j->codes ? gs_request_work(rq, step_act) : -ENOMEM;
}

static void job_free(void *state)
{
	struct job *j = state;

	gs_selection_free(&j->sel);
	free(j->codes);
	json_decref(j->results);
	free(j->why);
	free(j);
}

static int begin(struct gs_request *rq, struct job what)
{
	struct job *j = malloc(sizeof(*j));
	int r;

	if (!j)
		return -ENOMEM;
	*j = what;
	rq->state = j;
	rq->free_state = job_free;
	r = gs_request_target(rq, &j->sel.target);
	return r ? r : gs_request_work(rq, step_select);
}

/* ---- the verbs ------------------------------------------------------------------------------- */

static int act_manual(struct gs_request *rq, const struct gpusched_tsg *rec, struct gs_error *err)
{
	const struct manual *m = &((struct job *)rq->state)->m;
	int r;

	r = m->clear ? gs_engine_clear_manual(rq->rs->hub->engine, &rec->key, m->clear,
					      rq->peer->uid)
		     : gs_engine_set_manual(rq->rs->hub->engine, &rec->key, &m->set, m->for_ns,
					    rq->peer->uid, err);
	if (!r)
		gs_saved_note(rq->rs->control, &rec->key, rq->peer,
			      m->clear ? m->clear : m->set.valid);
	if (!r && !m->clear && rq->peer->uid)
		gs_saved_own(rq->rs->control, rec->task.id, m->set.valid & ~rec->manual.valid);
	return r ? gs_fail(err, r, "%s", strerror(-r)) : 0;
}

static int act_preempt(struct gs_request *rq, const struct gpusched_tsg *rec, struct gs_error *err)
{
	int r = gs_engine_preempt(rq->rs->hub->engine, &rec->key, rq->peer->uid, err);

	return r ? gs_fail(err, r, "%s", strerror(-r)) : 0;
}

static int check_set(struct gs_request *rq, const struct gpusched_tsg *rec)
{
	const struct job *j = rq->state;

	if (!raises(rq->rs, rec, &j->m.set, j->clear))
		return 0;
	return gs_fail(rq->err, -EPERM,
		       "this would raise TSG %" PRIu64
		       " above what its program asked for, root left it or the policy wants: "
		       "only root may",
		       rec->task.id);
}

int gs_verb_set(struct gs_request *rq)
{
	struct job j = { .check = check_set, .act = act_manual };
	int r = parse_settings(rq, &j.m.set, &j.clear);

	if (r)
		return r;
	j.m.clear = j.clear ? GPUSCHED_ALL_SETTINGS & ~GPUSCHED_RUNNABLE : 0;
	j.which = j.clear ? j.m.clear : j.m.set.valid;
	return begin(rq, j);
}

int gs_verb_preempt(struct gs_request *rq)
{
	return begin(rq, (struct job){ .act = act_preempt, .preempt = true });
}

int gs_verb_suspend(struct gs_request *rq)
{
	return begin(rq,
		     (struct job){
			     .act = act_manual,
			     .m = { .set = { .valid = GPUSCHED_RUNNABLE, .runnable = 0 },
				    .for_ns = (uint64_t)gs_arg_number(rq, "for_us") * NS_PER_US },
			     .which = GPUSCHED_RUNNABLE,
		     });
}

static int act_resume(struct gs_request *rq, const struct gpusched_tsg *rec, struct gs_error *err)
{
	struct gpusched_poke poke = {
		.key = rec->key,
		.id = rec->task.id,
		.what = GPUSCHED_POKE_ADMIT,
	};

	if ((rec->flags & GPUSCHED_TSG_HELD) && !rq->rs->hub->opts.dry_run)
		gs_table_poke(rq->rs->hub->table, &poke);
	return act_manual(rq, rec, err);
}

static int check_resume(struct gs_request *rq, const struct gpusched_tsg *rec)
{
	if (!(rec->flags & GPUSCHED_TSG_HELD))
		return 0;
	return gs_fail(rq->err, -EPERM,
		       "TSG %" PRIu64 " waits for admission: only root may let it in",
		       rec->task.id);
}

/*
 * Undoes a person's suspension, and admits TSGs that wait for it. A policy's suspension is undone
 * by a manual wish to run.
 */
int gs_verb_resume(struct gs_request *rq)
{
	return begin(rq, (struct job){ .check = check_resume,
				       .act = act_resume,
				       .m = { .clear = GPUSCHED_RUNNABLE },
				       .resume = true });
}
