/* SPDX-License-Identifier: MIT */
/*
 * rm_memory.c - manages a GPU's memory, and memory without a GPU (NV01_MEMORY_DEVICELESS)
 *
 * A GPU's memory is only counted: the stand-in libcuda keeps the contents in host memory.
 *
 * Deviceless memory exists to be mapped. With the real driver, a client maps a new open file of
 * /dev/nvidiactl. That is impossible here, since all opens of a FUSE file share one page cache. So
 * the client passes a memfd instead, and maps it. The client may write anything there: RM keeps a
 * private copy, and reads nothing back.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "rm/branches.h"
#include "sim/rm_memory.h"
#include "sim/rm_object.h"

#define MAX_SIZE (16u << 20)      /* limit of one piece */
#define MAX_SIZE_ALL (256u << 20) /* limit of all processes together */
#define USER_READ_ONLY (1u << 22)

struct sim_memory {
	size_t size;
	bool user_read_only;
	uint8_t *own;
	uint8_t *shared; /* the client's memfd; NULL: not mapped */
	size_t shared_size;
};

/* A piece of a GPU's memory, to which several handles may refer. */
struct sim_piece {
	uint64_t bytes;
	/* NULL: the owner's handle is freed, and other handles remain */
	const struct sim_object *owner;
	unsigned int refs;
};

/* Allocates memory of a GPU. Without parameters its size is 0. */
uint32_t sim_memory_local_alloc(struct sim_rm *rm, struct sim_object *o, uint64_t params,
				const struct sim_caller *c)
{
	const struct sim_fault *fault = NULL;
	uint64_t size = 0;
	uint32_t attr = 0;

	if (params && (c->read(c, params + SIM_MEMORY_SIZE_AT, &size, sizeof(size)) ||
		       c->read(c, params + SIM_MEMORY_ATTR_AT, &attr, sizeof(attr))))
		return SIM_NV_INVALID_ADDRESS;
	/*
	 * libcuda never asks for noncontiguous memory, so only gpusched's placeholders meet
	 * faults
	 */
	if (attr & SIM_MEMORY_NONCONTIGUOUS)
		fault = sim_fault_meet(rm->config.faults, SIM_CLASS_MEM_LOCAL, NULL);
	if (fault)
		return fault->status;
	if (size > SIM_GPU_MEMORY - rm->gpu_bytes[o->gpu])
		return SIM_NV_NO_MEMORY;
	o->piece = calloc(1, sizeof(*o->piece));
	if (!o->piece)
		return SIM_NV_NO_MEMORY;
	*o->piece = (struct sim_piece){ size, o, 1 };
	rm->gpu_bytes[o->gpu] += size;
	return SIM_NV_OK;
}

void sim_memory_local_free(struct sim_rm *rm, struct sim_object *o)
{
	struct sim_piece *p = o->piece;

	o->piece = NULL;
	if (!p)
		return;
	if (p->owner == o)
		p->owner = NULL;
	if (--p->refs)
		return;
	rm->gpu_bytes[o->gpu] -= p->bytes;
	free(p);
}

void sim_memory_local_dup(struct sim_object *o, const struct sim_object *src)
{
	o->piece = src->piece;
	if (!o->piece)
		return;
	o->gpu = src->gpu;
	o->piece->refs++;
}

uint64_t sim_memory_local_bytes(const struct sim_object *o, enum sim_share *ret)
{
	const struct sim_piece *p = o->piece;

	*ret = !p || p->refs == 1 ? SIM_SHARE_NONE
	       : p->owner == o    ? SIM_SHARE_OWN
				  : SIM_SHARE_OTHERS;
	return p ? p->bytes : 0;
}

uint32_t sim_memory_alloc(struct sim_rm *rm, struct sim_object *o, uint64_t params,
			  const struct sim_caller *c)
{
	uint32_t p[SIM_MEMORY_PARAMS_MAX / 4];
	size_t n = nv_branch(rm->config.branch)->memory;
	uint64_t size;
	struct sim_memory *m;

	if (!params)
		return SIM_NV_INVALID_ARGUMENT;
	if (c->read(c, params, p, n))
		return SIM_NV_INVALID_ADDRESS;
	memcpy(&size, (uint8_t *)p + SIM_MEMORY_SIZE_AT, sizeof(size));
	if (!size)
		return SIM_NV_INVALID_ARGUMENT;
	if (size > MAX_SIZE || rm->memory_bytes > MAX_SIZE_ALL - size)
		return SIM_NV_NO_MEMORY;
	m = calloc(1, sizeof(*m));
	if (m)
		m->own = calloc(1, size);
	if (!m || !m->own) {
		free(m);
		return SIM_NV_NO_MEMORY;
	}
	m->size = size;
	m->user_read_only = p[SIM_MEMORY_ATTR2_AT / 4] & USER_READ_ONLY;
	rm->memory_bytes += size;
	o->memory = m;
	return SIM_NV_OK;
}

static void unmap(struct sim_memory *m)
{
	if (m->shared)
		munmap(m->shared, m->shared_size);
	m->shared = NULL;
}

void sim_memory_free(struct sim_rm *rm, struct sim_object *o)
{
	struct sim_memory *m = o->memory;

	o->memory = NULL;
	if (!m)
		return;
	unmap(m);
	rm->memory_bytes -= m->size;
	free(m->own);
	free(m);
}

uint32_t sim_memory_map(struct sim_object *o, const struct sim_os_map *os,
			const struct sim_caller *c)
{
	struct sim_memory *m = o->memory;
	void *at;
	int r;

	/*
	 * unlike all other calls, this one also checks the process: a borrowed file is not enough
	 */
	if (o->client->pid != c->tgid)
		return SIM_NV_INVALID_CLIENT;
	if (os->offset || !os->length || os->length > m->size)
		return SIM_NV_INVALID_ARGUMENT;
	if (m->shared)
		return SIM_NV_INVALID_STATE;
	r = c->map ? c->map(c, os->fd, os->length, &at) : -ENOTSUP;
	if (r < 0)
		return r == -ENOTSUP ? SIM_NV_NOT_SUPPORTED : SIM_NV_INVALID_ARGUMENT;
	m->shared = at;
	m->shared_size = os->length;
	memcpy(m->shared, m->own, m->shared_size);
	return SIM_NV_OK;
}

uint32_t sim_memory_unmap(struct sim_object *o)
{
	if (!o->memory->shared)
		return SIM_NV_INVALID_ARGUMENT;
	unmap(o->memory);
	return SIM_NV_OK;
}

size_t sim_memory_size(const struct sim_memory *m)
{
	return m->size;
}

bool sim_memory_user_read_only(const struct sim_memory *m)
{
	return m->user_read_only;
}

void sim_memory_write(struct sim_memory *m, size_t at, const void *from, size_t n)
{
	if (n > m->size || at > m->size - n)
		return;
	memcpy(m->own + at, from, n);
	if (m->shared && n <= m->shared_size && at <= m->shared_size - n)
		memcpy(m->shared + at, from, n);
}

void sim_memory_publish(struct sim_memory *m, size_t at, uint32_t value)
{
	if (m->size < sizeof(value) || at > m->size - sizeof(value) || at % sizeof(value))
		return;
	memcpy(m->own + at, &value, sizeof(value));
	if (m->shared && m->shared_size >= sizeof(value) && at <= m->shared_size - sizeof(value))
		__atomic_store_n((uint32_t *)(m->shared + at), value, __ATOMIC_RELEASE);
}
