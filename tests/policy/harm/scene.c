// SPDX-License-Identifier: MIT
/* scene.c - makes a random scenario of programs that gpusched might harm, from a seed */
#include "scene.h"

#include <stdbool.h>

#include "basic/rng.h"

struct scene {
	FILE *f;
	uint64_t rng;
	unsigned int gpus, group;
};

static unsigned int below(struct scene *s, unsigned int n)
{
	return (unsigned int)gs_rng_range(&s->rng, 0, n - 1);
}

static bool chance(struct scene *s, unsigned int pct)
{
	return below(s, 100) < pct;
}

static unsigned int one_of(struct scene *s, const unsigned int *v, unsigned int n)
{
	return v[below(s, n)];
}
#define ONE_OF(s, ...) \
	one_of(s, (const unsigned int[]){ __VA_ARGS__ }, \
	       sizeof((unsigned int[]){ __VA_ARGS__ }) / sizeof(unsigned int))

static void begin(struct scene *s, const char *name, const char *kind)
{
	fprintf(s->f, "\n[process %s%u]\nkind = %s\n", name, s->group, kind);
	fprintf(s->f, "cgroup = %u\n", 100 + s->group);
}

/* What each kind has besides its work. */
static void common(struct scene *s, bool spread, bool alone)
{
	if (spread)
		fprintf(s->f, "gpu = spread\n");
	else
		fprintf(s->f, "gpu = %u\n", below(s, s->gpus));
	if (chance(s, 30))
		fprintf(s->f, "start_s = 0.%u\n", below(s, 10));
	if (chance(s, 40))
		fprintf(s->f, "dies_after_s = 5\n");
	if (chance(s, 8))
		fprintf(s->f, "preempt_mode = cta\n");
	if (!alone)
		fprintf(s->f, "job = %u\n", 100 + s->group);
	s->group++;
}

static void told(struct scene *s, bool class)
{
	if (!class)
		fprintf(s->f, "class = none\n");
}

static void work(struct scene *s)
{
	unsigned int kernel = ONE_OF(s, 200, 1000, 2000, 5000, 20000);

	fprintf(s->f, "kernel_us = %u\nblock_us = %u\n", kernel, kernel / ONE_OF(s, 1, 4, 50));
}

static void back_to_back(struct scene *s, bool class)
{
	begin(s, "be", "be");
	told(s, class);
	work(s);
	fprintf(s->f, "in_flight = %u\n", ONE_OF(s, 1, 2, 4));
	if (chance(s, 30))
		fprintf(s->f, "count = 2\nown_cgroups = yes\n");
	common(s, false, true);
}

static void half_idle(struct scene *s, bool class)
{
	unsigned int us = ONE_OF(s, 3000, 10000, 30000);

	begin(s, "half", "lc");
	fprintf(s->f, "class = %s\narrivals = closed\nkernel_us = %u\ngap_us = %u\n",
		class ? "be" : "none", us, us);
	common(s, false, true);
}

static void service(struct scene *s)
{
	unsigned int us = ONE_OF(s, 100, 500, 1000), gap, closed;

	begin(s, "lc", "lc");
	gap = us * ONE_OF(s, 10, 50);
	closed = chance(s, 50);
	fprintf(s->f, "arrivals = %s\nkernel_us = %u\ngap_us = %u\n", closed ? "closed" : "poisson",
		us, gap);
	common(s, false, true);
}

static void waiting(struct scene *s, bool class, const char *name, const char *sync, bool gang)
{
	begin(s, name, "be");
	told(s, class);
	work(s);
	fprintf(s->f, "sync = %s\nin_flight = %u\ncount = %u\n", sync, ONE_OF(s, 1, 2),
		gang ? s->gpus : 2);
	common(s, gang, false);
}

static void stays(struct scene *s, bool class)
{
	begin(s, "stay", "persistent");
	told(s, class);
	fprintf(s->f, "kernel_us = 2000\n");
	common(s, false, true);
}

static void group(struct scene *s, bool class)
{
	switch (below(s, s->gpus > 1 ? 9 : 7)) {
	case 0:
	case 1:
		back_to_back(s, class);
		break;
	case 2:
		half_idle(s, class);
		break;
	case 3:
		stays(s, class);
		break;
	case 4:
		waiting(s, class, "both", "yes", false);
		break;
	case 5:
		waiting(s, class, "turns", "turns", false);
		break;
	case 6:
		waiting(s, class, "spin", "spin", false);
		break;
	default:
		waiting(s, class, "gang", "spin", true);
		break;
	}
}

static void fault(struct scene *s)
{
	static const char *const ops[] = { "suspend", "resume", "set-timeslice",
					   "set-preempt-mode" };

	unsigned int times = 1 + below(s, 3);
	bool applied = chance(s, 70);
	unsigned int status = ONE_OF(s, 0x3, 0x65, 0x40, 0x21), op = below(s, 4);

	/* a suspension that always fails, but has its effect, is undone by a resume that works */
	if (op == 0 && status != 0x65 && times > 1)
		times = 0;
	fprintf(s->f, "fault = %s=0x%x:%s:%u\n", ops[op], status, applied ? "applied" : "refused",
		times);
}

void scene_write(uint64_t seed, FILE *f)
{
	struct scene s = { .f = f, .rng = gs_rng_named(seed, "harm", 0) };
	unsigned int groups;
	bool class;

	s.gpus = ONE_OF(&s, 1, 1, 2);
	class = chance(&s, 80);
	groups = s.gpus + 1 + below(&s, 3);
	fprintf(f, "[scenario]\ntitle = seed %llu\nduration_s = 9\nwarmup_s = 1\ngpus = %u\n",
		(unsigned long long)seed, s.gpus);
	fprintf(f, "seed = %llu\n", (unsigned long long)(seed % 1000003));
	if (chance(&s, 25))
		fault(&s);
	if (chance(&s, 25))
		service(&s);
	for (unsigned int i = 0; i < groups; i++)
		group(&s, class);
}
