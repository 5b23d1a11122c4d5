/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * standin.h - declares a module named nvidia, for virtual machines without a GPU
 *
 * It has the symbols that gpusched.ko needs, the ioctls of a program that makes TSGs, and a model
 * of the state in GSP. It is built with the miniature tree of tests/hooks. The functions there are
 * like RM's and, after driver/hooks/apply, contain the kit's hooks. Numbers and layouts are those
 * of src/rm/abi.h.
 */
#ifndef STANDIN_H
#define STANDIN_H

#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/seq_file.h>
#include <linux/types.h>

#include "mini.h"
#include "nv-linux.h"
#include "rm/abi.h"

#define STANDIN_CLASS_TSG 0xa06cu
#define STANDIN_CLASS_CHANNEL 0xc36fu
#define STANDIN_CMD_TOKEN 0xc36f0108u
#define STANDIN_VERSION "580.00.standin"
#define STANDIN_GPU_ID 0x100u

#define NV_ERR_INVALID_ARGUMENT 0x1fu
#define NV_ERR_INVALID_CLIENT 0x23u
#define NV_ERR_OBJECT_NOT_FOUND 0x57u

/* An open /dev/nvidiactl. */
struct standin_file {
	nv_linux_file_private_t nv;
};

/* RM's lock. Protects everything below. All hooks run under it except those in nvidia_ioctl(). */
extern struct mutex rm_lock;

enum object_kind { OBJECT_CLIENT, OBJECT_DEVICE, OBJECT_TSG, OBJECT_CHANNEL };
struct object {
	struct list_head list;
	enum object_kind kind;
	u32 client, handle, parent;
	const void *file; /* open file of the object's client */
};
struct tsg_object {
	struct object object;
	KernelChannelGroupApi api;
	KernelChannelGroup group;
};
struct channel_object {
	struct object object;
	KernelChannel channel;
	CHANNEL_NODE node;
};

/* In rm.c: objects. */
struct object *rm_find(u32 client, u32 handle);
u32 rm_alloc_object(const void *file, struct nv_alloc *a);
u32 rm_free_object(const void *file, u32 client, u32 handle);
void rm_free_file(const void *file);
void rm_debugfs(struct dentry *dir);

/*
 * In control.c. @file NULL: the caller is in the kernel, and RM trusts it. @params is kernel
 * memory. Takes rm_lock.
 */
u32 rm_control(const void *file, u32 client, u32 object, u32 cmd, void *params, u32 size);

/* In gsp.c: the state of the GPU's firmware, which only the driver's calls change. */
void gsp_forget(u32 client, u32 handle);
void gsp_show(struct seq_file *m);
void gsp_debugfs(struct dentry *dir);

#endif /* STANDIN_H */
