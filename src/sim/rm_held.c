/* SPDX-License-Identifier: MIT */
/*
 * rm_held.c - answers which process holds how much of a GPU's memory
 *
 * As in the real RM, memory is counted per client of a process. Shared memory counts in full for
 * each client that has it: as owned for the client that made it, as duplicated for the others. On a
 * GPU in MIG mode, RM refuses a client that has not chosen an instance.
 */
#include "sim/rm_held.h"

#include <string.h>

#include "sim/rm_memory.h"

/*
 * Finds a client's instance as the real RM does: that of its last subdevice, among those in the
 * caller's instances.
 */
static void find_instance(struct sim_ctrl_args *a, const struct sim_client *client,
			  struct sim_held *to)
{
	uint32_t instance = sim_mig_instance(a->o), compute = sim_mig_compute(a->o);

	for (struct sim_object *o = client->objects; o; o = o->hh.next) {
		if (o->cls != SIM_CLASS_SUBDEVICE || o->gpu != a->o->gpu ||
		    sim_mig_instance(o) != instance || sim_mig_compute(o) != compute)
			continue;
		to->gpu_instance = instance;
		to->compute_instance = compute - 1;
	}
}

static bool refused(struct sim_ctrl_args *a)
{
	return a->rm->config.mig && !sim_mig_instance(a->o);
}

static bool has_subdevice(const struct sim_client *client, int gpu)
{
	for (const struct sim_object *o = client->objects; o; o = o->hh.next)
		if (o->cls == SIM_CLASS_SUBDEVICE && o->gpu == gpu)
			return true;
	return false;
}

static bool is_listed(const struct sim_ctrl_pids *p, uint32_t pid)
{
	for (uint32_t i = 0; i < p->n; i++)
		if (p->pids[i] == pid)
			return true;
	return false;
}

uint32_t sim_held_pids(struct sim_ctrl_args *a)
{
	struct sim_ctrl_pids *p = a->p;

	if (p->id_type || p->id != SIM_CLASS_SUBDEVICE)
		return SIM_NV_INVALID_ARGUMENT;
	if (refused(a))
		return SIM_NV_NO_PERMISSION;
	p->n = 0;
	for (const struct sim_client *c = a->rm->clients; c && p->n < SIM_PIDS_MAX; c = c->hh.next)
		if (has_subdevice(c, a->o->gpu) && !is_listed(p, (uint32_t)c->pid))
			p->pids[p->n++] = (uint32_t)c->pid;
	return SIM_NV_OK;
}

static void add_up(const struct sim_client *client, int gpu, struct sim_held *to)
{
	for (const struct sim_object *o = client->objects; o; o = o->hh.next) {
		enum sim_share share;
		uint64_t bytes = sim_memory_local_bytes(o, &share);

		if (o->gpu == gpu)
			to->bytes[share] += bytes;
	}
}

/*
 * Gives the memory of each named process. A process fails only if it has pid 0, as in the real RM.
 */
uint32_t sim_held_by_pid(struct sim_ctrl_args *a)
{
	struct sim_ctrl_pid_info *p = a->p;

	if (!p->n || p->n > SIM_PID_INFO_MAX)
		return SIM_NV_INVALID_ARGUMENT;
	if (refused(a))
		return SIM_NV_NO_PERMISSION;
	for (uint32_t i = 0; i < p->n; i++) {
		struct sim_held *to = &p->list[i];

		to->compute_instance = to->gpu_instance = SIM_NO_INSTANCE;
		to->result = to->index || !to->pid ? SIM_NV_INVALID_ARGUMENT : SIM_NV_OK;
		if (to->result)
			continue;
		memset(to->bytes, 0, sizeof(to->bytes));
		memset(to->protected_bytes, 0, sizeof(to->protected_bytes));
		for (const struct sim_client *c = a->rm->clients; c; c = c->hh.next)
			if ((uint32_t)c->pid == to->pid) {
				add_up(c, a->o->gpu, to);
				if (a->rm->config.mig)
					find_instance(a, c, to);
			}
	}
	return SIM_NV_OK;
}

uint32_t sim_held_in_all(struct sim_ctrl_args *a)
{
	const uint64_t used = a->rm->gpu_bytes[a->o->gpu];
	uint32_t *words = a->p;

	if (!words[0] || words[0] > (a->size - 4) / 8)
		return SIM_NV_INVALID_ARGUMENT;
	if (refused(a))
		return SIM_NV_NO_PERMISSION;
	for (uint32_t i = 0; i < words[0]; i++) {
		uint64_t bytes = 0;

		switch (words[1 + 2 * i]) {
		case SIM_FB_RAM:
			bytes = SIM_GPU_MEMORY + SIM_GPU_RESERVED;
			break;
		case SIM_FB_HEAP:
			bytes = SIM_GPU_MEMORY;
			break;
		case SIM_FB_HEAP_FREE:
			bytes = SIM_GPU_MEMORY - used;
			break;
		}
		words[2 + 2 * i] = (uint32_t)(bytes >> 10);
	}
	return SIM_NV_OK;
}
