/* SPDX-License-Identifier: MIT */
/*
 * alerting.h - reports findings of the verdict as alerts when they begin and end
 *
 * Each alert becomes an event for watchers, a line of the journal, and possibly a systemd unit.
 * Only a daemon does this. Findings about GPUs and TSGs come from the ledger's samples; the other
 * findings are computed once a second.
 */
#ifndef GPUSCHED_REQUESTS_ALERTING_H
#define GPUSCHED_REQUESTS_ALERTING_H

struct gs_requests;

int gs_alerting_start(struct gs_requests *rs);
void gs_alerting_end(struct gs_requests *rs);
/* The daemon calls this on each of its heartbeats, as an observer's function. */
void gs_alerting_beat(void *self);

#endif /* GPUSCHED_REQUESTS_ALERTING_H */
