/* SPDX-License-Identifier: MIT */
/*
 * switchlog.h - the context-switch log of one GPU, as RM hands it out to root
 *
 * While it is open, so is the GPU's file: resets and unloading of the driver wait for it. RM fills
 * the buffer 30 times a second (once a second before branch 545); reading it is no call. One thread
 * at a time.
 */
#ifndef GPUSCHED_ACCOUNT_SWITCHLOG_H
#define GPUSCHED_ACCOUNT_SWITCHLOG_H

#include "account/lane.h"
#include "account/turns.h"
#include "rm/rm.h"

/* The log's word on one context: which one, and of which process (in the initial namespace). */
struct gs_switchlog_record {
	struct gs_switch sw;
	uint32_t context;
	uint32_t pid; /* of the process that made the channel; 0: hidden from us */
};

struct gs_switchlog;
/*
 * All users' switches from now on. -EPERM: not root; -ENOTSUP: the driver or the GPU's mode (MIG,
 * confidential computing) has none, with the reason.
 */
int gs_switchlog_open(const struct gs_gpu *gpu, struct gs_switchlog **ret, struct gs_error *err);
/* With a lane it is closed there, at last. */
void gs_switchlog_close(struct gs_switchlog *log, uint64_t wait_ns);
/*
 * From now on RM calls are made in @lane, which is the log's own then. Functions that have @wait_ns
 * wait no longer than that for them: -EBUSY and -EINPROGRESS as gs_lane_call(). Without a lane they
 * are made at once, however long they take.
 */
void gs_switchlog_use(struct gs_switchlog *log, struct gs_lane *lane);

/* Calls fn for each record that is there; how many. */
typedef void (*gs_switchlog_fn)(const struct gs_switchlog_record *rec, void *user);
int gs_switchlog_read(struct gs_switchlog *log, gs_switchlog_fn fn, void *user);
/* Has RM fill the buffer now: an RM call, 65 us on an H200. 0 or -errno. */
int gs_switchlog_flush(struct gs_switchlog *log, uint64_t wait_ns);
/* The driver's samples of how busy the engines were: an RM call with @params of @size (usage.h). */
int gs_switchlog_usage(struct gs_switchlog *log, void *params, uint32_t size, uint64_t wait_ns,
		       uint32_t *ret_status);
/* Records that were lost since it is open, by their sequence numbers. */
uint64_t gs_switchlog_lost(const struct gs_switchlog *log);
/* How long flushes, samples and readings of the clock have taken since it is open, ns. */
uint64_t gs_switchlog_spent(const struct gs_switchlog *log);

/* One moment on both clocks. */
struct gs_switchlog_clock {
	uint64_t gpu_ns, monotonic_ns;
	uint64_t error_ns; /* CLOCK_MONOTONIC is right to within this */
};
/* The best of a few readings: 0.1 ms on an H200, error 4 to 25 us. 0 or -errno. */
int gs_switchlog_clock(struct gs_switchlog *log, uint64_t wait_ns, struct gs_switchlog_clock *ret);
/* From one clock to the other. The simulated GPU's time runs slower than ours by its dilation. */
uint64_t gs_switchlog_to_monotonic(const struct gs_switchlog_clock *c, uint64_t gpu_ns);
uint64_t gs_switchlog_to_gpu(const struct gs_switchlog_clock *c, uint64_t monotonic_ns);

#endif /* GPUSCHED_ACCOUNT_SWITCHLOG_H */
