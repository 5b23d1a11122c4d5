/* SPDX-License-Identifier: MIT */
/*
 * chrome.h - a recording as JSON trace events, for viewers that know nothing else
 */
#ifndef GPUSCHED_TRACE_CHROME_H
#define GPUSCHED_TRACE_CHROME_H

#include "trace/reader.h"

/* Converts a recording. Times are us since the first event. -EIO: @out cannot be written. */
int gs_trace_to_json(FILE *in, FILE *out, struct gs_error *err);

#endif /* GPUSCHED_TRACE_CHROME_H */
