// SPDX-License-Identifier: MIT
/*
 * scenario_sight.c - computes GPU time as the daemon would see it
 *
 * It applies the account's rules to the model's log, and reads the log as late as the daemon reads
 * a real one.
 */
#include <errno.h>
#include <stdlib.h>

#include "account/facts.h"
#include "basic/cleanup.h"
#include "basic/clock.h"
#include "basic/grow.h"
#include "sim/scenario_priv.h"
#include "sim/scenario_sight.h"
#include "table/facts.h"

#define BRANCH 580 /* driver branch for which the model was fitted */
/* period in which RM delivers log records, and in which the daemon reads them */
#define PERIOD_NS 33333333u
#define SAMPLES 7u               /* the driver takes so many samples of usage in a second */
#define PHASE_NS (PERIOD_NS / 2) /* RM delivers records this long before each read */

struct record {
	struct gs_switch sw;
	bool cut, drained;
	struct sim_proc *proc;
};

/* The log of a GPU. */
struct sim_sight {
	struct gs_turns *turns;
	struct gs_turns *of_log; /* a second account that gets no launches, for comparison */
	struct record *queue;
	size_t n, cap, at;
	uint64_t read; /* the log was read up to this time */
	struct gs_usage_told usage;
	uint64_t usage_s; /* that was read when this second began */
};

/*
 * Compares how the account saw a turn end with the truth, which @p has until its TSG's next record.
 */
static void judge(const struct gs_turn *turn, void *user)
{
	struct sim_sim *x = user;
	struct sim_proc *p = &x->procs[turn->id - 1];
	struct sim_judged *j = &p->res->judged;

	if (turn->start_ns < x->warm_ns || (!p->cut && !p->drained))
		return;
	j->cut += p->cut;
	if (turn->end == GS_TURN_UNSURE) {
		j->cut_unknown += p->cut;
		j->drained_unknown += p->drained;
		return;
	}
	j->right += p->cut == (turn->end == GS_TURN_SLICE);
	j->wrong += p->cut != (turn->end == GS_TURN_SLICE);
}

int sim_sight_init(struct sim_sim *x)
{
	struct gs_costs costs = gs_costs_measured(x->s->params.pci_name, BRANCH);

	x->sights = calloc(x->s->gpus, sizeof(*x->sights));
	for (unsigned int i = 0; x->sights && i < x->s->gpus; i++) {
		struct sim_sight *g = &x->sights[i];

		if (gs_turns_new(NULL, NULL, &g->turns) || gs_turns_new(judge, x, &g->of_log))
			return -ENOMEM;
		gs_turns_measured(g->turns, &costs);
		gs_turns_measured(g->of_log, &costs);
	}
	return x->sights ? 0 : -ENOMEM;
}

void sim_sight_end(struct sim_sim *x)
{
	for (unsigned int i = 0; x->sights && i < x->s->gpus; i++) {
		gs_turns_free(x->sights[i].turns);
		gs_turns_free(x->sights[i].of_log);
		free(x->sights[i].queue);
	}
	free(x->sights);
	x->sights = NULL;
}

void sim_sight_switch(struct sim_sim *x, const struct sim_switch *sw)
{
	struct sim_sight *g = &x->sights[sw->gpu];

	if (x->s->parts) /* a divided GPU has no log */
		return;
	if (GS_GROW(g->queue, g->cap, g->n + 1)) {
		gs_fail(&x->err, -ENOMEM, "out of memory");
		return;
	}
	g->queue[g->n++] = (struct record){
		{ .ns = sw->ns, .start = sw->start }, sw->cut, sw->drained, sw->user
	};
}

void sim_sight_launched(struct sim_proc *p)
{
	uint64_t now = sim_model_now(p->sim->m);

	if (p->launch_ns / PERIOD_NS != now / PERIOD_NS)
		p->launch_before = p->launch_ns;
	p->launch_ns = now;
}

/* Reports each TSG's last launch to the account, once per period, as the daemon does. */
static void tell_launches(struct sim_sim *x, unsigned int gpu, uint64_t until)
{
	for (size_t i = 0; i < x->nprocs; i++) {
		struct sim_proc *p = &x->procs[i];
		uint64_t ns = p->launch_ns <= until ? p->launch_ns : p->launch_before;

		if (p->gpu != gpu || !sim_has_record(p) || ns == p->launch_told)
			continue;
		p->launch_told = ns;
		gs_turns_launched(x->sights[gpu].turns, p->rec.task.id, ns);
	}
}

/*
 * Reads the log as the daemon does at @read, and reports launches up to @read. The account gets
 * records up to @until, and may rely on having all records up to @complete.
 */
static struct gs_turns *read_until(struct sim_sim *x, unsigned int gpu, uint64_t read,
				   uint64_t until, uint64_t complete)
{
	struct sim_sight *g = &x->sights[gpu];

	if (read == g->read)
		return g->turns;
	g->read = read;
	tell_launches(x, gpu, read);

	while (g->at < g->n && g->queue[g->at].sw.ns <= until) {
		const struct record *r = &g->queue[g->at++];
		struct sim_proc *p = r->proc;
		uint64_t id = p->alive ? p->rec.task.id : 0;

		if (!r->sw.start) {
			p->cut = r->cut;
			p->drained = r->drained;
		}
		if (gs_turns_feed(g->turns, &r->sw, id) || gs_turns_feed(g->of_log, &r->sw, id))
			gs_fail(&x->err, -ENOMEM, "out of memory");
	}
	if (g->at == g->n)
		g->at = g->n = 0;
	gs_turns_until(g->turns, complete);
	gs_turns_until(g->of_log, complete);
	return g->turns;
}

/* Reads the records that RM has delivered by now. */
static struct gs_turns *read_log(struct sim_sim *x, unsigned int gpu)
{
	uint64_t now = sim_model_now(x->m), read = now / PERIOD_NS * PERIOD_NS;

	if (x->res->facts == SIM_FACTS_ALL)
		return read_until(x, gpu, now, now, now);
	if (!read)
		return x->sights[gpu].turns;
	return read_until(x, gpu, read, read - PHASE_NS, read - PERIOD_NS);
}

void sim_sight_sums(struct sim_proc *p, struct gs_turn_sums *ret, struct gs_turn_sums *ret_of_log)
{
	uint64_t now = sim_model_now(p->sim->m);

	*ret = *ret_of_log = (struct gs_turn_sums){ 0 };
	gs_turns_of(read_until(p->sim, p->gpu, now, now, now), p->rec.task.id, ret);
	gs_turns_of(p->sim->sights[p->gpu].of_log, p->rec.task.id, ret_of_log);
}

void sim_sight_settings(struct sim_proc *p)
{
	struct sim_sight *g = &p->sim->sights[p->gpu];
	struct gs_turns *const turns[] = { g->turns, g->of_log };
	uint64_t id = p->rec.task.id, now = sim_model_now(p->sim->m);

	for (size_t i = 0; i < GS_COUNT(turns); i++)
		if (gs_turns_slice(turns[i], id, p->is.timeslice_us, now) ||
		    gs_turns_mode(turns[i], id, p->is.preempt_mode, now) ||
		    gs_turns_suspend(turns[i], id, !p->is.runnable, now))
			gs_fail(&p->sim->err, -ENOMEM, "out of memory");
}

void sim_sight_gone(struct sim_proc *p)
{
	gs_turns_forget(read_log(p->sim, p->gpu), p->rec.task.id);
	gs_turns_forget(p->sim->sights[p->gpu].of_log, p->rec.task.id);
}

int sim_sight_facts(void *user, uint64_t id, struct gpusched_facts *ret)
{
	struct sim_sim *x = user;
	struct sim_tsg_state s;
	const struct sim_proc *p;
	int r;

	if (!id || id > x->nprocs || !sim_has_record(&x->procs[id - 1]) || x->s->parts)
		return -ENOENT;
	p = &x->procs[id - 1];
	r = gs_facts_of(read_log(x, p->gpu), id, NULL, NULL, ret);
	if (r)
		return r;
	ret->runlist = gpusched_runlist(&p->rec.task);
	if (x->res->facts != SIM_FACTS_ALL)
		return 0;
	sim_model_tsg_state(p->tsg, &s);
	ret->work_ns = s.gpu_time_ns;
	ret->block_ns = p->block_ns;
	ret->known |= GPUSCHED_FACT_WORK | GPUSCHED_FACT_BLOCK | GPUSCHED_FACT_EXACT;
	if (s.queued)
		ret->last_work_ns = ret->as_of_ns;
	return 0;
}

/* The samples of a second, as read at its end; @n of them are known, the last is the newest. */
static struct gs_usage_told sum_usage(const uint64_t *busy_ns, unsigned int n)
{
	uint64_t sum = 0;
	unsigned int idle = 0;

	if (n < SAMPLES)
		return (struct gs_usage_told){ 0 };
	for (unsigned int i = n - SAMPLES; i < n; i++)
		sum += busy_ns[i];
	while (idle < n && (double)busy_ns[n - 1 - idle] < GS_USAGE_IDLE * SIM_USAGE_NS)
		idle++;
	return gs_usage_told((double)sum / (SAMPLES * SIM_USAGE_NS), (uint64_t)idle * SIM_USAGE_NS);
}

/* Reads the samples as they were at the begin of the present second, as the daemon reads them. */
static const struct gs_usage_told *read_usage(struct sim_sim *x, unsigned int gpu)
{
	struct sim_sight *g = &x->sights[gpu];
	uint64_t busy[SIM_USAGE_SLOTS], first, s = sim_model_now(x->m) / NS_PER_S;

	if (s != g->usage_s) {
		g->usage_s = s;
		sim_engine_usage(x->m, gpu, SIM_ENGINE_GR, &first, busy);
		g->usage = sum_usage(busy, (unsigned int)(s * NS_PER_S / SIM_USAGE_NS - first));
	}
	return &g->usage;
}

int sim_sight_gpu(void *user, uint32_t gpu, struct gpusched_gpu *ret)
{
	struct sim_sim *x = user;

	if (gpu >= x->s->gpus || x->s->parts)
		return -ENOENT;
	return gs_facts_of_gpu(read_log(x, gpu), read_usage(x, gpu), ret);
}

uint32_t sim_sight_slice_us(struct sim_sim *x, uint32_t gpu)
{
	struct gs_costs costs = gs_turns_costs(read_log(x, gpu));

	return gs_costs_slice_us(&costs);
}

int sim_sight_runlist(void *user, uint32_t runlist, struct gpusched_runlist_facts *ret)
{
	struct sim_sim *x = user;

	for (unsigned int gpu = 0; gpu < x->s->gpus && !x->s->parts; gpu++)
		if (runlist == gpusched_runlist_key(gpu, SIM_ENGINE_GR))
			return gs_facts_of_runlist(read_log(x, gpu), NULL, NULL, ret);
	return -ENOENT;
}

void sim_sight_refresh(struct sim_proc *p)
{
	struct gpusched_task *t = &p->rec.task;
	struct gpusched_facts f;

	t->known &= ~GPUSCHED_KNOWN_LAST_RUN;
	if (sim_sight_facts(p->sim, t->id, &f))
		return;
	t->known |= GPUSCHED_KNOWN_LAST_RUN;
	t->last_run_ns = gs_facts_last_run(&f, sim_model_now(p->sim->m));
}
