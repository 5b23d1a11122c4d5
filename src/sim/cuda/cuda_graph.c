/* SPDX-License-Identifier: MIT */
/*
 * cuda_graph.c - simulates graphs of kernels: captured from a stream, or built node by node
 *
 * A graph is a list of kernels. They run in the order in which they were captured or added, which
 * satisfies any dependencies. Captures of anything else (copies, events, other streams) are
 * refused, and end the capture as in the real library.
 */
#include <stdlib.h>
#include <string.h>

#include "basic/grow.h"
#include "sim/cuda/cuda_priv.h"

#define MAX_CAPTURE_MODE 2u
#define MAX_NODES (1u << 20)

/*
 * A CUgraph; a CUgraphExec is a copy of a CUgraph. A node's handle is its kernel's number, from 1.
 */
struct cu_graph {
	CUcontext ctx; /* context of its kernels */
	size_t n, room;
	struct sim_ring_entry *entry;
	bool invalid; /* the capture has failed */
};

typedef struct cu_graph *CUgraphExec;
typedef struct cu_node *CUgraphNode;

/* CUDA_KERNEL_NODE_PARAMS. Its second version appends two members, which are ignored. */
struct kernel_node {
	CUfunction f;
	unsigned int gx, gy, gz, bx, by, bz, shared;
	void **params, **extra;
};

static CUresult add(struct cu_graph *g, CUcontext ctx, const struct sim_ring_entry *e)
{
	if (g->n && g->ctx != ctx)
		return CUDA_ERROR_INVALID_CONTEXT;
	if (g->n == MAX_NODES || GS_GROW(g->entry, g->room, g->n + 1))
		return CUDA_ERROR_OUT_OF_MEMORY;
	g->ctx = ctx;
	g->entry[g->n++] = *e;
	return CUDA_SUCCESS;
}

void cu_graph_free(struct cu_graph *g)
{
	if (g)
		free(g->entry);
	free(g);
}

/* ---- capture --------------------------------------------------------------------------------- */

CUresult cu_capture(struct cu_stream *s, const struct sim_ring_entry *e, size_t n)
{
	CUresult r = CUDA_SUCCESS;

	pthread_mutex_lock(&cu.lock);
	if (s->capture->invalid)
		r = CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
	for (size_t i = 0; i < n && !r; i++)
		r = add(s->capture, s->ctx, &e[i]);
	if (r)
		s->capture->invalid = true;
	pthread_mutex_unlock(&cu.lock);
	return r;
}

CUresult cu_not_captured(struct cu_stream *s)
{
	if (!s || !s->capture)
		return CUDA_SUCCESS;
	s->capture->invalid = true;
	return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
}

API CUresult cuStreamBeginCapture_v2(CUstream s, unsigned int mode)
{
	if (mode > MAX_CAPTURE_MODE)
		return CUDA_ERROR_INVALID_VALUE;
	if ((uintptr_t)s <= 2) /* this is a default stream */
		return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
	if (s->capture)
		return CUDA_ERROR_ILLEGAL_STATE;
	s->capture = calloc(1, sizeof(*s->capture));
	return s->capture ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

API CUresult cuStreamBeginCapture_v2_ptsz(CUstream s, unsigned int mode)
{
	return cuStreamBeginCapture_v2(s, mode);
}

API CUresult cuStreamEndCapture(CUstream s, struct cu_graph **ret)
{
	if (!ret)
		return CUDA_ERROR_INVALID_VALUE;
	*ret = NULL;
	if ((uintptr_t)s <= 2 || !s->capture)
		return CUDA_ERROR_ILLEGAL_STATE;
	if (s->capture->invalid)
		cu_graph_free(s->capture);
	else
		*ret = s->capture;
	s->capture = NULL;
	return *ret ? CUDA_SUCCESS : CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
}

API CUresult cuStreamEndCapture_ptsz(CUstream s, struct cu_graph **ret)
{
	return cuStreamEndCapture(s, ret);
}

API CUresult cuStreamIsCapturing(CUstream stream, int *ret)
{
	struct cu_stream *s = cu_stream_of(stream);

	if (!s)
		return CUDA_ERROR_INVALID_CONTEXT;
	*ret = !s->capture ? 0 : s->capture->invalid ? 2 : 1;
	return CUDA_SUCCESS;
}

API CUresult cuStreamIsCapturing_ptsz(CUstream s, int *ret)
{
	return cuStreamIsCapturing(s, ret);
}

/* ---- building -------------------------------------------------------------------------------- */

API CUresult cuGraphCreate(struct cu_graph **ret, unsigned int flags)
{
	struct cu_graph *g;

	if (!cu.up)
		return CUDA_ERROR_NOT_INITIALIZED;
	if (!ret || flags)
		return CUDA_ERROR_INVALID_VALUE;
	g = calloc(1, sizeof(*g));
	if (!g)
		return CUDA_ERROR_OUT_OF_MEMORY;
	*ret = g;
	return CUDA_SUCCESS;
}

API CUresult cuGraphAddKernelNode_v2(CUgraphNode *ret, struct cu_graph *g, const CUgraphNode *after,
				     size_t n_after, const struct kernel_node *p)
{
	struct sim_ring_entry e;
	CUresult r;

	if (!ret || !g || !p || (n_after && !after))
		return CUDA_ERROR_INVALID_VALUE;
	if (!cu_current())
		return CUDA_ERROR_INVALID_CONTEXT;
	for (size_t i = 0; i < n_after; i++)
		if (!after[i] || (uintptr_t)after[i] > g->n)
			return CUDA_ERROR_INVALID_VALUE;
	r = cu_kernel(p->f, (uint64_t)p->gx * p->gy * p->gz, (uint64_t)p->bx * p->by * p->bz,
		      p->params, &e);
	if (!r)
		r = add(g, cu_current(), &e);
	if (!r)
		*ret = (CUgraphNode)(uintptr_t)g->n;
	return r;
}

API CUresult cuGraphAddKernelNode(CUgraphNode *ret, struct cu_graph *g, const CUgraphNode *after,
				  size_t n_after, const struct kernel_node *p)
{
	return cuGraphAddKernelNode_v2(ret, g, after, n_after, p);
}

API CUresult cuGraphGetNodes(const struct cu_graph *g, CUgraphNode *nodes, size_t *n)
{
	if (!g || !n)
		return CUDA_ERROR_INVALID_VALUE;
	for (size_t i = 0; nodes && i < *n; i++)
		nodes[i] = (CUgraphNode)(uintptr_t)(i < g->n ? i + 1 : 0);
	if (!nodes || *n > g->n)
		*n = g->n;
	return CUDA_SUCCESS;
}

API CUresult cuGraphDestroy(struct cu_graph *g)
{
	cu_graph_free(g);
	return g ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* ---- running --------------------------------------------------------------------------------- */

API CUresult cuGraphInstantiateWithFlags(CUgraphExec *ret, const struct cu_graph *g, uint64_t flags)
{
	CUgraphExec exec;

	if (!ret || !g)
		return CUDA_ERROR_INVALID_VALUE;
	exec = calloc(1, sizeof(*exec));
	if (!exec)
		return CUDA_ERROR_OUT_OF_MEMORY;
	for (size_t i = 0; i < g->n; i++) {
		CUresult r = add(exec, g->ctx, &g->entry[i]);

		if (r) {
			cu_graph_free(exec);
			return r;
		}
	}
	*ret = exec;
	return CUDA_SUCCESS;
}

/* The name of this function in programs that were built for CUDA 11. */
API CUresult cuGraphInstantiate_v2(CUgraphExec *ret, const struct cu_graph *g, CUgraphNode *bad,
				   char *log, size_t size)
{
	return cuGraphInstantiateWithFlags(ret, g, 0);
}

API CUresult cuGraphInstantiate(CUgraphExec *ret, const struct cu_graph *g, CUgraphNode *bad,
				char *log, size_t size)
{
	return cuGraphInstantiateWithFlags(ret, g, 0);
}

API CUresult cuGraphExecDestroy(CUgraphExec exec)
{
	return cuGraphDestroy(exec);
}

__attribute__((visibility("hidden"), used)) CUresult cuGraphLaunch_body(CUgraphExec exec,
									CUstream stream)
{
	struct cu_stream *s = cu_stream_of(stream);

	if (!s)
		return CUDA_ERROR_INVALID_CONTEXT;
	if (!exec)
		return CUDA_ERROR_INVALID_VALUE;
	if (exec->n && exec->ctx != s->ctx)
		return CUDA_ERROR_INVALID_CONTEXT;
	return cu_launch(s, exec->entry, exec->n);
}
PROBED(cuGraphLaunch);
PROBED_AS(cuGraphLaunch_ptsz, cuGraphLaunch);
