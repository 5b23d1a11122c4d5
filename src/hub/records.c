// SPDX-License-Identifier: MIT
/* Finds facts about one record: its GPU, its class, the settings in the hardware. */
#include "hub/records.h"

#include <string.h>

#include "hub/hub.h"

const struct gs_gpu *gs_record_gpu(const struct gs_hub *hub, const struct gpusched_tsg *rec)
{
	for (size_t i = 0; i < hub->ngpus; i++) {
		if (rec->dev_instance != GPUSCHED_GPU_UNKNOWN &&
		    hub->gpus[i].dev_instance == rec->dev_instance)
			return &hub->gpus[i];
		if (rec->dev_instance == GPUSCHED_GPU_UNKNOWN &&
		    rec->task.gpu == hub->gpus[i].index)
			return &hub->gpus[i];
	}
	return NULL;
}

int gs_record_classify(struct gs_hub *hub, pid_t pid, struct gs_class_answer *ret)
{
	struct gs_asked *a = &hub->asked[(unsigned int)pid % GS_ASKED];

	if (a->pid != pid) {
		a->code = gs_classify(hub->classes, hub->table, pid, &a->answer, NULL);
		a->pid = pid;
	}
	*ret = a->answer;
	return a->code;
}

/*
 * True if comm begins with the name of the MPS server or the control daemon. Any program can choose
 * such a name.
 */
bool gs_record_calls_itself_mps(const struct gpusched_tsg *rec)
{
	return !strncmp(rec->task.comm, "nvidia-cuda-mps", GPUSCHED_COMM_LEN - 1);
}

struct gpusched_settings gs_record_is(const struct gpusched_tsg *rec)
{
	const struct gpusched_settings *asked = &rec->task.asked;
	struct gpusched_settings is = rec->task.is;
	uint32_t take = asked->valid & ~is.valid & ~rec->changed;

	if (take & GPUSCHED_TIMESLICE)
		is.timeslice_us = asked->timeslice_us;
	if (take & GPUSCHED_INTERLEAVE)
		is.interleave = asked->interleave;
	if (take & GPUSCHED_PREEMPT_MODE)
		is.preempt_mode = asked->preempt_mode;
	if (take & GPUSCHED_RUNNABLE)
		is.runnable = asked->runnable;
	is.valid |= take;
	return is;
}
