/* SPDX-License-Identifier: MIT */
/*
 * rm_alloc.c - makes RM objects: which class may be below which, and what the model gets
 */
#include <stdlib.h>
#include <string.h>

#include "rm/branches.h"
#include "sim/rm_log.h"
#include "sim/rm_memory.h"
#include "sim/rm_object.h"

#define FIRST_CID 0x10u

static uint32_t read_params(const struct sim_caller *c, uint64_t at, void *to, size_t n)
{
	if (!at)
		return SIM_NV_INVALID_ARGUMENT;
	return c->read(c, at, to, n) ? SIM_NV_INVALID_ADDRESS : SIM_NV_OK;
}

static uint32_t alloc_device(struct sim_rm *rm, struct sim_object *o, uint64_t params,
			     const struct sim_caller *c)
{
	uint32_t p[SIM_DEVICE_PARAMS_SIZE / 4] = { 0 };
	uint32_t status = params ? read_params(c, params, p, sizeof(p)) : SIM_NV_OK;

	if (status)
		return status;
	if (p[0] >= rm->config.gpus)
		return SIM_NV_INVALID_DEVICE;
	o->gpu = (int)p[0];
	return SIM_NV_OK;
}

static uint32_t make_tsg(struct sim_rm *rm, struct sim_object *o, uint32_t engine)
{
	uint32_t real = engine, status = sim_mig_engine(rm, o, &real);
	struct sim_tsg_info *info;
	struct sim_tsg_state state;

	if (status)
		return status;
	info = calloc(1, sizeof(*info));
	if (!info)
		return SIM_NV_NO_MEMORY;
	if (sim_model_tsg_new(rm->model, (unsigned int)o->gpu, real, o, &info->tsg)) {
		free(info);
		return SIM_NV_INVALID_ARGUMENT;
	}
	sim_model_tsg_state(info->tsg, &state);
	info->timeslice_us = state.timeslice_us;
	info->grp_id = rm->next_grp++;
	o->engine = engine;
	o->info = info;
	return SIM_NV_OK;
}

static uint32_t alloc_tsg(struct sim_rm *rm, struct sim_object *o, uint64_t params,
			  const struct sim_caller *c)
{
	uint8_t p[SIM_TSG_PARAMS_SIZE];
	uint32_t engine, status = read_params(c, params, p, sizeof(p));

	if (status)
		return status;
	memcpy(&engine, p + SIM_TSG_ENGINE_AT, sizeof(engine));
	memcpy(&o->vaspace, p + SIM_TSG_VASPACE_AT, sizeof(o->vaspace));
	return make_tsg(rm, o, engine ? engine : SIM_ENGINE_GR);
}

static size_t channel_params_size(const struct sim_rm *rm)
{
	return nv_branch(rm->config.branch)->channel;
}

static uint32_t alloc_channel(struct sim_rm *rm, struct sim_object *o, uint64_t params,
			      const struct sim_caller *c)
{
	uint8_t p[SIM_CHANNEL_PARAMS_MAX];
	uint32_t engine, status = read_params(c, params, p, channel_params_size(rm));
	struct sim_tsg_info *info;

	if (status)
		return status;
	memcpy(&engine, p + SIM_CHANNEL_ENGINE_AT, sizeof(engine));
	info = sim_object_tsg(o->parent);
	if (!info) {
		/* a bare channel: RM makes a TSG for it alone */
		status = make_tsg(rm, o, engine ? engine : SIM_ENGINE_GR);
		if (status)
			return status;
		info = o->info;
	}
	o->engine = o->info ? o->engine : o->parent->engine;
	o->cid = FIRST_CID + rm->next_cid++;
	if (sim_model_channel_new(info->tsg, o->cid, &o->channel))
		return SIM_NV_NO_MEMORY;
	if (c->write(c, params + SIM_CHANNEL_CID_AT, &o->cid, sizeof(o->cid)))
		return SIM_NV_INVALID_ADDRESS;
	return SIM_NV_OK;
}

enum under {
	UNDER_ROOT,
	UNDER_DEVICE,
	UNDER_SUBDEVICE,
	UNDER_TSG_OR_DEVICE,
	UNDER_TSG,
	UNDER_CHANNEL,
	UNDER_GPU_INSTANCE,
	UNDER_ANY
};

static const struct {
	uint32_t cls;
	enum under under;
	uint32_t (*make)(struct sim_rm *rm, struct sim_object *o, uint64_t params,
			 const struct sim_caller *c);
} classes[] = {
	{ SIM_CLASS_DEVICE, UNDER_ROOT, alloc_device },
	{ SIM_CLASS_SUBDEVICE, UNDER_DEVICE, NULL },
	{ SIM_CLASS_VASPACE, UNDER_DEVICE, NULL },
	{ SIM_CLASS_TSG, UNDER_DEVICE, alloc_tsg },
	{ SIM_CLASS_CHANNEL, UNDER_TSG_OR_DEVICE, alloc_channel },
	{ SIM_CLASS_CTXSHARE, UNDER_TSG, NULL },
	{ SIM_CLASS_COMPUTE, UNDER_CHANNEL, NULL },
	{ SIM_CLASS_DMA_COPY, UNDER_CHANNEL, NULL },
	{ SIM_CLASS_3D, UNDER_CHANNEL, NULL },
	{ SIM_CLASS_MIG_GPU_INSTANCE, UNDER_SUBDEVICE, sim_mig_gpu_instance },
	{ SIM_CLASS_MIG_COMPUTE_INSTANCE, UNDER_GPU_INSTANCE, sim_mig_compute_instance },
	{ SIM_CLASS_USERMODE, UNDER_ANY, NULL },
	{ SIM_CLASS_EVENT, UNDER_ANY, NULL },
	{ SIM_CLASS_MEM_LOCAL, UNDER_DEVICE, sim_memory_local_alloc },
	{ SIM_CLASS_MEM_SYSTEM, UNDER_DEVICE, NULL },
	{ SIM_CLASS_MULTICAST, UNDER_DEVICE, NULL },
	{ SIM_CLASS_MEM_DEVICELESS, UNDER_ROOT, sim_memory_alloc },
	{ SIM_CLASS_EVENT_BUFFER, UNDER_ROOT, sim_log_alloc },
};

static bool fits(enum under under, const struct sim_object *parent)
{
	switch (under) {
	case UNDER_ROOT:
		return parent == parent->client->root;
	case UNDER_DEVICE:
		return parent->cls == SIM_CLASS_DEVICE;
	case UNDER_SUBDEVICE:
		return parent->cls == SIM_CLASS_SUBDEVICE;
	case UNDER_GPU_INSTANCE:
		return parent->cls == SIM_CLASS_MIG_GPU_INSTANCE;
	case UNDER_TSG:
		return parent->cls == SIM_CLASS_TSG;
	case UNDER_TSG_OR_DEVICE:
		return parent->cls == SIM_CLASS_TSG || parent->cls == SIM_CLASS_DEVICE;
	case UNDER_CHANNEL:
		return parent->channel != NULL;
	case UNDER_ANY:
		return true;
	}
	return false;
}

static uint32_t alloc_root(struct sim_rm *rm, struct sim_file *f, uint32_t *handle,
			   const struct sim_caller *c)
{
	struct sim_client *client;
	uint32_t status = sim_object_new_client(rm, f, *handle, c, &client);

	if (!status)
		*handle = client->handle;
	return status;
}

uint32_t sim_rm_alloc(struct sim_rm *rm, struct sim_file *f, uint32_t h_client, uint32_t h_parent,
		      uint32_t *handle, uint32_t cls, uint64_t params, const struct sim_caller *c)
{
	struct sim_client *client;
	struct sim_object *parent, *o;
	size_t i;
	uint32_t status;

	if (sim_object_is_root(cls))
		return alloc_root(rm, f, handle, c);
	client = sim_object_find_client(rm, h_client);
	if (!client || client->file != f)
		return SIM_NV_INVALID_CLIENT;
	for (i = 0; i < sizeof(classes) / sizeof(classes[0]); i++)
		if (classes[i].cls == cls)
			break;
	if (i == sizeof(classes) / sizeof(classes[0]))
		return SIM_NV_INVALID_CLASS;
	parent = sim_object_find(client, h_parent);
	if (!parent || !fits(classes[i].under, parent))
		return SIM_NV_INVALID_PARENT;
	status = sim_object_new(rm, client, parent, *handle, cls, &o);
	if (status)
		return status;
	if (classes[i].make)
		status = classes[i].make(rm, o, params, c);
	if (status)
		sim_object_free(rm, o);
	else
		*handle = o->handle;
	return status;
}
