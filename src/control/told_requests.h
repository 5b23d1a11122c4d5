/* SPDX-License-Identifier: MIT */
/*
 * told_requests.h - tells the policy when a program's requests begin and end
 *
 * The program's agent or its counted launches show this. A program is believed only about its own
 * requests. If it lies, holds begin and end at wrong times, but BE keeps its floor
 * (engine/core_hold.c).
 */
#ifndef GPUSCHED_CONTROL_TOLD_REQUESTS_H
#define GPUSCHED_CONTROL_TOLD_REQUESTS_H

#include <stdbool.h>
#include <stdint.h>

#include "gpusched/policy_types.h"

struct gs_told_requests;
struct gs_control;
struct gs_waker;

/*
 * A program's requests at one moment, as far as known. The fields mean the same as in struct
 * gs_agent_sheet.
 */
struct gs_request_words {
	uint64_t rest_ns, launches;
	uint32_t begins, quiet_us, hinted, arrivals, blurs;
};

/*
 * Where one program's words come from: @read gets them. Requests without a hint are reported as
 * @from.
 */
struct gs_request_source {
	void (*read)(void *of, struct gs_request_words *ret);
	void *of;
	enum gpusched_request_from from;
};

/*
 * Begins to follow one process. With @waker, a write by the process wakes us: gs_waker_new().
 * Takes @waker if it succeeds. Without, the caller calls gs_told_requests_wake(). 0 or -errno.
 */
int gs_told_requests_new(struct gs_control *ctl, const struct gs_request_source *source,
			 struct gs_waker *waker, struct gs_told_requests **ret);
/* Ends an open request. */
void gs_told_requests_free(struct gs_told_requests *rq);
/* A request may have begun, or been announced as over. */
void gs_told_requests_wake(struct gs_told_requests *rq);
/* Call this once a second: it resets the count of wake-ups, which are limited to 200 a second. */
void gs_told_requests_calm(struct gs_told_requests *rq);
/* Forgets the process's compute TSGs. */
void gs_told_requests_clear(struct gs_told_requests *rq);
/* Adds a compute TSG of the process. */
void gs_told_requests_tsg(struct gs_told_requests *rq, const struct gpusched_tsg *rec);
/* A rest of this length ends a request; 0: unknown, or the program is never quiet. */
uint32_t gs_told_requests_quiet_us(struct gs_told_requests *rq);
/* True if a request of the program is open. */
bool gs_told_requests_open(const struct gs_told_requests *rq);
/*
 * Returns the kind of source of the program's last request: enum gpusched_request_from. Before the
 * first request: that of its source.
 */
uint32_t gs_told_requests_from(const struct gs_told_requests *rq);

#endif /* GPUSCHED_CONTROL_TOLD_REQUESTS_H */
