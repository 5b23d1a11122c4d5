/* SPDX-License-Identifier: MIT */
/*
 * json.h - puts events, calls and numbers of the table into JSON
 */
#ifndef GPUSCHED_HUB_JSON_H
#define GPUSCHED_HUB_JSON_H

#include <jansson.h>

#include "engine/engine.h"
#include "table/table.h"

struct gs_hub;

json_t *gs_settings_json(const struct gpusched_settings *set);
json_t *gs_event_json(struct gs_hub *hub, const struct gpusched_event *ev);
json_t *gs_call_json(struct gs_hub *hub, const struct gs_engine_call *call);
/* Adds an event's or a call's fields to @o, except time, subject and name. */
void gs_event_put_arguments(struct gs_hub *hub, const struct gpusched_event *ev, json_t *o);
void gs_event_put_call_arguments(const struct gs_engine_call *call, json_t *o);
void gs_json_put_handle(json_t *o, const char *key, uint32_t handle);
void gs_json_put_comm(json_t *o, const char comm[GPUSCHED_COMM_LEN]);
void gs_json_put_gpu(struct gs_hub *hub, const struct gpusched_tsg *rec, json_t *o);
/* Adds a text for each reason in @why, a mask of 1 << enum gs_overrule. */
#define GS_REASON_LEN 640 /* for all reasons together */
void gs_event_overrules_text(uint32_t why, char *text, size_t size);
const char *gs_engine_name(uint16_t of_partition, char buffer[12]);
const char *gs_kind_name(uint16_t kind);
const char *gs_source_name(unsigned int source);

#endif /* GPUSCHED_HUB_JSON_H */
