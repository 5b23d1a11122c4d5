// SPDX-License-Identifier: MIT
/* demo_print.c - the table and the picture of a demo, or its one JSON object */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "basic/cleanup.h"
#include "bench/bench.h"
#include "cli/cli.h"
#include "cli/demo.h"

#define BAR 52

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

int demo_print(const struct demo *d)
{
	const struct bench_load *l = bench_load(DEMO_LOAD);

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

void demo_tell(const struct demo *d, const char *what)
{
	if (d->json)
		return;
	printf("measuring: %s\n", what);
	fflush(stdout);
}
