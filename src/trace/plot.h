/* SPDX-License-Identifier: MIT */
/*
 * plot.h - a stretch of a recording as a picture: one row per TSG, one box per turn
 */
#ifndef GPUSCHED_TRACE_PLOT_H
#define GPUSCHED_TRACE_PLOT_H

#include "trace/reader.h"

struct gs_plot_opts {
	uint64_t from_ns; /* since the recording's begin */
	uint64_t for_ns;
	bool png; /* else SVG */
};

/* Writes what gnuplot makes the picture of, on its standard output. -ENODATA: no turn lies there. */
int gs_trace_plot(FILE *in, const struct gs_plot_opts *opts, FILE *out, struct gs_error *err);

#endif /* GPUSCHED_TRACE_PLOT_H */
