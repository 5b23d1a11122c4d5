// SPDX-License-Identifier: MIT
/*
 * demo.c - runs the demo on a simulated GPU, a real one or the model, and prints its results
 */
#include "cli/demo.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "basic/beside.h"
#include "basic/cleanup.h"
#include "basic/env.h"
#include "basic/parse.h"
#include "bench/bench.h"
#include "cli/cli.h"
#include "probe/probe.h"

#define DILATE 8
#define SECONDS 2
#define GPU_SECONDS 10
#define BAR 52

/* ---- the table and the picture, or one JSON object ---------------------------------------------- */

static const char *const case_names[DEMO_CASES] = { "alone", "default", "gpusched" };

static json_t *figure(const double *v)
{
	json_t *o = json_object();

	for (int i = 0; i < DEMO_CASES; i++)
		json_object_set_new(o, case_names[i],
				    isnan(v[i]) ? json_null() : json_real(round(v[i] * 10) / 10));
	return o;
}

static int print_json(const struct demo *d)
{
	CLEANUP_JSON json_t *o = json_pack(
		"{s:s,s:f,s:s,s:o,s:o,s:o,s:o,s:f,s:b,s:b,s:s?,s:s?}", "mode", d->mode, "dilate",
		d->dilate, "gpu", d->where, "lc_p99_us", figure(d->p99), "lc_p50_us",
		figure(d->p50), "be_rate", figure(d->be), "lc_requests", figure(d->requests),
		"seconds", d->seconds, "dry_run", d->dry_run, "refuse_set_timeslice", d->refuse,
		"reason", d->reason[0] ? d->reason : NULL, "missing",
		d->missing[0] ? d->missing : NULL);

	return o ? gs_json_line(stdout, o) : -ENOMEM;
}

static void number(char *buf, size_t size, double v)
{
	if (isnan(v))
		snprintf(buf, size, "-");
	else
		snprintf(buf, size, "%.0f", v);
}

static void bars(const char *title, const double *v)
{
	double top = 0;
	char text[32];

	for (int i = 0; i < DEMO_CASES; i++)
		top = !isnan(v[i]) && v[i] > top ? v[i] : top;
	printf("\n%s\n", title);
	for (int i = 0; i < DEMO_CASES; i++) {
		int n = isnan(v[i]) || top <= 0 ? 0 : (int)lround(v[i] / top * BAR);

		number(text, sizeof(text), v[i]);
		printf("  %-9s|%.*s%s %s\n", case_names[i], n,
		       "####################################################",
		       n || isnan(v[i]) ? "" : "|", text);
	}
}

static void print_table(const struct demo *d)
{
	char p50[32], p99[32], be[32];

	printf("%-11s %12s %12s %14s\n", "", "LC p50 us", "LC p99 us", "BE kernels/s");
	for (int i = 0; i < DEMO_CASES; i++) {
		number(p50, sizeof(p50), d->p50[i]);
		number(p99, sizeof(p99), d->p99[i]);
		number(be, sizeof(be), d->be[i]);
		printf("%-11s %12s %12s %14s\n", case_names[i], p50, p99, be);
	}
}

static int print(const struct demo *d)
{
	const struct bench_load *l = bench_table_load(DEMO_LOAD);

	if (d->json)
		return print_json(d);
	printf("\nLC: one %g us kernel a request, %g us apart on average;\n"
	       "BE: %g us kernels back to back.\n",
	       l->lc->kernel_us, l->lc->period_us, l->be->kernel_us);
	if (!strcmp(d->mode, "model"))
		printf("From the MODEL of the GPU in virtual time (%s), not from the whole path:\n"
		       "%s\n\n",
		       d->where, d->missing);
	else if (d->gpu)
		printf("Measured on %s.\n\n", d->where);
	else
		printf("Measured on a simulated GPU (%s), dilation F = %g: its time runs %g times\n"
		       "slower than real time, and all figures are in its time.\n\n",
		       d->where, d->dilate, d->dilate);
	print_table(d);
	bars("LC p50, us", d->p50);
	bars("LC p99, us", d->p99);
	bars("BE, kernels/s", d->be);
	printf("\nLC p99 with gpusched: %.1f times better than by default, %.2f x alone;\n"
	       "BE keeps %.0f %% of what it gets by default.\n",
	       d->p99[DEMO_DEFAULT] / d->p99[DEMO_GPUSCHED],
	       d->p99[DEMO_GPUSCHED] / d->p99[DEMO_ALONE],
	       100 * d->be[DEMO_GPUSCHED] / d->be[DEMO_DEFAULT]);
	if (d->reason[0])
		printf("Why gpusched changed nothing: %s\n", d->reason);
	return 0;
}

/* ---- the verb ----------------------------------------------------------------------------------- */

static int parse(struct cli *c, struct demo *d, struct gs_error *err)
{
	const char *dilate = cli_opt(c, "dilate"), *seconds = cli_opt(c, "seconds");
	int r = 0;

	d->json = c->json;
	d->dry_run = cli_opt(c, "dry-run");
	d->refuse = cli_opt(c, "refuse-set-timeslice");
	d->gpu = cli_opt(c, "gpu");
	d->params = cli_opt(c, "params");
	d->dilate = DILATE;
	for (int i = 0; i < DEMO_CASES; i++)
		d->p50[i] = d->p99[i] = d->be[i] = d->requests[i] = NAN;
	if (dilate)
		r = cli_of_option("dilate", gs_parse_double(dilate, 1, 1000, &d->dilate, err), err);
	if (!r && seconds)
		r = cli_of_option("seconds",
				  gs_parse_double_in(1e6, seconds, 0.1, 3600, &d->seconds, err),
				  err);
	if (r)
		return r;
	if (d->gpu && (dilate || d->refuse || d->params || cli_opt(c, "model")))
		return gs_fail(err, -EINVAL,
			       "--gpu does not go with --dilate, --refuse-set-timeslice, --params "
			       "or --model");
	if (cli_opt(c, "model") && (dilate || d->dry_run || d->refuse))
		return gs_fail(
			err, -EINVAL,
			"--model does not go with --dilate, --dry-run or --refuse-set-timeslice");
	if (gs_env()->sim && dilate)
		return gs_fail(err, -EINVAL, "--dilate is the sim shell's here: give it there");
	return 0;
}

/* Replaces this process by the same command in `gpusched sim shell`, with a simulated GPU. */
static int enter_sim(const struct demo *d)
{
	char self[512], dilate[32], seconds[32];
	const char *argv[24] = { self, "sim", "shell", "--dilate", dilate };
	size_t n = 5;

	gs_beside("gpusched", self, sizeof(self));
	snprintf(dilate, sizeof(dilate), "%g", d->dilate);
	snprintf(seconds, sizeof(seconds), "%g", d->seconds);
	if (d->refuse) {
		argv[n++] = "--fault";
		argv[n++] = "set-timeslice";
	}
	if (d->params) {
		argv[n++] = "--params";
		argv[n++] = d->params;
	}
	argv[n++] = "--";
	argv[n++] = self;
	argv[n++] = "demo";
	argv[n++] = "--seconds";
	argv[n++] = seconds;
	if (d->dry_run)
		argv[n++] = "--dry-run";
	if (d->refuse)
		argv[n++] = "--refuse-set-timeslice";
	if (d->json)
		argv[n++] = "--json";
	fflush(stdout);
	execv(self, (char *const *)argv);
	return cli_fail(-errno, "demo: %s: %s", self, strerror(errno));
}

static int finish(struct demo *d, int r, const struct gs_error *err)
{
	if (r)
		return cli_fail_err(r, err, "demo");
	return print(d) ? cli_fail(-EIO, "output cannot be written") : GS_EXIT_OK;
}

static int on_model(struct demo *d, struct gs_error *err)
{
	if (d->dry_run || d->refuse)
		return cli_fail(
			-ENOTSUP,
			"demo: --dry-run and --refuse-set-timeslice need the whole path: %s",
			d->missing);
	return finish(d, demo_run(d, true, err), err);
}

int cli_demo(struct cli *c)
{
	struct gs_error err = {};
	struct demo d = {};
	int r;

	r = parse(c, &d, &err);
	if (r)
		return cli_fail(r, "demo: %s", err.text);
	if (cli_opt(c, "model")) {
		snprintf(d.missing, sizeof(d.missing), "--model was asked for");
		return on_model(&d, &err);
	}
	if (d.gpu) {
		r = gs_probe_host_need_gpu("demo", &err);
		if (r)
			return cli_fail_err(r, &err, "demo");
	}
	if (!d.gpu)
		gs_probe_host_sim_missing(d.missing, sizeof(d.missing));
	if (d.missing[0])
		return on_model(&d, &err);
	if (!d.seconds)
		d.seconds = d.gpu ? GPU_SECONDS : SECONDS;
	if (!d.gpu && !gs_env()->sim)
		return enter_sim(&d);
	return finish(&d, demo_run(&d, false, &err), &err);
}
