/* SPDX-License-Identifier: MIT */
/*
 * told_requests.h - requests that programs' agents tell of: the policy hears when they begin and end
 *
 * A page is believed no further than its own program's requests go: a lie can begin and end holds,
 * within the engine's bounds.
 */
#ifndef GPUSCHED_CONTROL_TOLD_REQUESTS_H
#define GPUSCHED_CONTROL_TOLD_REQUESTS_H

#include <stdbool.h>
#include <stdint.h>

#include "gpusched/abi.h"

struct gs_told_requests;
struct gs_agent_sheet;
struct gs_control;

/* For one page; *ret_fd: a write to it wakes us, and the caller closes it. 0 or -errno. */
int gs_told_requests_new(struct gs_control *ctl, struct gs_agent_sheet *sheet,
			 struct gs_told_requests **ret, int *ret_fd);
/* An open request ends. */
void gs_told_requests_free(struct gs_told_requests *rq);
/* Once a second: it may wake us again so often. */
void gs_told_requests_calm(struct gs_told_requests *rq);
/* Its process's compute TSGs are forgotten; this is one. */
void gs_told_requests_clear(struct gs_told_requests *rq);
void gs_told_requests_tsg(struct gs_told_requests *rq, const struct gpusched_key *key);
/* A rest of this length ends a request; 0: not known, or it is never quiet. */
uint32_t gs_told_requests_quiet_us(const struct gs_told_requests *rq);
/* A request of its is open. */
bool gs_told_requests_open(const struct gs_told_requests *rq);

#endif /* GPUSCHED_CONTROL_TOLD_REQUESTS_H */
