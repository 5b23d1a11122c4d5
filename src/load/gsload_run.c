// SPDX-License-Identifier: MIT
/*
 * gsload_run.c - runs the loads: best-effort kernels, and latency-critical requests
 */
#include "load/gsload.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "basic/clock.h"
#include "basic/error.h"
#include "basic/sample.h"
#include "gpusched/hint.h"
#include "load/gsload_arrivals.h"

#define THREADS 256
#define BLOCKS_PER_SM 8
#define MAX_IN_FLIGHT 64
#define HOLD_LIMIT_MS 30 /* longest time of a waiting kernel, in case the program has died */
#define LINE_NS (20 * NS_PER_MS)

volatile int gsload_stop;

static double sim_us(const struct gsload_options *o, uint64_t real_ns)
{
	return (double)real_ns / 1e3 / o->dilate;
}

static void launch(struct gsload_cuda *c, struct gsload_result *r, unsigned int blocks,
		   uint32_t iterations)
{
	void *parameters[] = { &c->out, &iterations };

	gsload_check(
		c,
		c->launch(c->function, blocks, 1, 1, THREADS, 1, 1, 0, c->stream, parameters, NULL),
		"launching a kernel");
	r->launches++;
}

static unsigned int full_grid(const struct gsload_cuda *c)
{
	return (unsigned int)c->multiprocessors * BLOCKS_PER_SM;
}

static void wait_all(struct gsload_cuda *c)
{
	gsload_check(c, c->stream_synchronize(c->stream), "waiting for the GPU");
}

double gsload_measure(struct gsload_cuda *c, const struct gsload_options *o,
		      struct gsload_result *r)
{
	const unsigned int rounds = 20, big = 100000, small = 20000;
	double us[2];

	for (unsigned int i = 0; i < rounds; i++) /* warm up, so that the GPU's clocks rise */
		launch(c, r, full_grid(c), big);
	wait_all(c);
	/* Measure two sizes: the fixed overhead of a launch is not in their difference. */
	for (unsigned int k = 0; k < 2; k++) {
		uint64_t t = gs_now_ns();

		for (unsigned int i = 0; i < rounds; i++)
			launch(c, r, full_grid(c), k ? big : small);
		wait_all(c);
		us[k] = sim_us(o, gs_now_ns() - t) / rounds;
	}
	return (big - small) / (us[1] - us[0]);
}

/* ---- batches: one kernel, or a graph of several, that is launched at once --------------------- */

#define STREAM_BYTES (1ull << 30)
#define COPY_BYTES (64u << 20)

struct batch {
	unsigned int blocks;
	cu_handle graph; /* executable graph; NULL: one kernel */
	/* used instead with --memory or --copy */
	cu_handle stream_function;
	cu_address memory;
	void *host;
};

static void batch_traffic(struct gsload_cuda *c, const struct gsload_options *o, struct batch *b)
{
	if (o->memory)
		gsload_cuda_stream(c, STREAM_BYTES, &b->stream_function, &b->memory);
	if (!o->copy)
		return;
	gsload_check(c, c->host_alloc(&b->host, COPY_BYTES, 0), "allocating host memory");
	gsload_check(c, c->memory_alloc(&b->memory, COPY_BYTES), "allocating memory");
}

static void launch_traffic(struct gsload_cuda *c, struct gsload_result *r, const struct batch *b)
{
	uint64_t words = STREAM_BYTES / sizeof(float);
	cu_address at = b->memory;
	void *parameters[] = { &at, &words };

	if (b->host) {
		gsload_check(c, c->copy_to_gpu(at, b->host, COPY_BYTES, c->stream), "copying");
		return;
	}
	gsload_check(c,
		     c->launch(b->stream_function, full_grid(c), 1, 1, THREADS, 1, 1, 0, c->stream,
			       parameters, NULL),
		     "launching a kernel");
	r->launches++;
}

/* Makes a batch; a graph is captured from the stream, as frameworks do. */
static void batch_new(struct gsload_cuda *c, const struct gsload_options *o,
		      struct gsload_result *r, unsigned int blocks, struct batch *b)
{
	cu_handle graph;

	*b = (struct batch){ .blocks = blocks };
	batch_traffic(c, o, b);
	if (!o->graph)
		return;
	gsload_check(c, c->capture_begin(c->stream, CU_CAPTURE_THREAD_LOCAL), "capturing a graph");
	for (uint64_t i = 0; i < o->kernels; i++)
		launch(c, r, blocks, r->iterations);
	gsload_check(c, c->capture_end(c->stream, &graph), "capturing a graph");
	gsload_check(c, c->graph_instantiate(&b->graph, graph, 0), "instantiating a graph");
	gsload_check(c, c->graph_destroy(graph), "destroying a graph");
}

static void batch_launch(struct gsload_cuda *c, struct gsload_result *r, const struct batch *b)
{
	if (b->memory) {
		launch_traffic(c, r, b);
		return;
	}
	if (!b->graph) {
		launch(c, r, b->blocks, r->iterations);
		return;
	}
	gsload_check(c, c->graph_launch(b->graph, c->stream), "launching a graph");
	r->launches++;
	r->graph_launches++;
}

static void batch_free(struct gsload_cuda *c, struct batch *b)
{
	if (b->graph)
		gsload_check(c, c->graph_exec_destroy(b->graph), "destroying a graph");
}

static uint32_t iterations_of(const struct gsload_result *r, double us)
{
	double n = r->iterations_per_us * us;

	return n < 1 ? 1 : n > 4e9 ? 4000000000u : (uint32_t)n;
}

/* With --lines, prints a line with the time @at (CLOCK_MONOTONIC). */
static void print_line(const struct gsload_options *o, uint64_t at, const char *key, double value)
{
	if (o->lines)
		printf("{\"t\":%.6f,\"%s\":%.1f}\n", (double)at / 1e9, key, value);
}

/* ---- BE: kernels back to back ---------------------------------------------------------------- */

/*
 * Returns how many waves of blocks, each running for --block-us, make up one kernel of --kernel-us.
 * @ret_blocks: the number of blocks of all waves.
 */
static unsigned int shape(const struct gsload_cuda *c, const struct gsload_options *o,
			  unsigned int *ret_blocks)
{
	double block_us =
		o->block_us > 0 && o->block_us < o->kernel_us ? o->block_us : o->kernel_us;
	double waves = fmax(1, round(o->kernel_us / block_us));
	double blocks = fmax(1, full_grid(c) * o->fill_pct / 100.0 * waves);

	if (blocks > INT32_MAX) {
		fprintf(stderr,
			"gsload: --kernel-us %g of --block-us %g is a grid of %.0f blocks, and "
			"CUDA takes %d: take longer blocks\n",
			o->kernel_us, block_us, blocks, INT32_MAX);
		exit(GS_EXIT_USAGE);
	}
	*ret_blocks = (unsigned int)blocks;
	return (unsigned int)waves;
}

/* The launches on one GPU. */
struct lane {
	struct gsload_cuda *c;
	struct batch batch;
	cu_handle done[MAX_IN_FLIGHT];
};

static void lane_use(const struct lane *l, const struct gsload_options *o)
{
	if (o->gpus > 1)
		gsload_check(l->c, l->c->context_set(l->c->context), "using a GPU");
}

static void lane_new(struct lane *l, const struct gsload_options *o, struct gsload_result *r,
		     struct gsload_cuda *c, unsigned int blocks)
{
	l->c = c;
	lane_use(l, o);
	batch_new(c, o, r, blocks, &l->batch);
	for (uint64_t i = 0; i < o->in_flight; i++)
		gsload_check(c, c->event_create(&l->done[i], CU_EVENT_DISABLE_TIMING),
			     "making an event");
}

static void lane_free(struct lane *l, const struct gsload_options *o)
{
	lane_use(l, o);
	for (uint64_t i = 0; i < o->in_flight; i++)
		gsload_check(l->c, l->c->event_destroy(l->done[i]), "destroying an event");
	batch_free(l->c, &l->batch);
}

/*
 * Launches the @k-th kernel on each GPU, once every GPU has ended the kernel of --in-flight
 * launches before.
 */
static void step(struct lane *lanes, const struct gsload_options *o, struct gsload_result *r,
		 uint64_t k)
{
	uint64_t slot = k % o->in_flight;

	for (uint64_t i = 0; k >= o->in_flight && i < o->gpus; i++) {
		lane_use(&lanes[i], o);
		gsload_check(lanes[i].c, lanes[i].c->event_synchronize(lanes[i].done[slot]),
			     "waiting for a kernel");
	}
	for (uint64_t i = 0; i < o->gpus; i++) {
		struct gsload_cuda *c = lanes[i].c;

		lane_use(&lanes[i], o);
		batch_launch(c, r, &lanes[i].batch);
		gsload_check(c, c->event_record(lanes[i].done[slot], c->stream),
			     "recording an event");
	}
}

void gsload_run_be(struct gsload_cuda *c, const struct gsload_options *o, struct gsload_result *r)
{
	unsigned int blocks, waves = shape(c, o, &blocks);
	uint64_t start = gs_now_ns(), from = start, end, k = 0, k0 = 0, now = start;
	uint64_t told = start, k_told = 0;
	struct lane lanes[GSLOAD_MAX_GPUS];
	bool warm = o->warmup <= 0;

	r->iterations = iterations_of(r, o->kernel_us / waves);
	for (uint64_t i = 0; i < o->gpus; i++)
		lane_new(&lanes[i], o, r, &c[i], blocks);
	end = start + gsload_real_ns(o, (o->warmup + o->seconds) * 1e6);
	while (!gsload_stop && (o->seconds <= 0 || now < end) &&
	       (!o->count || k * o->kernels < o->count)) {
		step(lanes, o, r, k++);
		now = gs_now_ns();
		if (now - told >= LINE_NS) {
			print_line(o, now, "n", (double)((k - k_told) * o->kernels));
			told = now;
			k_told = k;
		}
		if (!warm && now - start >= gsload_real_ns(o, o->warmup * 1e6)) {
			warm = true;
			k0 = k;
			from = now;
		}
	}
	now = gs_now_ns();
	print_line(o, now, "n", (double)((k - k_told) * o->kernels));
	for (uint64_t i = 0; i < o->gpus; i++) {
		lane_use(&lanes[i], o);
		wait_all(&c[i]);
	}
	/* after a warm-up, as many kernels are in flight at the begin as at the end of the count */
	if (!k0)
		now = gs_now_ns();
	for (uint64_t i = 0; i < o->gpus; i++)
		lane_free(&lanes[i], o);
	r->n = (k - k0) * o->kernels;
	r->seconds = sim_us(o, now - from) / 1e6;
}

/* ---- LC: requests ---------------------------------------------------------------------------- */

struct hold {
	volatile uint32_t *flag;
	cu_address address;
};

static void hold_new(struct gsload_cuda *c, struct hold *h)
{
	void *memory;

	gsload_check(c, c->host_alloc(&memory, 4096, CU_HOST_DEVICEMAP), "allocating host memory");
	gsload_check(c, c->host_address(&h->address, memory, 0), "mapping host memory");
	h->flag = memory;
}

/*
 * Launches the waiting kernel, and an empty kernel after it. Without the second kernel, the channel
 * would have no more work, and the GPU would go on to other programs.
 */
static void hold_begin(struct gsload_cuda *c, struct hold *h, struct gsload_result *r)
{
	uint64_t clocks = (uint64_t)c->clock_khz * HOLD_LIMIT_MS;
	uint32_t none = 1;
	void *wait[] = { &h->address, &clocks }, *empty[] = { &c->out, &none };

	*h->flag = 0;
	gsload_check(c, c->launch(c->hold, 1, 1, 1, 1, 1, 1, 0, c->hold_stream, wait, NULL),
		     "launching the hold");
	gsload_check(c, c->launch(c->function, 1, 1, 1, 32, 1, 1, 0, c->hold_stream, empty, NULL),
		     "launching behind the hold");
	r->launches += 2;
}

static void spin(const struct gsload_options *o, double us)
{
	uint64_t until = gs_now_ns() + gsload_real_ns(o, us);

	while (us > 0 && gs_now_ns() < until)
		;
}

/* Makes room for one more entry in a list of @n. Its size is a power of two, at least 1024. */
static void make_room(double **list, size_t n)
{
	if (*list && (n < 1024 || (n & (n - 1))))
		return;
	*list = realloc(*list, (n < 1024 ? 1024 : 2 * n) * sizeof(double));
	if (!*list)
		exit(GS_EXIT_FAILED);
}

/* Called when a token has ended. It began at *inout_from, the end of the previous token. */
static void take_token(const struct gsload_options *o, struct gsload_result *r,
		       uint64_t *inout_from)
{
	uint64_t now = gs_now_ns();
	double us = sim_us(o, now - *inout_from);

	*inout_from = now;
	if (!gsload_has_tokens(o))
		return;
	print_line(o, now, "tok", us);
	if (now < r->from_ns)
		return;
	make_room(&r->token_us, r->ntokens);
	r->token_us[r->ntokens++] = us;
}

/* Launches the work of one token, in a request of that size. */
static void token(struct gsload_cuda *c, const struct gsload_options *o, const struct batch *b,
		  uint64_t size, struct gsload_result *r)
{
	uint64_t batches = o->graph ? 1 : o->kernels * size;

	for (uint64_t i = 0; i < batches; i++) {
		batch_launch(c, r, b);
		if (i + 1 < batches)
			spin(o, o->gap_us);
	}
}

/* Runs one request. *ret_launched_ns: when its first launch began. */
static void request(struct gsload_cuda *c, const struct gsload_options *o, const struct batch *b,
		    struct hold *h, uint64_t size, struct gsload_result *r,
		    uint64_t *ret_launched_ns)
{
	uint64_t tokens = o->graph ? o->tokens * size : o->tokens, from;

	if (o->hint)
		gpusched_hint_coming();
	spin(o, o->lead_us);
	if (o->hold)
		hold_begin(c, h, r);
	*ret_launched_ns = from = gs_now_ns();
	for (uint64_t i = 0; i < tokens; i++) {
		token(c, o, b, size, r);
		if (o->hint && !i)
			gpusched_hint_here();
		wait_all(c);
		take_token(o, r, &from);
	}
	if (o->hint)
		gpusched_hint_done();
	if (o->hold) {
		*h->flag = 1;
		gsload_check(c, c->stream_synchronize(c->hold_stream), "ending the hold");
	}
}

/* Called when a request has ended. *inout_free_ns: see gsload_latency_of(). */
static void take_request(const struct gsload_options *o, struct gsload_result *r, uint64_t at,
			 uint64_t begin, uint64_t launched, uint64_t *inout_free_ns)
{
	uint64_t done = gs_now_ns();
	struct gsload_latency l = gsload_latency_of(inout_free_ns, at, begin, done);

	if (o->lines)
		printf("{\"t\":%.6f,\"us\":%.1f,\"late\":%.1f}\n", (double)done / 1e9,
		       sim_us(o, l.gpu_ns), sim_us(o, l.late_ns));
	if (at < r->from_ns)
		return;
	make_room(&r->latency_us, r->n);
	make_room(&r->service_us, r->n);
	make_room(&r->late_us, r->n);
	r->latency_us[r->n] = sim_us(o, l.gpu_ns);
	r->late_us[r->n] = sim_us(o, l.late_ns);
	r->service_us[r->n++] = sim_us(o, done - launched);
}

void gsload_run_lc(struct gsload_cuda *c, const struct gsload_options *o, struct gsload_result *r)
{
	uint64_t start = gs_now_ns(), end, at = start, left = 0, launched, begin, free_ns = 0;
	struct gsload_schedule arrivals = gsload_schedule_new(o, start);
	struct hold hold = { 0 };
	struct batch batch;

	r->iterations = iterations_of(r, o->kernel_us);
	batch_new(c, o, r, full_grid(c), &batch);
	if (o->hold)
		hold_new(c, &hold);
	r->from_ns = start + gsload_real_ns(o, o->warmup * 1e6);
	end = r->from_ns + gsload_real_ns(o, o->seconds * 1e6);
	while (!gsload_stop && (o->seconds <= 0 || at < end) && (!o->count || r->n < o->count)) {
		if (!left--) {
			at = gsload_next_arrival(&arrivals);
			left = o->burst - 1;
		}
		if (gsload_stop || at == GSLOAD_NEVER)
			break;
		begin = gs_now_ns();
		request(c, o, &batch, &hold, arrivals.size, r, &launched);
		take_request(o, r, at, begin, launched, &free_ns);
	}
	r->seconds = gs_now_ns() > r->from_ns ? sim_us(o, gs_now_ns() - r->from_ns) / 1e6 : 0;
	batch_free(c, &batch);
	gs_sample_sort(r->latency_us, r->n);
	gs_sample_sort(r->service_us, r->n);
	gs_sample_sort(r->late_us, r->n);
	gs_sample_sort(r->token_us, r->ntokens);
}
