/* SPDX-License-Identifier: MIT */
/*
 * launchcost - what one cuLaunchKernel takes: counted and uncounted runs are compared
 *
 * Small batches of an empty kernel with a wait after each, so that no queue is full while the clock
 * runs. Prints the best and the median batch, ns per launch. Needs libc and a libcuda.so.1.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define BATCH 100
#define BATCHES 2000
#define MAX_THREADS 64

typedef void *handle;

static int (*cu_init)(unsigned int), (*cu_create)(handle *, unsigned int, int);
static int (*cu_set)(handle), (*cu_load)(handle *, const void *), (*cu_sync)(handle);
static int (*cu_function)(handle *, handle, const char *), (*cu_stream)(handle *, unsigned int);
static int (*cu_launch)(handle, unsigned int, unsigned int, unsigned int, unsigned int,
			unsigned int, unsigned int, unsigned int, handle, void **, void **);

static const char ptx[] = ".version 6.0\n.target sm_50\n.address_size 64\n"
			  ".visible .entry nothing()\n{\n\tret;\n}\n";
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
		{ &cu_set, "cuCtxSetCurrent" },
		{ &cu_load, "cuModuleLoadData" },
		{ &cu_function, "cuModuleGetFunction" },
		{ &cu_stream, "cuStreamCreate" },
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
	for (int i = 0; i < BATCHES; i++) {
		double start = now_ns();

		for (int k = 0; k < BATCH; k++)
			check(cu_launch(function, 1, 1, 1, 32, 1, 1, 0, stream, NULL, NULL),
			      "cuLaunchKernel");
		mine[i] = (now_ns() - start) / BATCH;
		check(cu_sync(stream), "cuStreamSynchronize");
	}
	return NULL;
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
	int threads = argc > 1 ? atoi(argv[1]) : 1;
	pthread_t t[MAX_THREADS];
	handle module;
	size_t n;

	if (threads < 1 || threads > MAX_THREADS) {
		fprintf(stderr, "usage: launchcost [THREADS]\n");
		return 2;
	}
	load_symbols();
	check(cu_init(0), "cuInit");
	check(cu_create(&context, 0, 0), "cuCtxCreate");
	check(cu_load(&module, ptx), "cuModuleLoadData");
	check(cu_function(&function, module, "nothing"), "cuModuleGetFunction");
	for (int i = 0; i < threads; i++)
		check(pthread_create(&t[i], NULL, worker, ns + (size_t)i * BATCHES), "a thread");
	for (int i = 0; i < threads; i++)
		pthread_join(t[i], NULL);
	n = (size_t)threads * BATCHES;
	qsort(ns, n, sizeof(ns[0]), by_size);
	printf("{\"threads\":%d,\"launches\":%d,\"best_ns\":%.0f,\"p50_ns\":%.0f,\"p90_ns\":%.0f}"
	       "\n",
	       threads, threads * BATCHES * BATCH, ns[0], ns[n / 2], ns[n * 9 / 10]);
	return 0;
}
