/* SPDX-License-Identifier: MIT */
/*
 * rm_control.c - dispatches RM_CONTROL: each control's branches, exact size and required rights
 */
#include <stdlib.h>
#include <string.h>

#include <linux/capability.h>

#include "sim/rm_log.h"
#include "sim/rm_object.h"

enum { ON_ROOT, ON_SUBDEVICE, ON_TSG, ON_CHANNEL, ON_LOG };
#define MAX_PARAMS 55888
#define NICE 1u /* the calling thread needs CAP_SYS_NICE */

static const struct ctrl {
	uint32_t cmd, size;
	uint8_t on, flags;
	uint16_t since, until; /* first and last branch; 0: no limit */
	enum sim_call call;
} controls[] = {
	{ SIM_CTRL_GPU_ATTACHED_IDS, 128, ON_ROOT, 0, 0, 0, SIM_CALL_OTHER },
	{ SIM_CTRL_GPU_ID_INFO_V2, 32, ON_ROOT, 0, 0, 0, SIM_CALL_OTHER },
	{ SIM_CTRL_GPU_PROBED_IDS, 256, ON_ROOT, 0, 0, 579, SIM_CALL_OTHER },
	{ SIM_CTRL_GPU_PROBED_IDS, 384, ON_ROOT, 0, 580, 0, SIM_CALL_OTHER },
	{ SIM_CTRL_GPU_ATTACH_IDS, 132, ON_ROOT, 0, 0, 0, SIM_CALL_OTHER },
	{ SIM_CTRL_GPU_PCI_INFO, 12, ON_ROOT, 0, 0, 0, SIM_CALL_OTHER },
	{ SIM_CTRL_CLIENT_HANDLE_INFO, 16, ON_ROOT, 0, 0, 0, SIM_CALL_OTHER },
	{ SIM_CTRL_CLIENT_ACCESS_RIGHTS, 12, ON_ROOT, 0, 0, 0, SIM_CALL_OTHER },
	{ SIM_CTRL_CLIENT_CHILD_HANDLE, 12, ON_ROOT, 0, 0, 0, SIM_CALL_OTHER },

	{ SIM_CTRL_SUB_GPU_INFO_V2, 4 + 8 * 0x40, ON_SUBDEVICE, 0, 0, 549, SIM_CALL_OTHER },
	{ SIM_CTRL_SUB_GPU_INFO_V2, 4 + 8 * 0x41, ON_SUBDEVICE, 0, 550, 579, SIM_CALL_OTHER },
	{ SIM_CTRL_SUB_GPU_INFO_V2, 4 + 8 * 0x46, ON_SUBDEVICE, 0, 580, 0, SIM_CALL_OTHER },
	{ SIM_CTRL_SUB_NAME_STRING, 132, ON_SUBDEVICE, 0, 0, 594, SIM_CALL_OTHER },
	{ SIM_CTRL_SUB_NAME_STRING, 68, ON_SUBDEVICE, 0, 595, 0, SIM_CALL_OTHER },
	{ SIM_CTRL_SUB_GID_INFO, 268, ON_SUBDEVICE, 0, 0, 0, SIM_CALL_OTHER },
	{ SIM_CTRL_SUB_BIOS_INFO_V2, 124, ON_SUBDEVICE, 0, 0, 0, SIM_CALL_OTHER },
	{ SIM_CTRL_SUB_PIDS, 3812, ON_SUBDEVICE, 0, 0, 0, SIM_CALL_OTHER },
	{ SIM_CTRL_SUB_PID_INFO, 14408, ON_SUBDEVICE, 0, 0, 0, SIM_CALL_OTHER },
	{ SIM_CTRL_SUB_FB_INFO_V2, 4 + 8 * 0x36, ON_SUBDEVICE, 0, 0, 544, SIM_CALL_OTHER },
	{ SIM_CTRL_SUB_FB_INFO_V2, 4 + 8 * 0x37, ON_SUBDEVICE, 0, 545, 559, SIM_CALL_OTHER },
	{ SIM_CTRL_SUB_FB_INFO_V2, 4 + 8 * 0x39, ON_SUBDEVICE, 0, 560, 579, SIM_CALL_OTHER },
	{ SIM_CTRL_SUB_FB_INFO_V2, 4 + 8 * 0x80, ON_SUBDEVICE, 0, 580, 0, SIM_CALL_OTHER },
	{ SIM_CTRL_SUB_TIME, 8, ON_SUBDEVICE, 0, 0, 0, SIM_CALL_OTHER },
	{ SIM_CTRL_SUB_DISABLE_CHANNELS, 536, ON_SUBDEVICE, 0, 0, 0, SIM_CALL_DISABLE },
	{ SIM_CTRL_SUB_TSG_UNIQUE_IDS, 1552, ON_SUBDEVICE, 0, 570, 0, SIM_CALL_OTHER },
	{ SIM_CTRL_SUB_PREEMPTION_MODE, 32, ON_SUBDEVICE, 0, 0, 0, SIM_CALL_SET_PREEMPT_MODE },
	{ SIM_CTRL_SUB_LOG_BIND, 24, ON_SUBDEVICE, 0, 0, 0, SIM_CALL_OTHER },
	{ SIM_CTRL_SUB_PCI_INFO, 16, ON_SUBDEVICE, 0, 0, 0, SIM_CALL_OTHER },
	{ SIM_CTRL_SUB_USAGE, 34000, ON_SUBDEVICE, 0, 0, 549, SIM_CALL_OTHER },
	{ SIM_CTRL_SUB_USAGE, 50704, ON_SUBDEVICE, 0, 550, 569, SIM_CALL_OTHER },
	{ SIM_CTRL_SUB_USAGE, MAX_PARAMS, ON_SUBDEVICE, 0, 570, 0, SIM_CALL_OTHER },

	{ SIM_CTRL_TSG_SCHEDULE, 2, ON_TSG, 0, 0, 574, SIM_CALL_SCHEDULE },
	{ SIM_CTRL_TSG_SCHEDULE, 3, ON_TSG, 0, 575, 0, SIM_CALL_SCHEDULE },
	{ SIM_CTRL_TSG_BIND, 4, ON_TSG, 0, 0, 0, SIM_CALL_OTHER },
	{ SIM_CTRL_TSG_SET_TIMESLICE, 8, ON_TSG, 0, 0, 0, SIM_CALL_SET_TIMESLICE },
	{ SIM_CTRL_TSG_GET_TIMESLICE, 8, ON_TSG, 0, 0, 0, SIM_CALL_OTHER },
	{ SIM_CTRL_TSG_PREEMPT, 8, ON_TSG, 0, 0, 0, SIM_CALL_PREEMPT },
	{ SIM_CTRL_TSG_GET_INFO, 4, ON_TSG, 0, 0, 0, SIM_CALL_OTHER },
	{ SIM_CTRL_TSG_SET_INTERLEAVE, 4, ON_TSG, NICE, 0, 0, SIM_CALL_SET_INTERLEAVE },
	{ SIM_CTRL_TSG_MAKE_REALTIME, 1, ON_TSG, NICE, 0, 0, SIM_CALL_SET_INTERLEAVE },

	{ SIM_CTRL_LOG_ENABLE, 8, ON_LOG, 0, 0, 0, SIM_CALL_OTHER },
	{ SIM_CTRL_LOG_UPDATE_GET, 8, ON_LOG, 0, 0, 0, SIM_CALL_OTHER },
	{ SIM_CTRL_LOG_FLUSH, 0, ON_LOG, 0, 0, 0, SIM_CALL_FLUSH_LOG },

	{ SIM_CTRL_CHANNEL_CLASS_ENGINE, 16, ON_CHANNEL, 0, 0, 0, SIM_CALL_OTHER },
	{ SIM_CTRL_CHANNEL_SCHEDULE, 2, ON_CHANNEL, 0, 0, 574, SIM_CALL_SCHEDULE },
	{ SIM_CTRL_CHANNEL_SCHEDULE, 3, ON_CHANNEL, 0, 575, 0, SIM_CALL_SCHEDULE },
	{ SIM_CTRL_CHANNEL_SET_INTERLEAVE, 4, ON_CHANNEL, NICE, 0, 0, SIM_CALL_SET_INTERLEAVE },
	{ SIM_CTRL_CHANNEL_RESTART_RUNLIST, 2, ON_CHANNEL, NICE, 0, 0, SIM_CALL_PREEMPT },
	{ SIM_CTRL_CHANNEL_CONTEXT_ID, 4, ON_CHANNEL, 0, 560, 0, SIM_CALL_OTHER },
	{ SIM_CTRL_CHANNEL_TOKEN, 4, ON_CHANNEL, 0, 0, 0, SIM_CALL_OTHER },
};
static bool object_fits(const struct ctrl *k, const struct sim_object *o)
{
	switch (k->on) {
	case ON_ROOT:
		return o == o->client->root;
	case ON_SUBDEVICE:
		return o->cls == SIM_CLASS_SUBDEVICE;
	case ON_TSG:
		return o->cls == SIM_CLASS_TSG && o->info;
	case ON_LOG:
		return o->log != NULL;
	default:
		return o->channel != NULL;
	}
}

static const struct ctrl *lookup(const struct sim_rm *rm, uint32_t cmd)
{
	for (size_t i = 0; i < sizeof(controls) / sizeof(controls[0]); i++) {
		const struct ctrl *k = &controls[i];

		if (k->cmd == cmd && rm->config.branch >= k->since &&
		    (!k->until || rm->config.branch <= k->until))
			return k;
	}
	return NULL;
}

enum sim_call sim_control_call(uint32_t cmd, const void *params)
{
	if (cmd == SIM_CTRL_SUB_DISABLE_CHANNELS && params && !*(const uint8_t *)params)
		return SIM_CALL_ENABLE;
	for (size_t i = 0; i < sizeof(controls) / sizeof(controls[0]); i++)
		if (controls[i].cmd == cmd)
			return controls[i].call;
	return SIM_CALL_OTHER;
}

static uint32_t call_handler(const struct ctrl *k, struct sim_ctrl_args *a)
{
	switch (k->on) {
	case ON_ROOT:
		return sim_ctrl_root(k->cmd, a);
	case ON_SUBDEVICE:
		return sim_ctrl_subdevice(k->cmd, a);
	case ON_TSG:
		return sim_ctrl_tsg(k->cmd, a);
	case ON_LOG:
		return sim_ctrl_log(k->cmd, a);
	default:
		return sim_ctrl_channel(k->cmd, a);
	}
}

static uint32_t control(struct sim_rm *rm, struct sim_file *f, const struct sim_os_control *os,
			const struct sim_caller *c)
{
	struct sim_client *client = sim_client_find(rm, os->client);
	struct sim_object *o;
	const struct ctrl *k;
	uint8_t params[MAX_PARAMS] __attribute__((aligned(8)));
	struct sim_ctrl_args a = { .rm = rm, .p = params, .size = os->size, .c = c };
	uint32_t status;

	if (!client || client->file != f)
		return SIM_NV_INVALID_CLIENT;
	o = sim_object_find(client, os->object);
	if (!o)
		return SIM_NV_NOT_FOUND;
	k = lookup(rm, os->cmd);
	if (!k || !object_fits(k, o))
		return SIM_NV_NOT_SUPPORTED;
	if (os->size != k->size || (k->size && !os->params))
		return SIM_NV_INVALID_ARGUMENT;
	if ((k->flags & NICE) && !c->capable(c, CAP_SYS_NICE))
		return SIM_NV_NO_PERMISSION;
	if (k->size && c->read(c, os->params, params, os->size))
		return SIM_NV_INVALID_ADDRESS;
	status = sim_refused(rm, os->cmd);
	if (status)
		return status;
	a.o = o;
	status = call_handler(k, &a);
	if (k->size && c->write(c, os->params, params, os->size))
		return SIM_NV_INVALID_ADDRESS;
	return status;
}

/*
 * Counts calls by command. Unknown commands share one count, so that a client cannot make the table
 * grow.
 */
static void count(struct sim_rm *rm, uint32_t cmd, uint32_t status)
{
	struct sim_count *k;

	if (!lookup(rm, cmd))
		cmd = 0;
	HASH_FIND(hh, rm->counts, &cmd, sizeof(cmd), k);
	if (!k) {
		k = calloc(1, sizeof(*k));
		if (!k)
			return;
		k->cmd = cmd;
		HASH_ADD(hh, rm->counts, cmd, sizeof(k->cmd), k);
	}
	k->n++;
	k->failed += status != SIM_NV_OK;
}

uint32_t sim_rm_control(struct sim_rm *rm, struct sim_file *f, const struct sim_os_control *os,
			const struct sim_caller *c)
{
	uint32_t status = control(rm, f, os, c);

	count(rm, os->cmd, status);
	return status;
}
