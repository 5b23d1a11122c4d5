/* SPDX-License-Identifier: MIT */
/* demo.h - declares what the demo measures: three figures in each of three cases */
#ifndef GPUSCHED_CLI_DEMO_H
#define GPUSCHED_CLI_DEMO_H

#include <stdbool.h>

#include "basic/error.h"

/* The load and the policy's scheme, as the bench's tables name them. */
#define DEMO_LOAD "a-1be"
#define DEMO_POLICY "lcbe"

enum demo_case { DEMO_ALONE, DEMO_DEFAULT, DEMO_GPUSCHED, DEMO_CASES };

struct demo {
	bool json, dry_run, refuse, gpu;
	const char *params;     /* parameters of the model; NULL: those of the H200 */
	double dilate, seconds; /* @seconds 0: the default of the mode */
	const char *mode;       /* "path" or "model" */
	char where[128];        /* the GPU on which it was measured */
	double p50[DEMO_CASES], p99[DEMO_CASES], be[DEMO_CASES]; /* NAN: not measured */
	double requests[DEMO_CASES];
	char reason[512];  /* why gpusched could not act; "": it could */
	char missing[512]; /* why the model was used; "": it was not */
};

struct cli;

int cli_demo(struct cli *c); /* the verb */
/* Measures. @model: in virtual time; otherwise in real time, on the GPU that this process sees. */
int demo_run(struct demo *d, bool model, struct gs_error *err);

#endif /* GPUSCHED_CLI_DEMO_H */
