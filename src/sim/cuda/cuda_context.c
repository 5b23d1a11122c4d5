/* SPDX-License-Identifier: MIT */
/*
 * cuda_context.c - makes contexts: a compute TSG with 8 channels, three copy TSGs with 4 each
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "rm/branches.h"
#include "sim/cuda/cuda_priv.h"
#include "sim/cuda/cuda_rm.h"
#include "sim/cuda/cuda_ring.h"
#include "sim/rm_abi.h"

#define OWN_TIMESLICE_US 2048 /* the timeslice that CUDA gives every compute TSG */
#define MODE_CILP 2u

/* ---- making one ----------------------------------------------------------------------------- */

int cu_channel_make(struct tsg *t, struct channel *ch, bool work)
{
	uint8_t p[SIM_CHANNEL_PARAMS_MAX] = { 0 };
	uint32_t entries = 1024, size = nv_branch(cu.branch)->channel, token = 0;
	uint32_t cls = t->engine == 1 ? SIM_CLASS_COMPUTE : SIM_CLASS_DMA_COPY;

	ch->handle = cu_rm_handle();
	memcpy(p + 16, &entries, sizeof(entries));
	memcpy(p + SIM_CHANNEL_ENGINE_AT, &t->engine, sizeof(t->engine));
	if (cu_rm_alloc(t->handle, ch->handle, SIM_CLASS_CHANNEL, p, size) ||
	    cu_rm_alloc(ch->handle, cu_rm_handle(), cls, NULL, 0) ||
	    cu_rm_control(ch->handle, SIM_CTRL_CHANNEL_TOKEN, &token, sizeof(token)))
		return -1;
	if (work && cu_slot_get(ch))
		return -1;
	t->n++;
	return 0;
}

/*
 * Makes a TSG. @again: after a restore, its channels keep their ring slots, which count completed
 * work.
 */
static int make_tsg(CUcontext ctx, struct tsg *t, uint32_t engine, unsigned int channels,
		    bool again)
{
	uint8_t p[SIM_TSG_PARAMS_SIZE] = { 0 }, schedule[3] = { 1 };

	t->handle = cu_rm_handle();
	t->engine = engine;
	t->n = 0;
	memcpy(p + 8, &ctx->h_vaspace, sizeof(ctx->h_vaspace));
	memcpy(p + SIM_TSG_ENGINE_AT, &engine, sizeof(engine));
	if (cu_rm_alloc(ctx->h_device, t->handle, SIM_CLASS_TSG, p, sizeof(p)))
		return -1;
	if (engine == 1 && cu_rm_alloc(t->handle, cu_rm_handle(), SIM_CLASS_CTXSHARE, NULL, 0))
		return -1;
	for (unsigned int i = 0; i < channels; i++)
		if (cu_channel_make(t, &t->ch[i],
				    !again && (engine == 1 || (i == 0 && cu.mps < 0))))
			return -1;
	return cu_rm_control(t->handle, SIM_CTRL_TSG_SCHEDULE, schedule,
			     nv_branch(cu.branch)->schedule);
}

static void put_slots(CUcontext ctx)
{
	for (unsigned int i = 0; i < ctx->gr.n; i++)
		cu_slot_put(&ctx->gr.ch[i]);
	for (int k = 0; k < COPY_TSGS; k++)
		if (ctx->copy[k].n && cu.mps < 0)
			cu_slot_put(&ctx->copy[k].ch[0]);
}

static int open_device(struct cu_device *d)
{
	char path[32];

	if (d->fd >= 0)
		return 0;
	snprintf(path, sizeof(path), "/dev/nvidia%d", d->minor);
	d->fd = cu_rm_open(path);
	if (d->fd < 0)
		return -1;
	ioctl(d->fd, _IOWR(SIM_IOC_MAGIC, SIM_ESC_REGISTER_FD, int), &cu.ctl);
	return 0;
}

/*
 * Chooses the MIG instance that $GPUSCHED_SIM_MIG names: "2", or "2/1" for compute instance 1 of
 * GPU instance 2.
 */
static int choose_instance(CUcontext ctx)
{
	const char *text = getenv("GPUSCHED_SIM_MIG");
	uint32_t gi[4] = { 0 }, ci[4] = { 0 }, handle = cu_rm_handle();
	char *end;

	if (!text || !*text)
		return 0;
	gi[2] = (uint32_t)strtoul(text, &end, 10);
	if (*end == '/')
		ci[2] = (uint32_t)strtoul(end + 1, NULL, 10);
	if (cu_rm_alloc(ctx->h_subdevice, handle, SIM_CLASS_MIG_GPU_INSTANCE, gi, sizeof(gi)))
		return -1;
	return cu_rm_alloc(handle, cu_rm_handle(), SIM_CLASS_MIG_COMPUTE_INSTANCE, ci, sizeof(ci));
}

/*
 * Makes the TSGs in the real library's order. Last, sets CUDA's own timeslice; the context also
 * works if RM refuses that.
 */
static int make_tsgs(CUcontext ctx, bool again)
{
	struct sim_ctrl_mode mode = { .flags = 1, .cilp = MODE_CILP };
	uint64_t slice = OWN_TIMESLICE_US;

	if (cu.mps >= 0 ? cu_mps_channels(ctx->dev, &ctx->gr)
			: make_tsg(ctx, &ctx->gr, 1, GR_CHANNELS, again))
		return -1;
	for (int i = 0; i < COPY_TSGS; i++)
		if (make_tsg(ctx, &ctx->copy[i], cu.facts.copy_engine[i], COPY_CHANNELS, again))
			return -1;
	if (cu.mps >= 0)
		return 0;
	mode.channel = ctx->gr.ch[0].handle;
	cu_rm_control(ctx->h_subdevice, SIM_CTRL_SUB_PREEMPTION_MODE, &mode, sizeof(mode));
	cu_rm_control(ctx->gr.handle, SIM_CTRL_TSG_SET_TIMESLICE, &slice, sizeof(slice));
	return 0;
}

static int make_vaspace(CUcontext ctx)
{
	ctx->h_vaspace = cu_rm_handle();
	return cu_rm_alloc(ctx->h_device, ctx->h_vaspace, SIM_CLASS_VASPACE, NULL, 0);
}

static int make_objects(CUcontext ctx)
{
	uint32_t dev[SIM_DEVICE_PARAMS_SIZE / 4] = { ctx->dev->instance }, sub = 0;

	ctx->h_device = cu_rm_handle();
	ctx->h_subdevice = cu_rm_handle();
	if (cu_rm_alloc(cu.client, ctx->h_device, SIM_CLASS_DEVICE, dev, sizeof(dev)) ||
	    cu_rm_alloc(ctx->h_device, ctx->h_subdevice, SIM_CLASS_SUBDEVICE, &sub, sizeof(sub)) ||
	    choose_instance(ctx) || make_vaspace(ctx) ||
	    cu_rm_alloc(ctx->h_subdevice, cu_rm_handle(), SIM_CLASS_USERMODE, NULL, 0))
		return -1;
	return make_tsgs(ctx, false);
}

static CUresult context_new(unsigned int flags, CUdevice d, CUcontext *ret)
{
	CUcontext ctx;

	if (!cu.up)
		return CUDA_ERROR_NOT_INITIALIZED;
	if (d < 0 || d >= cu.ndev)
		return CUDA_ERROR_INVALID_DEVICE;
	ctx = calloc(1, sizeof(*ctx));
	if (!ctx)
		return CUDA_ERROR_OUT_OF_MEMORY;
	ctx->dev = &cu.dev[d];
	ctx->flags = flags;
	ctx->null_stream = calloc(1, sizeof(*ctx->null_stream));
	pthread_mutex_lock(&cu.lock);
	if (!ctx->null_stream || open_device(ctx->dev) || make_objects(ctx)) {
		put_slots(ctx);
		if (ctx->h_device)
			cu_rm_free(cu.client, ctx->h_device);
		pthread_mutex_unlock(&cu.lock);
		free(ctx->null_stream);
		free(ctx);
		return CUDA_ERROR_UNKNOWN;
	}
	ctx->next = cu.contexts;
	cu.contexts = ctx;
	pthread_mutex_unlock(&cu.lock);
	ctx->null_stream->ctx = ctx;
	ctx->null_stream->ch = &ctx->gr.ch[0];
	*ret = ctx;
	return CUDA_SUCCESS;
}

static void context_free(CUcontext ctx)
{
	CUcontext *at = &cu.contexts;

	pthread_mutex_lock(&cu.lock);
	while (*at && *at != ctx)
		at = &(*at)->next;
	if (*at)
		*at = ctx->next;
	if (cu.mps >= 0)
		cu_mps_put(&ctx->gr);
	cu_rm_free(cu.client, ctx->h_device);
	put_slots(ctx);
	pthread_mutex_unlock(&cu.lock);
	while (ctx->streams) {
		struct cu_stream *s = ctx->streams;

		ctx->streams = s->next;
		cu_stream_free(s);
	}
	free(ctx->null_stream);
	free(ctx);
}

/* ---- checkpoints ---------------------------------------------------------------------------- */

static bool is_done(const struct tsg *t, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		if (!cu_is_done(&t->ch[i], t->ch[i].submitted))
			return false;
	return true;
}

bool cu_contexts_done(void)
{
	for (CUcontext ctx = cu.contexts; ctx; ctx = ctx->next) {
		if (!is_done(&ctx->gr, ctx->gr.n))
			return false;
		for (int k = 0; k < COPY_TSGS; k++)
			if (!is_done(&ctx->copy[k], 1))
				return false;
	}
	return true;
}

/* Frees the TSGs of all contexts by freeing their address spaces: no call frees them one by one. */
void cu_contexts_out(void)
{
	for (CUcontext ctx = cu.contexts; ctx; ctx = ctx->next)
		cu_rm_free(ctx->h_device, ctx->h_vaspace);
}

int cu_contexts_in(void)
{
	for (CUcontext ctx = cu.contexts; ctx; ctx = ctx->next)
		if (make_vaspace(ctx) || make_tsgs(ctx, true))
			return -1;
	return 0;
}

/* ---- waiting -------------------------------------------------------------------------------- */

static CUresult context_wait(CUcontext ctx)
{
	CUresult r = CUDA_SUCCESS;

	for (unsigned int i = 0; i < ctx->gr.n && !r; i++)
		r = cu_wait(&ctx->gr.ch[i], ctx->gr.ch[i].submitted);
	for (int k = 0; k < COPY_TSGS && !r && cu.mps < 0; k++)
		r = cu_wait(&ctx->copy[k].ch[0], ctx->copy[k].ch[0].submitted);
	return r;
}

/* ---- API ------------------------------------------------------------------------------------- */

API CUresult cuCtxGetDevice(CUdevice *ret)
{
	CUcontext ctx = cu_current();

	if (!ctx)
		return CUDA_ERROR_INVALID_CONTEXT;
	*ret = (CUdevice)(ctx->dev - cu.dev);
	return CUDA_SUCCESS;
}

API CUresult cuCtxCreate_v2(CUcontext *ret, unsigned int flags, CUdevice d)
{
	CUcontext ctx;
	CUresult r = context_new(flags, d, &ctx);

	if (r)
		return r;
	r = cuCtxPushCurrent_v2(ctx);
	if (r)
		context_free(ctx);
	else
		*ret = ctx;
	return r;
}

/* The two later forms of this call have more parameters, which are ignored here. */
API CUresult cuCtxCreate_v3(CUcontext *ret, void *params, int n, unsigned int flags, CUdevice d)
{
	return cuCtxCreate_v2(ret, flags, d);
}

API CUresult cuCtxCreate_v4(CUcontext *ret, void *params, unsigned int flags, CUdevice d)
{
	return cuCtxCreate_v2(ret, flags, d);
}

API CUresult cuCtxDestroy_v2(CUcontext ctx)
{
	if (!ctx)
		return CUDA_ERROR_INVALID_CONTEXT;
	if (cu_current() == ctx)
		cuCtxPopCurrent_v2(NULL);
	context_free(ctx);
	return CUDA_SUCCESS;
}

API CUresult cuCtxSynchronize(void)
{
	CUcontext ctx = cu_current();

	return ctx ? context_wait(ctx) : CUDA_ERROR_INVALID_CONTEXT;
}

API CUresult cuCtxGetFlags(unsigned int *ret)
{
	CUcontext ctx = cu_current();

	if (!ctx)
		return CUDA_ERROR_INVALID_CONTEXT;
	*ret = ctx->flags;
	return CUDA_SUCCESS;
}

API CUresult cuCtxSetLimit(int limit, size_t value)
{
	return cu_current() ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

API CUresult cuCtxGetStreamPriorityRange(int *least, int *greatest)
{
	if (least)
		*least = 0;
	if (greatest)
		*greatest = -5;
	return CUDA_SUCCESS;
}

API CUresult cuCtxGetApiVersion(CUcontext ctx, unsigned int *ret)
{
	*ret = 3020;
	return CUDA_SUCCESS;
}

static pthread_mutex_t primary_lock = PTHREAD_MUTEX_INITIALIZER; /* take this lock before cu.lock */

API CUresult cuDevicePrimaryCtxRetain(CUcontext *ret, CUdevice d)
{
	CUresult r = CUDA_SUCCESS;
	struct cu_device *dev;

	if (d < 0 || d >= cu.ndev)
		return CUDA_ERROR_INVALID_DEVICE;
	dev = &cu.dev[d];
	pthread_mutex_lock(&primary_lock);
	if (!dev->primary)
		r = context_new(dev->primary_flags, d, &dev->primary);
	if (!r) {
		dev->primary_refs++;
		*ret = dev->primary;
	}
	pthread_mutex_unlock(&primary_lock);
	return r;
}

API CUresult cuDevicePrimaryCtxRelease_v2(CUdevice d)
{
	CUresult r = CUDA_SUCCESS;

	if (d < 0 || d >= cu.ndev)
		return CUDA_ERROR_INVALID_DEVICE;
	pthread_mutex_lock(&primary_lock);
	if (!cu.dev[d].primary_refs) {
		r = CUDA_ERROR_INVALID_DEVICE;
	} else if (--cu.dev[d].primary_refs == 0) {
		cuCtxDestroy_v2(cu.dev[d].primary);
		cu.dev[d].primary = NULL;
	}
	pthread_mutex_unlock(&primary_lock);
	return r;
}

API CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice d, unsigned int flags)
{
	if (d < 0 || d >= cu.ndev)
		return CUDA_ERROR_INVALID_DEVICE;
	cu.dev[d].primary_flags = flags;
	return CUDA_SUCCESS;
}

API CUresult cuDevicePrimaryCtxGetState(CUdevice d, unsigned int *flags, int *active)
{
	if (d < 0 || d >= cu.ndev)
		return CUDA_ERROR_INVALID_DEVICE;
	*flags = cu.dev[d].primary_flags;
	*active = cu.dev[d].primary != NULL;
	return CUDA_SUCCESS;
}
