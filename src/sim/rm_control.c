/* SPDX-License-Identifier: MIT */
/*
 * rm_control.c - dispatches RM_CONTROL: each control's branches, exact size and required rights
 */
#include <stdlib.h>
#include <string.h>

#include <linux/capability.h>

#include "rm/branches.h"
#include "sim/rm_log.h"
#include "sim/rm_object.h"

enum { ON_ROOT, ON_SUBDEVICE, ON_TSG, ON_CHANNEL, ON_LOG };
#define MAX_PARAMS 55888
#define BY_BRANCH UINT32_MAX /* the size; a column of rm/branches.h has it */
#define NICE 1u              /* the calling thread needs CAP_SYS_NICE */

static const struct ctrl {
	uint32_t cmd, size;
	uint8_t on, flags;
	uint16_t since; /* first branch; 0: all have it */
	enum sim_call call;
} controls[] = {
	{ SIM_CTRL_GPU_ATTACHED_IDS, 128, ON_ROOT, 0, 0, SIM_CALL_OTHER },
	{ SIM_CTRL_EXPORT_OBJECTS, 0, ON_ROOT, 0, 0, SIM_CALL_OTHER },
	{ SIM_CTRL_IMPORT_OBJECTS, 0, ON_ROOT, 0, 0, SIM_CALL_OTHER },
	{ SIM_CTRL_GPU_ID_INFO_V2, 32, ON_ROOT, 0, 0, SIM_CALL_OTHER },
	{ SIM_CTRL_GPU_PROBED_IDS, BY_BRANCH, ON_ROOT, 0, 0, SIM_CALL_OTHER },
	{ SIM_CTRL_GPU_ATTACH_IDS, 132, ON_ROOT, 0, 0, SIM_CALL_OTHER },
	{ SIM_CTRL_GPU_PCI_INFO, 12, ON_ROOT, 0, 0, SIM_CALL_OTHER },
	{ SIM_CTRL_CLIENT_HANDLE_INFO, 16, ON_ROOT, 0, 0, SIM_CALL_OTHER },
	{ SIM_CTRL_CLIENT_ACCESS_RIGHTS, 12, ON_ROOT, 0, 0, SIM_CALL_OTHER },
	{ SIM_CTRL_CLIENT_CHILD_HANDLE, 12, ON_ROOT, 0, 0, SIM_CALL_OTHER },

	{ SIM_CTRL_SUB_GPU_INFO_V2, BY_BRANCH, ON_SUBDEVICE, 0, 0, SIM_CALL_OTHER },
	{ SIM_CTRL_SUB_NAME_STRING, BY_BRANCH, ON_SUBDEVICE, 0, 0, SIM_CALL_OTHER },
	{ SIM_CTRL_SUB_GID_INFO, 268, ON_SUBDEVICE, 0, 0, SIM_CALL_OTHER },
	{ SIM_CTRL_SUB_BIOS_INFO_V2, 124, ON_SUBDEVICE, 0, 0, SIM_CALL_OTHER },
	{ SIM_CTRL_SUB_PIDS, 3812, ON_SUBDEVICE, 0, 0, SIM_CALL_OTHER },
	{ SIM_CTRL_SUB_PID_INFO, 14408, ON_SUBDEVICE, 0, 0, SIM_CALL_OTHER },
	{ SIM_CTRL_SUB_FB_INFO_V2, BY_BRANCH, ON_SUBDEVICE, 0, 0, SIM_CALL_OTHER },
	{ SIM_CTRL_SUB_TIME, 8, ON_SUBDEVICE, 0, 0, SIM_CALL_OTHER },
	{ SIM_CTRL_SUB_DISABLE_CHANNELS, 536, ON_SUBDEVICE, 0, 0, SIM_CALL_DISABLE },
	{ SIM_CTRL_SUB_TSG_UNIQUE_IDS, 1552, ON_SUBDEVICE, 0, 570, SIM_CALL_OTHER },
	{ SIM_CTRL_SUB_PREEMPTION_MODE, 32, ON_SUBDEVICE, 0, 0, SIM_CALL_SET_PREEMPT_MODE },
	{ SIM_CTRL_SUB_LOG_BIND, 24, ON_SUBDEVICE, 0, 0, SIM_CALL_OTHER },
	{ SIM_CTRL_SUB_PCI_INFO, 16, ON_SUBDEVICE, 0, 0, SIM_CALL_OTHER },
	{ SIM_CTRL_SUB_USAGE, BY_BRANCH, ON_SUBDEVICE, 0, 0, SIM_CALL_OTHER },

	{ SIM_CTRL_TSG_SCHEDULE, BY_BRANCH, ON_TSG, 0, 0, SIM_CALL_SCHEDULE },
	{ SIM_CTRL_TSG_BIND, 4, ON_TSG, 0, 0, SIM_CALL_OTHER },
	{ SIM_CTRL_TSG_SET_TIMESLICE, 8, ON_TSG, 0, 0, SIM_CALL_SET_TIMESLICE },
	{ SIM_CTRL_TSG_GET_TIMESLICE, 8, ON_TSG, 0, 0, SIM_CALL_OTHER },
	{ SIM_CTRL_TSG_PREEMPT, 8, ON_TSG, 0, 0, SIM_CALL_PREEMPT },
	{ SIM_CTRL_TSG_GET_INFO, 4, ON_TSG, 0, 0, SIM_CALL_OTHER },
	{ SIM_CTRL_TSG_SET_INTERLEAVE, 4, ON_TSG, NICE, 0, SIM_CALL_SET_INTERLEAVE },
	{ SIM_CTRL_TSG_MAKE_REALTIME, 1, ON_TSG, NICE, 0, SIM_CALL_SET_INTERLEAVE },

	{ SIM_CTRL_LOG_ENABLE, 8, ON_LOG, 0, 0, SIM_CALL_OTHER },
	{ SIM_CTRL_LOG_UPDATE_GET, 8, ON_LOG, 0, 0, SIM_CALL_OTHER },
	{ SIM_CTRL_LOG_FLUSH, 0, ON_LOG, 0, 0, SIM_CALL_FLUSH_LOG },

	{ SIM_CTRL_CHANNEL_CLASS_ENGINE, 16, ON_CHANNEL, 0, 0, SIM_CALL_OTHER },
	{ SIM_CTRL_CHANNEL_SCHEDULE, BY_BRANCH, ON_CHANNEL, 0, 0, SIM_CALL_SCHEDULE },
	{ SIM_CTRL_CHANNEL_SET_INTERLEAVE, 4, ON_CHANNEL, NICE, 0, SIM_CALL_SET_INTERLEAVE },
	{ SIM_CTRL_CHANNEL_RESTART_RUNLIST, 2, ON_CHANNEL, NICE, 0, SIM_CALL_PREEMPT },
	{ SIM_CTRL_CHANNEL_CONTEXT_ID, 4, ON_CHANNEL, 0, 560, SIM_CALL_OTHER },
	{ SIM_CTRL_CHANNEL_TOKEN, 4, ON_CHANNEL, 0, 0, SIM_CALL_OTHER },
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

		if (k->cmd == cmd && rm->config.branch >= k->since)
			return k;
	}
	return NULL;
}

static uint32_t size_of(const struct sim_rm *rm, const struct ctrl *k)
{
	const struct nv_branch *row = nv_branch(rm->config.branch);

	if (k->size != BY_BRANCH)
		return k->size;
	switch (k->cmd) {
	case SIM_CTRL_GPU_PROBED_IDS:
		return row->probed;
	case SIM_CTRL_SUB_GPU_INFO_V2:
		return 4 + 8 * row->infos;
	case SIM_CTRL_SUB_NAME_STRING:
		return row->name;
	case SIM_CTRL_SUB_FB_INFO_V2:
		return 4 + 8 * row->fb;
	case SIM_CTRL_SUB_USAGE:
		return 16 + SIM_USAGE_SLOTS * (8 + row->engines * row->engine);
	default: /* SIM_CTRL_TSG_SCHEDULE and SIM_CTRL_CHANNEL_SCHEDULE */
		return row->schedule;
	}
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
		return sim_rm_control_root(k->cmd, a);
	case ON_SUBDEVICE:
		return sim_rm_control_subdevice(k->cmd, a);
	case ON_TSG:
		return sim_rm_control_tsg(k->cmd, a);
	case ON_LOG:
		return sim_rm_control_log(k->cmd, a);
	default:
		return sim_rm_control_channel(k->cmd, a);
	}
}

static uint32_t control(struct sim_rm *rm, struct sim_file *f, const struct sim_os_control *os,
			const struct sim_caller *c)
{
	struct sim_client *client = sim_object_find_client(rm, os->client);
	struct sim_object *o;
	const struct sim_fault *fault;
	const struct ctrl *k;
	uint8_t params[MAX_PARAMS] __attribute__((aligned(8)));
	struct sim_ctrl_args a = { .rm = rm, .p = params, .size = os->size, .c = c };
	uint32_t status, size;

	if (!client || client->file != f)
		return SIM_NV_INVALID_CLIENT;
	o = sim_object_find(client, os->object);
	if (!o)
		return SIM_NV_NOT_FOUND;
	k = lookup(rm, os->cmd);
	if (!k || !object_fits(k, o))
		return SIM_NV_NOT_SUPPORTED;
	size = size_of(rm, k);
	if (os->size != size || size > sizeof(params) || (size && !os->params))
		return SIM_NV_INVALID_ARGUMENT;
	if ((k->flags & NICE) && !c->capable(c, CAP_SYS_NICE))
		return SIM_NV_NO_PERMISSION;
	if (size && c->read(c, os->params, params, os->size))
		return SIM_NV_INVALID_ADDRESS;
	fault = sim_fault_meet(rm->config.faults, os->cmd, size ? params : NULL);
	if (fault && !fault->applied)
		return fault->status;
	a.o = o;
	status = call_handler(k, &a);
	if (fault && status == SIM_NV_OK)
		status = fault->status;
	if (size && c->write(c, os->params, params, os->size))
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
