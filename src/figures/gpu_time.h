/* SPDX-License-Identifier: MIT */
/*
 * gpu_time.h - who has the GPU
 */
#ifndef GPUSCHED_FIGURES_GPU_TIME_H
#define GPUSCHED_FIGURES_GPU_TIME_H

#include <jansson.h>

#include "engine/engine.h"
#include "table/table.h"

struct gs_end;
struct gs_figures;

int gs_sight_start(struct gs_figures *fig, struct gs_error *err);
void gs_sight_end(struct gs_figures *fig);
/* A record is there, or its channels changed. */
void gs_sight_record(void *self, const struct gpusched_tsg *rec);
void gs_sight_ended(void *self, const struct gs_end *end);
void gs_sight_event(void *self, const struct gpusched_event *ev);
void gs_sight_call(void *self, const struct gs_engine_call *call);
/* The wishes of the running policy. */
void gs_sight_policy(void *self);
/* The one field of a record that the table does not hold: when it last ran. */
void gs_sight_complete(struct gs_figures *fig, struct gpusched_tsg *rec);
/* Before an answer that tells times: up to now, within limits. */
void gs_sight_flush(struct gs_figures *fig);
/* GPU time and turns of a TSG, into its object. */
void gs_sight_json(struct gs_figures *fig, const struct gpusched_tsg *rec, json_t *o);
/* Costs of switches on the GPU of that place in the hub, as far as known. */
json_t *gs_sight_costs_json(struct gs_figures *fig, size_t gpu);
json_t *gs_sight_gpus_json(struct gs_figures *fig);

#endif /* GPUSCHED_FIGURES_GPU_TIME_H */
