/* SPDX-License-Identifier: MIT */
/*
 * alerting.h - findings of the verdict, watched or not: an event, a line of the journal, a unit
 *
 * For a daemon. Findings on GPUs and TSGs come from the ledger's samples, the rest is looked at
 * once a second.
 */
#ifndef GPUSCHED_REQUESTS_ALERTING_H
#define GPUSCHED_REQUESTS_ALERTING_H

struct gs_requests;

int gs_alerting_start(struct gs_requests *rs);
void gs_alerting_end(struct gs_requests *rs);
/* As an observer: at each heartbeat. */
void gs_alerting_beat(void *self);

#endif /* GPUSCHED_REQUESTS_ALERTING_H */
