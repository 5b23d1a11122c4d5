/* SPDX-License-Identifier: MIT */
/*
 * alerting.h - turns findings of the verdict into alerts, watched or not: an event, a line of the
 * journal, a unit
 *
 * For a daemon. Findings about GPUs and TSGs come from the ledger's samples. The other findings are
 * computed once a second.
 */
#ifndef GPUSCHED_REQUESTS_ALERTING_H
#define GPUSCHED_REQUESTS_ALERTING_H

struct gs_requests;

int gs_alerting_start(struct gs_requests *rs);
void gs_alerting_end(struct gs_requests *rs);
/* The observer's function for each heartbeat. */
void gs_alerting_beat(void *self);

#endif /* GPUSCHED_REQUESTS_ALERTING_H */
