/* SPDX-License-Identifier: MIT */
/*
 * check.h - may this process be parked? What can be known is asked before it is touched
 */
#ifndef GPUSCHED_PARK_CHECK_H
#define GPUSCHED_PARK_CHECK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "basic/error.h"

struct gs_park_check {
	pid_t pid;
	unsigned int branch; /* of the driver */
	bool mps, mig, held; /* it has such TSGs; one waits at the gate */
	bool many;           /* more TSGs than are looked after */
	bool bytes_known;
	uint64_t bytes, shared_bytes; /* of GPU memory; of others' that it has open */
	uint64_t parked_bytes;        /* that parked programs have of the host's by now */
	uint32_t park_memory_pct;
	/* read by gs_park_check_read() */
	char state; /* of /proc/PID/status; 0: not known */
	bool traced, frozen;
	uint64_t host_total, host_free;
	uint64_t cgroup_free; /* what its cgroups still may have; UINT64_MAX: no limit */
};

/* Reads what /proc and its cgroups say; waits for no lock of the process. */
void gs_park_check_read(struct gs_park_check *c);
/* Pure: -ENOTSUP or -ENOMEM with the reason. */
int gs_park_check(const struct gs_park_check *c, struct gs_error *err);

#endif /* GPUSCHED_PARK_CHECK_H */
