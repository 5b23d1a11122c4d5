/* SPDX-License-Identifier: MIT */
/*
 * alert_units.h - starts a systemd unit for each alert: Unit= of [Alerts]
 *
 * systemd starts NAME@ID.service on our request by D-Bus, so the unit is not a child of the daemon.
 * While the unit runs, the file RUN/alerts/ID has the finding; only root can read it. Units run one
 * at a time, and at most 10 start in a minute; users have shares of these (basic/share.h). No
 * function waits.
 */
#ifndef GPUSCHED_REQUESTS_ALERT_UNITS_H
#define GPUSCHED_REQUESTS_ALERT_UNITS_H

#include <jansson.h>
#include <stdint.h>
#include <sys/types.h>

struct gs_alert_units;
struct gs_hub;

/* Removes files of an earlier daemon. Returns NULL if out of memory. */
struct gs_alert_units *gs_alert_units_new(struct gs_hub *hub);
void gs_alert_units_free(struct gs_alert_units *u);
/*
 * Queues the unit for alert @id, and writes @event into the alert's file. @uid: the owner of the
 * program that it is about; 0: root, or no program. Does nothing if Unit= is not set.
 */
void gs_alert_units_want(struct gs_alert_units *u, uint64_t id, uid_t uid, const json_t *event);
/* Starts the next queued unit once the running one has ended. Call this a few times a second. */
void gs_alert_units_go_on(struct gs_alert_units *u);

#endif /* GPUSCHED_REQUESTS_ALERT_UNITS_H */
