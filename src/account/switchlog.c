// SPDX-License-Identifier: MIT
#include "account/switchlog.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "basic/env.h"
#include "rm/abi.h"
#include "rm/sys.h"

#define SLOTS 16384u /* two seconds at 4,000 switches a second */
#define READINGS 5

struct gs_switchlog {
	struct gs_lane *lane; /* NULL: calls are made in the caller's thread */
	int ctl, gpu;
	uint32_t client, subdevice, buffer;
	const struct nv_log_header *header;
	const struct nv_log_record *records;
	/* index up to which records were read; index up to which RM knows that */
	uint32_t get, told;
	uint16_t seqno; /* sequence number of the next record */
	bool any;
	uint64_t lost, spent_ns;
};

/* ---- RM's side ------------------------------------------------------------------------------- */

static int alloc(struct gs_switchlog *log, uint32_t parent, uint32_t class_, void *params,
		 uint32_t size, uint32_t *ret, uint32_t *ret_status)
{
	uint32_t handle = 0;
	int r = gs_rm_call_alloc(log->ctl, log->client, parent, &handle, class_, params, size,
				 ret_status);

	*ret = handle;
	return r ? r : *ret_status ? -EREMOTEIO : 0;
}

static int control(struct gs_switchlog *log, uint32_t object, uint32_t cmd, void *params,
		   uint32_t size, uint32_t *ret_status)
{
	int r = gs_rm_call_control(log->ctl, log->client, object, cmd, params, size, ret_status);

	return r ? r : *ret_status ? -EREMOTEIO : 0;
}

/* Makes a call that the GPU's firmware may have to answer, and adds its duration to spent_ns. */
static int timed(struct gs_switchlog *log, uint32_t object, uint32_t cmd, void *params,
		 uint32_t size, uint32_t *ret_status)
{
	uint64_t since = gs_now_ns();
	int r = control(log, object, cmd, params, size, ret_status);

	__atomic_fetch_add(&log->spent_ns, gs_now_ns() - since, __ATOMIC_RELAXED);
	return r;
}

static int in_lane(struct gs_switchlog *log, gs_lane_fn fn, void *params, size_t size,
		   uint64_t wait_ns)
{
	return log->lane ? gs_lane_call(log->lane, fn, log, params, size, wait_ns)
			 : fn(log, params);
}

static int new_memory(struct gs_switchlog *log, uint64_t size, uint32_t *ret, uint32_t *ret_status)
{
	struct nv_memory_params p = {
		.attr = NV_MEMORY_CACHED,
		.attr2 = NV_MEMORY_USER_READ_ONLY,
		.size = size,
	};

	return alloc(log, log->client, NV_CLASS_MEMORY_DEVICELESS, &p, sizeof(p), ret, ret_status);
}

static int prepare_map(struct gs_switchlog *log, uint32_t memory, uint64_t size, int fd,
		       uint32_t *ret_status)
{
	struct nv_map_memory m = {
		.client = log->client,
		.device = log->client,
		.memory = memory,
		.length = size,
		.status = GS_NV_NOT_SUPPORTED,
		.flags = NV_MAP_READ_ONLY,
		.fd = fd,
	};
	int r = gs_rm_sys.ioctl(log->ctl,
				_IOWR(NV_IOCTL_TYPE, NV_ESC_MAP_MEMORY, struct nv_map_memory), &m);

	*ret_status = m.status;
	return r ? r : m.status ? -EREMOTEIO : 0;
}

/* Makes a file to map instead of RM's, which cannot be mapped if RM is simulated. */
static int new_memfd(uint64_t size)
{
	CLEANUP_FD int fd = memfd_create("gpusched-log", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd < 0 || ftruncate(fd, (off_t)size) || fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK))
		return -errno;
	return TAKE_FD(fd);
}

/* Each mapping needs its own open file, since RM keeps only one pending mapping per open file. */
static int map(struct gs_switchlog *log, uint32_t memory, uint64_t size, const void **ret,
	       uint32_t *ret_status)
{
	CLEANUP_FD int fd = gs_rm_driver_open_control();
	void *p;
	int r;

	if (fd < 0)
		return fd;
	r = prepare_map(log, memory, size, fd, ret_status);
	if (r == -EREMOTEIO && *ret_status == GS_NV_NOT_SUPPORTED) {
		close(fd);
		fd = new_memfd(size);
		if (fd < 0)
			return fd;
		r = prepare_map(log, memory, size, fd, ret_status);
	}
	if (r)
		return r;
	p = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED)
		return -errno;
	*ret = p;
	return 0;
}

/* The header has a whole page, which is 64 KiB on some machines. */
static uint64_t header_size(void)
{
	return (uint64_t)sysconf(_SC_PAGESIZE);
}

static int new_buffer(struct gs_switchlog *log, uint32_t *ret_status)
{
	const uint64_t size = SLOTS * sizeof(struct nv_log_record);
	struct nv_log_params p = {
		.record_size = sizeof(struct nv_log_record),
		.record_count = SLOTS,
		.free_threshold = SLOTS,
	};
	const void *header = NULL, *records = NULL;
	int r = new_memory(log, header_size(), &p.h_header, ret_status);

	if (!r)
		r = new_memory(log, size, &p.h_records, ret_status);
	if (!r)
		r = map(log, p.h_header, header_size(), &header, ret_status);
	log->header = header;
	if (!r)
		r = map(log, p.h_records, size, &records, ret_status);
	log->records = records;
	if (!r)
		r = alloc(log, log->client, NV_CLASS_EVENT_BUFFER, &p, sizeof(p), &log->buffer,
			  ret_status);
	return r;
}

static int begin(struct gs_switchlog *log, const struct gs_gpu *gpu, uint32_t *ret_status,
		 uint32_t *ret_reason)
{
	struct nv_device_params device = { .device = gpu->dev_instance };
	uint32_t sub = gpu->sub_instance, h_device = 0;
	struct nv_log_bind bind = {
		.record_size = sizeof(struct nv_log_record),
		.filter = ~0u,
		.all_users = 1,
	};
	struct nv_log_enable on = { .enable = 1, .flags = NV_LOG_KEEP_OLDEST };
	int r = alloc(log, 0, NV_CLASS_ROOT, NULL, 0, &log->client, ret_status);

	if (!r)
		r = alloc(log, log->client, NV_CLASS_DEVICE, &device, sizeof(device), &h_device,
			  ret_status);
	if (!r)
		r = alloc(log, h_device, NV_CLASS_SUBDEVICE, &sub, sizeof(sub), &log->subdevice,
			  ret_status);
	if (!r)
		r = new_buffer(log, ret_status);
	bind.buffer = log->buffer;
	if (!r)
		r = control(log, log->subdevice, NV_CMD_LOG_BIND, &bind, sizeof(bind), ret_status);
	*ret_reason = r ? bind.reason : 0;
	if (!r)
		r = control(log, log->buffer, NV_CMD_LOG_ENABLE, &on, sizeof(on), ret_status);
	return r;
}

/* ---- open and close -------------------------------------------------------------------------- */

static int close_log(void *user, void *params)
{
	struct gs_switchlog *log = user;

	if (log->header)
		munmap((void *)log->header, header_size());
	if (log->records)
		munmap((void *)log->records, SLOTS * sizeof(*log->records));
	if (log->ctl >= 0)
		close(log->ctl); /* with it, RM frees all objects of the client */
	if (log->gpu >= 0)
		close(log->gpu);
	free(log);
	return 0;
}

void gs_switchlog_close(struct gs_switchlog *log, uint64_t wait_ns)
{
	if (log && log->lane)
		gs_lane_end(log->lane, close_log, log, wait_ns);
	else if (log)
		close_log(log, NULL);
}

static void log_closep(struct gs_switchlog **log)
{
	gs_switchlog_close(*log, 0);
}

/* Explains why RM refused the log; NULL: only the status is known. */
static const char *words_of(uint32_t status, uint32_t reason)
{
	if (reason == NV_LOG_NEED_ADMIN || status == GS_NV_INSUFFICIENT_PERMISSIONS)
		return "it is for root (CAP_SYS_ADMIN) alone";
	if (reason == NV_LOG_NEED_CAPABILITY)
		return "this virtual GPU may not be profiled";
	if (reason == NV_LOG_GPU_TOO_OLD)
		return "the GPU is too old";
	if (status == GS_NV_OBJECT_NOT_FOUND)
		return "in MIG mode there is none of the whole GPU";
	if (status == GS_NV_NOT_SUPPORTED)
		return "the GPU is too old, or in confidential computing mode";
	return NULL;
}

static int refused(const struct gs_gpu *gpu, uint32_t status, uint32_t reason, struct gs_error *err)
{
	const char *words = words_of(status, reason), *name = gs_rm_status_name(status);
	bool root = reason == NV_LOG_NEED_ADMIN || status == GS_NV_INSUFFICIENT_PERMISSIONS;
	char rm[64];

	snprintf(rm, sizeof(rm), "RM says 0x%x%s%s", status, name ? " " : "", name ? name : "");
	return gs_fail(err, root ? -EPERM : -ENOTSUP,
		       "GPU %u has no context-switch log for us: %s%s%s%s", gpu->index,
		       words ? words : rm, words ? " (" : "", words ? rm : "", words ? ")" : "");
}

int gs_switchlog_open(const struct gs_gpu *gpu, struct gs_switchlog **ret, struct gs_error *err)
{
	CLEANUP(log_closep) struct gs_switchlog *log = calloc(1, sizeof(*log));
	uint32_t status = 0, reason = 0;
	int r;

	if (!log)
		return -ENOMEM;
	log->gpu = gs_rm_driver_open_gpu(gpu->minor);
	log->ctl = gs_rm_driver_open_control();
	if (log->ctl < 0)
		return gs_fail(err, log->ctl, "GPU %u: the driver's file cannot be opened: %s",
			       gpu->index, strerror(-log->ctl));
	r = begin(log, gpu, &status, &reason);
	if (r == -EREMOTEIO)
		return refused(gpu, status, reason, err);
	if (r)
		return gs_fail(err, r, "GPU %u: its context-switch log cannot be opened: %s",
			       gpu->index, strerror(-r));
	*ret = TAKE_PTR(log);
	return 0;
}

/* ---- reading --------------------------------------------------------------------------------- */

static void take(struct gs_switchlog *log, const struct nv_log_record *r, gs_switchlog_fn fn,
		 void *user)
{
	struct gs_switchlog_record rec = {
		.sw = { .ns = r->ns, .start = r->tag == NV_LOG_START },
		.context = r->context,
		.pid = r->pid,
	};
	uint16_t missed = log->any ? (uint16_t)(r->seqno - log->seqno) : 0;

	log->lost += missed;
	log->seqno = (uint16_t)(r->seqno + 1);
	log->any = true;
	rec.sw.gap = missed != 0;
	if (r->tag == NV_LOG_START || r->tag == NV_LOG_END)
		fn(&rec, user);
}

void gs_switchlog_use(struct gs_switchlog *log, struct gs_lane *lane)
{
	log->lane = lane;
}

static int tell_get(void *user, void *params)
{
	struct gs_switchlog *log = user;
	uint32_t status = 0;

	return control(log, log->buffer, NV_CMD_LOG_UPDATE_GET, params, sizeof(struct nv_log_get),
		       &status);
}

int gs_switchlog_read(struct gs_switchlog *log, gs_switchlog_fn fn, void *user)
{
	uint32_t put = __atomic_load_n(&log->header->put, __ATOMIC_ACQUIRE);
	struct nv_log_get where = { 0 };
	int n = 0;

	if (put >= SLOTS || (put == log->get && log->told == log->get))
		return 0;
	for (; log->get != put; log->get = (log->get + 1) % SLOTS, n++) {
		/* RM does not overwrite records that we have not reported as read */
		struct nv_log_record r = log->records[log->get];

		take(log, &r, fn, user);
	}
	where.record = log->get;
	if (in_lane(log, tell_get, &where, sizeof(where), 0) != -EBUSY)
		log->told = log->get;
	return n;
}

static int flush(void *user, void *params)
{
	struct gs_switchlog *log = user;
	uint32_t status = 0;

	return timed(log, log->buffer, NV_CMD_LOG_FLUSH, NULL, 0, &status);
}

int gs_switchlog_flush(struct gs_switchlog *log, uint64_t wait_ns)
{
	return in_lane(log, flush, NULL, 0, wait_ns);
}

struct usage_call {
	uint32_t size, status;
	uint8_t params[];
};

static int ask_usage(void *user, void *params)
{
	struct gs_switchlog *log = user;
	struct usage_call *c = params;

	return timed(log, log->subdevice, NV_CMD_USAGE, c->params, c->size, &c->status);
}

int gs_switchlog_usage(struct gs_switchlog *log, void *params, uint32_t size, uint64_t wait_ns,
		       uint32_t *ret_status)
{
	CLEANUP_FREE struct usage_call *c = malloc(sizeof(*c) + size);
	int r;

	if (!c)
		return -ENOMEM;
	c->size = size;
	c->status = 0;
	memcpy(c->params, params, size);
	r = in_lane(log, ask_usage, c, sizeof(*c) + size, wait_ns);
	memcpy(params, c->params, size);
	*ret_status = c->status;
	return r;
}

uint64_t gs_switchlog_lost(const struct gs_switchlog *log)
{
	return log->lost;
}

uint64_t gs_switchlog_spent(const struct gs_switchlog *log)
{
	return __atomic_load_n(&log->spent_ns, __ATOMIC_RELAXED);
}

/* Reads both clocks in the lane's thread, so that the loop's wait does not add to the error. */
static int compare_clocks(void *user, void *params)
{
	struct gs_switchlog *log = user;
	struct gs_switchlog_clock best = { .error_ns = UINT64_MAX };
	uint32_t status = 0;

	for (int i = 0; i < READINGS; i++) {
		uint64_t gpu = 0, t = gs_now_ns(), took;
		int r = timed(log, log->subdevice, NV_CMD_GPU_TIME, &gpu, sizeof(gpu), &status);

		if (r)
			return r;
		took = gs_now_ns() - t;
		if (took / 2 < best.error_ns)
			best = (struct gs_switchlog_clock){ gpu, t + took / 2, took / 2 };
	}
	*(struct gs_switchlog_clock *)params = best;
	return 0;
}

int gs_switchlog_clock(struct gs_switchlog *log, uint64_t wait_ns, struct gs_switchlog_clock *ret)
{
	struct gs_switchlog_clock c;
	int r = in_lane(log, compare_clocks, &c, sizeof(c), wait_ns);

	if (!r)
		*ret = c;
	return r;
}

uint64_t gs_switchlog_to_monotonic(const struct gs_switchlog_clock *c, uint64_t gpu_ns)
{
	int64_t d = (int64_t)(gpu_ns - c->gpu_ns);

	return c->monotonic_ns + (uint64_t)(int64_t)((double)d * gs_env()->dilate);
}

uint64_t gs_switchlog_to_gpu(const struct gs_switchlog_clock *c, uint64_t monotonic_ns)
{
	int64_t d = (int64_t)(monotonic_ns - c->monotonic_ns);

	return c->gpu_ns + (uint64_t)(int64_t)((double)d / gs_env()->dilate);
}
