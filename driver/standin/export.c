// SPDX-License-Identifier: GPL-2.0-only
/*
 * export.c - exports nvidia_get_rm_ops(), which answers a wrong version with the right one
 */
#include <linux/module.h>
#include <linux/string.h>

#include "standin.h"

struct rm_ops {
	const char *version;
	u8 write_combining;
	int (*alloc_stack)(void **stack);
	void (*free_stack)(void *stack);
	void *enumerate_gpus, *open_gpu, *close_gpu;
	void (*op)(void *stack, void *request);
	void *set_callbacks;
};

struct rm_request {
	u32 op;
	struct nv_control control __aligned(8);
};

static int alloc_stack(void **stack)
{
	*stack = NULL;
	return 0;
}

static void free_stack(void *stack)
{
}

static void op(void *stack, void *arg)
{
	struct rm_request *request = arg;
	struct nv_control *c = &request->control;

	if (request->op != 0x36) /* a control */
		return;
	c->status = rm_control(NULL, c->client, c->object, c->cmd, (void *)(uintptr_t)c->params,
			       c->params_size);
}

u32 nvidia_get_rm_ops(struct rm_ops *ops);
u32 nvidia_get_rm_ops(struct rm_ops *ops)
{
	if (strcmp(ops->version, STANDIN_VERSION)) {
		ops->version = STANDIN_VERSION;
		return 0xffff;
	}
	*ops = (struct rm_ops){
		.version = STANDIN_VERSION,
		.alloc_stack = alloc_stack,
		.free_stack = free_stack,
		.op = op,
	};
	return NV_OK;
}
EXPORT_SYMBOL_GPL(nvidia_get_rm_ops);
