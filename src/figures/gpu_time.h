/* SPDX-License-Identifier: MIT */
/*
 * gpu_time.h - finds out which TSG had the GPU, and for how long
 */
#ifndef GPUSCHED_FIGURES_GPU_TIME_H
#define GPUSCHED_FIGURES_GPU_TIME_H

#include <jansson.h>

#include "engine/engine.h"
#include "table/table.h"

struct gs_end;
struct gs_figures;

int gs_gpu_time_start(struct gs_figures *fig, struct gs_error *err);
void gs_gpu_time_end(struct gs_figures *fig);
/* The record is new, or its channels changed. */
void gs_gpu_time_record(void *self, const struct gpusched_tsg *rec);
void gs_gpu_time_ended(void *self, const struct gs_end *end);
void gs_gpu_time_event(void *self, const struct gpusched_event *ev);
void gs_gpu_time_call(void *self, const struct gs_engine_call *call);
/* Has the logs read more often if the running policy uses the account's facts. */
void gs_gpu_time_policy(void *self);
/* Fills in the time of the TSG's last run, which the table does not hold. */
void gs_gpu_time_complete(struct gs_figures *fig, struct gpusched_tsg *rec);
/* Reads the logs up to now, within limits. Call this before an answer that contains times. */
void gs_gpu_time_flush(struct gs_figures *fig);
/* The same before a regular look at all figures, as gs_account_catch_up(). */
void gs_gpu_time_catch_up(struct gs_figures *fig);
/* Adds the GPU time and turns of a TSG to its JSON object. */
void gs_gpu_time_json(struct gs_figures *fig, const struct gpusched_tsg *rec, json_t *o);
/* Costs of switches on a GPU, given by its index in the hub; unknown costs are null. */
json_t *gs_gpu_time_costs_json(struct gs_figures *fig, size_t gpu);
json_t *gs_gpu_time_gpus_json(struct gs_figures *fig);

#endif /* GPUSCHED_FIGURES_GPU_TIME_H */
