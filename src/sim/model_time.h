/* SPDX-License-Identifier: MIT */
/* model_time.h - tells how long RM calls, launches and notices take in the model */
#ifndef GPUSCHED_SIM_MODEL_TIME_H
#define GPUSCHED_SIM_MODEL_TIME_H

#include <stdint.h>

struct sim_model;

/* The RM calls for which the model has a duration. */
enum sim_call {
	SIM_CALL_ALLOC,
	SIM_CALL_FREE,
	SIM_CALL_OTHER, /* answered on the CPU, without the GPU's firmware */
	SIM_CALL_SET_TIMESLICE,
	SIM_CALL_PREEMPT,
	SIM_CALL_SET_INTERLEAVE,
	SIM_CALL_DISABLE,
	SIM_CALL_LEAVE, /* disable without a wait */
	SIM_CALL_KICK,  /* preempt without a wait */
	SIM_CALL_ENABLE,
	SIM_CALL_SET_PREEMPT_MODE,
	SIM_CALL_SCHEDULE,
	SIM_CALL_FLUSH_LOG,
	SIM_CALL_MAX
};

/* The duration of one such call, drawn at random from the parameters' range for it. */
uint64_t sim_call_time(struct sim_model *m, enum sim_call call);

/*
 * The host's part of a launch. Launch time: from the call until the GPU sees the work. Notice time:
 * from completion until the program sees it.
 */
uint64_t sim_launch_time(struct sim_model *m);
uint64_t sim_notice_time(struct sim_model *m);

#endif /* GPUSCHED_SIM_MODEL_TIME_H */
