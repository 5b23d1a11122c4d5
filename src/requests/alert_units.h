/* SPDX-License-Identifier: MIT */
/*
 * alert_units.h - starts a systemd unit for each alert: Unit= of [Alerts]
 *
 * NAME@ID.service is started through the system's bus, so that it is no child of ours. The finding
 * is in the file RUN/alerts/ID, readable by root alone, as long as the unit runs. One unit at a
 * time, and at most 10 a minute. Nothing here waits.
 */
#ifndef GPUSCHED_REQUESTS_ALERT_UNITS_H
#define GPUSCHED_REQUESTS_ALERT_UNITS_H

#include <jansson.h>
#include <stdint.h>

struct gs_alert_units;
struct gs_hub;

/* Removes files of an earlier daemon. Returns NULL if out of memory. */
struct gs_alert_units *gs_alert_units_new(struct gs_hub *hub);
void gs_alert_units_free(struct gs_alert_units *u);
/*
 * Queues the unit for alert @id; @event is the content of its file. Without Unit= this does
 * nothing.
 */
void gs_alert_units_want(struct gs_alert_units *u, uint64_t id, const json_t *event);
/* Starts the next unit when it may start. Call it a few times a second. */
void gs_alert_units_go_on(struct gs_alert_units *u);

#endif /* GPUSCHED_REQUESTS_ALERT_UNITS_H */
