/* SPDX-License-Identifier: MIT */
/* check.h - may this process be parked? Asks all that can be known before the process is touched */
#ifndef GPUSCHED_PARK_CHECK_H
#define GPUSCHED_PARK_CHECK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "basic/error.h"

struct gs_park_check {
	pid_t pid;
	unsigned int branch; /* the driver's version branch */
	/* it has TSGs in an MPS server, or on a MIG partition; one of its TSGs waits at the gate */
	bool mps, mig, held;
	bool many; /* it has more TSGs than GS_PARKED_TSGS, or one on a GPU beyond GS_PARK_GPUS */
	bool bytes_known;
	uint64_t bytes, shared_bytes; /* GPU memory: its own; other processes' that it has open */
	uint64_t parked_bytes;        /* host memory that parked programs occupy by now */
	uint32_t park_memory_pct;
	/* read by gs_park_check_read() */
	char state; /* from /proc/PID/status; 0: not known */
	bool traced, frozen;
	uint64_t host_total, host_free;
	uint64_t cgroup_free; /* what its cgroups may still allocate; UINT64_MAX: no limit */
};

/* Reads the facts in /proc and in the process's cgroups. It waits for no lock of the process. */
void gs_park_check_read(struct gs_park_check *c);
/* Pure. If the process may not be parked: -ENOTSUP or -ENOMEM with the reason. */
int gs_park_check(const struct gs_park_check *c, struct gs_error *err);

#endif /* GPUSCHED_PARK_CHECK_H */
