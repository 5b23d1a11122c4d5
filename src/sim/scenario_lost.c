/* SPDX-License-Identifier: MIT */
/*
 * scenario_lost.c - computes time lost between turns, in % of the worst 3 s of each GPU or part
 */
#include <errno.h>
#include <stdlib.h>

#include "basic/clock.h"
#include "sim/scenario_priv.h"

#define STEP_NS (100 * NS_PER_MS)
#define WINDOW_STEPS 30u
/* A longer gap between turns counts as idle time, not as lost. */
#define LONGEST_NS NS_PER_MS

static unsigned int parts(const struct sim_sim *x)
{
	return x->s->parts ? x->s->parts : 1;
}

int sim_lost_init(struct sim_sim *x)
{
	unsigned int n = x->s->gpus * parts(x);

	x->lost_steps = x->end_ns / STEP_NS + 1;
	x->lost = calloc(n, sizeof(*x->lost));
	for (unsigned int g = 0; x->lost && g < n; g++) {
		x->lost[g].ns = calloc(x->lost_steps, sizeof(*x->lost[g].ns));
		if (!x->lost[g].ns)
			return -ENOMEM;
	}
	return x->lost ? 0 : -ENOMEM;
}

void sim_lost_switch(struct sim_sim *x, const struct sim_switch *sw)
{
	unsigned int part = sw->engine - SIM_ENGINE_GR;
	struct sim_lost *l;
	uint64_t gap;

	if (part >= parts(x))
		return;
	l = &x->lost[sw->gpu * parts(x) + part];
	gap = sw->ns - l->end_ns;
	if (!sw->start)
		l->end_ns = sw->ns;
	else if (l->end_ns && sw->user != l->last && gap < LONGEST_NS)
		l->ns[sw->ns / STEP_NS] += gap;
	if (sw->start)
		l->last = sw->user;
}

static double worst(const struct sim_sim *x, const struct sim_lost *l)
{
	uint64_t most = 0, sum = 0, from = (x->warm_ns + STEP_NS - 1) / STEP_NS;
	uint64_t steps = 0;

	for (uint64_t i = from; i + 1 < x->lost_steps; i++) {
		sum += l->ns[i];
		if (steps == WINDOW_STEPS)
			sum -= l->ns[i - WINDOW_STEPS];
		else
			steps++;
		if (sum > most)
			most = sum;
	}
	return steps ? 100.0 * (double)most / (double)(steps * STEP_NS) : 0;
}

void sim_lost_finish(struct sim_sim *x)
{
	for (size_t i = 0; i < x->nprocs; i++)
		x->res->processes[i].lost_pct =
			worst(x, &x->lost[x->procs[i].gpu * parts(x) + x->procs[i].g->part]);
}

void sim_lost_free(struct sim_sim *x)
{
	for (unsigned int g = 0; x->lost && g < x->s->gpus * parts(x); g++)
		free(x->lost[g].ns);
	free(x->lost);
}
