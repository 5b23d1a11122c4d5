// SPDX-License-Identifier: MIT
/*
 * demo.c - before and after: chooses between the simulated GPU, a real one, and the model
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
#include "cli/cli.h"
#include "cli/verbs_look.h"
#include "cli/probe.h"

#define DILATE 8
#define SECONDS 2
#define GPU_SECONDS 10

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

/* This program again, in a world with a simulated GPU. */
static int enter_sim(const struct demo *d)
{
	char self[512], dilate[32], seconds[32];
	const char *argv[24] = { self, "sim", "shell", "--dilate", dilate };
	size_t n = 5;

	gs_beside("gpusched", self, sizeof(self));
	snprintf(dilate, sizeof(dilate), "%g", d->dilate);
	snprintf(seconds, sizeof(seconds), "%g", d->seconds);
	if (d->refuse) {
		argv[n++] = "--refuse";
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
	return demo_print(d) ? cli_fail(-EIO, "output cannot be written") : GS_EXIT_OK;
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
		r = cli_need_gpu("demo");
		if (r)
			return r;
	}
	if (!d.gpu)
		cli_path_missing(d.missing, sizeof(d.missing));
	if (d.missing[0])
		return on_model(&d, &err);
	if (!d.seconds)
		d.seconds = d.gpu ? GPU_SECONDS : SECONDS;
	if (!d.gpu && !gs_env()->sim)
		return enter_sim(&d);
	return finish(&d, demo_run(&d, false, &err), &err);
}
