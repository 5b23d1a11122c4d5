/* SPDX-License-Identifier: MIT */
/*
 * summary.h - sums of a recording, per process
 */
#ifndef GPUSCHED_TRACE_SUMMARY_H
#define GPUSCHED_TRACE_SUMMARY_H

#include <jansson.h>

#include "trace/reader.h"

/*
 * One object per process that had a TSG, the process with most GPU time first. Members: pid, comm,
 * uid, class, gpu_time_us (held, on the GPU's clock), turns (that ended), waits, wait_p50_us and
 * wait_p99_us (of known waits; null: none), dropped. @dropped counts records and lines that the
 * whole recording has lost: if there are any, figures may be too small. A figure is null if it is
 * hidden from the user that recorded.
 */
int gs_trace_summary(FILE *in, json_t **ret_processes, struct gs_error *err);

#endif /* GPUSCHED_TRACE_SUMMARY_H */
