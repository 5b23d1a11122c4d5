/* SPDX-License-Identifier: MIT */
/*
 * plot.h - draws a part of a recording: one row per TSG, one box per turn
 */
#ifndef GPUSCHED_TRACE_PLOT_H
#define GPUSCHED_TRACE_PLOT_H

#include "trace/reader.h"

struct gs_plot_opts {
	uint64_t from_ns; /* start of the part, since the start of the recording */
	uint64_t for_ns;
	bool png; /* false: SVG */
};

/*
 * Writes a gnuplot script to @out, which draws the picture on gnuplot's standard output. -ENODATA:
 * no turn lies in the part.
 */
int gs_trace_plot(FILE *in, const struct gs_plot_opts *opts, FILE *out, struct gs_error *err);

#endif /* GPUSCHED_TRACE_PLOT_H */
