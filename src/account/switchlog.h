/* SPDX-License-Identifier: MIT */
/*
 * switchlog.h - reads the context-switch log of one GPU, which RM gives only to root
 *
 * An open log keeps the GPU's device file open, so the GPU cannot be reset and the driver cannot be
 * unloaded. RM fills the buffer 30 times a second (once a second before branch 545). Reading the
 * buffer needs no call. Only one thread at a time may use a log.
 */
#ifndef GPUSCHED_ACCOUNT_SWITCHLOG_H
#define GPUSCHED_ACCOUNT_SWITCHLOG_H

#include "account/lane.h"
#include "account/turns.h"
#include "rm/rm.h"

/* A record about one context, with its process (a pid of the initial namespace). */
struct gs_switchlog_record {
	struct gs_switch sw;
	uint32_t context;
	uint32_t pid; /* pid of the process that made the channel; 0: hidden from us */
};

struct gs_switchlog;
/*
 * Logs all users' switches from now on. -EPERM: not root; -ENOTSUP with the reason: the driver, or
 * the GPU's mode (MIG, confidential computing), has no log.
 */
int gs_switchlog_open(const struct gs_gpu *gpu, struct gs_switchlog **ret, struct gs_error *err);
/* With a lane, closing is the lane's last call, for which this waits at most @wait_ns. */
void gs_switchlog_close(struct gs_switchlog *log, uint64_t wait_ns);
/*
 * Makes RM calls in @lane from now on. The log owns @lane. Functions with @wait_ns wait at most
 * that long for a call, and return -EBUSY or -EINPROGRESS as gs_lane_call() does. Without a lane,
 * the caller's thread makes the call, however long it takes.
 */
void gs_switchlog_use(struct gs_switchlog *log, struct gs_lane *lane);

/* Calls fn for each record in the buffer; returns their number. */
typedef void (*gs_switchlog_fn)(const struct gs_switchlog_record *rec, void *user);
int gs_switchlog_read(struct gs_switchlog *log, gs_switchlog_fn fn, void *user);
/* Has RM fill the buffer now: an RM call, 65 us on an H200. 0 or -errno. */
int gs_switchlog_flush(struct gs_switchlog *log, uint64_t wait_ns);
/*
 * Asks RM for the driver's samples of how busy the engines were. @params has @size bytes (usage.h).
 */
int gs_switchlog_usage(struct gs_switchlog *log, void *params, uint32_t size, uint64_t wait_ns,
		       uint32_t *ret_status);
/* The number of records lost since the log was opened, from gaps in the sequence numbers. */
uint64_t gs_switchlog_lost(const struct gs_switchlog *log);
/*
 * The time that flushes, samples and readings of the clock have taken since the log was opened, ns.
 */
uint64_t gs_switchlog_spent(const struct gs_switchlog *log);

/* The same moment on both clocks. */
struct gs_switchlog_clock {
	uint64_t gpu_ns, monotonic_ns;
	uint64_t error_ns; /* possible error of the CLOCK_MONOTONIC value */
};
/*
 * Compares the clocks: the best of 5 readings. Takes 0.1 ms on an H200, error 4 to 25 us. 0 or
 * -errno.
 */
int gs_switchlog_clock(struct gs_switchlog *log, uint64_t wait_ns, struct gs_switchlog_clock *ret);
/*
 * Converts from one clock to the other. A simulated GPU's clock runs slower than ours by its
 * dilation.
 */
uint64_t gs_switchlog_to_monotonic(const struct gs_switchlog_clock *c, uint64_t gpu_ns);
uint64_t gs_switchlog_to_gpu(const struct gs_switchlog_clock *c, uint64_t monotonic_ns);

#endif /* GPUSCHED_ACCOUNT_SWITCHLOG_H */
