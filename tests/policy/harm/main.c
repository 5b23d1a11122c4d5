// SPDX-License-Identifier: MIT
/*
 * main.c - looks for harm: runs random scenarios without gpusched and with it, and compares
 *
 *     harm FIRST COUNT POLICY.so...    seeds FIRST to FIRST + COUNT - 1, each with every policy; a
 *                                      line "harm POLICY KIND WHAT IN seed SEED: ..." for each loss
 *     harm print SEED                  the scenario of a seed
 *
 * The losses (WHAT) of a program, as its owner sees them:
 *     died     it ended with an error, and without gpusched it does not
 *     work     it did less than 0.9 of the least that it does without gpusched. The least is its
 *              part if jobs share the GPU equally instead of processes. Beside a told lc program
 *              it is the floor
 *     stood    its longest time without a step is more than 2 s longer
 *     waits    a call of ours waited for somebody's work for more than 100 ms
 *     locks    calls hold the locks of all GPUs for more than 4 % of the time
 *
 * IN says what the scenario has besides ordinary programs: calls that fail (fault), a program that
 * chose CTA mode (cta), both, or nothing (plain).
 *
 * With the policy wishes, which suspends at random, work is not compared. With admit, which holds
 * programs before their first launch, only programs that had the GPU are looked at.
 */
#include <stdlib.h>
#include <string.h>

#include "basic/cleanup.h"
#include "scene.h"
#include "sim/scenario.h"

#define LEAST_WORK 0.9
#define FLOOR 0.05
#define LONGER_NS 2000000000u
#define LOCKS_PART 0.04
#define WAITS_NS 100000000u
#define RPC_NS 300000000u /* instead of 45 s, which no daemon can make harmless */

static struct sim_scenario *scenario_of(uint64_t seed)
{
	struct sim_scenario *s = scene_load(scene_write, seed);

	if (s)
		s->params.rpc_most_ns = RPC_NS;
	return s;
}

static struct sim_result *run(const struct sim_scenario *s, const char *policy)
{
	const struct sim_run_options o = { .policy = policy };
	struct sim_result *r = NULL;
	struct gs_error err = { 0 };

	if (sim_scenario_run(s, &o, &r, &err) < 0)
		fprintf(stderr, "%s: %s\n", policy, err.text);
	return r;
}

static double work_of(const struct sim_process_result *p)
{
	return p->group->kind == SIM_KIND_LC ? (double)p->nlatency : (double)p->kernels;
}

static bool is_told_lc(const struct sim_group *g)
{
	return !strcmp(g->class_name, "lc");
}

/* True if each process of the group is a job of its own. */
static bool are_jobs(const struct sim_group *g)
{
	return g->own_cgroups;
}

static unsigned int places_on(const struct sim_result *r, unsigned int gpu,
			      const struct sim_group *of)
{
	unsigned int n = 0;

	for (size_t i = 0; i < r->nprocesses; i++)
		n += r->processes[i].gpu == gpu && (!of || r->processes[i].group == of);
	return n;
}

/* Its part of the GPU if jobs share it equally, relative to its part if processes do; at most 1. */
static double part_on(const struct sim_result *r, const struct sim_process_result *p,
		      unsigned int gpu)
{
	unsigned int own = places_on(r, gpu, p->group), jobs = 0;
	double part;

	if (!own)
		return 1;
	for (size_t i = 0; i < r->scenario->ngroups; i++) {
		const struct sim_group *g = &r->scenario->groups[i];
		unsigned int n = places_on(r, gpu, g);

		jobs += are_jobs(g) ? n : n > 0;
	}
	if (are_jobs(p->group))
		own = 1;
	part = (double)places_on(r, gpu, NULL) / (double)(jobs * own);
	return part < 1 ? part : 1;
}

static bool beside_lc(const struct sim_result *r, const struct sim_process_result *p)
{
	for (size_t i = 0; i < r->nprocesses; i++)
		if (is_told_lc(r->processes[i].group) &&
		    places_on(r, r->processes[i].gpu, p->group))
			return true;
	return false;
}

/* The least part of the default's work that @p is promised. */
static double promised(const struct sim_result *r, const struct sim_process_result *p)
{
	double part = 1;

	if (is_told_lc(p->group))
		return LEAST_WORK;
	if (beside_lc(r, p))
		return FLOOR;
	for (unsigned int gpu = 0; gpu < r->scenario->gpus; gpu++) {
		double here = part_on(r, p, gpu);

		part = here < part ? here : part;
	}
	return LEAST_WORK * part;
}

static const char *stem(const char *path, char *buf, size_t size)
{
	const char *slash = strrchr(path, '/');

	snprintf(buf, size, "%s", slash ? slash + 1 : path);
	buf[strcspn(buf, ".")] = 0;
	return buf;
}

static unsigned int lines; /* losses told so far */

static const char *has(const struct sim_scenario *s)
{
	bool fault = s->nfaults, cta = false;

	for (size_t i = 0; i < s->ngroups; i++)
		cta |= s->groups[i].preempt_mode != GPUSCHED_PREEMPT_CILP;
	return fault && cta ? "both" : fault ? "fault" : cta ? "cta" : "plain";
}

static void tell(const struct sim_result *r, const char *policy, const char *group,
		 const char *what, uint64_t seed, double was, double is)
{
	size_t n = strcspn(group, "0123456789");

	lines++;
	printf("harm %s %.*s %s %s seed %llu: %.6g, without gpusched %.6g\n", policy, (int)n, group,
	       what, has(r->scenario), (unsigned long long)seed, is, was);
}

static bool any_died(const struct sim_result *r, const struct sim_group *g)
{
	for (size_t i = 0; i < r->nprocesses; i++)
		if (r->processes[i].group == g && r->processes[i].died)
			return true;
	return false;
}

static void compare(const struct sim_result *a, const struct sim_result *b, const char *policy,
		    uint64_t seed)
{
	const struct sim_group *told = NULL;
	unsigned int before;
	bool wishes = !strcmp(policy, "wishes"), admits = !strcmp(policy, "admit");

	for (size_t i = 0; i < a->nprocesses; i++) {
		const struct sim_process_result *p = &a->processes[i], *q = &b->processes[i];
		const char *name = p->group->name;

		if (p->group == told) /* one line for a group is enough */
			continue;
		if (any_died(a, p->group)) /* it ends by itself as well */
			continue;
		before = lines;
		if (admits && !q->gpu_time_ns)
			continue;
		if (q->died)
			tell(b, policy, name, "died", seed, 0, q->died);
		else if (q->longest_ns > p->longest_ns + LONGER_NS)
			tell(b, policy, name, "stood", seed, (double)p->longest_ns / 1e9,
			     (double)q->longest_ns / 1e9);
		else if (!wishes && !admits && work_of(q) < promised(a, p) * work_of(p) - 1)
			tell(b, policy, name, "work", seed, work_of(p), work_of(q));
		if (lines > before)
			told = p->group;
	}
	if (b->longest_call_ns > WAITS_NS && b->longest_call_ns != RPC_NS)
		tell(b, policy, "all", "waits", seed, 0, (double)b->longest_call_ns / 1e9);
	else if ((double)b->lock_ns > LOCKS_PART * b->scenario->duration_s * 1e9 &&
		 !b->failed_calls)
		tell(b, policy, "all", "locks", seed, 0, (double)b->lock_ns / 1e9);
	if (b->policy_failure[0])
		printf("# %s seed %llu: the policy ended: %s\n", policy, (unsigned long long)seed,
		       b->policy_failure);
}

static bool try(uint64_t seed, char **paths)
{
	CLEANUP(sim_scenario_freep) struct sim_scenario *s = scenario_of(seed);
	CLEANUP(sim_result_freep) struct sim_result *without = s ? run(s, "none") : NULL;
	char policy[64];

	if (!without)
		return false;
	for (; *paths; paths++) {
		CLEANUP(sim_result_freep) struct sim_result *with = run(s, *paths);

		if (!with)
			return false;
		compare(without, with, stem(*paths, policy, sizeof(policy)), seed);
	}
	fflush(stdout);
	return true;
}

int main(int argc, char **argv)
{
	uint64_t first, n;
	int ret = 0;

	if (argc == 3 && !strcmp(argv[1], "print")) {
		scene_write(strtoull(argv[2], NULL, 10), stdout);
		return 0;
	}
	if (argc < 4) {
		fprintf(stderr, "harm FIRST COUNT POLICY.so..., or harm print SEED\n");
		return 2;
	}
	first = strtoull(argv[1], NULL, 10);
	n = strtoull(argv[2], NULL, 10);
	for (uint64_t i = 0; i < n; i++)
		if (!try(first + i, argv + 3))
			ret = 1;
	return ret;
}
