/* SPDX-License-Identifier: MIT */
/*
 * metrics.h - writes the text of /metrics in slices of time, and shares it among callers
 *
 * There are two texts, one with cgroups and one without. Each is written on request; a text that is
 * at most 100 ms old is used again.
 */
#ifndef GPUSCHED_REQUESTS_METRICS_H
#define GPUSCHED_REQUESTS_METRICS_H

struct gs_requests;

void gs_metrics_free(struct gs_requests *rs);

#endif /* GPUSCHED_REQUESTS_METRICS_H */
