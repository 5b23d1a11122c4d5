/* SPDX-License-Identifier: MIT */
/*
 * launchcost.c - measure the time of one cuLaunchKernel in several cases, and the differences
 *
 *   launchcost THREADS ROUNDS NAME=COMMAND...
 *
 * In a round, the shell runs COMMAND, which puts the machine into the case NAME. The program then
 * makes a new context and launches batches of an empty kernel. It waits after each batch, so that
 * no queue is full while the clock runs. A round's value is its median batch, in ns per launch.
 * Each cycle runs every case once and begins with a different case, so that drift (clock rates,
 * other programs) affects all cases alike.
 *
 * Prints one line per case: median and quartiles over the rounds, the best batch, and the median
 * difference from the first case of the same cycle, with its 95 % confidence interval (from order
 * statistics, which assume nothing about the noise). Needs libc and a libcuda.so.1.
 */
#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define BATCH 100
#define BATCHES 200
#define WARM_UP 20
#define MAX_THREADS 64
#define MAX_ROUNDS 1000
#define MAX_CASES 8

typedef void *handle;

static int (*cu_init)(unsigned int), (*cu_create)(handle *, unsigned int, int);
static int (*cu_destroy)(handle), (*cu_stream_destroy)(handle);
static int (*cu_set)(handle), (*cu_load)(handle *, const void *), (*cu_sync)(handle);
static int (*cu_function)(handle *, handle, const char *), (*cu_stream)(handle *, unsigned int);
static int (*cu_launch)(handle, unsigned int, unsigned int, unsigned int, unsigned int,
			unsigned int, unsigned int, unsigned int, handle, void **, void **);

static const char ptx[] = ".version 6.0\n.target sm_50\n.address_size 64\n"
			  ".visible .entry nothing()\n{\n\tret;\n}\n";

struct test_case {
	const char *name, *command;
	double value[MAX_ROUNDS]; /* ns per launch, by cycle */
	double best;
};

static struct test_case cases[MAX_CASES];
static int threads, rounds, ncases;
static handle context, function;
static double ns[MAX_THREADS * BATCHES];

static void check(int r, const char *what)
{
	if (!r)
		return;
	fprintf(stderr, "launchcost: %s failed: %d\n", what, r);
	exit(1);
}

static void load_symbols(void)
{
	static const struct {
		void *to;
		const char *name;
	} all[] = {
		{ &cu_init, "cuInit" },
		{ &cu_create, "cuCtxCreate_v2" },
		{ &cu_destroy, "cuCtxDestroy_v2" },
		{ &cu_set, "cuCtxSetCurrent" },
		{ &cu_load, "cuModuleLoadData" },
		{ &cu_function, "cuModuleGetFunction" },
		{ &cu_stream, "cuStreamCreate" },
		{ &cu_stream_destroy, "cuStreamDestroy_v2" },
		{ &cu_sync, "cuStreamSynchronize" },
		{ &cu_launch, "cuLaunchKernel" },
	};
	void *lib = dlopen("libcuda.so.1", RTLD_NOW);

	check(!lib, "loading libcuda.so.1");
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		void *symbol = dlsym(lib, all[i].name);

		check(!symbol, all[i].name);
		memcpy(all[i].to, &symbol, sizeof(symbol));
	}
}

/* ---- one round ------------------------------------------------------------------------------- */

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void *worker(void *arg)
{
	double *mine = arg;
	handle stream;

	check(cu_set(context), "cuCtxSetCurrent");
	check(cu_stream(&stream, 1), "cuStreamCreate");
	for (int i = -WARM_UP; i < BATCHES; i++) {
		double start = now_ns();

		for (int k = 0; k < BATCH; k++)
			check(cu_launch(function, 1, 1, 1, 32, 1, 1, 0, stream, NULL, NULL),
			      "cuLaunchKernel");
		if (i >= 0)
			mine[i] = (now_ns() - start) / BATCH;
		check(cu_sync(stream), "cuStreamSynchronize");
	}
	check(cu_stream_destroy(stream), "cuStreamDestroy");
	return NULL;
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Makes the context after the case has begun, so that the launch counter sees the new context. */
static void run_round(struct test_case *c, int cycle)
{
	size_t n = (size_t)threads * BATCHES;
	pthread_t t[MAX_THREADS];
	handle module;

	if (*c->command && system(c->command)) {
		fprintf(stderr, "launchcost: %s: the command failed\n", c->name);
		exit(1);
	}
	check(cu_create(&context, 0, 0), "cuCtxCreate");
	check(cu_load(&module, ptx), "cuModuleLoadData");
	check(cu_function(&function, module, "nothing"), "cuModuleGetFunction");
	for (int i = 0; i < threads; i++)
		check(pthread_create(&t[i], NULL, worker, ns + (size_t)i * BATCHES), "a thread");
	for (int i = 0; i < threads; i++)
		pthread_join(t[i], NULL);
	check(cu_destroy(context), "cuCtxDestroy");
	qsort(ns, n, sizeof(ns[0]), by_size);
	c->value[cycle] = ns[n / 2];
	if (!c->best || ns[0] < c->best)
		c->best = ns[0];
}

/* ---- all of them ----------------------------------------------------------------------------- */

static void print_case(const struct test_case *c)
{
	double v[MAX_ROUNDS], d[MAX_ROUNDS];
	/* the median lies between these two ranks with a probability of 95 % */
	int low = (int)floor(rounds / 2.0 - 0.98 * sqrt(rounds)), high;

	low = low < 0 ? 0 : low;
	high = rounds - 1 - low;
	for (int i = 0; i < rounds; i++) {
		v[i] = c->value[i];
		d[i] = c->value[i] - cases[0].value[i];
	}
	qsort(v, (size_t)rounds, sizeof(v[0]), by_size);
	qsort(d, (size_t)rounds, sizeof(d[0]), by_size);
	printf("{\"case\":\"%s\",\"threads\":%d,\"rounds\":%d,\"launches_per_round\":%d,"
	       "\"best_ns\":%.0f,\"q1_ns\":%.0f,\"p50_ns\":%.0f,\"q3_ns\":%.0f",
	       c->name, threads, rounds, threads * BATCH * BATCHES, c->best, v[rounds / 4],
	       v[rounds / 2], v[rounds * 3 / 4]);
	if (c != cases)
		printf(",\"more_than\":\"%s\",\"more_ns\":%.0f,\"more_low_ns\":%.0f,"
		       "\"more_high_ns\":%.0f",
		       cases[0].name, d[rounds / 2], d[low], d[high]);
	puts("}");
}

static int take_case(char *arg)
{
	char *equals = strchr(arg, '=');

	if (!equals || equals == arg || ncases == MAX_CASES)
		return -1;
	*equals = '\0';
	cases[ncases].name = arg;
	cases[ncases++].command = equals + 1;
	return 0;
}

int main(int argc, char **argv)
{
	int bad = argc < 4;

	if (!bad) {
		threads = atoi(argv[1]);
		rounds = atoi(argv[2]);
	}
	for (int i = 3; i < argc && !bad; i++)
		bad = take_case(argv[i]);
	if (bad || threads < 1 || threads > MAX_THREADS || rounds < 1 || rounds > MAX_ROUNDS) {
		fprintf(stderr, "usage: launchcost THREADS ROUNDS NAME=COMMAND...\n");
		return 2;
	}
	load_symbols();
	check(cu_init(0), "cuInit");
	for (int cycle = 0; cycle < rounds; cycle++)
		for (int i = 0; i < ncases; i++)
			run_round(&cases[(cycle + i) % ncases], cycle);
	for (int i = 0; i < ncases; i++)
		print_case(&cases[i]);
	return 0;
}
