/* SPDX-License-Identifier: MIT */
/*
 * metrics.h - the text of /metrics, made in slices and shared by all who ask
 *
 * There is one for each view: with cgroups, or without. It is made when somebody asks, at most once
 * in 100 ms.
 */
#ifndef GPUSCHED_SERVICE_METRICS_H
#define GPUSCHED_SERVICE_METRICS_H

struct gs_service;

void gs_metrics_free(struct gs_service *s);

#endif /* GPUSCHED_SERVICE_METRICS_H */
