/* SPDX-License-Identifier: MIT */
/*
 * json.h - converts records and counters to JSON
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
/* Adds the figures that a process's agent reported; its launches only if @counted. */
void gs_told_json(const struct gs_agent_facts *told, bool counted, json_t *o);
/* Adds namespace, pod and container of the TSG's process, as far as known. */
void gs_tsg_json_pod(struct gs_requests *rs, const struct gpusched_tsg *rec, json_t *o);
/* Adds the TSG's hardware id on its GPU, each of its channels, and its pod. */
void gs_tsg_json_wide(struct gs_requests *rs, const struct gpusched_tsg *rec, json_t *o);
/* The policy's last log line; null if there is none, or if @p is NULL. */
json_t *gs_policy_said_json(const struct gs_policy *p);
json_t *gs_stats_json(struct gs_requests *rs, struct gs_error *err);
/* Writes the counters of gs_stats_json() and the version as OpenMetrics text. */
void gs_stats_text(struct gs_requests *rs, FILE *f);
void gs_stats_launches_text(struct gs_requests *rs, FILE *f);
/* The name of class @id for labels; "" for no class. */
const char *gs_stats_class(const struct gs_requests *rs, uint32_t id);

#endif /* GPUSCHED_REQUESTS_JSON_H */
