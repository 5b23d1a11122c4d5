/* SPDX-License-Identifier: MIT */
/*
 * chrome.h - converts a recording to JSON trace events, for viewers without Perfetto's format
 */
#ifndef GPUSCHED_TRACE_CHROME_H
#define GPUSCHED_TRACE_CHROME_H

#include "trace/reader.h"

/* Converts a recording. Times are in us since its first event. -EIO: cannot write @out. */
int gs_trace_to_chrome(FILE *in, FILE *out, struct gs_error *err);

#endif /* GPUSCHED_TRACE_CHROME_H */
