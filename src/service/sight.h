/* SPDX-License-Identifier: MIT */
/*
 * sight.h - who has the GPU
 */
#ifndef GPUSCHED_SERVICE_SIGHT_H
#define GPUSCHED_SERVICE_SIGHT_H

#include <jansson.h>

#include "engine/engine.h"
#include "table/table.h"

struct gs_end;
struct gs_service;

/* @server_of: the MPS server of a pool that a process works in, or 0. @user is @s. */
int gs_sight_start(struct gs_service *s, uint32_t (*server_of)(uint32_t pid, void *user),
		   struct gs_error *err);
void gs_sight_end(struct gs_service *s);
/* A record is there, or its channels changed. */
void gs_sight_record(struct gs_service *s, const struct gpusched_tsg *rec);
void gs_sight_ended(struct gs_service *s, const struct gs_end *end);
void gs_sight_event(struct gs_service *s, const struct gpusched_event *ev);
void gs_sight_call(struct gs_service *s, const struct gs_engine_call *call);
/* What the running policy wants. */
void gs_sight_policy(struct gs_service *s);
/* What the table does not hold of a record: when it last ran. */
void gs_sight_complete(struct gs_service *s, struct gpusched_tsg *rec);
/* Before an answer that tells times: up to now, within limits. */
void gs_sight_flush(struct gs_service *s);
/* GPU time and turns of TSG @id, into its object. */
void gs_sight_json(struct gs_service *s, uint64_t id, json_t *o);
json_t *gs_sight_gpus_json(struct gs_service *s);

#endif /* GPUSCHED_SERVICE_SIGHT_H */
