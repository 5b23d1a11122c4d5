/* SPDX-License-Identifier: MIT */
/*
 * alert_units.h - for each alert a unit of systemd: Unit= of [Alerts]
 *
 * NAME@ID.service is started through the system's bus, so that it is no child of ours. Its finding
 * is a file, root's alone, as long as the unit runs: RUN/alerts/ID. One unit at a time, and at
 * most 10 a minute. Nothing here waits.
 */
#ifndef GPUSCHED_REQUESTS_ALERT_UNITS_H
#define GPUSCHED_REQUESTS_ALERT_UNITS_H

#include <jansson.h>
#include <stdint.h>

struct gs_alert_units;
struct gs_hub;

/* Removes remains of an earlier daemon. NULL: out of memory. */
struct gs_alert_units *gs_alert_units_new(struct gs_hub *hub);
void gs_alert_units_free(struct gs_alert_units *u);
/* To be started when it is its turn; @event is what its file has. Without Unit= nothing is done. */
void gs_alert_units_want(struct gs_alert_units *u, uint64_t id, const json_t *event);
/* A few times a second. */
void gs_alert_units_go_on(struct gs_alert_units *u);

#endif /* GPUSCHED_REQUESTS_ALERT_UNITS_H */
