/* SPDX-License-Identifier: MIT */
/*
 * rm_mig.c - simulates MIG: GPU instances, and the objects by which a client chooses one
 *
 * The configuration says how many GPU instances each GPU has, and how many compute instances each
 * of these has. GPU instances are numbered from 1, compute instances from 0. A GPU instance has an
 * equal share of the copy engines. Each compute instance has one graphics engine. A client numbers
 * the engines within its instance.
 */
#include <linux/capability.h>
#include <string.h>

#include "sim/rm_object.h"

/* instance number that stands for the whole device: the client only observes */
#define PROFILING 0xfffffffeu
#define PARAMS_SIZE 16u
#define ID_AT 8u

static uint32_t read_id(const struct sim_caller *c, uint64_t params, uint32_t *ret)
{
	uint8_t p[PARAMS_SIZE];

	if (!params)
		return SIM_NV_INVALID_ARGUMENT;
	if (c->read(c, params, p, sizeof(p)))
		return SIM_NV_INVALID_ADDRESS;
	memcpy(ret, p + ID_AT, sizeof(*ret));
	return SIM_NV_OK;
}

static bool has_sibling(const struct sim_object *o)
{
	for (const struct sim_object *s = o->parent->first; s; s = s->next)
		if (s != o && s->cls == o->cls)
			return true;
	return false;
}

uint32_t sim_mig_gpu_instance(struct sim_rm *rm, struct sim_object *o, uint64_t params,
			      const struct sim_caller *c)
{
	uint32_t id, status = read_id(c, params, &id);

	if (status)
		return status;
	if (has_sibling(o))
		return SIM_NV_STATE_IN_USE;
	if (!rm->config.mig)
		return SIM_NV_NOT_SUPPORTED;
	if (id == PROFILING) {
		if (!c->capable(c, CAP_SYS_ADMIN))
			return SIM_NV_NO_PERMISSION;
		o->instance = SIM_MIG_ALL;
		return SIM_NV_OK;
	}
	if (!id || id > rm->config.mig)
		return SIM_NV_INVALID_ARGUMENT;
	o->instance = id;
	return SIM_NV_OK;
}

static uint32_t computes(const struct sim_rm *rm)
{
	return rm->config.compute ? rm->config.compute : 1;
}

uint32_t sim_mig_compute_instance(struct sim_rm *rm, struct sim_object *o, uint64_t params,
				  const struct sim_caller *c)
{
	uint32_t id, status = read_id(c, params, &id);

	if (status)
		return status;
	if (has_sibling(o))
		return SIM_NV_STATE_IN_USE;
	if (o->parent->instance == SIM_MIG_ALL)
		return SIM_NV_NOT_SUPPORTED;
	if (id >= computes(rm))
		return SIM_NV_INVALID_ARGUMENT;
	o->compute = id + 1;
	return SIM_NV_OK;
}

/* The object by which the client has chosen a GPU instance on @o's device; NULL: none. */
static struct sim_object *subscription(struct sim_object *o)
{
	struct sim_object *device = sim_object_up(o, SIM_CLASS_DEVICE);

	for (struct sim_object *sub = device ? device->first : NULL; sub; sub = sub->next)
		for (struct sim_object *i = sub->first; i; i = i->next)
			if (i->cls == SIM_CLASS_MIG_GPU_INSTANCE)
				return i;
	return NULL;
}

uint32_t sim_mig_instance(struct sim_object *o)
{
	const struct sim_object *s = subscription(o);

	return s ? s->instance : 0;
}

uint32_t sim_mig_compute(struct sim_object *o)
{
	const struct sim_object *s = subscription(o);

	for (const struct sim_object *i = s ? s->first : NULL; i; i = i->next)
		if (i->cls == SIM_CLASS_MIG_COMPUTE_INSTANCE)
			return i->compute;
	return 0;
}

/*
 * Converts a client's graphics engine number to the GPU's. A client in a GPU instance counts the
 * engines of that instance's compute instances, in order.
 */
static uint32_t graphics_engine(const struct sim_rm *rm, const struct sim_object *o,
				uint32_t *engine)
{
	uint32_t n = o->compute ? 1 : computes(rm), i = *engine - SIM_ENGINE_GR;

	if (i >= n)
		return SIM_NV_INVALID_ARGUMENT;
	if (o->compute)
		i = o->compute - 1;
	*engine = SIM_ENGINE_GR + (o->instance - 1) * computes(rm) + i;
	return SIM_NV_OK;
}

uint32_t sim_mig_engine(struct sim_rm *rm, struct sim_object *o, uint32_t *engine)
{
	uint32_t instance, share;

	if (!rm->config.mig)
		return SIM_NV_OK;
	instance = sim_mig_instance(o);
	if (!instance || instance == SIM_MIG_ALL)
		return SIM_NV_INVALID_STATE;
	o->instance = instance--;
	o->compute = sim_mig_compute(o);
	if (*engine >= SIM_ENGINE_GR && *engine < SIM_ENGINE_GR + SIM_MAX_GR)
		return graphics_engine(rm, o, engine);
	share = rm->config.copy_engines / rm->config.mig;
	for (uint32_t i = 0; i < share; i++)
		if (*engine == sim_copy_engine(i)) {
			*engine = sim_copy_engine(instance * share + i);
			return SIM_NV_OK;
		}
	return SIM_NV_INVALID_ARGUMENT;
}
