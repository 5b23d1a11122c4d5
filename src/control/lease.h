/* SPDX-License-Identifier: MIT */
/*
 * lease.h - a request's wish for launch counting, which lasts as long as the request
 */
#ifndef GPUSCHED_CONTROL_LEASE_H
#define GPUSCHED_CONTROL_LEASE_H

struct gs_control;
struct gs_error;
struct gs_starting;

/*
 * *ret: a reference to the start for which the request waits; NULL: launches are counted already.
 * On failure there is no lease to end.
 */
int gs_lease_begin(struct gs_control *ctl, struct gs_starting **ret, struct gs_error *err);
/* Ends the request's wish. Counting goes on if anything else wants it. */
void gs_lease_end(struct gs_control *ctl);

#endif /* GPUSCHED_CONTROL_LEASE_H */
