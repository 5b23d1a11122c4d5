// SPDX-License-Identifier: MIT
/* results.c - what a call's end means for the record and for the next try */
#include <errno.h>
#include <stdlib.h>

#include "basic/clock.h"
#include "basic/log.h"
#include "engine/internal.h"
#include "engine/ops.h"

#define BACKOFF_FIRST_NS (10 * NS_PER_MS)
#define BACKOFF_MOST_NS (10 * NS_PER_S)

/* RM or we said no before anything was changed. */
static bool is_refusal(int err)
{
	return err == -EREMOTEIO || err == -EPERM || err == -ERANGE || err == -EBADF ||
	       err == -ENXIO;
}

void gs_tell(struct gs_engine *e, const struct gs_job *job, unsigned int step, bool dry_run)
{
	struct gs_engine_call call = {
		.key = job->key,
		.id = job->id,
		.pid = job->pid,
		.gpu = job->gpu,
		.op = job->steps[step].op,
		.arg = job->steps[step].arg,
		.dry_run = dry_run,
	};

	if (!e->opts.on_call)
		return;
	if (!dry_run)
		call.res = job->steps[step].res;
	e->opts.on_call(&call, e->opts.user);
}

static uint64_t count(struct gs_engine *e, const struct gs_job *job)
{
	uint64_t spent = 0;

	for (unsigned int i = 0; i < job->nsteps; i++) {
		const struct gs_rm_result *res = &job->steps[i].res;

		if (res->err == -ECANCELED)
			continue;
		e->counters[GS_ENG_CALLS] += res->calls;
		e->counters[GS_ENG_CALL_NS] += res->ns;
		e->counters[GS_ENG_CALLS_FAILED] += res->err != 0;
		spent += res->ns;
		e->call_ns_avg += (res->ns >> 3) - (e->call_ns_avg >> 3);
		gs_tell(e, job, i, false);
	}
	return spent;
}

/* ---- the record ------------------------------------------------------------------------------ */

static void note_success(struct gs_node *n, const struct gs_job *job, unsigned int i,
			 struct gpusched_poke *p)
{
	static const enum gpusched_suspend_by by[] = {
		[GS_SRC_POLICY] = GPUSCHED_BY_POLICY,
		[GS_SRC_PERSON] = GPUSCHED_BY_PERSON,
		[GS_SRC_ADMISSION] = GPUSCHED_BY_ADMISSION,
	};
	struct gpusched_settings asked = gs_asked(&p->rec);
	uint32_t bit = job->step_bit[i], value = job->steps[i].arg;

	if (bit == GPUSCHED_RUNNABLE)
		value = job->steps[i].op == GS_RM_RESUME;
	gs_field_put(&p->rec.task.is, bit, value);
	if (value != gs_field_get(&asked, bit)) {
		p->rec.changed |= bit;
	} else {
		p->rec.changed &= ~bit;
		if (job->step_src[i] == GS_SRC_ASKED) /* nobody wishes anything any more */
			gs_field_unset(&p->rec.task.is, bit);
	}
	if (bit != GPUSCHED_RUNNABLE)
		return;
	p->what |= GPUSCHED_POKE_SUSPEND;
	if (value) {
		n->resume_ns = 0;
		p->rec.suspend_by = GPUSCHED_BY_NOBODY;
		p->rec.suspended_ns = 0;
		p->rec.suspend_until_ns = 0;
	} else {
		if (p->rec.suspend_by != by[job->step_src[i]] || !p->rec.suspended_ns)
			p->rec.suspended_ns = gs_now_ns();
		p->rec.suspend_by = by[job->step_src[i]];
		n->suspended_channels = job->nchannels;
	}
}

static int write_record(struct gs_engine *e, struct gs_node *n, const struct gs_job *job,
			struct gpusched_tsg *rec)
{
	struct gpusched_poke p = { .key = job->key, .id = job->id, .rec = *rec };
	int r;

	p.what = GPUSCHED_POKE_IS | GPUSCHED_POKE_CHANGED;
	for (unsigned int i = 0; i < job->nsteps; i++) {
		const struct gs_rm_result *res = &job->steps[i].res;

		if (res->err == -ECANCELED)
			continue;
		p.what |= GPUSCHED_POKE_ERRORS;
		if (!res->err) {
			note_success(n, job, i, &p);
			p.rec.errors = 0;
			if (res->fd != (int)rec->owner_fd) {
				p.what |= GPUSCHED_POKE_OWNER;
				p.rec.owner_fd = (gs_u32)res->fd;
			}
			continue;
		}
		p.rec.errors = rec->errors + 1;
		p.rec.last_status = res->status;
		/* nothing changed, so there is nothing to put back */
		if (is_refusal(res->err) && !(job->changed & job->step_bit[i]))
			p.rec.changed &= ~job->step_bit[i];
	}
	r = gs_engine_ops.poke(e->o, &p);
	if (r)
		return r;
	e->counters[GS_ENG_RESTORED] += rec->changed && !p.rec.changed;
	*rec = p.rec;
	return 0;
}

/* ---- failures -------------------------------------------------------------------------------- */

static void give_up(struct gs_node *n, const struct gs_job *job, unsigned int i)
{
	uint32_t bit = job->step_bit[i], value = job->steps[i].arg;

	if (bit == GPUSCHED_RUNNABLE)
		value = job->steps[i].op == GS_RM_RESUME;
	n->gave_up |= bit;
	gs_field_put(&n->gave_up_at, bit, value);
	if (bit == GPUSCHED_RUNNABLE && value)
		n->resume_ns = gs_now_ns() + gs_dilated(gs_engine_ops.again_ns);
}

static void judge(struct gs_engine *e, struct gs_node *n, const struct gs_job *job)
{
	bool failed = job->err, gone = gs_is_gone(job->err), told = false;
	uint64_t wait;

	for (unsigned int i = 0; i < job->nsteps; i++) {
		int err = job->steps[i].res.err;

		gone |= gs_is_gone(err);
		failed |= err && err != -ECANCELED;
		if (err && err != -ECANCELED && !is_refusal(err) && !gs_is_gone(err))
			n->unsure |= job->step_bit[i];
	}
	if (!failed) {
		n->fails = 0;
		return;
	}
	n->fails++;
	if (!gone && n->fails < GS_TRIES) {
		wait = BACKOFF_FIRST_NS << (n->fails - 1);
		n->retry_at = gs_now_ns() + (wait < BACKOFF_MOST_NS ? wait : BACKOFF_MOST_NS);
		return;
	}
	for (unsigned int i = 0; i < job->nsteps; i++) {
		int err = job->steps[i].res.err;

		if (!err)
			continue;
		told |= job->step_bit[i] == GPUSCHED_RUNNABLE && n->resume_ns;
		give_up(n, job, i);
		n->unsure &= ~job->step_bit[i];
		if (!gone && !told) {
			e->counters[GS_ENG_GAVE_UP]++;
			gs_log(LOG_WARNING,
			       "tsg %llu of pid %u: %s failed %u times (status 0x%x), given up",
			       (unsigned long long)job->id, job->pid,
			       gs_rm_op_name(job->steps[i].op), n->fails, job->steps[i].res.status);
			told = true;
		}
	}
	n->fails = 0;
}

void gs_job_done(struct gs_engine *e, struct gs_job *job)
{
	struct gs_node *n = gs_node_find(e, &job->key);
	struct gpusched_tsg rec;
	bool same;
	int r;

	e->pending--;
	gs_budget_settle(e, job, count(e, job));
	if (!n)
		return;
	n->busy = false;
	n->called = job->bits;
	n->called_ns = gs_now_ns();
	if (job->preempt && !n->preempt) { /* else another one was asked for meanwhile */
		n->preempting = false;
		n->preempted = job->steps[0].res;
	}
	r = gs_engine_ops.get(e->o, &job->key, &rec);
	same = !r && rec.task.id == job->id;
	if (same && !n->forgotten && !job->preempt) {
		r = job->err ? 0 : write_record(e, n, job, &rec);
		judge(e, n, job);
	}
	if (n->forgotten || gs_is_gone(r)) {
		gs_node_free(e, n);
		if (r || same)
			return;
	}
	if (r < 0)
		return;
	n = gs_node_of(e, &rec);
	if (!n)
		return;
	/*
	 * The owner set it too meanwhile, and which of the two came last is not known; or the same
	 * handles are another TSG's by now, and our call may have met that one.
	 */
	n->unsure |= same ? n->owner_set & job->bits : job->bits;
	gs_look(e, n, &rec);
}
