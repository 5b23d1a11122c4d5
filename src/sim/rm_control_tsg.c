/* SPDX-License-Identifier: MIT */
/*
 * rm_control_tsg.c - handles controls of TSGs and channels
 */
#include <string.h>

#include "sim/rm_object.h"

#define MAX_TIMESLICE_US 100000000ull
#define MAX_PREEMPT_TIMEOUT_US 1000000u

static uint32_t set_timeslice(struct sim_tsg_info *info, uint64_t us)
{
	/*
	 * the real driver accepted up to 100 s; it is unknown what the hardware does with the
	 * largest values
	 */
	if (us > MAX_TIMESLICE_US || sim_model_tsg_set_timeslice(info->tsg, us))
		return SIM_NV_INVALID_ARGUMENT;
	info->timeslice_us = us;
	return SIM_NV_OK;
}

static uint32_t set_interleave(struct sim_tsg_info *info, uint32_t level)
{
	return sim_model_tsg_set_interleave(info->tsg, level) ? SIM_NV_INVALID_ARGUMENT : SIM_NV_OK;
}

static bool has_channel(const struct sim_object *tsg)
{
	for (const struct sim_object *o = tsg->first; o; o = o->next)
		if (o->channel)
			return true;
	return false;
}

static uint32_t schedule(struct sim_ctrl_args *a)
{
	uint8_t *p = a->p;

	if (p[0] > 1 || p[1] > 1)
		return SIM_NV_INVALID_ARGUMENT;
	if (p[0] && !has_channel(a->o))
		return SIM_NV_INVALID_STATE;
	/*
	 * as in the real RM, a suspended TSG runs again when its owner schedules it (docs/facts.md)
	 */
	for (struct sim_object *c = a->o->first; p[0] && c; c = c->next)
		if (c->channel)
			sim_work_enable_channel(c->channel, true);
	sim_model_tsg_schedule(a->o->info->tsg, p[0]);
	return SIM_NV_OK;
}

static uint32_t preempt(struct sim_ctrl_args *a)
{
	struct sim_ctrl_preempt *p = a->p;

	if (p->manual && p->timeout_us > MAX_PREEMPT_TIMEOUT_US)
		return SIM_NV_INVALID_ARGUMENT;
	sim_model_tsg_preempt(a->o->info->tsg);
	return SIM_NV_OK;
}

uint32_t sim_rm_control_tsg(uint32_t cmd, struct sim_ctrl_args *a)
{
	struct sim_tsg_info *info = a->o->info;

	switch (cmd) {
	case SIM_CTRL_TSG_SCHEDULE:
		return schedule(a);
	case SIM_CTRL_TSG_BIND:
		return *(uint32_t *)a->p == a->o->engine ? SIM_NV_OK : SIM_NV_INVALID_ARGUMENT;
	case SIM_CTRL_TSG_SET_TIMESLICE:
		return set_timeslice(info, *(uint64_t *)a->p);
	case SIM_CTRL_TSG_GET_TIMESLICE:
		*(uint64_t *)a->p = info->timeslice_us;
		return SIM_NV_OK;
	case SIM_CTRL_TSG_PREEMPT:
		return preempt(a);
	case SIM_CTRL_TSG_GET_INFO:
		*(uint32_t *)a->p = info->grp_id;
		return SIM_NV_OK;
	case SIM_CTRL_TSG_SET_INTERLEAVE:
		return set_interleave(info, *(uint32_t *)a->p);
	case SIM_CTRL_TSG_MAKE_REALTIME:
		/* accepted without effect, since no effect was ever measured */
		info->realtime = *(uint8_t *)a->p != 0;
		return SIM_NV_OK;
	}
	return SIM_NV_NOT_SUPPORTED;
}

static uint32_t class_engine(struct sim_ctrl_args *a)
{
	struct sim_ctrl_class_engine *p = a->p;
	struct sim_object *o = sim_object_find(a->o->client, p->object);

	if (!o || o->parent != a->o)
		return SIM_NV_NOT_FOUND;
	p->cls = o->cls;
	p->engine = a->o->engine;
	p->class_engine = o->cls << 16 | a->o->engine; /* an opaque value */
	return SIM_NV_OK;
}

uint32_t sim_rm_control_channel(uint32_t cmd, struct sim_ctrl_args *a)
{
	struct sim_tsg_info *info = sim_object_tsg(a->o);

	switch (cmd) {
	case SIM_CTRL_CHANNEL_SCHEDULE:
		/* for bare channels only: other channels are scheduled with their TSG */
		if (!a->o->info)
			return SIM_NV_INVALID_STATE;
		sim_model_tsg_schedule(info->tsg, *(uint8_t *)a->p);
		return SIM_NV_OK;
	case SIM_CTRL_CHANNEL_SET_INTERLEAVE:
		return set_interleave(info, *(uint32_t *)a->p);
	case SIM_CTRL_CHANNEL_RESTART_RUNLIST:
		sim_model_tsg_preempt(info->tsg);
		return SIM_NV_OK;
	case SIM_CTRL_CHANNEL_CLASS_ENGINE:
		return class_engine(a);
	case SIM_CTRL_CHANNEL_CONTEXT_ID:
		*(uint32_t *)a->p = a->o->cid;
		return SIM_NV_OK;
	case SIM_CTRL_CHANNEL_TOKEN:
		*(uint32_t *)a->p = ((uint32_t)a->o->gpu << 24) | a->o->cid;
		return SIM_NV_OK;
	}
	return SIM_NV_NOT_SUPPORTED;
}
