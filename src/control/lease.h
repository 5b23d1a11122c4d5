/* SPDX-License-Identifier: MIT */
/*
 * lease.h - launches are counted as long as a request that wants it is under way
 */
#ifndef GPUSCHED_CONTROL_LEASE_H
#define GPUSCHED_CONTROL_LEASE_H

struct gs_control;
struct gs_error;
struct gs_starting;

/*
 * *ret: what the request waits for until they are counted, a reference; NULL: nothing. On failure
 * there is no lease to end.
 */
int gs_lease_begin(struct gs_control *ctl, struct gs_starting **ret, struct gs_error *err);
/* They are counted on if anybody else wants that. */
void gs_lease_end(struct gs_control *ctl);

#endif /* GPUSCHED_CONTROL_LEASE_H */
