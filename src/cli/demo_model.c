// SPDX-License-Identifier: MIT
/* demo_model.c - the same load on the model in virtual time: no privilege, no processes */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <sys/mman.h>

#include "basic/cleanup.h"
#include "cli/demo.h"
#include "sim/scenario.h"

#define WARMUP_S 0.5
#define MODEL_SECONDS 30 /* costs nothing in virtual time */

#define CLEANUP_SCENARIO __attribute__((cleanup(sim_scenario_freep)))
#define CLEANUP_RESULT __attribute__((cleanup(sim_result_freep)))

static const char lc_text[] = "[process lc]\nclass = lc\nkind = lc\narrivals = closed\n"
			      "kernel_us = %d\ngap_us = %d\n";
static const char be_text[] = "[process be]\nclass = be\nkind = be\nkernel_us = %d\n";

static int load(double seconds, bool lc, bool be, struct sim_scenario **ret, struct gs_error *err)
{
	CLEANUP_FD int fd = memfd_create("demo", MFD_CLOEXEC);
	char path[64];

	if (fd < 0)
		return gs_fail(err, -errno, "demo: no memory for a scenario");
	dprintf(fd,
		"[scenario]\ntitle = demo\ngpus = 1\nduration_s = %g\nwarmup_s = %g\nseed = 1\n",
		seconds + WARMUP_S, WARMUP_S);
	if (lc)
		dprintf(fd, lc_text, DEMO_LC_KERNEL_US, DEMO_LC_GAP_US);
	if (be)
		dprintf(fd, be_text, DEMO_BE_KERNEL_US);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return sim_scenario_load(path, ret, err);
}

static double metric(const struct sim_result *r, const char *name)
{
	double v;

	return sim_result_metric(r, name, &v) ? NAN : v;
}

static int run(struct demo *d, enum demo_case k, bool lc, bool be, const char *policy,
	       struct gs_error *err)
{
	const struct sim_run_options options = { .policy = policy };
	CLEANUP_SCENARIO struct sim_scenario *s = NULL;
	CLEANUP_RESULT struct sim_result *res = NULL;
	int r;

	r = load(d->seconds, lc, be, &s, err);
	if (!r)
		r = sim_scenario_run(s, &options, &res, err);
	if (r)
		return r;
	if (res->policy_failure[0])
		return gs_fail(err, -EIO, "demo: policy %s: %s", policy, res->policy_failure);
	if (lc) {
		d->p50[k] = metric(res, "lc.p50_us");
		d->p99[k] = metric(res, "lc.p99_us");
		d->requests[k] = metric(res, "lc.requests");
	}
	if (be)
		d->be[k] = metric(res, "be.rate");
	snprintf(d->where, sizeof(d->where), "%.100s", s->params.name);
	return 0;
}

int demo_model(struct demo *d, struct gs_error *err)
{
	int r;

	d->mode = "model";
	d->dilate = 1;
	if (!d->seconds)
		d->seconds = MODEL_SECONDS;
	r = run(d, DEMO_ALONE, true, false, "none", err);
	if (!r)
		r = run(d, DEMO_ALONE, false, true, "none", err);
	if (!r)
		r = run(d, DEMO_DEFAULT, true, true, "none", err);
	if (!r)
		r = run(d, DEMO_GPUSCHED, true, true, DEMO_POLICY, err);
	return r;
}
