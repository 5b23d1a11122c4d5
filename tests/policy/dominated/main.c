// SPDX-License-Identifier: MIT
/*
 * main.c - looks for scenes in which some other policy is better than auto for everybody
 *
 *     dominated FIRST COUNT AUTO.so RIVAL.so...    seeds FIRST to FIRST + COUNT - 1
 *     dominated print SEED                         the scenario of a seed
 *     dominated show SEED AUTO.so RIVAL.so...      what each rival does in it
 *
 * The rivals are the named policies; "default", the driver's own slices; and "slices", auto without
 * holds, since nobody tells it of requests. A rival has two ratios to auto:
 *     lc    auto's latency / the rival's: the p99 where there are 300 requests or more, else the
 *           p90. With two services, of the one for which it is less. A rival that answers 3 % fewer
 *           requests has no ratio, since its slow ones would be missing.
 *     be    the rival's work of all be programs together / auto's, in GPU time
 *
 * Where both are above 1.03, the scene runs with four more seeds of the arrivals, under both. Then
 * the rival counts as better if both ratios, as geometric means less their standard error, still
 * are above 1.03. It prints a line "dominated RIVAL KIND seed SEED: ..." with the means. KIND is
 * that of the service, and those of other be programs than plain ones.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "basic/cleanup.h"
#include "../harm/scene.h"
#include "sim/scenario.h"

#define MORE 1.03
#define SEEDS 5
#define FOR_P99 300
#define FOR_P90 20
#define OTHER_SEED 7919 /* from a seed of the arrivals to the next */
#define AXES 3          /* lc, be, and the p50 of lc for a second look */

/* "slices" is auto in a scenario in which no request is told. */
struct scene {
	uint64_t seed;
	struct sim_scenario *told, *untold;
	const char *path; /* of auto */
};

static void forget(struct scene *s)
{
	sim_scenario_free(s->told);
	sim_scenario_free(s->untold);
}

static int imagine(struct scene *s)
{
	s->told = scene_load(scene_write_told, s->seed);
	s->untold = scene_load(scene_write_told, s->seed);
	if (!s->told || !s->untold)
		return -EINVAL;
	for (size_t i = 0; i < s->untold->ngroups; i++)
		s->untold->groups[i].requests = SIM_REQUESTS_UNSEEN;
	return 0;
}

static bool is_slices(const char *rival)
{
	return !strcmp(rival, "slices");
}

static struct sim_result *run(const struct scene *s, const char *rival, unsigned int nth)
{
	const uint64_t seed = s->told->seed + nth * OTHER_SEED;
	const struct sim_run_options o = {
		.policy = is_slices(rival)            ? s->path
			  : !strcmp(rival, "default") ? "none"
						      : rival,
		.seed = &seed,
	};
	struct sim_result *r = NULL;
	struct gs_error err = { 0 };

	if (sim_scenario_run(is_slices(rival) ? s->untold : s->told, &o, &r, &err) < 0)
		fprintf(stderr, "%s: %s\n", rival, err.text);
	return r;
}

static bool is_service(const struct sim_process_result *p)
{
	return !strcmp(p->group->class_name, "lc");
}

/* The GPU time of the work that all be programs did. */
static double work_of(const struct sim_result *r)
{
	double us = 0;

	for (size_t i = 0; i < r->nprocesses; i++) {
		const struct sim_process_result *p = &r->processes[i];
		bool requests = p->group->kind == SIM_KIND_LC;

		if (!is_service(p))
			us += p->group->kernel_us *
			      (double)(requests ? p->nlatency * p->group->kernels : p->kernels);
	}
	return us;
}

static double latency_at(const struct sim_process_result *p, size_t pct)
{
	return (double)p->latency_ns[p->nlatency * pct / 100];
}

/* The ratios of @rival to @own; less than 1: worse. A latency that is not known is not better. */
static void compare(const struct sim_result *own, const struct sim_result *rival, double *ratio)
{
	ratio[0] = ratio[2] = INFINITY;
	ratio[1] = work_of(own) > 0 ? work_of(rival) / work_of(own) : 0;
	for (size_t i = 0; i < own->nprocesses; i++) {
		const struct sim_process_result *p = &own->processes[i], *q = &rival->processes[i];
		size_t pct = p->nlatency >= FOR_P99 && q->nlatency >= FOR_P99 ? 99 : 90;

		if (!is_service(p))
			continue;
		if (p->nlatency < FOR_P90 || (double)q->nlatency < 0.97 * (double)p->nlatency) {
			ratio[0] = ratio[2] = 0;
			return;
		}
		ratio[0] = fmin(ratio[0], latency_at(p, pct) / latency_at(q, pct));
		ratio[2] = fmin(ratio[2], latency_at(p, 50) / latency_at(q, 50));
	}
}

/* A ratio over several seeds of the arrivals: its geometric mean, and the error of that. */
struct mean {
	double is, error;
};

static struct mean mean_of(double ratio[][AXES], unsigned int axis)
{
	double sum = 0, squares = 0, error;

	for (unsigned int i = 0; i < SEEDS; i++)
		sum += log(fmax(ratio[i][axis], 1e-3)) / SEEDS;
	for (unsigned int i = 0; i < SEEDS; i++)
		squares += pow(log(fmax(ratio[i][axis], 1e-3)) - sum, 2);
	error = sqrt(squares / (SEEDS - 1) / SEEDS);
	return (struct mean){ exp(sum), error };
}

static bool is_more(struct mean m)
{
	return m.is * exp(-m.error) > MORE;
}

static const char *stem(const char *path, char *buf, size_t size)
{
	const char *slash = strrchr(path, '/');

	snprintf(buf, size, "%s", slash ? slash + 1 : path);
	buf[strcspn(buf, ".")] = 0;
	return buf;
}

/* Such as "tokens" or "one+half": kinds without their numbers, each once. */
static void name_kind(const struct sim_scenario *s, char *buf, size_t size)
{
	char kind[SIM_NAME_LEN];

	buf[0] = 0;
	for (size_t i = 0; i < s->ngroups; i++) {
		const char *name = s->groups[i].name;

		snprintf(kind, sizeof(kind), "%.*s", (int)strcspn(name, "0123456789"), name);
		if (!strcmp(kind, "be") || strstr(buf, kind))
			continue;
		snprintf(buf + strlen(buf), size - strlen(buf), "%s%s", buf[0] ? "+" : "", kind);
	}
}

static void tell(const struct scene *s, const char *rival, struct mean *m)
{
	char name[64], kind[4 * SIM_NAME_LEN];

	name_kind(s->told, kind, sizeof(kind));
	printf("dominated %s %s seed %llu: lc %.3f be %.3f, error %.3f %.3f, p50 %.3f\n",
	       stem(rival, name, sizeof(name)), kind, (unsigned long long)s->seed, m[0].is, m[1].is,
	       m[0].error, m[1].error, m[2].is);
}

/* Runs @rival with the other seeds of the arrivals. Runs of auto are kept in @own. */
static bool doubt(const struct scene *s, const char *rival, struct sim_result **own,
		  double ratio[][AXES], struct mean *m)
{
	for (unsigned int i = 1; i < SEEDS; i++) {
		CLEANUP(sim_result_freep) struct sim_result *r = run(s, rival, i);

		own[i] = own[i] ? own[i] : run(s, s->path, i);
		if (!r || !own[i])
			return false;
		compare(own[i], r, ratio[i]);
	}
	for (unsigned int i = 0; i < AXES; i++)
		m[i] = mean_of(ratio, i);
	return true;
}

static bool try_rival(const struct scene *s, const char *rival, struct sim_result **own, bool show)
{
	double ratio[SEEDS][AXES];
	struct mean m[AXES];
	CLEANUP(sim_result_freep) struct sim_result *r = run(s, rival, 0);

	if (!r)
		return false;
	compare(own[0], r, ratio[0]);
	if (!show && (ratio[0][0] <= MORE || ratio[0][1] <= MORE))
		return true;
	if (!doubt(s, rival, own, ratio, m))
		return false;
	if (show || (is_more(m[0]) && is_more(m[1])))
		tell(s, rival, m);
	return true;
}

static bool has_told(const struct sim_scenario *s)
{
	for (size_t i = 0; i < s->ngroups; i++)
		if (s->groups[i].requests != SIM_REQUESTS_UNSEEN)
			return true;
	return false;
}

static bool try(uint64_t seed, char **paths, bool show)
{
	CLEANUP(forget) struct scene s = { .seed = seed, .path = paths[0] };
	struct sim_result *own[SEEDS] = { NULL };
	bool ok = imagine(&s) == 0 && (own[0] = run(&s, s.path, 0));

	ok = ok && try_rival(&s, "default", own, show);
	if (ok && has_told(s.told))
		ok = try_rival(&s, "slices", own, show);
	for (char **rival = paths + 1; ok && *rival; rival++)
		ok = try_rival(&s, *rival, own, show);
	for (unsigned int i = 0; i < SEEDS; i++)
		sim_scenario_result_free(own[i]);
	fflush(stdout);
	return ok;
}

int main(int argc, char **argv)
{
	bool show = argc > 3 && !strcmp(argv[1], "show");
	uint64_t first, n;
	int ret = 0;

	if (argc == 3 && !strcmp(argv[1], "print")) {
		scene_write_told(strtoull(argv[2], NULL, 10), stdout);
		return 0;
	}
	if (argc < 4) {
		fprintf(stderr, "dominated FIRST COUNT AUTO.so RIVAL.so..., dominated print SEED, "
				"or dominated show SEED AUTO.so RIVAL.so...\n");
		return 2;
	}
	first = strtoull(argv[show ? 2 : 1], NULL, 10);
	n = show ? 1 : strtoull(argv[2], NULL, 10);
	for (uint64_t i = 0; i < n; i++)
		if (!try(first + i, argv + 3, show))
			ret = 1;
	return ret;
}
