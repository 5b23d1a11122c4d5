/* SPDX-License-Identifier: MIT */
/*
 * rm_control_gpu.c - handles controls of the root client and of the subdevice
 */
#include <stdio.h>
#include <string.h>

#include "rm/branches.h"
#include "sim/rm_held.h"
#include "sim/rm_log.h"
#include "sim/rm_object.h"

static void fill_ids(struct sim_ctrl_args *a)
{
	uint32_t *ids = a->p;

	memset(a->p, 0xff, a->size < 256 ? a->size : 256);
	if (a->size > 256)
		memset((uint8_t *)a->p + 256, 0, a->size - 256);
	for (unsigned int i = 0; i < a->rm->config.gpus; i++)
		ids[i] = sim_rm_gpu_id(i);
}

static int gpu_by_id(const struct sim_rm *rm, uint32_t id)
{
	for (unsigned int i = 0; i < rm->config.gpus; i++)
		if (sim_rm_gpu_id(i) == id)
			return (int)i;
	return -1;
}

static uint32_t id_info(struct sim_ctrl_args *a)
{
	struct sim_ctrl_id_info *p = a->p;
	int gpu = gpu_by_id(a->rm, p->gpu_id);

	if (gpu < 0)
		return SIM_NV_INVALID_ARGUMENT;
	*p = (struct sim_ctrl_id_info){
		.gpu_id = p->gpu_id,
		.device = (uint32_t)gpu,
		.board = (uint32_t)-1,
		.instance = (uint32_t)gpu,
		.numa = -1,
	};
	return SIM_NV_OK;
}

static uint32_t root_pci_info(struct sim_ctrl_args *a)
{
	struct {
		uint32_t gpu_id, domain;
		uint16_t bus, slot;
	} *p = a->p;
	int gpu = gpu_by_id(a->rm, p->gpu_id);

	if (gpu < 0)
		return SIM_NV_INVALID_ARGUMENT;
	p->domain = 0;
	p->bus = (uint16_t)sim_rm_bus((unsigned int)gpu);
	p->slot = 0;
	return SIM_NV_OK;
}

static uint32_t handle_info(struct sim_ctrl_args *a)
{
	struct sim_ctrl_handle_info *p = a->p;
	struct sim_object *o = sim_object_find(a->o->client, p->object);

	if (!o)
		return SIM_NV_NOT_FOUND;
	if (p->index == 1)
		p->result = o->parent ? o->parent->handle : 0;
	else if (p->index == 2)
		p->result = o->cls;
	else
		return SIM_NV_INVALID_ARGUMENT;
	return SIM_NV_OK;
}

/* The driver's internal id of an object's class, which CHILD_HANDLE takes (docs/facts.md). */
static uint32_t internal_class(const struct sim_object *o)
{
	switch (o->cls) {
	case SIM_CLASS_DEVICE:
		return 0xe0ac20;
	case SIM_CLASS_SUBDEVICE:
		return 0x4b01b3;
	case SIM_CLASS_TSG:
		return 0x2b5b80;
	}
	return o->channel ? 0x5d8d70 : 0;
}

/*
 * Gives the caller's rights to an object of any client: always 0. Callers only ask whether the
 * object exists.
 */
static uint32_t access_rights(struct sim_ctrl_args *a)
{
	struct sim_ctrl_rights *p = a->p;
	struct sim_client *client = sim_object_find_client(a->rm, p->client);

	if (!client)
		return SIM_NV_INVALID_CLIENT;
	if (!sim_object_find(client, p->object))
		return SIM_NV_NOT_FOUND;
	p->rights = 0;
	return SIM_NV_OK;
}

/* Returns only the first child of that class, so that callers cannot list all children. */
static uint32_t child_handle(struct sim_ctrl_args *a)
{
	struct sim_ctrl_child *p = a->p;
	struct sim_object *parent = sim_object_find(a->o->client, p->parent);
	struct sim_object *found;

	if (!parent)
		return SIM_NV_NOT_FOUND;
	found = parent->first;
	while (found && (!p->cls || internal_class(found) != p->cls))
		found = found->next;
	if (!found)
		return SIM_NV_NOT_FOUND;
	p->object = found->handle;
	return SIM_NV_OK;
}

uint32_t sim_rm_control_root(uint32_t cmd, struct sim_ctrl_args *a)
{
	switch (cmd) {
	case SIM_CTRL_GPU_ATTACHED_IDS:
	case SIM_CTRL_GPU_PROBED_IDS:
		fill_ids(a);
		return SIM_NV_OK;
	case SIM_CTRL_GPU_ATTACH_IDS:
	case SIM_CTRL_EXPORT_OBJECTS: /* only that they are called matters */
	case SIM_CTRL_IMPORT_OBJECTS:
		return SIM_NV_OK;
	case SIM_CTRL_GPU_ID_INFO_V2:
		return id_info(a);
	case SIM_CTRL_GPU_PCI_INFO:
		return root_pci_info(a);
	case SIM_CTRL_CLIENT_HANDLE_INFO:
		return handle_info(a);
	case SIM_CTRL_CLIENT_ACCESS_RIGHTS:
		return access_rights(a);
	case SIM_CTRL_CLIENT_CHILD_HANDLE:
		return child_handle(a);
	}
	return SIM_NV_NOT_SUPPORTED;
}

/* ---- subdevice ------------------------------------------------------------------------------- */

#define GID_BINARY 2u

static uint32_t gid_info(struct sim_ctrl_args *a)
{
	struct sim_ctrl_gid *p = a->p;
	uint8_t u[16];

	sim_rm_uuid((unsigned int)a->o->gpu, u);
	memset(p->data, 0, sizeof(p->data));
	if ((p->flags & 3) == GID_BINARY) {
		memcpy(p->data, u, 16);
		p->length = 16;
		return SIM_NV_OK;
	}
	p->length = 1 + (uint32_t)snprintf((char *)p->data, sizeof(p->data),
					   "GPU-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-"
					   "%02x%02x%02x%02x%02x%02x",
					   u[0], u[1], u[2], u[3], u[4], u[5], u[6], u[7], u[8],
					   u[9], u[10], u[11], u[12], u[13], u[14], u[15]);
	return SIM_NV_OK;
}

static uint32_t name_string(struct sim_ctrl_args *a)
{
	uint8_t *p = a->p;

	if (*(uint32_t *)a->p)
		return SIM_NV_INVALID_ARGUMENT; /* only ASCII is simulated */
	memset(p + 4, 0, a->size - 4);
	memcpy(p + 4, a->rm->gpu_name, strnlen(a->rm->gpu_name, 63));
	return SIM_NV_OK;
}

/* The VBIOS version, always 96.00.90.00.01. */
static uint32_t bios_info(struct sim_ctrl_args *a)
{
	uint32_t *words = a->p;

	if (words[0] > (a->size - 4) / 8)
		return SIM_NV_INVALID_ARGUMENT;
	for (uint32_t i = 0; i < words[0]; i++) {
		if (words[1 + 2 * i] > 1)
			return SIM_NV_INVALID_ARGUMENT;
		words[2 + 2 * i] = words[1 + 2 * i] ? 0x01 : 0x96009000;
	}
	return SIM_NV_OK;
}

/*
 * Disables or enables the listed channels. Like the real driver, does not check that they belong to
 * the caller. Looks up all channels first, so that a bad list changes nothing.
 */
static uint32_t disable_channels(struct sim_ctrl_args *a)
{
	struct sim_ctrl_disable *p = a->p;
	struct sim_channel *ch[64];

	if (p->n > 64 || p->event)
		return SIM_NV_INVALID_ARGUMENT;
	for (uint32_t i = 0; i < p->n; i++) {
		struct sim_client *client = sim_object_find_client(a->rm, p->clients[i]);
		struct sim_object *o = client ? sim_object_find(client, p->channels[i]) : NULL;

		if (!o || !o->channel || o->gpu != a->o->gpu)
			return SIM_NV_NOT_FOUND;
		ch[i] = o->channel;
	}
	for (uint32_t i = 0; i < p->n; i++)
		if (p->disable && p->only_scheduling)
			sim_model_channel_leave(ch[i]);
		else
			sim_work_enable_channel(ch[i], !p->disable);
	return SIM_NV_OK;
}

static uint32_t unique_ids(struct sim_ctrl_args *a)
{
	struct sim_ctrl_unique_ids *p = a->p;
	struct sim_client *client = sim_object_find_client(a->rm, p->client);
	struct sim_object *o = client ? sim_object_find(client, p->object) : NULL;
	struct sim_tsg_info *info = o ? sim_object_tsg(o) : NULL;
	uint32_t n = 0;

	if (!info || o->gpu != a->o->gpu)
		return SIM_NV_NOT_FOUND;
	p->tsg = info->grp_id;
	if (o->channel)
		p->cid[n++] = o->cid;
	else
		for (struct sim_object *ch = o->first; ch && n < 128; ch = ch->next)
			if (ch->channel)
				p->cid[n++] = ch->cid;
	p->n = n;
	return SIM_NV_OK;
}

static uint32_t preemption_mode(struct sim_ctrl_args *a)
{
	struct sim_ctrl_mode *p = a->p;
	struct sim_object *o = sim_object_find(a->o->client, p->channel);
	struct sim_tsg_info *info = o ? sim_object_tsg(o) : NULL;

	if (!info || o->gpu != a->o->gpu)
		return SIM_NV_INVALID_CHANNEL;
	if (!(p->flags & 1))
		return SIM_NV_OK;
	return sim_model_tsg_set_mode(info->tsg, p->cilp) ? SIM_NV_INVALID_ARGUMENT : SIM_NV_OK;
}

/* Gives one sample per completed period: the period's end, and how busy the graphics engine was. */
static uint32_t usage(struct sim_ctrl_args *a)
{
	const uint32_t engine = nv_branch(a->rm->config.branch)->engine,
		       size = (a->size - 16) / SIM_USAGE_SLOTS;
	uint64_t busy[SIM_USAGE_SLOTS], first, now = sim_model_now(a->rm->model);
	uint32_t *words = a->p, n = 0;

	if (a->rm->config.mig)
		return SIM_NV_NOT_SUPPORTED;
	if (words[1] != a->size - 16)
		return SIM_NV_INVALID_ARGUMENT;
	memset(words + 4, 0, a->size - 16);
	sim_engine_usage(a->rm->model, (unsigned int)a->o->gpu, SIM_ENGINE_GR, &first, busy);
	for (uint32_t i = 0; i < SIM_USAGE_SLOTS; i++) {
		uint64_t end = (first + i + 1) * SIM_USAGE_NS;
		uint8_t *at = (uint8_t *)a->p + 16 + (first + i) % SIM_USAGE_SLOTS * size;
		uint32_t hundredths = (uint32_t)(busy[i] * 10000 / SIM_USAGE_NS);

		if (end > now)
			break;
		memcpy(at, &end, sizeof(end));
		memcpy(at + 8 + engine, &hundredths, sizeof(hundredths));
		n++;
	}
	words[2] = SIM_USAGE_SLOTS;
	words[3] = (uint32_t)((first + n) % SIM_USAGE_SLOTS);
	return SIM_NV_OK;
}

uint32_t sim_rm_control_subdevice(uint32_t cmd, struct sim_ctrl_args *a)
{
	uint32_t *words = a->p;

	switch (cmd) {
	case SIM_CTRL_SUB_GPU_INFO_V2:
		if (words[0] > (a->size - 4) / 8)
			return SIM_NV_INVALID_ARGUMENT;
		for (uint32_t i = 0; i < words[0]; i++)
			words[2 + 2 * i] = 0;
		return SIM_NV_OK;
	case SIM_CTRL_SUB_NAME_STRING:
		return name_string(a);
	case SIM_CTRL_SUB_GID_INFO:
		return gid_info(a);
	case SIM_CTRL_SUB_BIOS_INFO_V2:
		return bios_info(a);
	case SIM_CTRL_SUB_PIDS:
		return sim_held_pids(a);
	case SIM_CTRL_SUB_PID_INFO:
		return sim_held_by_pid(a);
	case SIM_CTRL_SUB_FB_INFO_V2:
		return sim_held_in_all(a);
	case SIM_CTRL_SUB_TIME:
		*(uint64_t *)a->p = sim_model_now(a->rm->model);
		return SIM_NV_OK;
	case SIM_CTRL_SUB_DISABLE_CHANNELS:
		return disable_channels(a);
	case SIM_CTRL_SUB_TSG_UNIQUE_IDS:
		return unique_ids(a);
	case SIM_CTRL_SUB_PREEMPTION_MODE:
		return preemption_mode(a);
	case SIM_CTRL_SUB_LOG_BIND:
		return sim_log_bind(a);
	case SIM_CTRL_SUB_USAGE:
		return usage(a);
	case SIM_CTRL_SUB_PCI_INFO:
		words[0] = 0x233510de;
		words[1] = 0x18be10de;
		words[2] = 0xa1;
		words[3] = 0x2335;
		return SIM_NV_OK;
	}
	return SIM_NV_NOT_SUPPORTED;
}
