/* SPDX-License-Identifier: MIT */
/*
 * summary.h - sums up a recording per process
 */
#ifndef GPUSCHED_TRACE_SUMMARY_H
#define GPUSCHED_TRACE_SUMMARY_H

#include <jansson.h>

#include "trace/reader.h"

/*
 * Makes one object per process that had a TSG, ordered by GPU time, largest first. Members: pid,
 * comm, uid, class, gpu_time_us (held, on the GPU's clock), turns (that ended), waits, wait_p50_us
 * and wait_p99_us (of known waits; null: none), dropped. @dropped counts records and lines that the
 * whole recording lost; if it is not 0, other figures may be too small. A figure is null if the
 * user that recorded was not allowed to see it.
 */
int gs_trace_summary(FILE *in, json_t **ret_processes, struct gs_error *err);

#endif /* GPUSCHED_TRACE_SUMMARY_H */
