// SPDX-License-Identifier: MIT
#include "rm/memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "rm/abi.h"

struct asker {
	int fd;
	uint32_t client, subdevice;
	uint32_t status; /* status of the last call */
};

static int control(struct asker *a, uint32_t cmd, void *params, uint32_t size)
{
	int r = gs_rm_call_control(a->fd, a->client, a->subdevice, cmd, params, size, &a->status);

	return r ? r : a->status ? -EREMOTEIO : 0;
}

static int alloc(struct asker *a, uint32_t parent, uint32_t class_, void *params, uint32_t size,
		 uint32_t *ret)
{
	int r = gs_rm_call_alloc(a->fd, a->client, parent, ret, class_, params, size, &a->status);

	return r ? r : a->status ? -EREMOTEIO : 0;
}

/* Makes an RM client with a device and a subdevice. Closing the file frees them. */
static int open_client(struct asker *a, const struct gs_gpu *gpu)
{
	struct nv_device_params dp = { .device = gpu->dev_instance };
	uint32_t device = 0, client = 0, sub = gpu->sub_instance;
	int r = alloc(a, 0, NV_CLASS_ROOT, NULL, 0, &client);

	a->client = client;
	if (!r)
		r = alloc(a, client, NV_CLASS_DEVICE, &dp, sizeof(dp), &device);
	if (!r)
		r = alloc(a, device, NV_CLASS_SUBDEVICE, &sub, sizeof(sub), &a->subdevice);
	return r;
}

static int read_sizes(struct asker *a, unsigned int branch, struct gs_rm_memory *m)
{
	struct nv_fb_info p = {
		.n = 3,
		.list = { { .index = NV_FB_RAM },
			  { .index = NV_FB_HEAP },
			  { .index = NV_FB_HEAP_FREE } },
	};
	int r = control(a, NV_CMD_FB_INFO, &p, nv_fb_info_size(branch));

	if (r)
		return r;
	m->total_bytes = (uint64_t)p.list[0].value << 10;
	m->heap_bytes = (uint64_t)p.list[1].value << 10;
	m->free_bytes = (uint64_t)p.list[2].value << 10;
	if (m->heap_bytes > m->total_bytes)
		m->heap_bytes = m->total_bytes;
	if (m->free_bytes > m->heap_bytes)
		m->free_bytes = m->heap_bytes;
	return 0;
}

static int by_number(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Sorts the pids and drops duplicates: in a pid namespace, RM may list a process twice. */
static uint32_t sort_out(uint32_t *pids, uint32_t n)
{
	uint32_t kept = 0;

	qsort(pids, n, sizeof(*pids), by_number);
	for (uint32_t i = 0; i < n; i++)
		if (pids[i] && (!kept || pids[i] != pids[kept - 1]))
			pids[kept++] = pids[i];
	return kept;
}

static void take(const struct nv_pid_infos *p, struct gs_rm_memory *m)
{
	for (uint32_t i = 0; i < p->n; i++) {
		const struct nv_pid_info *one = &p->list[i];
		const struct gs_rm_held held = {
			.pid = one->pid,
			.own_bytes = one->own + one->shared_own,
			.shared_bytes = one->shared_others,
		};

		if (!one->status && (held.own_bytes || held.shared_bytes))
			m->held[m->n++] = held;
	}
}

static int read_held(struct asker *a, struct gs_rm_memory *m)
{
	CLEANUP_FREE struct nv_pids *pids = calloc(1, sizeof(*pids));
	CLEANUP_FREE struct nv_pid_infos *p = calloc(1, sizeof(*p));
	uint32_t n;
	int r;

	if (!pids || !p)
		return -ENOMEM;
	pids->by = NV_PIDS_OF_CLASS;
	pids->id = NV_CLASS_SUBDEVICE;
	r = control(a, NV_CMD_PIDS, pids, sizeof(*pids));
	if (r)
		return r;
	m->cut = pids->n >= NV_PIDS_MAX;
	n = sort_out(pids->pids, m->cut ? NV_PIDS_MAX : pids->n);
	m->held = calloc(n + 1, sizeof(*m->held));
	if (!m->held)
		return -ENOMEM;
	for (uint32_t at = 0; at < n && !r; at += p->n) {
		memset(p, 0, sizeof(*p));
		for (; p->n < NV_PID_INFO_MAX && at + p->n < n; p->n++)
			p->list[p->n] = (struct nv_pid_info){ .pid = pids->pids[at + p->n],
							      .index = NV_PID_INFO_MEMORY };
		r = control(a, NV_CMD_PID_INFO, p, sizeof(*p));
		if (!r)
			take(p, m);
	}
	return r;
}

static int fail(const struct asker *a, int r, struct gs_error *err)
{
	const char *name = gs_rm_status_name(a->status);

	if (r != -EREMOTEIO)
		return gs_fail(err, r, "the driver cannot be asked who holds memory: %s",
			       strerror(-r));
	if (a->status == GS_NV_INSUFFICIENT_PERMISSIONS)
		return gs_fail(err, -ENOTSUP,
			       "a GPU in MIG mode: the driver does not say who holds its memory");
	return gs_fail(err, -ENOTSUP, "the driver does not say who holds memory: %s",
		       name ? name : "unknown status");
}

int gs_rm_memory_ask(int fd, const struct gs_gpu *gpu, unsigned int branch,
		     struct gs_rm_memory *ret, struct gs_error *err)
{
	struct asker a = { .fd = fd };
	uint64_t since = gs_now_ns();
	int r = open_client(&a, gpu);

	*ret = (struct gs_rm_memory){ 0 };
	if (!r)
		r = read_sizes(&a, branch, ret);
	if (!r)
		r = read_held(&a, ret);
	ret->spent_ns = gs_now_ns() - since;
	return r ? fail(&a, r, err) : 0;
}

int gs_rm_memory_read(const struct gs_gpu *gpu, unsigned int branch, struct gs_rm_memory *ret,
		      struct gs_error *err)
{
	const struct asker nobody = { 0 };
	CLEANUP_FD int gpu_fd = -1;
	CLEANUP_FD int fd = gs_rm_driver_open_control();

	*ret = (struct gs_rm_memory){ 0 };
	if (fd < 0)
		return fail(&nobody, fd, err);
	/* RM knows the GPU's device and subdevice instance only while the GPU's file is open */
	gpu_fd = gs_rm_driver_open_gpu(gpu->minor);
	if (gpu_fd < 0)
		return fail(&nobody, gpu_fd, err);
	return gs_rm_memory_ask(fd, gpu, branch, ret, err);
}

void gs_rm_memory_done(struct gs_rm_memory *m)
{
	free(m->held);
	*m = (struct gs_rm_memory){ 0 };
}
