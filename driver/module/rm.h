/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * rm.h - calls the driver through its own entry for kernel callers, nvidia_get_rm_ops()
 *
 * RM trusts kernel callers, so the module makes only the calls below. These take RM's locks, so
 * only the worker in act.c may make them. They return 0; -EREMOTEIO with RM's status; -ENOMEM.
 */
#ifndef GPUSCHED_RM_H
#define GPUSCHED_RM_H

#include "tsg.h"

/* -ENODEV: the log says why. Keeps the driver loaded until rm_detach(). */
int rm_attach(void);
void rm_detach(void);
const char *rm_version(void);
void rm_count(u64 *ret_calls, u64 *ret_failed);

/* The RM handles of a TSG. */
struct rm_target {
	u32 client, tsg;
	u32 subdevice, nchannels;
	u32 channels[GPUSCHED_MAX_CHANNELS];
};

int rm_get_timeslice(const struct rm_target *at, u32 *ret_us, u32 *ret_status);
/* Makes one setting. @bit: GPUSCHED_TIMESLICE, ... A suspension that fails halfway is undone. */
int rm_set(const struct rm_target *at, u32 bit, u32 value, u32 *ret_status);
int rm_preempt(const struct rm_target *at, u32 timeout_us, u32 *ret_status);
/* True if RM surely refused to set @bit, with that status, before it changed anything. */
bool rm_refuses(const struct rm_target *at, u32 bit, u32 status);
/* True if this status means that the object no longer exists, so nothing can be restored. */
bool rm_gone(u32 status);

#endif /* GPUSCHED_RM_H */
