// SPDX-License-Identifier: MIT
/* scene.c - makes random scenarios from a seed: programs that gpusched might harm, or told ones */
#include "scene.h"

#include <stdbool.h>
#include <sys/mman.h>

#include "basic/rng.h"

struct scene {
	FILE *f;
	uint64_t rng;
	unsigned int gpus, group;
	bool plain; /* nobody has what only some programs have: a mode, a time-out, a late start */
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
	if (!s->plain && chance(s, 30))
		fprintf(s->f, "start_s = 0.%u\n", below(s, 10));
	if (!s->plain && chance(s, 40))
		fprintf(s->f, "dies_after_s = 5\n");
	if (!s->plain && chance(s, 8))
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

/* ---- told ------------------------------------------------------------------------------------ */

#define GAP_MAX_US 200000 /* so that there are enough requests for a percentile */

struct told_lc {
	const char *name;
	unsigned int kernel_us, kernels, wait_every, launch_gap_us;
};

static struct told_lc told_kind(struct scene *s)
{
	struct told_lc k = { 0 };

	switch (below(s, 4)) {
	case 0: /* a request is a turn */
		k.name = "one";
		k.kernel_us = ONE_OF(s, 100, 300, 1000, 4000);
		k.kernels = 1;
		break;
	case 1: /* kernels behind each other, and a wait at the end */
		k.name = "many";
		k.kernel_us = ONE_OF(s, 20, 50, 200);
		k.kernels = ONE_OF(s, 10, 40);
		break;
	case 2: /* a wait after each kernel, as a language model has it */
		k.name = "tokens";
		k.kernel_us = ONE_OF(s, 200, 1200, 3000);
		k.kernels = ONE_OF(s, 8, 32);
		k.wait_every = 1;
		break;
	default: /* launch-bound: the CPU needs longer than the GPU */
		k.name = "eager";
		k.launch_gap_us = ONE_OF(s, 14, 30, 60);
		k.kernel_us = k.launch_gap_us / ONE_OF(s, 2, 3);
		k.kernels = ONE_OF(s, 60, 200, 500);
		break;
	}
	return k;
}

/* A service that would take @part percent of the GPU. */
static void told_lc(struct scene *s, unsigned int part)
{
	static const char *const arrivals[] = { "poisson", "poisson", "periodic", "closed" };
	static const char *const requests[] = { "unseen", "agent", "hints" };
	struct told_lc k = told_kind(s);
	unsigned int each = k.kernel_us > k.launch_gap_us ? k.kernel_us : k.launch_gap_us;
	unsigned int gap = k.kernels * each * 100 / part, how = below(s, 4);

	if (gap > GAP_MAX_US)
		gap = GAP_MAX_US;
	begin(s, k.name, "lc");
	fprintf(s->f, "kernel_us = %u\nkernels = %u\n", k.kernel_us, k.kernels);
	fprintf(s->f, "arrivals = %s\ngap_us = %u\n", arrivals[how], gap);
	if (how == 0 && chance(s, 30))
		fprintf(s->f, "cv = 3\n");
	if (k.wait_every)
		fprintf(s->f, "wait_every = %u\n", k.wait_every);
	if (k.launch_gap_us)
		fprintf(s->f, "launch_gap_us = %u\n", k.launch_gap_us);
	fprintf(s->f, "requests = %s\n", requests[below(s, 3)]);
	common(s, false, true);
}

static void told_be(struct scene *s)
{
	switch (below(s, 8)) {
	case 0:
		half_idle(s, true);
		break;
	case 1:
		waiting(s, true, "both", "yes", false);
		break;
	default:
		back_to_back(s, true);
		break;
	}
}

void scene_write_told(uint64_t seed, FILE *f)
{
	struct scene s = { .f = f, .rng = gs_rng_named(seed, "told", 0), .gpus = 1, .plain = true };
	unsigned int services = chance(&s, 25) ? 2 : 1, others = ONE_OF(&s, 1, 1, 2, 3, 4);
	unsigned int part = ONE_OF(&s, 3, 5, 10, 20, 40, 60);

	fprintf(f, "[scenario]\ntitle = seed %llu\nduration_s = 10\nwarmup_s = 3\n",
		(unsigned long long)seed);
	fprintf(f, "seed = %llu\n", (unsigned long long)(seed % 1000003));
	for (unsigned int i = 0; i < services; i++)
		told_lc(&s, part / services);
	for (unsigned int i = 0; i < others; i++)
		told_be(&s);
}

struct sim_scenario *scene_load(void (*write)(uint64_t seed, FILE *f), uint64_t seed)
{
	int fd = memfd_create("scene", MFD_CLOEXEC);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "w");
	struct sim_scenario *s = NULL;
	struct gs_error err = { 0 };
	char path[40];

	if (!f)
		return NULL;
	write(seed, f);
	fflush(f);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (sim_scenario_load(path, NULL, &s, &err) < 0)
		fprintf(stderr, "seed %llu: %s\n", (unsigned long long)seed, err.text);
	fclose(f);
	return s;
}
