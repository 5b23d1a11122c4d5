/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>

#include "sim/rm_log.h"
#include "sim/rm_memory.h"
#include "sim/rm_object.h"

#define FIRST_CLIENT 0xc1d00000u
#define FIRST_RM_HANDLE 0xcaf00000u
#define DEFAULT_MAX_OBJECTS 100000u
#define MAX_OBJECTS_ALL 1000000u

struct sim_client *sim_object_find_client(struct sim_rm *rm, uint32_t handle)
{
	struct sim_client *client;

	HASH_FIND(hh, rm->clients, &handle, sizeof(handle), client);
	return client;
}

struct sim_object *sim_object_find(struct sim_client *client, uint32_t handle)
{
	struct sim_object *o;

	HASH_FIND(hh, client->objects, &handle, sizeof(handle), o);
	return o;
}

bool sim_object_is_channel(uint32_t cls)
{
	return cls == 0xa06f || cls == 0xb06f || cls == 0xc06f || cls == 0xc36f || cls == 0xc46f ||
	       cls == 0xc56f || cls == 0xc86f || cls == 0xc96f || cls == 0xca6f;
}

bool sim_object_is_root(uint32_t cls)
{
	return cls == SIM_CLASS_ROOT || cls == SIM_CLASS_ROOT_NP || cls == SIM_CLASS_ROOT_CLIENT;
}

struct sim_object *sim_object_up(struct sim_object *o, uint32_t cls)
{
	while (o && o->cls != cls)
		o = o->parent;
	return o;
}

struct sim_tsg_info *sim_object_tsg(struct sim_object *o)
{
	for (; o; o = o->parent)
		if (o->info)
			return o->info;
	return NULL;
}

static unsigned int max_objects(const struct sim_rm *rm)
{
	return rm->config.max_objects ? rm->config.max_objects : DEFAULT_MAX_OBJECTS;
}

/* Adds a child at the end, since RM lists children in order of creation. */
static void link_child(struct sim_object *parent, struct sim_object *o)
{
	o->parent = parent;
	if (!parent)
		return;
	o->prev = parent->last;
	if (parent->last)
		parent->last->next = o;
	else
		parent->first = o;
	parent->last = o;
}

uint32_t sim_object_new(struct sim_rm *rm, struct sim_client *client, struct sim_object *parent,
			uint32_t handle, uint32_t cls, struct sim_object **ret)
{
	struct sim_object *o;

	if (client->n >= max_objects(rm) || rm->objects >= MAX_OBJECTS_ALL)
		return SIM_NV_NO_RESOURCES;
	while (!handle) {
		uint32_t h = FIRST_RM_HANDLE + client->next_handle++ % 0x10000u;

		if (!sim_object_find(client, h))
			handle = h;
		else if (client->n > 0xffff)
			return SIM_NV_NO_RESOURCES;
	}
	if (sim_object_find(client, handle))
		return SIM_NV_INSERT_DUPLICATE;
	o = calloc(1, sizeof(*o));
	if (!o)
		return SIM_NV_NO_MEMORY;
	o->handle = handle;
	o->cls = cls;
	o->client = client;
	o->gpu = parent ? parent->gpu : -1;
	link_child(parent, o);
	HASH_ADD(hh, client->objects, handle, sizeof(o->handle), o);
	client->n++;
	rm->objects++;
	*ret = o;
	return SIM_NV_OK;
}

uint32_t sim_object_new_client(struct sim_rm *rm, struct sim_file *f, uint32_t handle,
			       const struct sim_caller *c, struct sim_client **ret)
{
	struct sim_client *client;
	uint32_t status;

	while (!handle) {
		uint32_t h = FIRST_CLIENT + ++rm->next_client % 0x100000u;

		if (!sim_object_find_client(rm, h))
			handle = h;
	}
	if (sim_object_find_client(rm, handle))
		return SIM_NV_INSERT_DUPLICATE;
	client = calloc(1, sizeof(*client));
	if (!client)
		return SIM_NV_NO_MEMORY;
	client->handle = handle;
	client->file = f;
	client->pid = c->tgid;
	client->uid = c->uid;
	status = sim_object_new(rm, client, NULL, handle, SIM_CLASS_ROOT_CLIENT, &client->root);
	if (status) {
		free(client);
		return status;
	}
	HASH_ADD(hh, rm->clients, handle, sizeof(client->handle), client);
	*ret = client;
	return SIM_NV_OK;
}

/* Detaches all duplicated handles of the TSG, which is being freed. */
static void drop_aliases(struct sim_rm *rm, const struct sim_object *tsg)
{
	struct sim_client *client, *next;
	struct sim_object *o, *next_o;

	HASH_ITER(hh, rm->clients, client, next) {
		HASH_ITER(hh, client->objects, o, next_o) {
			if (o != tsg && o->info == tsg->info)
				o->info = NULL;
		}
	}
}

static void drop_hardware(struct sim_rm *rm, struct sim_object *o)
{
	sim_log_free(rm, o);
	if (o->memory)
		sim_log_memory_gone(rm, o);
	sim_memory_free(rm, o);
	sim_memory_local_free(rm, o);
	if (o->channel) {
		sim_log_channel_gone(rm, o);
		if (rm->channel_gone)
			rm->channel_gone(rm->channel_gone_user, o->channel);
		sim_model_channel_free(o->channel);
		o->channel = NULL;
	}
	if (o->info && sim_model_tsg_user(o->info->tsg) == o) {
		drop_aliases(rm, o);
		sim_model_tsg_free(o->info->tsg);
		free(o->info);
	}
}

static void unlink_object(struct sim_object *o)
{
	if (o->prev)
		o->prev->next = o->next;
	else if (o->parent)
		o->parent->first = o->next;
	if (o->next)
		o->next->prev = o->prev;
	else if (o->parent)
		o->parent->last = o->prev;
}

static void free_leaf(struct sim_rm *rm, struct sim_object *o)
{
	struct sim_client *client = o->client;

	drop_hardware(rm, o);
	unlink_object(o);
	HASH_DEL(client->objects, o);
	client->n--;
	rm->objects--;
	if (o == client->root) {
		HASH_DEL(rm->clients, client);
		free(client);
	}
	free(o);
}

/*
 * Frees an object and all below it, without recursion: a hostile client may build a chain of any
 * depth.
 */
void sim_object_free(struct sim_rm *rm, struct sim_object *o)
{
	struct sim_object *at = o;

	for (;;) {
		struct sim_object *up;

		while (at->first)
			at = at->first;
		if (at == o) {
			free_leaf(rm, o);
			return;
		}
		up = at->parent;
		free_leaf(rm, at);
		at = up;
	}
}
