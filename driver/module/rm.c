// SPDX-License-Identifier: GPL-2.0-only
#include "rm.h"

#include <linux/module.h>

#include "gpusched_hook.h"
#include "rm/abi.h"

/* ---- the handshake --------------------------------------------------------------------------- */

/*
 * Filled in by nvidia_get_rm_ops(). Branches 515 to 595 agree on the fields up to @op. After @op,
 * the driver's struct has a different size in each branch; @room has space for what the driver
 * writes there.
 */
struct rm_ops {
	const char *version;
	u8 write_combining;
	/* sets *stack to NULL if no stack is needed, which is valid */
	int (*alloc_stack)(void **stack);
	void (*free_stack)(void *stack);
	void *enumerate_gpus, *open_gpu, *close_gpu;
	void (*op)(void *stack, void *request);
	void *room[32];
};

struct rm_request {
	u32 op, pad;
	struct nv_control control;
	u64 room[16]; /* space, since the driver's union of requests is larger */
};
#define RM_OP_CONTROL 0x36u

u32 nvidia_get_rm_ops(void *ops);

static struct rm_ops rm;
static bool by_hooks;     /* true: the entry was found by the name that the hooks export */
static bool leaves;       /* true: a suspension need not wait until the TSG has left */
static u64 calls, failed; /* statistics; only the worker writes them */

int rm_attach(void)
{
	u32 (*get)(void *ops) = symbol_get(nvidia_gpusched_rm_ops);
	unsigned int branch;

	by_hooks = get;
	if (!get)
		get = symbol_get(nvidia_get_rm_ops);
	if (!get) {
		pr_err("gpusched: no module nvidia that exports nvidia_get_rm_ops to GPL modules "
		       "(load it first; branch 565 or later, or with hooks)\n");
		return -ENODEV;
	}
	/* If the caller names a wrong version, the driver answers with its own. */
	rm.version = "";
	if (get(&rm))
		get(&rm);
	if (!rm.op || !rm.alloc_stack || !rm.free_stack) {
		pr_err("gpusched: nvidia_get_rm_ops did not agree to its own version\n");
		rm_detach();
		return -ENODEV;
	}
	branch = simple_strtoul(rm.version, NULL, 10);
	leaves = nv_branch(branch)->branch == branch && nv_branch(branch)->witness == NV_GPU;
	return 0;
}

void rm_detach(void)
{
	if (by_hooks)
		symbol_put(nvidia_gpusched_rm_ops);
	else
		symbol_put(nvidia_get_rm_ops);
}

const char *rm_version(void)
{
	return rm.version;
}

void rm_count(u64 *ret_calls, u64 *ret_failed)
{
	*ret_calls = READ_ONCE(calls);
	*ret_failed = READ_ONCE(failed);
}

/* INSUFFICIENT_PERMISSIONS, INVALID_COMMAND, NOT_SUPPORTED */
static bool refuses_preempt(u32 status)
{
	return status == 0x1b || status == 0x24 || status == 0x56;
}

/* ---- calls ----------------------------------------------------------------------------------- */

enum rm_command {
	RM_GET_TIMESLICE,
	RM_SET_TIMESLICE,
	RM_SET_INTERLEAVE,
	RM_SET_PREEMPT_MODE,
	RM_PREEMPT,
	RM_DISABLE_CHANNELS,
	RM_COMMANDS
};

/* All controls that this module may send to RM. */
static const struct {
	u32 cmd, size;
} commands[RM_COMMANDS] = {
	[RM_GET_TIMESLICE] = { NV_CMD_GET_TIMESLICE, sizeof(u64) },
	[RM_SET_TIMESLICE] = { NV_CMD_SET_TIMESLICE, sizeof(u64) },
	[RM_SET_INTERLEAVE] = { NV_CMD_SET_INTERLEAVE, sizeof(u32) },
	[RM_SET_PREEMPT_MODE] = { NV_CMD_SET_PREEMPT_MODE, sizeof(struct nv_preempt_mode) },
	[RM_PREEMPT] = { NV_CMD_PREEMPT, sizeof(struct nv_preempt) },
	[RM_DISABLE_CHANNELS] = { NV_CMD_DISABLE_CHANNELS, sizeof(struct nv_disable_channels) },
};

static int control(enum rm_command command, u32 client, u32 object, void *params, u32 *ret_status)
{
	struct rm_request request = { .op = RM_OP_CONTROL };
	void *stack = NULL;

	request.control = (struct nv_control){
		.client = client,
		.object = object,
		.cmd = commands[command].cmd,
		.params = (uintptr_t)params,
		.params_size = commands[command].size,
		.status = 0xffff, /* a generic error, in case RM does not write a status */
	};
	if (rm.alloc_stack(&stack))
		return -ENOMEM;
	rm.op(stack, &request);
	rm.free_stack(stack);
	*ret_status = request.control.status;
	WRITE_ONCE(calls, calls + 1);
	if (!request.control.status)
		return 0;
	WRITE_ONCE(failed, failed + 1);
	return -EREMOTEIO;
}

int rm_get_timeslice(const struct rm_target *at, u32 *ret_us, u32 *ret_status)
{
	u64 us = 0;
	int r = control(RM_GET_TIMESLICE, at->client, at->tsg, &us, ret_status);

	if (!r)
		*ret_us = min_t(u64, us, U32_MAX);
	return r;
}

int rm_preempt(const struct rm_target *at, u32 timeout_us, u32 *ret_status)
{
	struct nv_preempt p = { .wait = 1, .manual_timeout = 1, .timeout_us = timeout_us };

	return control(RM_PREEMPT, at->client, at->tsg, &p, ret_status);
}

/* How channels are enabled or disabled. */
enum way {
	ENABLE,
	DISABLE,      /* waits until the TSG has left the GPU, with the locks of all GPUs */
	DISABLE_ONLY, /* does not wait: a preempt has to follow */
};

/*
 * Enables or disables @n channels of the TSG, starting at @from. RM does not check these handles,
 * so pass only handles of the TSG's own channels.
 */
static int enable_some(const struct rm_target *at, u32 from, u32 n, enum way way, u32 *ret_status)
{
	struct nv_disable_channels d = {
		.disable = way != ENABLE,
		.n = n,
		.only_scheduling = way == DISABLE_ONLY,
	};

	for (u32 i = 0; i < n; i++) {
		d.clients[i] = at->client;
		d.channels[i] = at->channels[from + i];
	}
	return control(RM_DISABLE_CHANNELS, at->client, at->subdevice, &d, ret_status);
}

static int enable_channels(const struct rm_target *at, enum way way, u32 *ret_status)
{
	u32 done = 0, n, us, ignored;
	int r = rm_get_timeslice(at, &us, ret_status); /* checks that the TSG still exists */

	while (!r && done < at->nchannels) {
		n = min_t(u32, at->nchannels - done, NV_DISABLE_MAX);
		r = enable_some(at, done, n, way, ret_status);
		done += n;
	}
	if (!r && way == DISABLE_ONLY) {
		struct nv_preempt p = { 0 };

		r = control(RM_PREEMPT, at->client, at->tsg, &p, ret_status);
	}
	if (!r || way == ENABLE)
		return r;
	for (u32 from = 0; from < done; from += NV_DISABLE_MAX) {
		n = min_t(u32, done - from, NV_DISABLE_MAX);
		enable_some(at, from, n, ENABLE, &ignored);
	}
	return r;
}

/*
 * Where RM refuses the preempt, what is left is the suspension that waits: without it the TSG would
 * run on while it is alone.
 */
static int suspend(const struct rm_target *at, u32 *ret_status)
{
	int r = leaves ? enable_channels(at, DISABLE_ONLY, ret_status) : -EREMOTEIO;

	if (leaves && (!r || !refuses_preempt(*ret_status)))
		return r;
	return enable_channels(at, DISABLE, ret_status);
}

static int set_preempt_mode(const struct rm_target *at, u32 mode, u32 *ret_status)
{
	struct nv_preempt_mode p = {
		.flags = NV_PREEMPT_FLAG_COMPUTE,
		.channel = at->channels[0],
		.compute = mode,
	};

	return control(RM_SET_PREEMPT_MODE, at->client, at->subdevice, &p, ret_status);
}

int rm_set(const struct rm_target *at, u32 bit, u32 value, u32 *ret_status)
{
	u64 us = value;

	switch (bit) {
	case GPUSCHED_TIMESLICE:
		return control(RM_SET_TIMESLICE, at->client, at->tsg, &us, ret_status);
	case GPUSCHED_INTERLEAVE:
		return control(RM_SET_INTERLEAVE, at->client, at->tsg, &value, ret_status);
	case GPUSCHED_PREEMPT_MODE:
		return set_preempt_mode(at, value, ret_status);
	default:
		return value ? enable_channels(at, ENABLE, ret_status) : suspend(at, ret_status);
	}
}

bool rm_refuses(const struct rm_target *at, u32 bit, u32 status)
{
	if (bit == GPUSCHED_RUNNABLE && at->nchannels > NV_DISABLE_MAX)
		return false;
	/* INSUFFICIENT_PERMISSIONS, INVALID_CLIENT, INVALID_COMMAND, NOT_SUPPORTED */
	return status == 0x1b || status == 0x23 || status == 0x24 ||
	       (status == 0x56 && bit != GPUSCHED_INTERLEAVE);
}

bool rm_gone(u32 status)
{
	/* INVALID_CLIENT, INVALID_OBJECT, INVALID_OBJECT_HANDLE, OBJECT_NOT_FOUND */
	return status == 0x23 || status == 0x31 || status == 0x33 || status == 0x57;
}
