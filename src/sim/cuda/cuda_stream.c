/* SPDX-License-Identifier: MIT */
/*
 * cuda_stream.c - simulates streams, events and launches
 */
#include <stdlib.h>
#include <string.h>

#include "sim/cuda/cuda_priv.h"
#include "sim/cuda/cuda_ring.h"

#define NS_PER_ITERATION 36 /* on a full GPU, with 8 blocks of 256 threads on every SM */
#define PLAIN_NS 2000
#define BLOCK_THREADS 256 /* threads that take one block place of the model */
#define EVENT_DISABLE_TIMING 2u

/* ---- streams --------------------------------------------------------------------------------- */

API CUresult cuStreamCreateWithPriority(CUstream *ret, unsigned int flags, int priority)
{
	CUcontext ctx = cu_current();
	struct cu_stream *s;

	if (!ctx)
		return CUDA_ERROR_INVALID_CONTEXT;
	s = calloc(1, sizeof(*s));
	if (!s)
		return CUDA_ERROR_OUT_OF_MEMORY;
	s->ctx = ctx;
	s->priority = priority;
	s->flags = flags;
	pthread_mutex_lock(&cu.lock);
	s->ch = &ctx->gr.ch[1 + ctx->next_stream++ % (GR_CHANNELS - 1)];
	s->next = ctx->streams;
	ctx->streams = s;
	pthread_mutex_unlock(&cu.lock);
	*ret = s;
	return CUDA_SUCCESS;
}

API CUresult cuStreamCreate(CUstream *ret, unsigned int flags)
{
	return cuStreamCreateWithPriority(ret, flags, 0);
}

API CUresult cuStreamDestroy_v2(CUstream s)
{
	struct cu_stream **at;

	if ((uintptr_t)s <= 2)
		return CUDA_ERROR_INVALID_HANDLE;
	pthread_mutex_lock(&cu.lock);
	for (at = &s->ctx->streams; *at && *at != s; at = &(*at)->next)
		;
	if (*at)
		*at = s->next;
	pthread_mutex_unlock(&cu.lock);
	cu_stream_free(s);
	return CUDA_SUCCESS;
}

void cu_stream_free(struct cu_stream *s)
{
	if (s)
		cu_graph_free(s->capture);
	free(s);
}

API CUresult cuStreamGetPriority(CUstream stream, int *ret)
{
	struct cu_stream *s = cu_stream_of(stream);

	if (!s)
		return CUDA_ERROR_INVALID_CONTEXT;
	*ret = s->priority;
	return CUDA_SUCCESS;
}

API CUresult cuStreamSynchronize(CUstream stream)
{
	struct cu_stream *s = cu_stream_of(stream);
	CUresult r = cu_not_captured(s);

	if (!s)
		return CUDA_ERROR_INVALID_CONTEXT;
	return r ? r : cu_wait(s->ch, s->last);
}

API CUresult cuStreamQuery(CUstream stream)
{
	struct cu_stream *s = cu_stream_of(stream);
	CUresult r = cu_not_captured(s);

	if (!s)
		return CUDA_ERROR_INVALID_CONTEXT;
	if (r)
		return r;
	return cu_is_done(s->ch, s->last) ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

/* ---- events ---------------------------------------------------------------------------------- */

API CUresult cuEventCreate(CUevent *ret, unsigned int flags)
{
	CUevent ev;

	if (!cu_current())
		return CUDA_ERROR_INVALID_CONTEXT;
	ev = calloc(1, sizeof(*ev));
	if (!ev)
		return CUDA_ERROR_OUT_OF_MEMORY;
	ev->ctx = cu_current();
	ev->stamp = SIM_RING_NO_STAMP;
	pthread_mutex_lock(&cu.lock);
	for (uint32_t i = 0; !(flags & EVENT_DISABLE_TIMING) && i < SIM_RING_STAMPS; i++)
		if (!cu.stamp_used[i]) {
			cu.stamp_used[i] = true;
			ev->stamp = i;
			break;
		}
	pthread_mutex_unlock(&cu.lock);
	*ret = ev;
	return CUDA_SUCCESS;
}

API CUresult cuEventDestroy_v2(CUevent ev)
{
	if (!ev)
		return CUDA_ERROR_INVALID_HANDLE;
	pthread_mutex_lock(&cu.lock);
	if (ev->stamp != SIM_RING_NO_STAMP)
		cu.stamp_used[ev->stamp] = false;
	pthread_mutex_unlock(&cu.lock);
	free(ev);
	return CUDA_SUCCESS;
}

API CUresult cuEventRecord(CUevent ev, CUstream stream)
{
	struct cu_stream *s = cu_stream_of(stream);
	CUresult r = cu_not_captured(s);

	if (!ev || !s)
		return CUDA_ERROR_INVALID_HANDLE;
	if (r)
		return r;
	if (ev->stamp != SIM_RING_NO_STAMP) {
		struct sim_ring_entry e = { .kind = SIM_RING_MARK, .stamp = ev->stamp };

		r = cu_submit(s->ch, &e, 1, &s->last);
	}
	ev->ch = s->ch;
	ev->at = s->last;
	ev->recorded = !r;
	return r;
}

API CUresult cuEventQuery(CUevent ev)
{
	if (!ev)
		return CUDA_ERROR_INVALID_HANDLE;
	return !ev->recorded || cu_is_done(ev->ch, ev->at) ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

API CUresult cuEventSynchronize(CUevent ev)
{
	if (!ev)
		return CUDA_ERROR_INVALID_HANDLE;
	return ev->recorded ? cu_wait(ev->ch, ev->at) : CUDA_SUCCESS;
}

/* Uses the GPU's time stamps, which are in simulated time even if the clock is dilated. */
API CUresult cuEventElapsedTime(float *ret, CUevent a, CUevent b)
{
	if (!a || !b || !a->recorded || !b->recorded || a->stamp == SIM_RING_NO_STAMP ||
	    b->stamp == SIM_RING_NO_STAMP)
		return CUDA_ERROR_INVALID_HANDLE;
	if (!cu_is_done(a->ch, a->at) || !cu_is_done(b->ch, b->at))
		return CUDA_ERROR_NOT_READY;
	*ret = (float)((double)(int64_t)(cu.ring->stamp_ns[b->stamp] -
					 cu.ring->stamp_ns[a->stamp]) /
		       1e6);
	return CUDA_SUCCESS;
}

/* Waits in the calling thread, since the model has no semaphores between channels. */
API CUresult cuStreamWaitEvent(CUstream stream, CUevent ev, unsigned int flags)
{
	CUresult r = cu_not_captured(cu_stream_of(stream));

	return r ? r : cuEventSynchronize(ev);
}

/* ---- launches -------------------------------------------------------------------------------- */

static uint64_t param(const struct cu_function *f, void **params, int i)
{
	uint64_t v = 0;

	memcpy(&v, params[i], f->size[i]);
	return v;
}

static bool cost(const struct cu_function *f, void **params, struct sim_ring_entry *e)
{
	e->kind = SIM_RING_KERNEL;
	e->block_ns = PLAIN_NS;
	if (f->kind == KERNEL_PLAIN || f->kind == KERNEL_BAD)
		return true;
	if (!params)
		return false;
	if (f->kind == KERNEL_WORK) {
		int64_t n = (int32_t)param(f, params, f->iterations_at);

		e->block_ns = n > 0 ? (uint64_t)n * NS_PER_ITERATION : 1;
		return true;
	}
	e->kind = SIM_RING_HOLD;
	e->limit_ns = param(f, params, f->limit_at);
	if (f->limit_in_clocks)
		e->limit_ns = (uint64_t)((double)e->limit_ns * 1e6 / CLOCK_KHZ);
	return cu_host_offset(param(f, params, f->flag_at), &e->flag_at);
}

CUresult cu_kernel(const struct cu_function *f, uint64_t blocks, uint64_t threads, void **params,
		   struct sim_ring_entry *ret)
{
	*ret = (struct sim_ring_entry){ .stamp = SIM_RING_NO_STAMP };
	if (!f || !blocks || !threads || threads > 1024 || !cost(f, params, ret))
		return CUDA_ERROR_INVALID_VALUE;
	ret->blocks = blocks * ((threads + BLOCK_THREADS - 1) / BLOCK_THREADS);
	return CUDA_SUCCESS;
}

CUresult cu_launch(struct cu_stream *s, const struct sim_ring_entry *e, size_t n)
{
	if (s->capture)
		return cu_capture(s, e, n);
	return cu_submit(s->ch, e, n, &s->last);
}

static CUresult launch(CUfunction f, uint64_t blocks, uint64_t threads, CUstream stream,
		       void **params)
{
	struct cu_stream *s = cu_stream_of(stream);
	struct sim_ring_entry e;
	CUresult r;

	if (!s)
		return CUDA_ERROR_INVALID_CONTEXT;
	if (f && f->kind == KERNEL_BAD)
		return cu_mps_bad_access();
	r = cu_kernel(f, blocks, threads, params, &e);
	return r ? r : cu_launch(s, &e, 1);
}

__attribute__((visibility("hidden"), used)) CUresult
cuLaunchKernel_body(CUfunction f, unsigned int gx, unsigned int gy, unsigned int gz,
		    unsigned int bx, unsigned int by, unsigned int bz, unsigned int shared,
		    CUstream stream, void **params, void **extra)
{
	return launch(f, (uint64_t)gx * gy * gz, (uint64_t)bx * by * bz, stream, params);
}
PROBED(cuLaunchKernel);
PROBED_AS(cuLaunchKernel_ptsz, cuLaunchKernel);

__attribute__((visibility("hidden"), used)) CUresult
cuLaunchCooperativeKernel_body(CUfunction f, unsigned int gx, unsigned int gy, unsigned int gz,
			       unsigned int bx, unsigned int by, unsigned int bz,
			       unsigned int shared, CUstream stream, void **params)
{
	return launch(f, (uint64_t)gx * gy * gz, (uint64_t)bx * by * bz, stream, params);
}
PROBED(cuLaunchCooperativeKernel);
PROBED_AS(cuLaunchCooperativeKernel_ptsz, cuLaunchCooperativeKernel);

/* CUlaunchConfig: only the members that we use */
struct launch_config {
	unsigned int gx, gy, gz, bx, by, bz, shared;
	CUstream stream;
	void *attributes;
	unsigned int n;
};

__attribute__((visibility("hidden"), used)) CUresult
cuLaunchKernelEx_body(const struct launch_config *c, CUfunction f, void **params, void **extra)
{
	if (!c)
		return CUDA_ERROR_INVALID_VALUE;
	return launch(f, (uint64_t)c->gx * c->gy * c->gz, (uint64_t)c->bx * c->by * c->bz,
		      c->stream, params);
}
PROBED(cuLaunchKernelEx);
PROBED_AS(cuLaunchKernelEx_ptsz, cuLaunchKernelEx);
