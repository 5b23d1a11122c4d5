// SPDX-License-Identifier: MIT
/* verbs_control.c - handles set, preempt, suspend and resume, by which people control TSGs */
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

#define ANSWER_MS 5000 /* the answer reports calls that take longer as failed */

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

/*
 * The TSG's settings if only those in the mask @persons were set by people. All others have the
 * value that its program asked for, or the driver's default.
 */
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
 * True if the request raises a setting, which only root may do. A raise gives the TSG more than its
 * program asked for, than root set, or than the running policy wants. Owners may lower the settings
 * of their own TSGs, and undo that.
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
 * Drops the TSGs of other users from the list, unless the peer is root. If the target names a
 * single process, thread or TSG, to drop it is an error.
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

/* The change of manual settings that a request makes. */
struct manual {
	struct gpusched_settings set;
	uint64_t for_ns; /* a suspension ends after this time; 0: it stays */
	uint32_t clear;  /* bits of the settings to clear; 0: @set is set */
};

struct job {
	struct gs_selection sel; /* the TSGs */
	/* checks whether users other than root may do this to their own TSG; NULL: they may */
	int (*check)(struct gs_request *rq, const struct gpusched_tsg *rec);
	int (*act)(struct gs_request *rq, const struct gpusched_tsg *rec, struct gs_error *err);
	struct manual m;
	/* progress of the three stages: how many of the TSGs each has finished */
	size_t acted, settled, reported;
	unsigned int accepted, changed, failed; /* TSGs that the engine accepted; final results */
	int *codes;                             /* for each TSG: the engine's immediate result */
	/* first error other than -ENOTSUP; last error -ENOTSUP (the TSG has no such setting) */
	struct gs_error first, unsuited;
	uint32_t which; /* bits of the settings that change; 0: none */
	bool clear;     /* the settings return to the owner's values */
	bool preempt;   /* each TSG gets a preempt call */
	bool resume;    /* a person's suspension is undone */
	json_t *results;
	int code;  /* errno of the first TSG that failed */
	char *why; /* that failure, as text */
};

/* True if no setting in the mask @f has different known values in @a and @b. */
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

/* The record's count of failed calls may be older than the request. */
static enum state called(const struct job *j, size_t i, const struct gpusched_tsg *now)
{
	return now->errors && now->errors != j->sel.recs[i].errors ? FAILED : WAITS;
}

/* How far the request has come with one TSG. */
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
	if (j->resume &&
	    (ret->suspend_by == GPUSCHED_BY_PERSON || gpusched_unknown(ret) & GPUSCHED_RUNNABLE))
		return called(j, i, ret);
	if (!which)
		return DONE;
	/* only compute TSGs have a preemption mode: ignores it for others */
	if (ret->task.kind != GPUSCHED_KIND_COMPUTE)
		which &= ~GPUSCHED_PREEMPT_MODE;
	is = gs_record_is(ret);
	if (!j->clear && (is.valid & which) == which && same(&is, &ret->manual, which))
		return DONE;
	/* a cleared setting that a policy wants stays changed, and does not delay the answer */
	if (j->clear && !(ret->changed & which & ~ret->task.want.valid))
		return DONE;
	return called(j, i, ret);
}

/*
 * True if no TSG's calls are under way. A TSG counts as failed with its first failed call, although
 * the engine tries that call again later.
 */
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

/* RM's status, and whether the call may have taken effect all the same. */
static const char *status_text(const struct job *j, const struct gpusched_tsg *now, char *ret,
			       size_t size)
{
	const char *name = gs_rm_status_name(now->last_status);
	uint32_t which = j->which | (j->resume ? GPUSCHED_RUNNABLE : 0);
	bool unknown = gpusched_unknown(now) & which;
	size_t n = 0;

	if (!name)
		n = (size_t)snprintf(ret, size, "status 0x%x", now->last_status);
	snprintf(ret + n, size - n, "%s%s", name ?: "",
		 unknown ? "; it may have taken effect: unknown until a call succeeds" : "");
	return ret;
}

static json_t *result_json(const struct job *j, size_t i, enum state st,
			   const struct gpusched_tsg *now, const char *why)
{
	char unknown[160];
	const char *text = NULL;

	if (st == FAILED && j->codes[i])
		text = why;
	else if (st == FAILED && !now->last_status)
		text = "the call did not reach the driver";
	else if (st == FAILED) {
		text = status_text(j, now, unknown, sizeof(unknown));
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

/* Fills the answer. If no TSG was changed and some failed, returns the first failure. */
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

	/* the TSG may have ended since the selection, and a new TSG may have the same handle */
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
	 * -ENOTSUP: the request sets only a preemption mode, which copy TSGs do not have. If the
	 * target also matched compute TSGs, that is no failure.
	 */
	for (size_t i = 0; i < j->sel.n && j->accepted; i++)
		if (j->codes[i] == -ENOTSUP && j->sel.recs[i].task.kind != GPUSCHED_KIND_COMPUTE)
			j->codes[i] = 0;
	if (!j->first.code)
		j->first = j->unsuited;
	return gs_request_wait(rq, step_settled, GS_ON_ENGINE, ANSWER_MS);
}

/* Selects the TSGs and checks the caller's rights for all of them before acting on any. */
static int step_select(struct gs_request *rq, uint64_t now_ns)
{
	struct job *j = rq->state;
	struct gs_selection *l = &j->sel;
	int r = gs_selection_step(rq, l);

	if (r)
		return r;
	r = l->n ? own_only(rq, &l->target, l->recs, &l->n)
		 : gs_selection_none(&rq->view, &l->target, rq->err);
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
	r = gs_selection_target(rq, &j->sel.target);
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

/* Undoes a person's suspension, and admits TSGs that wait for admission. */
int gs_verb_resume(struct gs_request *rq)
{
	return begin(rq, (struct job){ .check = check_resume,
				       .act = act_resume,
				       .m = { .clear = GPUSCHED_RUNNABLE },
				       .resume = true });
}
