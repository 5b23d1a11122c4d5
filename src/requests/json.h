/* SPDX-License-Identifier: MIT */
/*
 * json.h - records and counters as answers have them
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
/* Into it: what an agent told of its process; @counted: its launches as well. */
void gs_told_json(const struct gs_agent_facts *told, bool counted, json_t *o);
/* Into it: the GPU's id, and the channels one by one. */
/* Namespace, pod, container, as they are known. */
void gs_tsg_json_pod(struct gs_requests *rs, const struct gpusched_tsg *rec, json_t *o);
void gs_tsg_json_wide(struct gs_requests *rs, const struct gpusched_tsg *rec, json_t *o);
/* The last log line of a policy; null: none. @p NULL: none runs. */
json_t *gs_said_json(const struct gs_policy *p);
json_t *gs_stats_json(struct gs_requests *rs, struct gs_error *err);
/* The same in OpenMetrics, and what else does not grow with the TSGs. */
void gs_stats_text(struct gs_requests *rs, FILE *f);
void gs_stats_launches_text(struct gs_requests *rs, FILE *f);
/* "": none. */
const char *gs_class_label(const struct gs_requests *rs, uint32_t id);

#endif /* GPUSCHED_REQUESTS_JSON_H */
