/* SPDX-License-Identifier: MIT */
/*
 * summary.h - sums of a recording, per process
 */
#ifndef GPUSCHED_TRACE_SUMMARY_H
#define GPUSCHED_TRACE_SUMMARY_H

#include <jansson.h>

#include "trace/reader.h"

/*
 * One object per process that has had a TSG, the one with most GPU time first: pid, comm, uid,
 * class, gpu_time_us (held, on the GPU's clock), turns (that ended), waits and wait_p50_us,
 * wait_p99_us (of those known; null: none is), dropped (records and lines lost in the whole
 * recording: figures may be too small then). Null: hidden from whoever recorded.
 */
int gs_trace_summary(FILE *in, json_t **ret_processes, struct gs_error *err);

#endif /* GPUSCHED_TRACE_SUMMARY_H */
