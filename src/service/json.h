/* SPDX-License-Identifier: MIT */
/*
 * json.h - what answers and events say
 */
#ifndef GPUSCHED_SERVICE_JSON_H
#define GPUSCHED_SERVICE_JSON_H

#include <jansson.h>

#include "engine/engine.h"
#include "table/table.h"

struct gs_agent_facts;
struct gs_service;

json_t *gs_tsg_json(struct gs_service *s, const struct gpusched_tsg *rec);
/* Into it: what an agent told of its process; @counted: its launches as well. */
void gs_told_json(const struct gs_agent_facts *told, bool counted, json_t *o);
/* Into it: the GPU's id, and the channels one by one. */
void gs_tsg_json_wide(struct gs_service *s, const struct gpusched_tsg *rec, json_t *o);
json_t *gs_settings_json(const struct gpusched_settings *set);
json_t *gs_event_json(struct gs_service *s, const struct gpusched_event *ev);
json_t *gs_call_json(struct gs_service *s, const struct gs_engine_call *call);
/* Into @o: what an event or a call says beside when, of whom and which it is. */
void gs_event_put_arguments(struct gs_service *s, const struct gpusched_event *ev, json_t *o);
void gs_call_put_arguments(const struct gs_engine_call *call, json_t *o);
void gs_json_put_handle(json_t *o, const char *key, uint32_t handle);
void gs_json_put_comm(json_t *o, const char comm[GPUSCHED_COMM_LEN]);
void gs_json_put_gpu(struct gs_service *s, const struct gpusched_tsg *rec, json_t *o);
/* Adds the words of each reason in @why, 1 << enum gs_overrule. */
#define GS_REASON_LEN 640 /* for all of them together */
void gs_overrules_text(uint32_t why, char *text, size_t size);
json_t *gs_stats_json(struct gs_service *s, struct gs_error *err);
/* The same in OpenMetrics, and what else does not grow with the TSGs. */
void gs_stats_text(struct gs_service *s, FILE *f);
void gs_stats_launches_text(struct gs_service *s, FILE *f);
/* "": none. */
const char *gs_class_label(const struct gs_service *s, uint32_t id);
const char *gs_engine_name(uint16_t engine, char buffer[12]);
const char *gs_kind_name(uint16_t kind);
const char *gs_source_name(unsigned int source);

#endif /* GPUSCHED_SERVICE_JSON_H */
