// SPDX-License-Identifier: GPL-2.0-only
/* rm.c - makes clients, devices, TSGs and channels, when a program asks by ioctl */
#include <linux/debugfs.h>
#include <linux/delay.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "standin.h"

#define PARAMS_MAX 4096

DEFINE_MUTEX(rm_lock);
static LIST_HEAD(objects);
static u32 next_client = 0xc1d00001, next_group = 1;
static OBJGPU gpu;
/*
 * set in debugfs: partition of new TSGs, 256 * (GPU instance + 1) + compute instance + 1; 0: none
 */
static u32 partition;

/* ---- what the miniature tree leaves to the driver -------------------------------------------- */

void *listAppendValue(int *list, KernelChannelGroupApi **api)
{
	*list = 1;
	return *api;
}

void kchangrpDestroy(OBJGPU *of, KernelChannelGroup *group)
{
	group->destroyed = NV_TRUE;
}

NV_STATUS kchannelNotifyWorkSubmitToken(OBJGPU *of, KernelChannel *channel, NvU32 token)
{
	channel->notified = token;
	return NV_OK;
}

/* ---- objects --------------------------------------------------------------------------------- */

struct object *rm_find(u32 client, u32 handle)
{
	struct object *o;

	list_for_each_entry(o, &objects,
			    list) if (o->client == client && o->handle == handle) return o;
	return NULL;
}

static void add(struct object *o, enum object_kind kind, const void *file, const struct nv_alloc *a)
{
	*o = (struct object){
		.kind = kind,
		.client = a->client,
		.handle = a->handle,
		.parent = a->parent,
		.file = file,
	};
	list_add_tail(&o->list, &objects);
}

static u32 new_plain(const void *file, struct nv_alloc *a, enum object_kind kind)
{
	struct object *o = kzalloc(sizeof(*o), GFP_KERNEL);

	if (!o)
		return NV_ERR_INSUFFICIENT_RESOURCES;
	if (kind == OBJECT_CLIENT)
		a->client = a->handle = next_client++;
	add(o, kind, file, a);
	return NV_OK;
}

/* Divides the GPU for the next TSG, as @partition says. */
static void divide(void)
{
	static KERNEL_MIG_GPU_INSTANCE gi;
	static MIG_COMPUTE_INSTANCE ci;

	gi.swizzId = (partition >> 8) - 1;
	ci.id = (partition & 0xff) - 1;
	gpu.mig = (KernelMIGManager){ .divided = partition != 0,
				      .ref = { &gi, partition & 0xff ? &ci : NULL } };
}

static u32 new_tsg(const void *file, struct nv_alloc *a)
{
	struct tsg_object *t = kzalloc(sizeof(*t), GFP_KERNEL);
	RS_RES_ALLOC_PARAMS_INTERNAL params = { .hClient = a->client };
	u32 status;

	if (!t)
		return NV_ERR_INSUFFICIENT_RESOURCES;
	t->group = (KernelChannelGroup){
		.grpID = next_group++, .engineType = 1, .timesliceUs = 1024, .interleave = 1
	};
	t->api = (KernelChannelGroupApi){ .client = a->client,
					  .handle = a->handle,
					  .gpu = &gpu,
					  .pKernelChannelGroup = &t->group };
	divide();
	status = kchangrpapiConstruct_IMPL(&t->api, NULL, &params);
	if (status != NV_OK) {
		kfree(t);
		return status;
	}
	add(&t->object, OBJECT_TSG, file, a);
	return NV_OK;
}

static u32 new_channel(const void *file, struct nv_alloc *a)
{
	struct object *parent = rm_find(a->client, a->parent);
	struct channel_object *c;
	struct tsg_object *t;

	if (!parent || parent->kind != OBJECT_TSG)
		return NV_ERR_INVALID_ARGUMENT;
	c = kzalloc(sizeof(*c), GFP_KERNEL);
	if (!c)
		return NV_ERR_INSUFFICIENT_RESOURCES;
	t = container_of(parent, struct tsg_object, object);
	c->channel = (KernelChannel){ .client = a->client,
				      .handle = a->handle,
				      .gpu = &gpu,
				      .bound = NV_TRUE,
				      .pKernelChannelGroupApi = &t->api };
	c->node = (CHANNEL_NODE){ &c->channel, t->api.channels };
	t->api.channels = &c->node;
	add(&c->object, OBJECT_CHANNEL, file, a);
	return NV_OK;
}

u32 rm_alloc_object(const void *file, struct nv_alloc *a)
{
	struct object *client = rm_find(a->client, a->client);

	if (a->class_ == NV_CLASS_ROOT)
		return new_plain(file, a, OBJECT_CLIENT);
	if (!client || client->file != file)
		return NV_ERR_INVALID_CLIENT;
	if (!a->handle || rm_find(a->client, a->handle))
		return NV_ERR_INVALID_ARGUMENT;
	switch (a->class_) {
	case NV_CLASS_DEVICE:
	case NV_CLASS_SUBDEVICE:
		return new_plain(file, a, OBJECT_DEVICE);
	case STANDIN_CLASS_TSG:
		return new_tsg(file, a);
	case STANDIN_CLASS_CHANNEL:
		return new_channel(file, a);
	default:
		return NV_ERR_INVALID_ARGUMENT;
	}
}

static void free_object(struct object *o)
{
	struct object *child, *next;
	struct tsg_object *t;

	if (o->kind == OBJECT_TSG) {
		t = container_of(o, struct tsg_object, object);
		kchangrpapiDestruct_IMPL(&t->api);
		gsp_forget(o->client, o->handle);
		list_for_each_entry_safe(child, next, &objects, list)
		{
			if (child->client == o->client && child->parent == o->handle) {
				gsp_forget(child->client, child->handle);
				list_del(&child->list);
				kfree(container_of(child, struct channel_object, object));
			}
		}
	}
	list_del(&o->list);
	if (o->kind == OBJECT_TSG)
		kfree(container_of(o, struct tsg_object, object));
	else
		kfree(o);
}

/* Frees an object. Refuses a single channel: channels are freed with their TSG. */
u32 rm_free_object(const void *file, u32 client, u32 handle)
{
	struct object *o = rm_find(client, handle);

	if (!o || o->file != file || o->kind == OBJECT_CHANNEL)
		return NV_ERR_OBJECT_NOT_FOUND;
	free_object(o);
	return NV_OK;
}

void rm_free_file(const void *file)
{
	struct object *o;

again:
	list_for_each_entry(o, &objects, list)
	{
		if (o->file == file && o->kind != OBJECT_CHANNEL) {
			free_object(o);
			goto again;
		}
	}
}

/* ---- the escapes, called by nvidia_ioctl() of the miniature tree ----------------------------- */

/*
 * set in debugfs: time before RM reads a control's parameters, in which the caller can change them
 */
static u32 delay_ms;

void rm_debugfs(struct dentry *dir)
{
	debugfs_create_u32("delay_ms", 0600, dir, &delay_ms);
	debugfs_create_u32("partition", 0600, dir, &partition);
}

static u32 user_control(const void *file, struct nv_control *c)
{
	void __user *user = u64_to_user_ptr(c->params);
	u32 status;
	void *params;

	if (c->params_size > PARAMS_MAX)
		return NV_ERR_INVALID_ARGUMENT;
	if (delay_ms)
		msleep(delay_ms);
	params = memdup_user(user, c->params_size);
	if (IS_ERR(params))
		return NV_ERR_INVALID_ARGUMENT;
	status = rm_control(file, c->client, c->object, c->cmd, params, c->params_size);
	if (copy_to_user(user, params, c->params_size))
		status = NV_ERR_INVALID_ARGUMENT;
	kfree(params);
	return status;
}

NV_STATUS rm_ioctl(void *stack, void *state, nv_file_private_t *file, int nr, void *arg,
		   unsigned long size)
{
	struct nv_alloc *a = arg;
	struct nv_free *f = arg;
	struct nv_control *c = arg;

	if (nr == NV_ESC_CONTROL && size == sizeof(*c)) {
		c->status = user_control(file, c);
		return NV_OK;
	}
	mutex_lock(&rm_lock);
	if (nr == NV_ESC_ALLOC && size == sizeof(*a))
		a->status = rm_alloc_object(file, a);
	else if (nr == NV_ESC_FREE && size == sizeof(*f))
		f->status = rm_free_object(file, f->client, f->object);
	else
		nr = -1;
	mutex_unlock(&rm_lock);
	return nr < 0 ? NV_ERR_INVALID_ARGUMENT : NV_OK;
}

void rm_cleanup_file_private(void *stack, void *state, nv_file_private_t *file)
{
	mutex_lock(&rm_lock);
	rm_free_file(file);
	mutex_unlock(&rm_lock);
}
