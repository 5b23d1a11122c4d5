// SPDX-License-Identifier: MIT
#include "engine/fields.h"

#include <string.h>

uint32_t gs_field_get(const struct gpusched_settings *s, uint32_t bit)
{
	switch (bit) {
	case GPUSCHED_TIMESLICE:
		return s->timeslice_us;
	case GPUSCHED_INTERLEAVE:
		return s->interleave;
	case GPUSCHED_PREEMPT_MODE:
		return s->preempt_mode;
	default:
		return s->runnable;
	}
}

void gs_field_put(struct gpusched_settings *s, uint32_t bit, uint32_t value)
{
	s->valid |= bit;
	switch (bit) {
	case GPUSCHED_TIMESLICE:
		s->timeslice_us = value;
		break;
	case GPUSCHED_INTERLEAVE:
		s->interleave = (gs_u8)value;
		break;
	case GPUSCHED_PREEMPT_MODE:
		s->preempt_mode = (gs_u8)value;
		break;
	default:
		s->runnable = (gs_u8)value;
		break;
	}
}

bool gs_field_in_range(uint32_t bit, uint32_t value)
{
	switch (bit) {
	case GPUSCHED_TIMESLICE:
		return value >= GPUSCHED_TIMESLICE_MIN_US && value <= GPUSCHED_TIMESLICE_MAX_US;
	case GPUSCHED_INTERLEAVE:
		return value <= GPUSCHED_INTERLEAVE_HIGH;
	case GPUSCHED_PREEMPT_MODE:
		return value <= GPUSCHED_PREEMPT_CILP;
	default:
		return value <= 1;
	}
}

const char *gs_field_range(uint32_t bit)
{
	switch (bit) {
	case GPUSCHED_TIMESLICE:
		return "timeslice_us must be 1 to 100000000";
	case GPUSCHED_INTERLEAVE:
		return "interleave must be 0 (low), 1 (medium) or 2 (high)";
	case GPUSCHED_PREEMPT_MODE:
		return "preempt_mode must be 0 (wfi), 1 (cta) or 2 (cilp)";
	default:
		return "runnable must be 0 or 1";
	}
}

enum gs_rm_op gs_field_op(uint32_t bit, uint32_t value)
{
	switch (bit) {
	case GPUSCHED_TIMESLICE:
		return GS_RM_SET_TIMESLICE;
	case GPUSCHED_INTERLEAVE:
		return GS_RM_SET_INTERLEAVE;
	case GPUSCHED_PREEMPT_MODE:
		return GS_RM_SET_PREEMPT_MODE;
	default:
		return value ? GS_RM_RESUME : GS_RM_SUSPEND;
	}
}

struct gpusched_settings gs_asked(const struct gpusched_tsg *rec)
{
	struct gpusched_settings all = {
		.valid = GPUSCHED_ALL_SETTINGS,
		.timeslice_us = GPUSCHED_DRIVER_TIMESLICE_US,
		.interleave = GPUSCHED_INTERLEAVE_MEDIUM,
		.preempt_mode = GPUSCHED_PREEMPT_CILP, /* what CUDA sets where it is not seen */
		.runnable = 1,
	};

	for (unsigned int i = 0; i < GS_NFIELDS; i++) {
		uint32_t value = gs_field_get(&rec->task.asked, GS_BIT(i));

		/* The owner's memory is not to be trusted: an odd value was not accepted by RM. */
		if ((rec->task.asked.valid & GS_BIT(i)) && gs_field_in_range(GS_BIT(i), value))
			gs_field_put(&all, GS_BIT(i), value);
	}
	return all;
}

void gs_fill_tsg(struct gs_rm_tsg *t, const struct gpusched_tsg *rec, unsigned int branch)
{
	*t = (struct gs_rm_tsg){
		.pid = (pid_t)rec->task.pid,
		.start_ns = rec->owner_start_ns,
		.fd = (int)rec->owner_fd,
		.client = rec->key.client,
		.tsg = rec->key.handle,
		.subdevice = rec->h_subdevice,
		.branch = branch,
	};
}

void gs_fill_channels(struct gs_rm_tsg *t, const struct gpusched_channels *ch)
{
	t->nchannels = ch->n < GPUSCHED_MAX_CHANNELS ? ch->n : GPUSCHED_MAX_CHANNELS;
	memcpy(t->channels, ch->ch, t->nchannels * sizeof(t->channels[0]));
}
