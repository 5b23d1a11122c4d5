/* SPDX-License-Identifier: MIT */
/*
 * told_requests.h - tells the policy when requests begin and end, as the agents in programs report
 *
 * A page is believed only about its own program's requests. A program that lies can begin and end
 * holds, within the engine's bounds.
 */
#ifndef GPUSCHED_CONTROL_TOLD_REQUESTS_H
#define GPUSCHED_CONTROL_TOLD_REQUESTS_H

#include <stdbool.h>
#include <stdint.h>

#include "gpusched/abi.h"

struct gs_told_requests;
struct gs_agent_sheet;
struct gs_control;

/*
 * Follows the requests of one page. A write to *ret_fd wakes us; the caller closes *ret_fd. 0 or
 * -errno.
 */
int gs_told_requests_new(struct gs_control *ctl, struct gs_agent_sheet *sheet,
			 struct gs_told_requests **ret, int *ret_fd);
/* Ends an open request. */
void gs_told_requests_free(struct gs_told_requests *rq);
/* Call this once a second: pages that were ignored may wake us again. */
void gs_told_requests_calm(struct gs_told_requests *rq);
/* clear: forgets the process's compute TSGs. add: adds one. */
void gs_told_requests_clear(struct gs_told_requests *rq);
void gs_told_requests_tsg(struct gs_told_requests *rq, const struct gpusched_key *key);
/* A rest of this length ends a request; 0: unknown, or the program is never quiet. */
uint32_t gs_told_requests_quiet_us(const struct gs_told_requests *rq);
/* True if a request of the program is open. */
bool gs_told_requests_open(const struct gs_told_requests *rq);

#endif /* GPUSCHED_CONTROL_TOLD_REQUESTS_H */
