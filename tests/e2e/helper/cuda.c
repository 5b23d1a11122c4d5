/* SPDX-License-Identifier: MIT */
/*
 * cuda.c - launches through the driver API and counts its launches, on a simulated or a real GPU
 *
 *   helper cuda MODE [LAUNCHES]
 *
 * Makes its contexts, prints "ready", waits for a line on stdin, launches, prints one line
 * {"device":D,"launches":N} per GPU, and waits for the end of stdin.
 *
 *   threads   for each GPU, one thread makes a context and another sets it; all run at once
 *   switch    one thread, contexts on the first and the last GPU, pushed and popped in turn
 *   primary   primary contexts, as the runtime API uses them
 *   retain    threads ask for a GPU's primary context at once: all get the same one; no launches
 *   fork      a child of fork() must get errors for its parent's context; one launch by the parent
 *   api       calls every launch function
 *   once      one context, one thread
 *   exec      launches, then executes itself and launches again
 *   serve     launches and waits with pauses of 0.3 to 6 ms, as if it read LAUNCHES weights; says
 *             "serving", and from then on serves a request of 16 tokens each 200 ms
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "helper.h"

#define MAX_GPUS 16
#define NON_BLOCKING 1

typedef void *handle;

struct config { /* CUlaunchConfig */
	unsigned int gx, gy, gz, bx, by, bz, shared;
	handle stream;
	void *attributes;
	unsigned int n;
};

struct node { /* CUDA_KERNEL_NODE_PARAMS_v1 */
	handle f;
	unsigned int gx, gy, gz, bx, by, bz, shared;
	void **params, **extra;
};

static struct {
	int (*init)(unsigned int), (*count)(int *), (*create)(handle *, unsigned int, int);
	int (*retain)(handle *, int), (*set)(handle), (*push)(handle), (*pop)(handle *);
	int (*load)(handle *, const void *), (*function)(handle *, handle, const char *);
	int (*sync)(void);
	int (*kernel)(handle, unsigned int, unsigned int, unsigned int, unsigned int, unsigned int,
		      unsigned int, unsigned int, handle, void **, void **);
	int (*kernel_ptsz)(handle, unsigned int, unsigned int, unsigned int, unsigned int,
			   unsigned int, unsigned int, unsigned int, handle, void **, void **);
	int (*cooperative)(handle, unsigned int, unsigned int, unsigned int, unsigned int,
			   unsigned int, unsigned int, unsigned int, handle, void **);
	int (*kernel_ex)(const struct config *, handle, void **, void **);
	int (*kernel_ex_ptsz)(const struct config *, handle, void **, void **);
	int (*graph_create)(handle *, unsigned int);
	int (*graph_node)(handle *, handle, const handle *, size_t, const struct node *);
	int (*graph_ready)(handle *, handle, unsigned long long);
	int (*graph)(handle, handle), (*graph_ptsz)(handle, handle);
} cu;

static const char ptx[] = ".version 6.0\n.target sm_50\n.address_size 64\n"
			  ".visible .entry nothing()\n{\n\tret;\n}\n";
static int gpus;
static unsigned long wanted = 1000, done[MAX_GPUS];
static pthread_barrier_t together;

static void check(int r, const char *what)
{
	if (!r)
		return;
	fprintf(stderr, "helper: %s failed: %d\n", what, r);
	exit(1);
}

static void load_symbols(void)
{
	static const struct {
		void *to;
		const char *name;
	} all[] = {
		{ &cu.init, "cuInit" },
		{ &cu.count, "cuDeviceGetCount" },
		{ &cu.create, "cuCtxCreate_v2" },
		{ &cu.retain, "cuDevicePrimaryCtxRetain" },
		{ &cu.set, "cuCtxSetCurrent" },
		{ &cu.push, "cuCtxPushCurrent_v2" },
		{ &cu.pop, "cuCtxPopCurrent_v2" },
		{ &cu.load, "cuModuleLoadData" },
		{ &cu.function, "cuModuleGetFunction" },
		{ &cu.sync, "cuCtxSynchronize" },
		{ &cu.kernel, "cuLaunchKernel" },
		{ &cu.kernel_ptsz, "cuLaunchKernel_ptsz" },
		{ &cu.cooperative, "cuLaunchCooperativeKernel" },
		{ &cu.kernel_ex, "cuLaunchKernelEx" },
		{ &cu.kernel_ex_ptsz, "cuLaunchKernelEx_ptsz" },
		{ &cu.graph_create, "cuGraphCreate" },
		{ &cu.graph_node, "cuGraphAddKernelNode" },
		{ &cu.graph_ready, "cuGraphInstantiateWithFlags" },
		{ &cu.graph, "cuGraphLaunch" },
		{ &cu.graph_ptsz, "cuGraphLaunch_ptsz" },
	};
	void *lib =
		dlopen(getenv("HELPER_CUDA") ? getenv("HELPER_CUDA") : "libcuda.so.1", RTLD_NOW);

	check(!lib, "loading libcuda.so.1");
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		void *symbol = dlsym(lib, all[i].name);

		check(!symbol, all[i].name);
		memcpy(all[i].to, &symbol, sizeof(symbol));
	}
	check(cu.init(0), "cuInit");
	check(cu.count(&gpus), "cuDeviceGetCount");
	if (gpus > MAX_GPUS)
		gpus = MAX_GPUS;
}

static handle function_here(void)
{
	handle module, f;

	check(cu.load(&module, ptx), "cuModuleLoadData");
	check(cu.function(&f, module, "nothing"), "cuModuleGetFunction");
	return f;
}

static void launch(handle f, int gpu, unsigned long n)
{
	for (unsigned long i = 0; i < n; i++)
		check(cu.kernel(f, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL), "cuLaunchKernel");
	__atomic_fetch_add(&done[gpu], n, __ATOMIC_RELAXED);
}

static void ready(void)
{
	char line[64];

	say("ready");
	if (!fgets(line, sizeof(line), stdin))
		exit(0);
}

static void tell(void)
{
	for (int i = 0; i < gpus; i++)
		printf("{\"device\":%d,\"launches\":%lu}\n", i, done[i]);
	fflush(stdout);
}

/* ---- modes ----------------------------------------------------------------------------------- */

static handle shared_ctx[MAX_GPUS], shared_function[MAX_GPUS];

static void *maker(void *arg)
{
	int gpu = (int)(intptr_t)arg;

	pthread_barrier_wait(&together);
	check(cu.create(&shared_ctx[gpu], 0, gpu), "cuCtxCreate");
	shared_function[gpu] = function_here();
	pthread_barrier_wait(&together); /* all contexts are made */
	pthread_barrier_wait(&together); /* the line on stdin has come */
	launch(shared_function[gpu], gpu, wanted);
	check(cu.sync(), "cuCtxSynchronize");
	return NULL;
}

static void *setter(void *arg)
{
	int gpu = (int)(intptr_t)arg;

	pthread_barrier_wait(&together);
	pthread_barrier_wait(&together);
	pthread_barrier_wait(&together);
	check(cu.set(shared_ctx[gpu]), "cuCtxSetCurrent");
	launch(shared_function[gpu], gpu, 2 * wanted);
	check(cu.sync(), "cuCtxSynchronize");
	return NULL;
}

static void run_threads(void)
{
	pthread_t t[2 * MAX_GPUS];

	pthread_barrier_init(&together, NULL, 2 * (unsigned int)gpus + 1);
	for (int i = 0; i < gpus; i++) {
		check(pthread_create(&t[2 * i], NULL, maker, (void *)(intptr_t)i), "thread");
		check(pthread_create(&t[2 * i + 1], NULL, setter, (void *)(intptr_t)i), "thread");
	}
	pthread_barrier_wait(&together);
	pthread_barrier_wait(&together);
	ready();
	pthread_barrier_wait(&together);
	for (int i = 0; i < 2 * gpus; i++)
		pthread_join(t[i], NULL);
}

static void run_switch(void)
{
	handle a, b, fa, fb, popped;

	check(cu.create(&a, 0, 0), "cuCtxCreate");
	fa = function_here();
	check(cu.create(&b, 0, gpus - 1), "cuCtxCreate");
	fb = function_here();
	check(cu.pop(&popped), "cuCtxPopCurrent");
	ready();
	for (unsigned long i = 0; i < wanted; i++) { /* context a is current here */
		launch(fa, 0, 1);
		check(cu.push(b), "cuCtxPushCurrent");
		launch(fb, gpus - 1, 2);
		check(cu.pop(&popped), "cuCtxPopCurrent");
	}
	check(cu.sync(), "cuCtxSynchronize");
}

static void run_primary(void)
{
	handle ctx[MAX_GPUS], f[MAX_GPUS];

	for (int i = 0; i < gpus; i++) {
		check(cu.retain(&ctx[i], i), "cuDevicePrimaryCtxRetain");
		check(cu.set(ctx[i]), "cuCtxSetCurrent");
		f[i] = function_here();
	}
	ready();
	for (int i = 0; i < gpus; i++) {
		check(cu.set(ctx[i]), "cuCtxSetCurrent");
		launch(f[i], i, wanted * (unsigned long)(i + 1));
		check(cu.sync(), "cuCtxSynchronize");
	}
}

#define RETAINERS 4

static void *retainer(void *arg)
{
	handle ctx = NULL;

	pthread_barrier_wait(&together);
	check(cu.retain(&ctx, (int)(intptr_t)arg), "cuDevicePrimaryCtxRetain");
	return ctx;
}

static void run_retain(void)
{
	pthread_t t[RETAINERS];
	void *first, *ctx;

	pthread_barrier_init(&together, NULL, RETAINERS);
	for (int gpu = 0; gpu < gpus; gpu++) {
		for (int i = 0; i < RETAINERS; i++)
			check(pthread_create(&t[i], NULL, retainer, (void *)(intptr_t)gpu),
			      "thread");
		pthread_join(t[0], &first);
		for (int i = 1; i < RETAINERS; i++) {
			pthread_join(t[i], &ctx);
			check(ctx != first, "one primary context");
		}
	}
	ready();
}

static void run_fork(void)
{
	handle ctx, f;
	int status = -1;
	pid_t child;

	check(cu.create(&ctx, 0, 0), "cuCtxCreate");
	f = function_here();
	child = fork();
	if (!child)
		_exit(!cu.init(0) || !cu.kernel(f, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL) ||
		      !cu.create(&ctx, 0, 0));
	waitpid(child, &status, 0);
	check(status, "refusing a child");
	check(cu.kernel(f, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL), "cuLaunchKernel");
	check(cu.sync(), "cuCtxSynchronize");
	done[0]++;
	ready();
}

/* Returns a graph of three kernels. */
static handle graph_of(handle f)
{
	const struct node p = { .f = f, .gx = 1, .gy = 1, .gz = 1, .bx = 32, .by = 1, .bz = 1 };
	handle graph, exec, node;

	check(cu.graph_create(&graph, 0), "cuGraphCreate");
	for (int i = 0; i < 3; i++)
		check(cu.graph_node(&node, graph, NULL, 0, &p), "cuGraphAddKernelNode");
	check(cu.graph_ready(&exec, graph, 0), "cuGraphInstantiateWithFlags");
	return exec;
}

static void run_api(void)
{
	struct config c = { 1, 1, 1, 32, 1, 1, 0, NULL, NULL, 0 };
	handle ctx, f, graph;

	check(cu.create(&ctx, 0, 0), "cuCtxCreate");
	f = function_here();
	graph = graph_of(f);
	ready();
	for (unsigned long i = 0; i < wanted; i++) {
		launch(f, 0, 1);
		check(cu.kernel_ptsz(f, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL), "_ptsz");
		check(cu.cooperative(f, 1, 1, 1, 32, 1, 1, 0, NULL, NULL), "cooperative");
		check(cu.kernel_ex(&c, f, NULL, NULL), "cuLaunchKernelEx");
		check(cu.kernel_ex_ptsz(&c, f, NULL, NULL), "cuLaunchKernelEx_ptsz");
		check(cu.graph(graph, NULL), "cuGraphLaunch");
		check(cu.graph_ptsz(graph, NULL), "cuGraphLaunch_ptsz");
		done[0] += 6;
	}
	check(cu.sync(), "cuCtxSynchronize");
}

static void run_simple(void)
{
	handle ctx, f;

	check(cu.create(&ctx, 0, 0), "cuCtxCreate");
	f = function_here();
	ready();
	launch(f, 0, wanted);
	check(cu.sync(), "cuCtxSynchronize");
}

static void run_serve(void)
{
	unsigned int random = 1;
	handle ctx, f;

	check(cu.create(&ctx, 0, 0), "cuCtxCreate");
	f = function_here();
	ready();
	for (unsigned long i = 0; i < wanted; i++) {
		random = random * 1664525 + 1013904223;
		usleep((300u << (random >> 16) % 4) * (1000 + (random >> 20) % 1000) / 1000);
		launch(f, 0, 1);
		check(cu.sync(), "cuCtxSynchronize");
	}
	puts("serving");
	fflush(stdout);
	for (;;) {
		usleep(200000);
		for (int token = 0; token < 16; token++) {
			launch(f, 0, 1);
			check(cu.sync(), "cuCtxSynchronize");
		}
	}
}

int verb_cuda(int nwords, char **words)
{
	const char *mode = words[0];
	char rest[64];

	if (nwords > 1)
		wanted = number(nwords, words, 1);
	load_symbols();
	if (!strcmp(mode, "threads"))
		run_threads();
	else if (!strcmp(mode, "switch"))
		run_switch();
	else if (!strcmp(mode, "primary"))
		run_primary();
	else if (!strcmp(mode, "retain"))
		run_retain();
	else if (!strcmp(mode, "fork"))
		run_fork();
	else if (!strcmp(mode, "api"))
		run_api();
	else if (!strcmp(mode, "serve"))
		run_serve();
	else
		run_simple();
	if (!strcmp(mode, "exec")) {
		execl("/proc/self/exe", "helper", "cuda", "once", nwords > 1 ? words[1] : "1000",
		      NULL);
		die("exec");
	}
	tell();
	while (fgets(rest, sizeof(rest), stdin))
		;
	return 0;
}
