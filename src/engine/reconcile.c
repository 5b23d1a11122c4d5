// SPDX-License-Identifier: MIT
/* reconcile.c - what is against what should be; the calls that close the gap */
#include <errno.h>
#include <stdlib.h>

#include "basic/clock.h"
#include "engine/internal.h"
#include "engine/ops.h"

static const enum gpusched_suspend_by suspend_by[] = {
	[GS_SRC_ASKED] = GPUSCHED_BY_NOBODY,
	[GS_SRC_POLICY] = GPUSCHED_BY_POLICY,
	[GS_SRC_PERSON] = GPUSCHED_BY_PERSON,
	[GS_SRC_ADMISSION] = GPUSCHED_BY_ADMISSION,
};

struct gs_worker *gs_worker_of(struct gs_engine *e, uint32_t gpu)
{
	for (size_t i = 0; i + 1 < e->nworkers; i++)
		if (e->gpus[i].index == gpu)
			return &e->workers[i];
	return &e->workers[e->nworkers - 1];
}

struct gs_job *gs_job_new(struct gs_engine *e, const struct gpusched_tsg *rec)
{
	struct gs_job *job = calloc(1, sizeof(*job));

	if (!job)
		return NULL;
	job->key = rec->key;
	job->id = rec->task.id;
	job->pid = rec->task.pid;
	job->gpu = rec->task.gpu;
	job->changed = rec->changed;
	job->nchannels = rec->nchannels;
	gs_fill_tsg(&job->tsg, rec, e->opts.branch);
	return job;
}

void gs_job_submit(struct gs_engine *e, struct gs_node *n, struct gs_job *job)
{
	uint64_t check = gs_now_ns() + gs_dilated(gs_engine_ops.stuck_ns);

	n->busy = true;
	e->pending++;
	if (check < e->next_due)
		e->next_due = check;
	if (!e->batching) {
		gs_worker_push(gs_worker_of(e, job->gpu), job);
		return;
	}
	job->next = e->batch;
	e->batch = job;
}

void gs_batch_release(struct gs_engine *e)
{
	struct gs_job *list = NULL;

	e->batching = false;
	while (e->batch) { /* oldest first */
		struct gs_job *job = e->batch;

		e->batch = job->next;
		job->next = list;
		list = job;
	}
	while (list) {
		struct gs_job *job = list;

		list = job->next;
		gs_worker_push(gs_worker_of(e, job->gpu), job);
	}
}

/* ---- the gap --------------------------------------------------------------------------------- */

struct gap {
	uint32_t call;    /* settings that want a call */
	uint32_t settled; /* settings that are as the owner asked, though the record says changed */
	uint32_t agreed;  /* wishes that are what the owner asked anyway */
	struct gpusched_settings now; /* what the hardware is believed to hold */
};

static void find_gap(struct gs_node *n, const struct gpusched_tsg *rec, const struct gs_target *t,
		     struct gap *g)
{
	struct gpusched_settings asked = gs_asked(rec);

	*g = (struct gap){ .now = asked };
	for (unsigned int i = 0; i < GS_NFIELDS; i++) {
		uint32_t bit = GS_BIT(i), want = gs_field_get(&t->set, bit);
		bool told = rec->task.is.valid & bit, unsure = n->unsure & bit;

		if (told && !(n->owner_set & bit))
			gs_field_put(&g->now, bit, gs_field_get(&rec->task.is, bit));
		/* a channel was added to a suspended TSG: it runs */
		if (bit == GPUSCHED_RUNNABLE && told && !want &&
		    n->suspended_channels != rec->nchannels)
			unsure = true;
		/* the mode is set by way of a channel */
		if (bit == GPUSCHED_PREEMPT_MODE && !rec->nchannels)
			continue;
		if ((n->gave_up & bit) && gs_field_get(&n->gave_up_at, bit) == want)
			continue;
		n->gave_up &= ~bit;
		/* never seen, only assumed: a person's wish is worth a call */
		if ((rec->task.assumed & bit) && !told && t->src[i] == GS_SRC_PERSON)
			unsure = true;
		if (unsure || gs_field_get(&g->now, bit) != want)
			g->call |= bit;
		else if (want != gs_field_get(&asked, bit))
			continue;
		else if (t->src[i] == GS_SRC_ASKED && ((rec->changed & bit) || told))
			g->settled |= bit;
		else if (t->src[i] != GS_SRC_ASKED && ((rec->changed & bit) || !told))
			g->agreed |= bit;
	}
}

static void add_step(struct gs_job *job, const struct gs_target *t, unsigned int i)
{
	uint32_t bit = GS_BIT(i), value = gs_field_get(&t->set, bit);
	unsigned int at = job->nsteps++;

	job->bits |= bit;
	job->step_bit[at] = bit;
	job->step_src[at] = t->src[i];
	job->steps[at].op = gs_field_op(bit, value);
	job->steps[at].arg = bit == GPUSCHED_RUNNABLE ? 0 : value;
}

/* A suspension comes before what it makes harmless, a resume after what makes it harmless. */
static void add_steps(struct gs_job *job, const struct gs_target *t, const struct gap *g)
{
	bool run = g->call & GPUSCHED_RUNNABLE;
	const unsigned int last = GS_NFIELDS - 1; /* RUNNABLE */

	job->order = 1;
	if (run && !t->set.runnable) {
		add_step(job, t, last);
		job->order = 0;
	}
	for (unsigned int i = 0; i < last; i++)
		if (g->call & GS_BIT(i))
			add_step(job, t, i);
	if ((g->call & GPUSCHED_TIMESLICE) && t->set.timeslice_us > g->now.timeslice_us)
		job->order = 0;
	if (run && t->set.runnable) {
		add_step(job, t, last);
		job->order = 2;
	}
}

static void tell_dry(struct gs_engine *e, struct gs_node *n, struct gs_job *job,
		     const struct gs_target *t)
{
	n->told.valid &= job->bits;
	for (unsigned int i = 0; i < job->nsteps; i++) {
		uint32_t bit = job->step_bit[i], value = gs_field_get(&t->set, bit);

		if ((n->told.valid & bit) && gs_field_get(&n->told, bit) == value)
			continue;
		gs_field_put(&n->told, bit, value);
		e->counters[GS_ENG_DRY_RUN]++;
		gs_tell(e, job, i, true);
	}
}

/* The record where no call is needed but something is to be noted. */
static void note(struct gs_engine *e, const struct gpusched_tsg *rec, const struct gs_target *t,
		 const struct gap *g)
{
	struct gpusched_poke p = { .key = rec->key, .id = rec->task.id, .rec = *rec };
	uint32_t by = suspend_by[t->src[GS_NFIELDS - 1]];

	if (g->settled | g->agreed) {
		p.what |= GPUSCHED_POKE_IS | GPUSCHED_POKE_CHANGED;
		p.rec.task.is.valid &= ~g->settled;
		p.rec.changed &= ~(g->settled | g->agreed);
	}
	for (unsigned int i = 0; i < GS_NFIELDS; i++)
		if (g->agreed & GS_BIT(i))
			gs_field_put(&p.rec.task.is, GS_BIT(i), gs_field_get(&t->set, GS_BIT(i)));
	if (g->settled & GPUSCHED_RUNNABLE) {
		p.what |= GPUSCHED_POKE_SUSPEND;
		p.rec.suspend_by = GPUSCHED_BY_NOBODY;
		p.rec.suspended_ns = p.rec.suspend_until_ns = 0;
	} else if (!(g->call & GPUSCHED_RUNNABLE) && !t->set.runnable && by &&
		   rec->suspend_by != by) {
		p.what |= GPUSCHED_POKE_SUSPEND;
		p.rec.suspend_by = by;
		p.rec.suspended_ns = gs_now_ns();
	}
	if (p.what)
		gs_engine_ops.poke(e->o, &p);
}

/* `--for` is over: the person's wish to suspend goes. */
static void end_persons_suspend(struct gs_engine *e, struct gs_node *n, struct gpusched_tsg *rec)
{
	struct gpusched_poke p = {
		.key = rec->key,
		.id = rec->task.id,
		.what = GPUSCHED_POKE_MANUAL | GPUSCHED_POKE_SUSPEND,
	};

	if (!(rec->manual.valid & GPUSCHED_RUNNABLE) || rec->manual.runnable ||
	    !rec->suspend_until_ns)
		return;
	if (gs_now_ns() < rec->suspend_until_ns) {
		gs_due(e, n, rec->suspend_until_ns);
		return;
	}
	gs_field_unset(&rec->manual, GPUSCHED_RUNNABLE);
	rec->suspend_until_ns = 0;
	p.rec = *rec;
	gs_engine_ops.poke(e->o, &p);
}

int gs_look_preempt(struct gs_engine *e, struct gs_node *n, const struct gpusched_tsg *rec)
{
	struct gs_job *job = gs_job_new(e, rec);

	n->preempt = false;
	if (!job)
		return -ENOMEM;
	job->preempt = true;
	job->nsteps = 1;
	job->step_src[0] = GS_SRC_PERSON;
	job->steps[0].op = GS_RM_PREEMPT;
	if (e->opts.dry_run) {
		e->counters[GS_ENG_DRY_RUN]++;
		gs_tell(e, job, 0, true);
		free(job);
		n->preempting = false;
		n->preempted = (struct gs_rm_result){ 0 };
		return 0;
	}
	gs_budget_take(e, n, job);
	gs_job_submit(e, n, job);
	return 0;
}

/* Whatever keeps a TSG from running again may pass: that is never given up for good. */
static void try_resume_again(struct gs_engine *e, struct gs_node *n)
{
	if (!(n->gave_up & GPUSCHED_RUNNABLE) || !n->gave_up_at.runnable)
		return;
	if (gs_now_ns() < n->resume_ns) {
		gs_due(e, n, n->resume_ns);
		return;
	}
	n->gave_up &= ~GPUSCHED_RUNNABLE;
	n->fails = GS_TRIES - 1; /* once */
}

int gs_look(struct gs_engine *e, struct gs_node *n, const struct gpusched_tsg *now_rec)
{
	struct gpusched_tsg rec = *now_rec;
	struct gs_target t;
	struct gap g;
	struct gs_job *job;

	if (rec.flags & GPUSCHED_TSG_GONE)
		return 0;
	if (n->busy) /* its job's end is followed by another look */
		return 0;
	if (n->preempt)
		return gs_look_preempt(e, n, &rec);
	n->due = 0;
	n->gpu = rec.task.gpu;
	end_persons_suspend(e, n, &rec);
	try_resume_again(e, n);
	gs_decide(e, n, &rec, &t);
	find_gap(n, &rec, &t, &g);
	if (!e->opts.dry_run)
		note(e, &rec, &t, &g);
	if (!g.call) {
		n->owner_set = n->unsure = 0;
		n->told.valid = 0;
		n->deferred = false;
		n->fails = 0;
		return 0;
	}
	if (n->fails && gs_now_ns() < n->retry_at) {
		gs_due(e, n, n->retry_at);
		return 0;
	}
	job = gs_job_new(e, &rec);
	if (!job)
		return -ENOMEM;
	add_steps(job, &t, &g);
	if (e->opts.dry_run) {
		tell_dry(e, n, job, &t);
		free(job);
		return 0;
	}
	if (!gs_budget_take(e, n, job)) {
		free(job);
		return 0;
	}
	if (n->fails)
		e->counters[GS_ENG_RETRIES]++;
	for (unsigned int i = 0; i < job->nsteps; i++)
		if ((n->owner_set & job->step_bit[i]) && job->step_src[i] != GS_SRC_ASKED)
			e->counters[GS_ENG_OVERRIDDEN]++;
	n->owner_set = n->unsure = 0;
	gs_job_submit(e, n, job);
	return 0;
}

int gs_look_again(struct gs_engine *e, struct gs_node *n)
{
	struct gpusched_tsg rec;
	int r = gs_engine_ops.get(e->o, &n->key, &rec);

	if (r == -ENOENT) {
		if (n->busy)
			n->forgotten = true;
		else
			gs_node_free(e, n);
		return r;
	}
	if (r < 0)
		return r;
	n = gs_node_of(e, &rec);
	return n ? gs_look(e, n, &rec) : -ENOMEM;
}

int gs_look_dry(struct gs_engine *e, const struct gpusched_tsg *rec)
{
	struct gs_node *n = gs_node_of(e, rec);

	return n ? gs_look(e, n, rec) : -ENOMEM;
}
