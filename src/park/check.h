/* SPDX-License-Identifier: MIT */
/* check.h - checks whether a process may be parked, before anything is done to it */
#ifndef GPUSCHED_PARK_CHECK_H
#define GPUSCHED_PARK_CHECK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "basic/error.h"
#include "gpusched/abi.h"

/* The facts about a process ("it" in the comments) that decide whether it may be parked. */
struct gs_park_check {
	pid_t pid;
	unsigned int branch; /* the driver's version branch */
	/* it has TSGs in an MPS server; on a MIG partition; waiting at the gate */
	bool mps, mig, held;
	bool many; /* it has more TSGs than GS_PARKED_TSGS, or one on a GPU beyond GS_PARK_GPUS */
	bool seen; /* it started after the taps, so @imported has all that it opened */
	/* a person who was told the risk wants it parked though it was not @seen */
	bool forced;
	enum gpusched_imported imported;
	bool unfit; /* libcuda refused to take its memory out before: it has managed memory */
	/*
	 * @bytes and @shared_bytes are known. The helper reads them once more right before the
	 * copy, and goes no further if others' memory is open, or if they are more than
	 * gs_park_check_room(). A program that has just started is measured only then.
	 */
	bool bytes_known;
	uint64_t bytes, shared_bytes; /* GPU memory: its own; other processes' that it has open */
	uint64_t parked_bytes;        /* host memory that parked programs occupy by now */
	uint64_t user_bytes;          /* those of its user */
	bool has_share;               /* its user may have half of what other users' leave */
	uint32_t park_memory_pct;     /* most of the host's memory for parked programs, percent */
	bool frozen;
	bool unread;          /* its cgroups could not be read in time */
	uint64_t cgroup_free; /* bytes that its cgroups may still allocate; UINT64_MAX: no limit */
	/* The fields below are read by gs_park_check_read(). */
	char state; /* from /proc/PID/status; 0: unknown */
	bool traced;
	uint64_t host_total, host_free;
};

/* Reads /proc, but only files that can be read while the process holds its locks. */
void gs_park_check_read(struct gs_park_check *c);
/* Pure. If the process may not be parked: -ENOTSUP or -ENOMEM with the reason. */
int gs_park_check(const struct gs_park_check *c, struct gs_error *err);
/*
 * Pure. -ENOMEM with the reason if the host, its cgroups, ParkMemory= or its user's share has no
 * room for @bytes; 0 if these are not known.
 */
int gs_park_check_memory(const struct gs_park_check *c, struct gs_error *err);
/* Pure. Returns the most bytes for which gs_park_check_memory() finds room. */
uint64_t gs_park_check_room(const struct gs_park_check *c);

#endif /* GPUSCHED_PARK_CHECK_H */
