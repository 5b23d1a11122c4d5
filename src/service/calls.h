/* SPDX-License-Identifier: MIT */
/*
 * calls.h - statistics of the engine's calls
 */
#ifndef GPUSCHED_SERVICE_CALLS_H
#define GPUSCHED_SERVICE_CALLS_H

struct gs_engine_call;
struct gs_service;

/* As an observer. */
void gs_calls_called(struct gs_service *s, const struct gs_engine_call *call);

#endif /* GPUSCHED_SERVICE_CALLS_H */
