// SPDX-License-Identifier: GPL-2.0-only
/*
 * control.c - handles RM controls: checks the caller, then calls a function of the miniature tree
 */
#include "standin.h"

static u32 of_tsg(struct tsg_object *t, u32 cmd, void *params, u32 size)
{
	switch (cmd) {
	case NV_CMD_SCHEDULE:
		/* the miniature tree has the parameters of branches before 575 */
		return size == sizeof(NVA06C_CTRL_GPFIFO_SCHEDULE_PARAMS)
			       ? kchangrpapiCtrlCmdGpFifoSchedule_IMPL(&t->api, params)
			       : NV_ERR_INVALID_ARGUMENT;
	case NV_CMD_SET_TIMESLICE:
		return size == 8 ? kchangrpapiCtrlCmdSetTimeslice_IMPL(&t->api, params)
				 : NV_ERR_INVALID_ARGUMENT;
	case NV_CMD_GET_TIMESLICE:
		if (size != 8)
			return NV_ERR_INVALID_ARGUMENT;
		*(u64 *)params = t->group.timesliceUs;
		return NV_OK;
	case NV_CMD_SET_INTERLEAVE:
		return size == 4 ? kchangrpapiCtrlCmdSetInterleaveLevel_IMPL(&t->api, params)
				 : NV_ERR_INVALID_ARGUMENT;
	default:
		return NV_ERR_NOT_SUPPORTED;
	}
}

/* Handles controls that RM has no function for and passes on to GSP. */
static u32 to_gsp(const RS_RES_CONTROL_PARAMS_INTERNAL *params, OBJGPU *gpu)
{
	RS_RES_CONTROL_PARAMS_INTERNAL copy = *params;
	RmResource resource = { .gpu = gpu };
	u32 status = rmresControl_Prologue_IMPL(&resource, NULL, &copy);

	return status == NV_WARN_NOTHING_TO_DO ? NV_OK : status;
}

static bool is_to_gsp(u32 cmd, u32 size)
{
	return (cmd == NV_CMD_PREEMPT && size == sizeof(struct nv_preempt)) ||
	       (cmd == NV_CMD_DISABLE_CHANNELS && size == sizeof(struct nv_disable_channels)) ||
	       (cmd == NV_CMD_SET_PREEMPT_MODE && size == sizeof(struct nv_preempt_mode));
}

static u32 dispatch(struct object *o, u32 cmd, void *params, u32 size)
{
	static OBJGPU gpu;
	RS_RES_CONTROL_PARAMS_INTERNAL control = {
		.hClient = o->client,
		.hObject = o->handle,
		.cmd = cmd,
		.pParams = params,
		.paramsSize = size,
		.to_gsp = NV_TRUE,
	};

	if (o->kind == OBJECT_CLIENT && cmd == NV_CMD_ID_INFO && size == sizeof(struct nv_id_info))
		return NV_OK; /* the only GPU has number 0 in every numbering */
	if (is_to_gsp(cmd, size))
		return to_gsp(&control, &gpu);
	if (o->kind == OBJECT_TSG)
		return of_tsg(container_of(o, struct tsg_object, object), cmd, params, size);
	if (o->kind == OBJECT_CHANNEL && cmd == STANDIN_CMD_TOKEN && size == 4)
		return kchannelCtrlCmdGpfifoGetWorkSubmitToken_IMPL(
			&container_of(o, struct channel_object, object)->channel, params);
	return NV_ERR_NOT_SUPPORTED;
}

u32 rm_control(const void *file, u32 client, u32 handle, u32 cmd, void *params, u32 size)
{
	struct object *o;
	u32 status;

	mutex_lock(&rm_lock);
	o = rm_find(client, client);
	if (!o || (file && o->file != file)) {
		status = NV_ERR_INVALID_CLIENT;
	} else {
		o = rm_find(client, handle);
		status = o ? dispatch(o, cmd, params, size) : NV_ERR_OBJECT_NOT_FOUND;
	}
	mutex_unlock(&rm_lock);
	return status;
}
