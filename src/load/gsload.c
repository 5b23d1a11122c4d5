// SPDX-License-Identifier: MIT
/*
 * gsload - generates load of fixed work: latency-critical requests, or best-effort kernels
 *
 * It needs only libc and a libcuda.so.1: the system's or the simulated GPU's.
 */
#include "load/gsload.h"

#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "basic/parse.h"
#include "basic/sample.h"
#include "gpusched/hint.h"
#include "load/gsload_arrivals.h"

#define LC 1u
#define BE 2u
#define CAL 4u

enum type { NUMBER, REAL, ARRIVALS, FLAG };

/* One entry per option; parser and --help use this table. */
static const struct option {
	const char *name, *value;
	unsigned int modes;
	enum type type;
	size_t at;
	double min, max;
	const char *help;
} options[] = {
#define AT(field) offsetof(struct gsload_options, field)
	{ "kernel-us", "US", LC | BE | CAL, REAL, AT(kernel_us), 0.1, 1e8,
	  "length of one kernel on an idle GPU (lc 100, be 1000)" },
	{ "kernels", "N", LC | BE, NUMBER, AT(kernels), 1, 1e6,
	  "kernels of one request, with be of one graph (1)" },
	{ "tokens", "N", LC, NUMBER, AT(tokens), 1, 1e6,
	  "a request is so many times these kernels, each looked at by the CPU before the next "
	  "(1)" },
	{ "graph", NULL, LC | BE, FLAG, AT(graph), 0, 0,
	  "capture the kernels in a CUDA graph before the load, and launch that" },
	{ "period-us", "US", LC, REAL, AT(period_us), 1, 1e9,
	  "mean time between two requests (5000)" },
	{ "arrivals", "KIND", LC, ARRIVALS, AT(arrivals), 0, 0,
	  "poisson or periodic: latency counts from the scheduled arrival; closed: the time "
	  "between runs from completion to launch, latency from launch; or the path of a trace of "
	  "times and sizes, see gsload(1) (poisson)" },
	{ "cv", "X", LC, REAL, AT(cv), 1, 100,
	  "coefficient of variation of the time between two requests; above 1 they come in bursts "
	  "(1)" },
	{ "burst", "N", LC, NUMBER, AT(burst), 1, 1e6, "requests that arrive at once (1)" },
	{ "gap-us", "US", LC, REAL, AT(gap_us), 0, 1e8, "CPU time between two launches (0)" },
	{ "lead-us", "US", LC, REAL, AT(lead_us), 0, 1e6,
	  "CPU time between a request's arrival and its first launch (0)" },
	{ "hint", NULL, LC, FLAG, AT(hint), 0, 0,
	  "tell gpusched's agent of each request on its arrival (gpusched run --agent)" },
	{ "hold", NULL, LC, FLAG, AT(hold), 0, 0,
	  "hold the GPU during a request by a waiting kernel" },
	{ "block-us", "US", BE, REAL, AT(block_us), 0.1, 1e8,
	  "length of one thread block; the kernel is as many waves of them as fit (as the "
	  "kernel)" },
	{ "fill", "PERCENT", BE, REAL, AT(fill_pct), 0.1, 100,
	  "how much of the GPU a wave of blocks fills (100)" },
	{ "memory", NULL, BE, FLAG, AT(memory), 0, 0,
	  "kernels that read and write 1 GiB each, instead of such that compute" },
	{ "copy", NULL, BE, FLAG, AT(copy), 0, 0,
	  "copies of 64 MiB to the GPU, instead of kernels" },
	{ "in-flight", "N", BE, NUMBER, AT(in_flight), 1, 64, "kernels queued at a time (4)" },
	{ "seconds", "S", LC | BE, REAL, AT(seconds), 0, 1e6,
	  "how long to measure; 0: until SIGINT or SIGTERM (5)" },
	{ "warmup", "S", LC | BE, REAL, AT(warmup), 0, 1e6, "not counted, before that (0.5)" },
	{ "delay", "S", LC | BE, REAL, AT(delay), 0, 1e6,
	  "idle time between the context's creation and the load (0)" },
	{ "linger", "S", LC | BE, REAL, AT(linger), 0, 1e6,
	  "after the result (SIGINT ends the load) keep the contexts for S real seconds, or until "
	  "a signal (0)" },
	{ "count", "N", LC | BE, NUMBER, AT(count), 0, 1e12,
	  "end after this many requests or (whole graphs of) kernels; 0: no limit (0)" },
	{ "iterations-per-us", "N", LC | BE, REAL, AT(iterations_per_us), 0, 1e9,
	  "as 'gsload cal' printed on the idle GPU; 0: measure (0)" },
	{ "multiprocessors", "N", LC | BE, NUMBER, AT(multiprocessors), 0, 4096,
	  "of a full GPU: a kernel that fills it has blocks for so many. An MPS server's cap "
	  "lowers "
	  "what CUDA says, and with it the work; 0: as CUDA says (0)" },
	{ "gpu", "N", LC | BE | CAL, NUMBER, AT(gpu), 0, 1023, "ordinal of the GPU (0)" },
	{ "gpus", "N", LC | BE, NUMBER, AT(gpus), 1, GSLOAD_MAX_GPUS,
	  "contexts on so many GPUs, from --gpu on. be: each gets its next kernel once all have "
	  "ended the one before those in flight; lc: only the first is loaded (1)" },
	{ "contexts", "N", LC | BE, NUMBER, AT(contexts), 1, 256,
	  "contexts to make; the load runs in the first (1)" },
	{ "allocate-mib", "N", LC | BE, NUMBER, AT(allocate_mib), 0, 1e9,
	  "memory of the GPU to keep besides, in MiB (0)" },
	{ "seed", "N", LC, NUMBER, AT(seed), 0, 4294967295.0, "of the arrivals (1)" },
	{ "ready", NULL, LC | BE, FLAG, AT(ready), 0, 0,
	  "print {\"ready\":true} when the load begins" },
	{ "lines", NULL, LC | BE, FLAG, AT(lines), 0, 0,
	  "print a line for each request (lc) or each 20 ms (be), with its time" },
};

static void usage(FILE *to)
{
	fprintf(to,
		"Usage: gsload lc|be|cal [OPTION...]\n\n"
		"  lc   latency-critical requests; prints percentiles of their latency\n"
		"  be   best-effort kernels back to back; prints their rate\n"
		"  cal  prints how many iterations of the kernels' loop take 1 us\n\n"
		"Work is a fixed number of iterations, so a preempted kernel does no less of it.\n"
		"How much that is per us is measured at the start, unless another gsload did so in "
		"the\n"
		"last 10 minutes; 'cal' always measures.\n"
		"Prints one JSON object. On a simulated GPU all times are simulated ones.\n"
		"Times may have units (500ms, 1h30m), instead of US (us) and S (seconds).\n\n"
		"Options (in parentheses: default):\n");
	for (size_t i = 0; i < GS_COUNT(options); i++) {
		const struct option *o = &options[i];
		char left[64];

		snprintf(left, sizeof(left), "--%s%s%s", o->name, o->value ? " " : "",
			 o->value ? o->value : "");
		fprintf(to, "  %-24s %s%s%s%s\n", left, o->help, o->modes & LC ? " [lc]" : "",
			o->modes & BE ? " [be]" : "", o->modes & CAL ? " [cal]" : "");
	}
}

static int parse_arrivals(const char *text, struct gsload_options *o, struct gs_error *err)
{
	static const char *const kinds[] = { "poisson", "periodic", "closed" };
	struct gs_arrivals trace;
	int r;

	for (size_t i = 0; i < GS_COUNT(kinds); i++) {
		if (strcmp(text, kinds[i]))
			continue;
		o->arrivals = (enum gsload_arrivals)i;
		return 0;
	}
	if (!gs_arrivals_is_file(text))
		return gs_fail(err, -EINVAL,
			       "'%s' is none of poisson, periodic, closed, and no file", text);
	r = gs_arrivals_read(text, false, &trace, err);
	if (r)
		return r;
	gs_arrivals_free(&o->trace);
	o->trace = trace;
	o->arrivals = GSLOAD_TRACE;
	return 0;
}

static int parse_value(const struct option *d, const char *text, struct gsload_options *o,
		       struct gs_error *err)
{
	void *at = (char *)o + d->at;

	switch (d->type) {
	case NUMBER:
		return gs_parse_u64(text, (uint64_t)d->min, (uint64_t)d->max, at, err);
	case REAL:
		return gs_parse_double_in(d->value[0] == 'S' ? 1e6 : gs_parse_unit(d->name), text,
					  d->min, d->max, at, err);
	case FLAG:
		*(bool *)at = true;
		return 0;
	case ARRIVALS:
		return parse_arrivals(text, o, err);
	}
	return -EINVAL;
}

static int parse_option(int argc, char **argv, int *i, struct gsload_options *o,
			struct gs_error *err)
{
	const char *name = argv[*i];
	unsigned int mode = 1u << o->mode;
	struct gs_error why = { 0 };

	for (size_t k = 0; k < GS_COUNT(options); k++) {
		const struct option *d = &options[k];
		size_t n = strlen(d->name);
		const char *value;

		if (strncmp(name, "--", 2) || strncmp(name + 2, d->name, n) ||
		    (name[2 + n] && name[2 + n] != '='))
			continue;
		if (!(d->modes & mode))
			return gs_fail(err, -EINVAL, "--%s does not go with %s", d->name, argv[1]);
		if (!d->value)
			return parse_value(d, "", o, err);
		value = name[2 + n] ? name + 3 + n : argv[++*i];
		if (*i >= argc)
			return gs_fail(err, -EINVAL, "--%s needs a value: %s", d->name, d->value);
		if (!parse_value(d, value, o, &why))
			return 0;
		return gs_fail(err, why.code, "--%s: %s", d->name, why.text);
	}
	return gs_fail(err, -EINVAL, "there is no option '%s': see gsload --help", name);
}

static int check_together(const struct gsload_options *o, struct gs_error *err)
{
	if (o->mode == GSLOAD_BE && o->kernels > 1 && !o->graph)
		return gs_fail(err, -EINVAL, "--kernels goes with be only together with --graph");
	if (o->memory + o->copy + o->graph > 1)
		return gs_fail(err, -EINVAL, "--memory, --copy and --graph exclude each other");
	if (o->arrivals == GSLOAD_TRACE && o->burst > 1)
		return gs_fail(err, -EINVAL, "--burst does not go with a trace of arrivals");
	if (o->arrivals == GSLOAD_TRACE && o->trace.tokens && !o->graph)
		return gs_fail(err, -EINVAL, "a trace of tokens needs --graph");
	if (o->graph && o->gap_us > 0)
		return gs_fail(err, -EINVAL,
			       "--gap-us does not go with --graph: a graph is one launch");
	return 0;
}

static int parse_all(int argc, char **argv, struct gsload_options *o, struct gs_error *err)
{
	static const char *const modes[] = { "lc", "be", "cal" };
	size_t mode = 0;

	while (argc > 1 && mode < GS_COUNT(modes) && strcmp(argv[1], modes[mode]))
		mode++;
	if (argc < 2 || mode == GS_COUNT(modes))
		return gs_fail(err, -EINVAL, "say lc, be or cal: see gsload --help");
	*o = (struct gsload_options){
		.mode = (enum gsload_mode)mode,
		.contexts = 1,
		.gpus = 1,
		.seed = 1,
		.burst = 1,
		.kernels = 1,
		.tokens = 1,
		.cv = 1,
		.in_flight = 4,
		.kernel_us = mode == GSLOAD_BE ? 1000 : 100,
		.fill_pct = 100,
		.period_us = 5000,
		.seconds = 5,
		.warmup = 0.5,
		.dilate = 1,
	};
	for (int i = 2; i < argc; i++) {
		int r = parse_option(argc, argv, &i, o, err);

		if (r)
			return r;
	}
	return check_together(o, err);
}

static void print_parts(const char *prefix, const double *sorted, uint64_t n)
{
	static const struct {
		const char *key;
		double part;
	} parts[] = { { "min", 0 }, { "p50", 0.5 }, { "p90", 0.9 }, { "p99", 0.99 }, { "max", 1 } };

	for (size_t i = 0; i < GS_COUNT(parts); i++) {
		if (n)
			printf("\"%s%s_us\":%.1f,", prefix, parts[i].key,
			       sorted[gs_quantile_at(n, parts[i].part)]);
		else
			printf("\"%s%s_us\":null,", prefix, parts[i].key);
	}
}

static void print_lc(const struct gsload_options *o, const struct gsload_result *r)
{
	static const char *const arrivals[] = { "poisson", "periodic", "closed", "trace" };

	printf("\"arrivals\":\"%s\",\"period_us\":%g,\"cv\":%g,\"tokens\":%" PRIu64
	       ",\"hold\":%s,\"lead_us\":%g,",
	       arrivals[o->arrivals], o->period_us, o->cv, o->tokens, o->hold ? "true" : "false",
	       o->lead_us);
	if (o->hint)
		printf("\"hint\":\"%s\",", gpusched_hint_state());
	else
		printf("\"hint\":null,");
	print_parts("", r->latency_us, r->n);
	print_parts("service_", r->service_us, r->n);
	print_parts("late_", r->late_us, r->n);
	if (gsload_has_tokens(o))
		print_parts("token_", r->token_us, r->ntokens);
}

static void print_result(const struct gsload_options *o, const struct gsload_cuda *c,
			 const struct gsload_result *r)
{
	static const char *const modes[] = { "lc", "be", "cal" };

	printf("{\"mode\":\"%s\",\"gpu\":\"%s\",\"dilate\":%g,", modes[o->mode], c->name,
	       o->dilate);
	if (o->mode == GSLOAD_LC)
		print_lc(o, r);
	if (o->mode == GSLOAD_BE)
		printf("\"block_us\":%g,\"fill_pct\":%g,\"in_flight\":%" PRIu64 ",",
		       o->block_us > 0 ? o->block_us : o->kernel_us, o->fill_pct, o->in_flight);
	if (o->mode != GSLOAD_CAL) {
		printf("\"kernels\":%" PRIu64 ",\"graph\":%s,", o->kernels,
		       o->graph ? "true" : "false");
		printf("\"kernel_us\":%g,\"n\":%" PRIu64 ",\"seconds\":%.3f,", o->kernel_us, r->n,
		       r->seconds);
		if (r->seconds > 0)
			printf("\"rate_per_s\":%.1f,", (double)r->n / r->seconds);
		else
			printf("\"rate_per_s\":null,");
	}
	printf("\"multiprocessors\":%d,", c->multiprocessors);
	printf("\"iterations_per_us\":%.3f,\"launches\":%" PRIu64 ",\"graph_launches\":%" PRIu64
	       "}\n",
	       r->iterations_per_us, r->launches, r->graph_launches);
}

static volatile sig_atomic_t ended;

/*
 * SIGINT ends the load, or the time of --linger if the load has ended. SIGTERM ends both.
 */
static void on_signal(int sig)
{
	if (sig == SIGTERM || gsload_stop)
		ended = 1;
	gsload_stop = 1;
}

static void on_anew(int sig)
{
	(void)sig;
	gsload_arrive_anew();
}

/* Sleeps in short pieces, so that a signal can end the sleep. */
static void idle(uint64_t ns)
{
	uint64_t until = gs_now_ns() + ns, now;

	while (!gsload_stop && (now = gs_now_ns()) < until)
		gs_sleep_ns(until - now < 10 * NS_PER_MS ? until - now : 10 * NS_PER_MS);
}

/*
 * With a simulated GPU, raises our priority (to below the simulator's), so that other programs of
 * the host do not distort the measurements.
 */
static void be_prompt(void)
{
	struct sched_param p = { .sched_priority = 1 };

	if (getenv("GPUSCHED_SIM"))
		sched_setscheduler(0, SCHED_RR | SCHED_RESET_ON_FORK, &p);
}

static double dilation(void)
{
	const char *sim = getenv("GPUSCHED_SIM"), *text = getenv("GPUSCHED_DILATE");
	double f = 1;

	if (sim && *sim && text)
		gs_parse_double(text, 0.01, 10000, &f, NULL);
	return f;
}

int main(int argc, char **argv)
{
	struct sigaction on_end = { .sa_handler = on_signal }, anew = { .sa_handler = on_anew };
	struct gsload_options o = { 0 };
	struct gsload_result r = { 0 };
	static struct gsload_cuda c[GSLOAD_MAX_GPUS];
	struct gs_error err = { 0 };

	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--help")) {
			usage(stdout);
			return 0;
		}
	}
	if (parse_all(argc, argv, &o, &err)) {
		fprintf(stderr, "gsload: %s\n", err.text);
		return GS_EXIT_USAGE;
	}
	o.dilate = dilation();
	be_prompt();
	sigaction(SIGINT, &on_end, NULL);
	sigaction(SIGTERM, &on_end, NULL);
	sigaction(SIGUSR1, &anew, NULL);
	/* the first GPU comes last, so that its context is the current one */
	for (uint64_t i = o.gpus; i-- > 0;) {
		if (gsload_cuda_open(&c[i], (int)(o.gpu + i), (unsigned int)o.contexts))
			return GS_EXIT_FAILED;
		if (o.multiprocessors)
			c[i].multiprocessors = (int)o.multiprocessors;
		if (o.allocate_mib)
			gsload_cuda_keep(&c[i], o.allocate_mib << 20);
	}
	gsload_calibrate(c, &o, &r);
	idle((uint64_t)(o.delay * 1e9 * o.dilate));
	if (o.ready) {
		puts("{\"ready\":true}");
		fflush(stdout);
	}
	if (o.mode == GSLOAD_LC)
		gsload_run_lc(c, &o, &r);
	else if (o.mode == GSLOAD_BE)
		gsload_run_be(c, &o, &r);
	print_result(&o, c, &r);
	fflush(stdout);
	gsload_stop = 1;
	for (uint64_t until = gs_now_ns() + (uint64_t)(o.linger * 1e9);
	     !ended && gs_now_ns() < until;)
		gs_sleep_ns(10 * NS_PER_MS);
	free(r.latency_us);
	free(r.service_us);
	free(r.late_us);
	free(r.token_us);
	gs_arrivals_free(&o.trace);
	return GS_EXIT_OK;
}
