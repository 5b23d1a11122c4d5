/* SPDX-License-Identifier: MIT */
/*
 * metrics.h - the text of /metrics, made in slices and shared by all callers
 *
 * There are two texts, with cgroups and without. A text is made on request, at most once in 100 ms.
 */
#ifndef GPUSCHED_REQUESTS_METRICS_H
#define GPUSCHED_REQUESTS_METRICS_H

struct gs_requests;

void gs_metrics_free(struct gs_requests *rs);

#endif /* GPUSCHED_REQUESTS_METRICS_H */
