/* SPDX-License-Identifier: MIT */
/*
 * lease.h - has launches counted for as long as a request lasts
 */
#ifndef GPUSCHED_CONTROL_LEASE_H
#define GPUSCHED_CONTROL_LEASE_H

struct gs_control;
struct gs_error;
struct gs_starting;

/*
 * *ret: a reference to the start for which the request waits; NULL: launches are counted already,
 * or a start under way will count them. On failure there is no lease to end.
 */
int gs_lease_begin(struct gs_control *ctl, struct gs_starting **ret, struct gs_error *err);
/* Ends the request's wish. Counting goes on if anything else wants it. */
void gs_lease_end(struct gs_control *ctl);

#endif /* GPUSCHED_CONTROL_LEASE_H */
