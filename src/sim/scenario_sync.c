// SPDX-License-Identifier: MIT
/*
 * scenario_sync.c - does the steps of processes that wait for each other (key sync of a group)
 *
 * They wait on the host (a barrier, or taking turns), or on the GPU: a kernel spins there until the
 * kernels of all have run. A kernel that spins occupies the GPU while it has the turn.
 */
#include "sim/model_time.h"
#include "sim/scenario_priv.h"
#include "sim/scenario_sync.h"

/* True if @p waits for @q. A process that died is waited for, in vain. */
static bool same_group(const struct sim_proc *p, const struct sim_proc *q)
{
	return q->g == p->g && (q->alive || q->res->died);
}

static void post_launch(struct sim_proc *p, uint64_t at)
{
	if (!p->alive)
		return;
	p->steps_launched++;
	sim_event_post(p->sim, at + sim_launch_time(p->sim->m), SIM_EV_LAUNCH, p, 0);
}

/* The number of steps that every process of the group has completed. */
static uint64_t common_steps(const struct sim_proc *p)
{
	const struct sim_sim *x = p->sim;
	uint64_t least = UINT64_MAX;

	for (size_t i = 0; i < x->nprocs; i++)
		if (same_group(p, &x->procs[i]) && x->procs[i].steps < least)
			least = x->procs[i].steps;
	return least;
}

/* Launches the next step in each process that may go on. */
static void launch_together(struct sim_proc *p, uint64_t at)
{
	struct sim_sim *x = p->sim;
	uint64_t most = common_steps(p) + p->g->in_flight;

	for (size_t i = 0; i < x->nprocs; i++) {
		struct sim_proc *q = &x->procs[i];

		while (same_group(p, q) && q->alive && q->steps_launched < most)
			post_launch(q, at);
	}
}

/* ---- turns ----------------------------------------------------------------------------------- */

/* The process of the group that comes after @p; NULL: there is no other. */
static struct sim_proc *after(struct sim_proc *p)
{
	struct sim_sim *x = p->sim;
	size_t at = (size_t)(p - x->procs);

	for (size_t n = 1; n < x->nprocs; n++) {
		struct sim_proc *q = &x->procs[(at + n) % x->nprocs];

		if (same_group(p, q))
			return q;
	}
	return NULL;
}

static void pass_turn(struct sim_proc *p, struct sim_proc *to, uint64_t at)
{
	p->has_turn = false;
	if (!to)
		return;
	to->has_turn = true;
	post_launch(to, at);
}

static bool somebody_has_turn(const struct sim_proc *p)
{
	const struct sim_sim *x = p->sim;

	for (size_t i = 0; i < x->nprocs; i++)
		if (same_group(p, &x->procs[i]) && x->procs[i].has_turn)
			return true;
	return false;
}

/* ---- on the GPU ------------------------------------------------------------------------------ */

static bool all_have_run(void *arg)
{
	const struct sim_proc *p = arg;
	const struct sim_sim *x = p->sim;

	for (size_t i = 0; i < x->nprocs; i++)
		if (same_group(p, &x->procs[i]) && x->procs[i].ran <= p->steps)
			return false;
	return true;
}

struct sim_work sim_sync_spin(struct sim_proc *p)
{
	return (struct sim_work){ .kind = SIM_WORK_SPIN, .released = all_have_run, .arg = p };
}

void sim_sync_ran(struct sim_proc *p)
{
	struct sim_sim *x = p->sim;

	p->ran++;
	for (size_t i = 0; i < x->nprocs; i++)
		if (same_group(p, &x->procs[i]) && x->procs[i].alive)
			sim_model_channel_look(x->procs[i].work);
}

/* ---- all ------------------------------------------------------------------------------------- */

void sim_sync_start(struct sim_proc *p, uint64_t begin)
{
	struct sim_sim *x = p->sim;
	unsigned int n = p->g->kind == SIM_KIND_PERSISTENT ? 1 : p->g->in_flight;

	if (p->g->sync == SIM_SYNC_TURNS) {
		if (!somebody_has_turn(p))
			pass_turn(p, p, begin);
		return;
	}
	if (p->g->sync == SIM_SYNC_SPIN) { /* a late one begins with the present step */
		struct sim_proc *q = after(p);

		p->steps = p->ran = p->steps_launched = q ? common_steps(q) : 0;
	}
	for (unsigned int i = 0; i < n; i++)
		sim_event_post(x, begin + (i + 1) * sim_launch_time(x->m), SIM_EV_LAUNCH, p, 0);
	p->steps_launched += n;
}

void sim_sync_done(struct sim_proc *p, uint64_t notice)
{
	p->steps++;
	switch ((enum sim_sync)p->g->sync) {
	case SIM_SYNC_STEPS:
		launch_together(p, notice);
		break;
	case SIM_SYNC_TURNS:
		pass_turn(p, after(p) ? after(p) : p, notice);
		break;
	case SIM_SYNC_NO:
	case SIM_SYNC_SPIN:
		post_launch(p, notice);
		break;
	}
}

void sim_sync_gone(struct sim_proc *p)
{
	uint64_t now = sim_model_now(p->sim->m);
	struct sim_proc *next = after(p);

	if (p->has_turn)
		pass_turn(p, next, now);
	if (next && p->g->sync == SIM_SYNC_STEPS)
		launch_together(next, now);
	if (next && p->g->sync == SIM_SYNC_SPIN)
		for (size_t i = 0; i < p->sim->nprocs; i++)
			if (same_group(p, &p->sim->procs[i]) && p->sim->procs[i].alive)
				sim_model_channel_look(p->sim->procs[i].work);
}
