// SPDX-License-Identifier: MIT
/*
 * factcost.c - measure the CPU time of keeping policies' facts about GPU time up to date
 *
 *   factcost [--tsgs N] [--gpus N] [--seconds S]
 *
 * N TSGs are spread over the GPUs. The program simulates 30 looks per second at the GPUs' logs,
 * with one turn of each TSG between two looks: log records become turns, turns become facts, and
 * facts go to a BPF map. Prints the CPU time of this (user and kernel) as a part of S seconds.
 * Reading the logs' memory is not included. Needs root, for the map.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "account/facts.h"
#include "basic/clock.h"
#include "table/facts.h"
#include "table/priv.h"

#define LOOKS 30u
#define SLICE_US 2048u
#define MAX_GPUS 64u
#define MAX_TSGS 16384u

struct gpu {
	struct gs_turns *turns;
	uint64_t ns;
};

static struct gs_table table = { .facts_fd = -1, .runlists_fd = -1 };
static struct gpusched_facts told[MAX_TSGS];
static size_t ntold;
static struct gs_turns *of; /* the turns of the GPU for which tell() is called */

static void tell(uint64_t id, void *user)
{
	struct gpusched_facts *f = &told[ntold];

	if (!gs_facts_of(of, id, NULL, NULL, f))
		ntold++;
}

/* Feeds one turn of each TSG of the GPU. */
static void work(struct gpu *g, uint64_t first, uint64_t step, uint64_t tsgs)
{
	for (uint64_t id = first; id <= tsgs; id += step) {
		struct gs_switch sw = { .ns = g->ns, .start = true };

		gs_turns_slice(g->turns, id, SLICE_US, 0);
		gs_turns_feed(g->turns, &sw, id);
		sw = (struct gs_switch){ .ns = g->ns += 200 * NS_PER_US };
		gs_turns_feed(g->turns, &sw, id);
		g->ns += 80 * NS_PER_US;
	}
}

static void put(uint32_t index, struct gpu *g)
{
	struct gpusched_runlist_facts r;

	ntold = 0;
	of = g->turns;
	gs_turns_changed(g->turns, tell, NULL);
	if (gs_facts_put(&table, told, ntold))
		perror("facts");
	gs_facts_of_runlist(g->turns, NULL, NULL, &r);
	gs_facts_put_runlist(&table, index << 8 | 1, &r);
}

static uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

int main(int argc, char **argv)
{
	uint64_t tsgs = 1000, ngpus = 8, seconds = 10, began, all = 0;
	struct gpu gpus[MAX_GPUS] = { 0 };

	for (int i = 1; i + 1 < argc; i += 2) {
		uint64_t *to = !strcmp(argv[i], "--tsgs")   ? &tsgs
			       : !strcmp(argv[i], "--gpus") ? &ngpus
							    : &seconds;

		*to = strtoull(argv[i + 1], NULL, 10);
	}
	if (!ngpus || ngpus > MAX_GPUS || !tsgs || tsgs > MAX_TSGS || gs_facts_begin(&table)) {
		fprintf(stderr, "factcost: up to %u TSGs on up to %u GPUs, as root\n", MAX_TSGS,
			MAX_GPUS);
		return 1;
	}
	for (uint64_t i = 0; i < ngpus; i++) {
		if (gs_turns_new(NULL, NULL, &gpus[i].turns))
			return 1;
		gpus[i].ns = NS_PER_S;
	}
	began = cpu_ns();
	for (uint64_t look = 0; look < seconds * LOOKS; look++) {
		for (uint64_t i = 0; i < ngpus; i++) {
			work(&gpus[i], i + 1, ngpus, tsgs);
			put((uint32_t)i, &gpus[i]);
			all += ntold;
		}
	}
	began = cpu_ns() - began;
	printf("%llu TSGs on %llu GPUs: %.2f %% of a CPU, %llu ns per TSG told\n",
	       (unsigned long long)tsgs, (unsigned long long)ngpus,
	       (double)began / (double)(seconds * NS_PER_S) * 100,
	       (unsigned long long)(began / (all ? all : 1)));
	return 0;
}
