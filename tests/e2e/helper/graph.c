/* SPDX-License-Identifier: MIT */
/*
 * graph.c - checks CUDA graphs through the driver API, on a simulated or a real GPU
 *
 * Prints one line of TAP for each check, and exits with 1 if a check fails.
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "helper.h"

#define NON_BLOCKING 1
#define DEVICEMAP 2
#define NO_TIMING 2
#define THREAD_LOCAL 1
#define ILLEGAL_STATE 401
#define CAPTURE_UNSUPPORTED 900
#define CAPTURE_INVALIDATED 901
#define KERNELS 20

typedef void *handle;
typedef unsigned long long address;

struct node { /* CUDA_KERNEL_NODE_PARAMS, second version */
	handle function;
	unsigned int gx, gy, gz, bx, by, bz, shared;
	void **params, **extra;
	handle kernel, context;
};

#define FUNCTIONS(X) \
	X(init, "cuInit", (unsigned int)) \
	X(create, "cuCtxCreate_v2", (handle *, unsigned int, int)) \
	X(destroy, "cuCtxDestroy_v2", (handle)) \
	X(load, "cuModuleLoadData", (handle *, const void *)) \
	X(function, "cuModuleGetFunction", (handle *, handle, const char *)) \
	X(stream, "cuStreamCreate", (handle *, unsigned int)) \
	X(sync, "cuStreamSynchronize", (handle)) \
	X(query, "cuStreamQuery", (handle)) \
	X(event, "cuEventCreate", (handle *, unsigned int)) \
	X(record, "cuEventRecord", (handle, handle)) \
	X(alloc, "cuMemAlloc_v2", (address *, size_t)) \
	X(host_alloc, "cuMemHostAlloc", (void **, size_t, unsigned int)) \
	X(host_address, "cuMemHostGetDevicePointer_v2", (address *, void *, unsigned int)) \
	X(kernel, "cuLaunchKernel", \
	  (handle, unsigned int, unsigned int, unsigned int, unsigned int, unsigned int, \
	   unsigned int, unsigned int, handle, void **, void **)) \
	X(begin, "cuStreamBeginCapture_v2", (handle, int)) \
	X(end, "cuStreamEndCapture", (handle, handle *)) \
	X(capturing, "cuStreamIsCapturing", (handle, int *)) \
	X(graph_create, "cuGraphCreate", (handle *, unsigned int)) \
	X(add_kernel, "cuGraphAddKernelNode_v2", \
	  (handle *, handle, const handle *, size_t, const struct node *)) \
	X(nodes, "cuGraphGetNodes", (handle, handle *, size_t *)) \
	X(instantiate, "cuGraphInstantiateWithFlags", (handle *, handle, unsigned long long)) \
	X(launch, "cuGraphLaunch", (handle, handle)) \
	X(launch_ptsz, "cuGraphLaunch_ptsz", (handle, handle)) \
	X(exec_destroy, "cuGraphExecDestroy", (handle)) \
	X(graph_destroy, "cuGraphDestroy", (handle)) \
	X(address_of, "cuGetProcAddress_v2", (const char *, void **, int, uint64_t, int *))

static struct {
#define X(field, name, parameters) int(*field) parameters;
	FUNCTIONS(X)
#undef X
} cu;

/* The simulated GPU knows these kernels' costs by their names and parameters. */
static const char ptx[] =
	".version 6.0\n.target sm_50\n.address_size 64\n"
	".visible .entry gs_work(.param .u64 out, .param .u32 n)\n"
	"{\n\t.reg .pred %m;\n\t.reg .u32 %i, %n;\n\t.reg .u64 %t;\n"
	"\tld.param.u64 %t, [out];\n\tld.param.u32 %n, [n];\n\tmov.u32 %i, 0;\n"
	"AGAIN:\n\tsetp.lt.u32 %m, %i, %n;\n\t@!%m bra DONE;\n"
	"\tst.volatile.global.u32 [%t], %i;\n\tadd.u32 %i, %i, 1;\n\tbra AGAIN;\n"
	"DONE:\n\tret;\n}\n"
	".visible .entry gs_hold(.param .u64 flag, .param .u64 limit)\n"
	"{\n\t.reg .pred %g;\n\t.reg .u32 %w;\n\t.reg .u64 %a, %f, %n, %m;\n"
	"\tld.param.u64 %a, [flag];\n\tld.param.u64 %m, [limit];\n\tmov.u64 %f, %clock64;\n"
	"LOOK:\n\tld.volatile.global.u32 %w, [%a];\n\tsetp.ne.u32 %g, %w, 0;\n\t@%g bra OUT;\n"
	"\tmov.u64 %n, %clock64;\n\tsub.u64 %n, %n, %f;\n\tsetp.lt.u64 %g, %n, %m;\n"
	"\t@%g bra LOOK;\nOUT:\n\tret;\n}\n";

static handle work, hold, stream;
static address out, flag_address;
static volatile uint32_t *flag;
static int points, bad;

static void ok(bool good, const char *what)
{
	printf("%sok %d - %s\n", good ? "" : "not ", ++points, what);
	bad += !good;
}

static void must(int r, const char *what)
{
	if (!r)
		return;
	printf("not ok %d - %s: %d\n", ++points, what, r);
	exit(1);
}

static void prepare(void)
{
	handle module, ctx;
	void *memory, *lib = dlopen("libcuda.so.1", RTLD_NOW);

	must(!lib, "libcuda.so.1 loads");
#define X(field, name, parameters) \
	*(void **)&cu.field = dlsym(lib, name); \
	must(!cu.field, name);
	FUNCTIONS(X)
#undef X
	must(cu.init(0), "cuInit");
	must(cu.create(&ctx, 8, 0), "cuCtxCreate");
	must(cu.load(&module, ptx), "cuModuleLoadData");
	must(cu.function(&work, module, "gs_work"), "gs_work");
	must(cu.function(&hold, module, "gs_hold"), "gs_hold");
	must(cu.stream(&stream, NON_BLOCKING), "cuStreamCreate");
	must(cu.alloc(&out, 4096), "cuMemAlloc");
	must(cu.host_alloc(&memory, 4096, DEVICEMAP), "cuMemHostAlloc");
	must(cu.host_address(&flag_address, memory, 0), "cuMemHostGetDevicePointer");
	flag = memory;
}

static int launch_work(uint32_t n)
{
	void *params[] = { &out, &n };

	return cu.kernel(work, 1, 1, 1, 32, 1, 1, 0, stream, params, NULL);
}

static int launch_hold(void)
{
	uint64_t clocks = 2000000000; /* about a second */
	void *params[] = { &flag_address, &clocks };

	return cu.kernel(hold, 1, 1, 1, 1, 1, 1, 0, stream, params, NULL);
}

static bool is_done(void)
{
	struct timespec t = { .tv_nsec = 50000000 };

	nanosleep(&t, NULL);
	return cu.query(stream) == 0;
}

static handle instance(handle graph)
{
	handle exec = NULL;

	must(cu.instantiate(&exec, graph, 0), "cuGraphInstantiateWithFlags");
	must(cu.graph_destroy(graph), "cuGraphDestroy");
	return exec;
}

/* Checks that all kernels of @exec wait for its first one, which waits for the flag. */
static void in_order(handle exec, int (*launch)(handle, handle), const char *what)
{
	bool waits;

	*flag = 0;
	must(launch(exec, stream), what);
	waits = !is_done();
	*flag = 1;
	ok(waits && cu.sync(stream) == 0, what);
}

static handle captured(unsigned int kernels, bool waiting)
{
	handle graph = NULL;

	must(cu.begin(stream, THREAD_LOCAL), "cuStreamBeginCapture");
	if (waiting)
		must(launch_hold(), "capturing a hold");
	for (unsigned int i = 0; i < kernels; i++)
		must(launch_work(100), "capturing a kernel");
	must(cu.end(stream, &graph), "cuStreamEndCapture");
	return graph;
}

static void capturing(void)
{
	int status = -1;
	handle graph, exec;
	size_t n = 0;

	*flag = 0;
	must(cu.begin(stream, THREAD_LOCAL), "cuStreamBeginCapture");
	ok(cu.begin(stream, THREAD_LOCAL) == ILLEGAL_STATE, "a stream is captured once at a time");
	ok(cu.capturing(stream, &status) == 0 && status == 1, "the stream says that it captures");
	must(launch_hold(), "capturing a hold");
	must(cu.end(stream, &graph), "cuStreamEndCapture");
	ok(is_done(), "what was captured has not run");
	ok(cu.end(stream, &exec) == ILLEGAL_STATE, "what is not captured cannot be ended");
	must(cu.graph_destroy(graph), "cuGraphDestroy");

	graph = captured(KERNELS, true);
	ok(cu.nodes(graph, NULL, &n) == 0 && n == KERNELS + 1, "a graph has its kernels");
	exec = instance(graph);
	in_order(exec, cu.launch, "a captured graph runs in order, without the graph it came from");
	in_order(exec, cu.launch, "a captured graph runs in order a second time");
	in_order(exec, cu.launch_ptsz,
		 "a captured graph runs in order by the per-thread-stream form");
	must(cu.exec_destroy(exec), "cuGraphExecDestroy");
	ok(launch_work(100) == 0 && cu.sync(stream) == 0, "the stream launches at once again");
}

/* A call that a capture does not allow ends it; the default stream cannot be captured at all. */
static void spoilt(void)
{
	handle event, graph = stream;
	int status = -1;

	must(cu.event(&event, NO_TIMING), "cuEventCreate");
	must(cu.begin(stream, THREAD_LOCAL), "cuStreamBeginCapture");
	ok(cu.sync(stream) == CAPTURE_UNSUPPORTED, "a stream that captures cannot be waited for");
	ok(cu.capturing(stream, &status) == 0 && status == 2, "the capture has ended");
	ok(launch_work(1) == CAPTURE_INVALIDATED, "nothing more is captured");
	ok(cu.end(stream, &graph) == CAPTURE_INVALIDATED && !graph, "there is no graph");
	ok(launch_work(1) == 0 && cu.sync(stream) == 0, "the stream can be used again");
	ok(cu.begin(NULL, THREAD_LOCAL) == CAPTURE_UNSUPPORTED, "no default stream is captured");
}

static void built(void)
{
	uint64_t clocks = 2000000000;
	uint32_t n = 100;
	void *wait[] = { &flag_address, &clocks }, *params[] = { &out, &n };
	struct node first = { hold, 1, 1, 1, 1, 1, 1, 0, wait, NULL, NULL, NULL };
	struct node next = { work, 1, 1, 1, 32, 1, 1, 0, params, NULL, NULL, NULL };
	handle graph, exec, node[KERNELS];
	size_t many = KERNELS;

	must(cu.graph_create(&graph, 0), "cuGraphCreate");
	must(cu.add_kernel(&node[0], graph, NULL, 0, &first), "cuGraphAddKernelNode");
	for (int i = 1; i < KERNELS; i++)
		must(cu.add_kernel(&node[i], graph, &node[i - 1], 1, &next),
		     "cuGraphAddKernelNode");
	ok(cu.nodes(graph, NULL, &many) == 0 && many == KERNELS, "a graph built node by node");
	next.bx = 0;
	ok(cu.add_kernel(&node[1], graph, node, 1, &next) != 0,
	   "a kernel of no threads is refused");
	exec = instance(graph);
	in_order(exec, cu.launch, "it runs in order too");
	must(cu.exec_destroy(exec), "cuGraphExecDestroy");
	must(cu.graph_create(&graph, 0), "cuGraphCreate");
	exec = instance(graph);
	ok(cu.launch(exec, stream) == 0 && cu.sync(stream) == 0, "an empty graph does nothing");
	must(cu.exec_destroy(exec), "cuGraphExecDestroy");
}

static void by_name(void)
{
	int (*instantiate)(handle *, handle, unsigned long long) = NULL;
	handle exec, graph = captured(1, false);
	void *p = NULL;

	ok(cu.address_of("cuGraphInstantiate", &p, 12000, 0, NULL) == 0, "found by its plain name");
	memcpy(&instantiate, &p, sizeof(p));
	ok(instantiate && instantiate(&exec, graph, 0) == 0 && cu.launch(exec, stream) == 0 &&
		   cu.sync(stream) == 0,
	   "the plain name means the newest form");
	must(cu.exec_destroy(exec), "cuGraphExecDestroy");
	must(cu.graph_destroy(graph), "cuGraphDestroy");
	p = NULL;
	ok(cu.address_of("cuGraphLaunch", &p, 12000, 2, NULL) == 0 && p &&
		   p != (void *)(uintptr_t)cu.launch,
	   "the per-thread-stream form is found on request");
}

int verb_graph(int nwords, char **words)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	prepare();
	capturing();
	spoilt();
	built();
	by_name();
	return bad != 0;
}
