/* SPDX-License-Identifier: MIT */
/*
 * json.h - records and counters as JSON
 */
#ifndef GPUSCHED_REQUESTS_JSON_H
#define GPUSCHED_REQUESTS_JSON_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "basic/error.h"
#include "gpusched/abi.h"

struct gs_agent_facts;
struct gs_policy;
struct gs_requests;

json_t *gs_tsg_json(struct gs_requests *rs, const struct gpusched_tsg *rec);
/* Adds what an agent reported of its process, with its launches if @counted. */
void gs_told_json(const struct gs_agent_facts *told, bool counted, json_t *o);
/* Adds namespace, pod and container of the TSG's process, as far as known. */
void gs_tsg_json_pod(struct gs_requests *rs, const struct gpusched_tsg *rec, json_t *o);
/* Adds the GPU's id of the TSG, and each of its channels. */
void gs_tsg_json_wide(struct gs_requests *rs, const struct gpusched_tsg *rec, json_t *o);
/* The policy's last log line; null if there is none, or if @p is NULL. */
json_t *gs_said_json(const struct gs_policy *p);
json_t *gs_stats_json(struct gs_requests *rs, struct gs_error *err);
/* Writes the same in OpenMetrics, with all other figures that have a fixed number of series. */
void gs_stats_text(struct gs_requests *rs, FILE *f);
void gs_stats_launches_text(struct gs_requests *rs, FILE *f);
/* Returns "" for no class. */
const char *gs_class_label(const struct gs_requests *rs, uint32_t id);

#endif /* GPUSCHED_REQUESTS_JSON_H */
