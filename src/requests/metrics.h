/* SPDX-License-Identifier: MIT */
/*
 * metrics.h - the text of /metrics, made in slices and shared by all callers
 *
 * There is one for each view: with cgroups, or without. It is made when somebody asks, at most once
 * in 100 ms.
 */
#ifndef GPUSCHED_REQUESTS_METRICS_H
#define GPUSCHED_REQUESTS_METRICS_H

struct gs_requests;

void gs_metrics_free(struct gs_requests *rs);

#endif /* GPUSCHED_REQUESTS_METRICS_H */
