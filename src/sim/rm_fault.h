/* SPDX-License-Identifier: MIT */
/* rm_fault.h - makes controls fail for tests, with the effect and the answer apart */
#ifndef GPUSCHED_SIM_RM_FAULT_H
#define GPUSCHED_SIM_RM_FAULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "basic/error.h"

#define SIM_MAX_FAULTS 8 /* the last entry stays empty */

enum sim_fault_only {
	SIM_FAULT_ALWAYS,
	SIM_FAULT_SUSPENDS, /* DISABLE_CHANNELS that disables */
	SIM_FAULT_RESUMES,  /* DISABLE_CHANNELS that enables */
};

/* A control, or an allocation of class @cmd, that fails or hangs. cmd 0 ends a list. */
struct sim_fault {
	uint32_t cmd, status;
	enum sim_fault_only only;
	bool hang;    /* the call never returns */
	bool applied; /* RM does what the call says, and then answers @status */
	bool counted; /* only the next @left calls fail */
	uint32_t left;
};

/*
 * Reads "CONTROL[=STATUS][:applied|:refused][:N]" into the first empty entry of @inout. @hang:
 * reads "CONTROL". CONTROL is a name or a number; STATUS is NOT_SUPPORTED if it is left out; N is
 * how many calls fail, all if it is left out. -EINVAL.
 */
int sim_fault_add(struct sim_fault inout[SIM_MAX_FAULTS], const char *text, bool hang,
		  struct gs_error *err);

/*
 * Takes a test's new list, separated by spaces or newlines, in place of the old one. "none" or
 * nothing: no control fails. -EINVAL: the old list stays.
 */
int sim_fault_list(struct sim_fault inout[SIM_MAX_FAULTS], const char *text, size_t size,
		   struct gs_error *err);

/*
 * The fault that this call meets; NULL: none. @params: the control's parameters, or NULL. The
 * call is counted.
 */
const struct sim_fault *sim_fault_meet(struct sim_fault faults[SIM_MAX_FAULTS], uint32_t cmd,
				       const void *params);

#endif /* GPUSCHED_SIM_RM_FAULT_H */
