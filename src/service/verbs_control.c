// SPDX-License-Identifier: MIT
/* set, preempt, suspend, resume: what a person does to TSGs by hand. */
#include <inttypes.h>
#include <limits.h>
#include <string.h>
#include <strings.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "service/internal.h"

#define ANSWER_MS 5000 /* a call that takes longer is answered as failed */

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

/* ---- who may --------------------------------------------------------------------------------- */

/* What a TSG has without the wish of who asks: a person's settings, else its program's. */
static struct gpusched_settings without(const struct gpusched_tsg *rec, bool manual)
{
	struct gpusched_settings s = { 0 };

	for (unsigned int i = 0; i < GS_NFIELDS; i++) {
		const struct gpusched_settings *from =
			manual && rec->manual.valid & GS_BIT(i) ? &rec->manual : &rec->task.asked;

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
 * As with nice, owners may lower their own TSGs, and not take back what lowers them. What is above
 * what the program asked for, a person left it, or the running policy wants is root's to give.
 */
static bool raises(const struct gs_service *s, const struct gpusched_tsg *rec,
		   const struct gpusched_settings *set, bool clear)
{
	const struct gpusched_settings *want = &rec->task.want;
	struct gpusched_settings now = without(rec, true), cleared = without(rec, false);

	if (clear)
		return is_above(&cleared, &now, rec->manual.valid & rec->task.asked.valid);
	return is_above(set, &now, set->valid) ||
	       (s->p && is_above(set, want, set->valid & want->valid & ~rec->manual.valid));
}

/* Keeps what the peer owns. Where one process or TSG was named a foreign one is an error. */
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

/* One server works for many clients: what is wished for a class of them is not meant for all. */
static int no_servers(struct gs_request *rq, const struct gs_target *t, struct gpusched_tsg *recs,
		      size_t *inout_n)
{
	size_t kept = 0, n = *inout_n;

	if (!gs_target_has(t, GS_TARGET_CLASS) || gs_target_narrow(t))
		return 0;
	for (size_t i = 0; i < n; i++)
		if (!(recs[i].flags & GPUSCHED_TSG_MPS))
			recs[kept++] = recs[i];
	if (n && !kept)
		return gs_fail(
			rq->err, -ENOTSUP,
			"process %u is an MPS server, which is one unit for all its clients: "
			"name it by its pid instead of %s",
			recs[0].task.pid, t->whole);
	*inout_n = kept;
	return 0;
}

static int select_records(struct gs_request *rq, struct gpusched_tsg **ret, size_t *ret_n)
{
	struct gs_target t;
	struct gpusched_tsg *recs;
	size_t n;
	int r;

	r = gs_request_target(rq, &t);
	if (!r)
		r = gs_records(rq->s, &rq->view, &t, &recs, &n, rq->err);
	if (r)
		return r;
	r = n ? own_only(rq, &t, recs, &n) : gs_target_nothing(&rq->view, &t, rq->err);
	if (!r)
		r = no_servers(rq, &t, recs, &n);
	if (r) {
		free(recs);
		return r;
	}
	*ret = recs;
	*ret_n = n;
	return 0;
}

/* ---- waiting for the calls ------------------------------------------------------------------- */

struct job {
	struct gpusched_tsg *recs;
	size_t n, settled;     /* as many at the beginning need not be looked at again */
	int *codes;            /* per record: what the engine said at once */
	struct gs_error first; /* of those */
	uint32_t which;        /* settings that were asked for; 0: no settings */
	bool clear;            /* they were asked to be as the owner has them */
	bool preempt;          /* a preempt call each */
	bool resume;           /* a person's suspension is taken back */
};

static bool same(const struct gpusched_settings *a, const struct gpusched_settings *b, uint32_t f)
{
	uint32_t both = a->valid & b->valid & f;

	for (unsigned int i = 0; i < GS_NFIELDS; i++)
		if (both & GS_BIT(i) && gs_field_get(a, GS_BIT(i)) != gs_field_get(b, GS_BIT(i)))
			return false;
	return true;
}

enum state { WAITS, DONE, FAILED, GONE };

static enum state preempt_state(struct gs_service *s, struct gpusched_tsg *rec)
{
	struct gs_rm_result res = { 0 };
	int r = gs_engine_preempted(s->e, &rec->key, &res);

	rec->last_status = res.status;
	return !r ? DONE : r == -EINPROGRESS ? WAITS : r == -ENOENT ? GONE : FAILED;
}

/* Where one TSG stands: what was wished has been accepted, has failed, or is under way. */
static enum state state_of(struct gs_service *s, const struct job *j, size_t i,
			   struct gpusched_tsg *ret)
{
	struct gpusched_settings is;
	uint32_t which = j->which;

	if (j->codes[i])
		return FAILED;
	if (gs_table_get(s->o, &j->recs[i].key, ret) || ret->task.id != j->recs[i].task.id)
		return GONE;
	if (j->preempt)
		return preempt_state(s, ret);
	if (j->resume && !s->opts.dry_run && ret->suspend_by == GPUSCHED_BY_PERSON)
		return ret->errors ? FAILED : WAITS;
	if (s->opts.dry_run || !which)
		return DONE;
	/* Beside other settings a mode is for the compute TSGs among the matched ones. */
	if (ret->task.kind != GPUSCHED_KIND_COMPUTE)
		which &= ~GPUSCHED_PREEMPT_MODE;
	is = gs_record_is(ret);
	if (!j->clear && (is.valid & which) == which && same(&is, &ret->manual, which))
		return DONE;
	/* what a policy wants from now on is the policy's affair */
	if (j->clear && !(ret->changed & which & ~ret->task.want.valid))
		return DONE;
	return ret->errors ? FAILED : WAITS;
}

/* The first failure of a call is an answer: the engine goes on trying after it. */
static bool all_settled(struct gs_service *s, struct job *j)
{
	struct gpusched_tsg now;

	while (j->settled < j->n && state_of(s, j, j->settled, &now) != WAITS)
		j->settled++;
	return j->settled == j->n;
}

static json_t *is_json(const struct gpusched_tsg *rec)
{
	const struct gpusched_settings is = gs_record_is(rec);

	return gs_settings_json(&is);
}

static json_t *result_json(struct gs_service *s, const struct job *j, size_t i, enum state st,
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
	return json_pack("{s:I, s:i, s:b, s:s?, s:o}", "id", (json_int_t)j->recs[i].task.id, "pid",
			 (int)j->recs[i].task.pid, "done", st == DONE, "error", text, "is",
			 st == DONE ? is_json(now) : json_null());
}

/* Fills the answer. All failed: an error with the reason of the first. */
static int report(struct gs_request *rq, const struct job *j)
{
	json_t *results = json_array();
	unsigned int changed = 0, failed = 0;
	CLEANUP_FREE char *why = NULL;
	int code = 0;

	for (size_t i = 0; i < j->n; i++) {
		struct gpusched_tsg now = { 0 };
		enum state st = state_of(rq->s, j, i, &now);
		json_t *one = result_json(rq->s, j, i, st, &now, j->first.text);

		changed += st == DONE;
		failed += st != DONE;
		if (st != DONE && !why) {
			why = strdup(json_string_value(json_object_get(one, "error")) ?: "failed");
			code = j->codes[i]   ? j->codes[i]
			       : st == GONE  ? -ENOENT
			       : st == WAITS ? -ETIMEDOUT
					     : -EREMOTEIO;
		}
		json_array_append_new(results, one);
	}
	json_object_set_new(rq->answer, "matched", json_integer((json_int_t)j->n));
	json_object_set_new(rq->answer, "changed", json_integer(changed));
	json_object_set_new(rq->answer, "failed", json_integer(failed));
	json_object_set_new(rq->answer, "dry_run", json_boolean(rq->s->opts.dry_run));
	json_object_set_new(rq->answer, "results", results);
	if (failed && !changed)
		return gs_fail(rq->err, code, "%s%s", code == -EREMOTEIO ? "the driver said " : "",
			       why);
	return 0;
}

/* ---- the verbs ------------------------------------------------------------------------------- */

typedef int (*act_fn)(struct gs_request *rq, const struct gpusched_tsg *rec, const void *arg,
		      struct gs_error *err);

static void job_free(void *state)
{
	struct job *j = state;

	if (!j)
		return;
	free(j->recs);
	free(j->codes);
	free(j);
}

static void job_free_(struct job **j)
{
	job_free(*j);
}

/* What @rq's target selects. */
static int job_new(struct gs_request *rq, struct job what, struct job **ret)
{
	CLEANUP(job_free_) struct job *j = malloc(sizeof(*j));
	int r;

	if (!j)
		return -ENOMEM;
	*j = what;
	r = select_records(rq, &j->recs, &j->n);
	if (!r)
		*ret = TAKE_PTR(j);
	return r;
}

static int step_settled(struct gs_request *rq, uint64_t now_ns)
{
	struct job *j = rq->state;

	if (!gs_engine_idle(rq->s->e) && !gs_completion_is_late(&rq->c, now_ns) &&
	    !all_settled(rq->s, j))
		return -EINPROGRESS;
	return report(rq, j);
}

/* Takes @j. */
static int act(struct gs_request *rq, struct job *j, act_fn fn, const void *arg)
{
	struct gs_error unsuited = { 0 };
	size_t done = 0;

	rq->state = j;
	rq->free_state = job_free;
	j->codes = calloc(j->n, sizeof(*j->codes));
	if (!j->codes)
		return -ENOMEM;
	for (size_t i = 0; i < j->n; i++) {
		struct gs_error e = { 0 };

		j->codes[i] = fn(rq, &j->recs[i], arg, &e);
		done += !j->codes[i];
		if (j->codes[i] == -ENOTSUP)
			unsuited = e;
		else if (j->codes[i] && !j->first.code)
			j->first = e;
	}
	/* A mode alone: copy TSGs that matched beside compute TSGs have none, and none failed. */
	for (size_t i = 0; i < j->n && done; i++)
		if (j->codes[i] == -ENOTSUP && j->recs[i].task.kind != GPUSCHED_KIND_COMPUTE)
			j->codes[i] = 0;
	if (!j->first.code)
		j->first = unsuited;
	return gs_request_wait(rq, step_settled, GS_ON_ENGINE, ANSWER_MS);
}

struct manual {
	struct gpusched_settings set;
	uint64_t for_ns;
	uint32_t clear; /* settings to clear, 0: set */
};

static int act_manual(struct gs_request *rq, const struct gpusched_tsg *rec, const void *arg,
		      struct gs_error *err)
{
	const struct manual *m = arg;
	int r;

	r = m->clear ? gs_engine_clear_manual(rq->s->e, &rec->key, m->clear, rq->peer->uid)
		     : gs_engine_set_manual(rq->s->e, &rec->key, &m->set, m->for_ns, rq->peer->uid,
					    err);
	if (!r)
		gs_saved_note(rq->s, &rec->key, rq->peer, m->clear ? m->clear : m->set.valid);
	return r ? gs_fail(err, r, "%s", strerror(-r)) : 0;
}

static int act_preempt(struct gs_request *rq, const struct gpusched_tsg *rec, const void *arg,
		       struct gs_error *err)
{
	int r = gs_engine_preempt(rq->s->e, &rec->key, rq->peer->uid, err);

	return r ? gs_fail(err, r, "%s", strerror(-r)) : 0;
}

int gs_verb_set(struct gs_request *rq)
{
	CLEANUP(job_free_) struct job *j = NULL;
	struct manual m = { 0 };
	bool clear = false;
	int r;

	r = parse_settings(rq, &m.set, &clear);
	if (r)
		return r;
	m.clear = clear ? GPUSCHED_ALL_SETTINGS & ~GPUSCHED_RUNNABLE : 0;
	r = job_new(rq, (struct job){ .clear = clear, .which = clear ? m.clear : m.set.valid }, &j);
	if (r)
		return r;
	for (size_t i = 0; rq->peer->uid && i < j->n; i++)
		if (raises(rq->s, &j->recs[i], &m.set, clear))
			return gs_fail(rq->err, -EPERM,
				       "this would raise TSG %" PRIu64
				       " above what its program asked for, a person left it or the "
				       "policy wants: only root may",
				       j->recs[i].task.id);
	return act(rq, TAKE_PTR(j), act_manual, &m);
}

int gs_verb_preempt(struct gs_request *rq)
{
	struct job *j;
	int r = job_new(rq, (struct job){ .preempt = true }, &j);

	return r ? r : act(rq, j, act_preempt, NULL);
}

int gs_verb_suspend(struct gs_request *rq)
{
	struct manual m = { .set = { .valid = GPUSCHED_RUNNABLE, .runnable = 0 },
			    .for_ns = (uint64_t)gs_arg_number(rq, "for_us", 0) * NS_PER_US };
	struct job *j;
	int r = job_new(rq, (struct job){ .which = GPUSCHED_RUNNABLE }, &j);

	return r ? r : act(rq, j, act_manual, &m);
}

static int act_resume(struct gs_request *rq, const struct gpusched_tsg *rec, const void *arg,
		      struct gs_error *err)
{
	struct gpusched_poke poke = {
		.key = rec->key,
		.id = rec->task.id,
		.what = GPUSCHED_POKE_ADMIT,
	};

	if ((rec->flags & GPUSCHED_TSG_HELD) && !rq->s->opts.dry_run)
		gs_table_poke(rq->s->o, &poke);
	return act_manual(rq, rec, arg, err);
}

/*
 * Takes a person's suspension back, and lets in who waits for admission. One by a policy is lifted
 * by a wish for it.
 */
int gs_verb_resume(struct gs_request *rq)
{
	CLEANUP(job_free_) struct job *j = NULL;
	struct manual m = { .clear = GPUSCHED_RUNNABLE };
	int r = job_new(rq, (struct job){ .resume = true }, &j);

	if (r)
		return r;
	for (size_t i = 0; rq->peer->uid && i < j->n; i++)
		if (j->recs[i].flags & GPUSCHED_TSG_HELD)
			return gs_fail(rq->err, -EPERM,
				       "TSG %" PRIu64
				       " waits for admission: only root may let it in",
				       j->recs[i].task.id);
	return act(rq, TAKE_PTR(j), act_resume, &m);
}
