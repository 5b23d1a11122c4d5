// SPDX-License-Identifier: MIT
/*
 * queues.c - run requests beside training, by libgpreempt or by CUDA's own means
 *
 *   queues none|streams|gpreempt [both|requests|training] [OPTION=VALUE...]
 *
 * none: one context each for requests and training. streams: one context, with a stream of the
 * highest priority for requests and one of the lowest for training. gpreempt: a high and a low
 * queue. To measure across two processes, start one with "requests" and one with "training". Prints
 * one line of JSON: percentiles of the requests from launch to completion, training kernels per
 * second. Options and defaults: request_us=100 period_us=5000 kernel_us=1000 block_us=1000
 * seconds=5 warmup=1 per_us=ITERATIONS (no default: the number that `gsload cal` prints)
 */
#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "basic/sample.h"
#include "gpusched/gpreempt.h"
#include "load/gsload_cuda.h"
#include "load/gsload_ptx.h"

#define THREADS 256
#define BLOCKS_PER_SM 8
#define MOST 1000000u
#define DEPTH 4u

enum by { NONE, STREAMS, GPREEMPT };

static struct options {
	double request_us, period_us, kernel_us, block_us, seconds, warmup, per_us;
} opt = { 100, 5000, 1000, 1000, 5, 1, 0 };

/* Receives the requests, or the training kernels: a context with a stream, or a queue. */
struct lane {
	enum by by;
	struct gsload_cuda *c;
	cu_handle stream, function, done[DEPTH];
	struct gpreempt_queue *queue;
	unsigned int blocks;
	uint32_t iterations;
	uint64_t launched;
};

static volatile bool measuring, ends;

static void check(int r, const char *what)
{
	if (!r)
		return;
	fprintf(stderr, "queues: %s: %s\n", what, gpreempt_error());
	exit(1);
}

/* ---- lanes ----------------------------------------------------------------------------------- */

static void lane_open(struct lane *l, struct gsload_cuda *c, struct gpreempt *g, bool high)
{
	const struct gpreempt_queue_options o = { .size = sizeof(o), .depth = DEPTH };

	l->c = c;
	if (l->by == GPREEMPT) {
		check(gpreempt_create_queue(g, high ? GPREEMPT_HIGH : GPREEMPT_LOW, &o, &l->queue),
		      "making a queue");
		check(gpreempt_load_kernel(l->queue, gsload_ptx, "gs_work", &l->function),
		      "loading a kernel");
		return;
	}
	gsload_check(c, c->context_set(c->context), "cuCtxSetCurrent");
	l->function = c->function;
	gsload_check(c,
		     c->stream_create_priority(&l->stream, CU_STREAM_NON_BLOCKING,
					       l->by == STREAMS && high ? -5 : 0),
		     "making a stream");
	for (unsigned int i = 0; i < DEPTH; i++)
		gsload_check(c, c->event_create(&l->done[i], CU_EVENT_DISABLE_TIMING),
			     "making an event");
}

static void lane_launch(struct lane *l)
{
	cu_address none = 0;
	void *parameters[] = { &none, &l->iterations };
	const struct gpreempt_launch k = {
		.size = sizeof(k),
		.function = l->function,
		.grid = { l->blocks, 1, 1 },
		.block = { THREADS, 1, 1 },
		.parameters = parameters,
	};
	cu_handle done = l->done[l->launched++ % DEPTH];

	if (l->by == GPREEMPT) {
		check(gpreempt_launch_kernel(l->queue, &k, 0), "launching");
		return;
	}
	gsload_check(l->c, l->c->context_set(l->c->context), "cuCtxSetCurrent");
	if (l->launched > DEPTH)
		gsload_check(l->c, l->c->event_synchronize(done), "waiting for a kernel");
	gsload_check(l->c,
		     l->c->launch(l->function, l->blocks, 1, 1, THREADS, 1, 1, 0, l->stream,
				  parameters, NULL),
		     "launching");
	gsload_check(l->c, l->c->event_record(done, l->stream), "recording an event");
}

static void lane_wait(struct lane *l)
{
	if (l->by == GPREEMPT)
		check(gpreempt_synchronize(l->queue), "waiting");
	else
		gsload_check(l->c, l->c->stream_synchronize(l->stream), "waiting");
}

static void lane_shape(struct lane *l, double kernel_us, double block_us)
{
	unsigned int full = (unsigned int)l->c->multiprocessors * BLOCKS_PER_SM;
	unsigned int waves = (unsigned int)fmax(1, round(kernel_us / block_us));

	l->blocks = full * waves;
	l->iterations = (uint32_t)fmax(1, kernel_us / waves * opt.per_us);
}

/* ---- the loads ------------------------------------------------------------------------------- */

static void *train(void *user)
{
	struct lane *l = user;
	uint64_t before = 0;
	bool counts = false;

	while (!ends) {
		if (measuring && !counts) {
			before = l->launched;
			counts = true;
		}
		lane_launch(l);
	}
	l->launched -= before;
	return NULL;
}

static size_t request(struct lane *l, double *us)
{
	uint64_t begun = gs_now_ns() + (uint64_t)(opt.warmup * 1e9);
	uint64_t end = begun + (uint64_t)(opt.seconds * 1e9);
	size_t n = 0;

	srand48(1);
	while (gs_now_ns() < end && n < MOST) {
		uint64_t t;

		gs_sleep_ns((uint64_t)(1e3 * fmin(-opt.period_us * log(1 - drand48()),
						  5 * opt.period_us)));
		t = gs_now_ns();
		measuring = t >= begun;
		lane_launch(l);
		lane_wait(l);
		if (measuring)
			us[n++] = (double)(gs_now_ns() - t) / 1e3;
	}
	gs_sample_sort(us, n);
	return n;
}

/* ---- what came out --------------------------------------------------------------------------- */

static void print_stats(const char *name, const struct lane *l)
{
	struct gpreempt_stats s = { .size = sizeof(s) };

	if (!l->queue)
		return;
	check(gpreempt_stats(l->queue, &s), "statistics");
	printf(",\"%s\":{\"held\":%llu,\"held_us\":%llu,\"busy_us\":%llu,\"inversions\":%llu,"
	       "\"preempted\":%llu,\"suspended\":%llu,\"suspended_us\":%llu,\"passed\":%llu,"
	       "\"refused\":%llu,\"expired\":%llu,\"uncontrolled\":%llu}",
	       name, (unsigned long long)s.held, (unsigned long long)s.held_us,
	       (unsigned long long)s.busy_us, (unsigned long long)s.inversions,
	       (unsigned long long)s.preempted, (unsigned long long)s.suspended,
	       (unsigned long long)s.suspended_us, (unsigned long long)s.passed,
	       (unsigned long long)s.refused, (unsigned long long)s.expired,
	       (unsigned long long)s.uncontrolled);
}

static void print(const char *by, const struct gpreempt *g, const struct lane *requests,
		  const struct lane *training, const double *us, size_t n)
{
	printf("{\"by\":\"%s\",\"block_us\":%g,\"n\":%zu", by, opt.block_us, n);
	if (n)
		printf(",\"p50_us\":%.1f,\"p99_us\":%.1f,\"max_us\":%.1f",
		       us[gs_quantile_at(n, 0.5)], us[gs_quantile_at(n, 0.99)], us[n - 1]);
	if (training->launched)
		printf(",\"training_per_s\":%.1f", (double)training->launched / opt.seconds);
	if (g)
		printf(",\"control\":\"%s\",\"alone\":\"%s\"", gpreempt_control(g),
		       gpreempt_alone(g) ?: "");
	print_stats("requests", requests);
	print_stats("training", training);
	printf("}\n");
}

static int parse(int argc, char **argv)
{
	static const struct {
		const char *name;
		double *to;
	} names[] = {
		{ "request_us", &opt.request_us }, { "period_us", &opt.period_us },
		{ "kernel_us", &opt.kernel_us },   { "block_us", &opt.block_us },
		{ "seconds", &opt.seconds },       { "warmup", &opt.warmup },
		{ "per_us", &opt.per_us },
	};

	for (int i = 0; i < argc; i++) {
		size_t k = 0, n = strcspn(argv[i], "=");

		while (k < GS_COUNT(names) &&
		       (strlen(names[k].name) != n || strncmp(names[k].name, argv[i], n)))
			k++;
		if (k == GS_COUNT(names) || !argv[i][n])
			return -1;
		*names[k].to = atof(argv[i] + n + 1);
	}
	return opt.per_us > 0 ? 0 : -1;
}

static void run(const char *name, enum by by, bool with_requests, bool with_training)
{
	struct lane requests = { .by = by }, training = { .by = by };
	struct gsload_cuda c[2] = { 0 };
	struct gpreempt *g = NULL;
	double *us = calloc(MOST, sizeof(*us));
	pthread_t thread;
	size_t n = 0;

	if (!us || gsload_cuda_open(&c[0], 0, 1) ||
	    (by == NONE && with_training && gsload_cuda_open(&c[1], 0, 1)))
		exit(1);
	if (by == GPREEMPT)
		check(gpreempt_init(NULL, &g), "beginning");
	if (with_requests)
		lane_open(&requests, &c[0], g, true);
	if (with_training)
		lane_open(&training, by == NONE ? &c[1] : &c[0], g, false);
	requests.c = requests.c ? requests.c : &c[0];
	training.c = training.c ? training.c : &c[0];
	lane_shape(&requests, opt.request_us, opt.request_us);
	lane_shape(&training, opt.kernel_us, opt.block_us);
	if (with_training && pthread_create(&thread, NULL, train, &training))
		exit(1);
	if (with_requests) {
		gsload_check(&c[0], c[0].context_set(c[0].context), "cuCtxSetCurrent");
		n = request(&requests, us);
	} else {
		gs_sleep_ns((uint64_t)(opt.warmup * 1e9));
		measuring = true;
		gs_sleep_ns((uint64_t)(opt.seconds * 1e9));
	}
	ends = true;
	if (with_training)
		pthread_join(thread, NULL);
	print(name, g, &requests, &training, us, n);
	gpreempt_end(g);
	free(us);
}

int main(int argc, char **argv)
{
	static const char *const ways[] = { "none", "streams", "gpreempt" };
	const char *part = "both";
	size_t by = 0;
	int at = 2;

	while (argc > 1 && by < GS_COUNT(ways) && strcmp(argv[1], ways[by]))
		by++;
	if (argc > 2 && !strchr(argv[2], '='))
		part = argv[at++];
	if (argc < 2 || by == GS_COUNT(ways) || parse(argc - at, argv + at)) {
		fprintf(stderr, "usage: queues none|streams|gpreempt [both|requests|training] "
				"per_us=N [OPTION=VALUE...]\n");
		return 2;
	}
	run(ways[by], (enum by)by, strcmp(part, "training") != 0, strcmp(part, "requests") != 0);
	return 0;
}
