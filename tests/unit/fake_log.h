/* SPDX-License-Identifier: MIT */
/*
 * fake_log.h - stand in for an RM that has only context-switch logs, which the test fills
 *
 * It also replaces the functions that open the driver's files, so a test cannot use it together
 * with another fake RM.
 */
#ifndef GPUSCHED_TESTS_FAKE_LOG_H
#define GPUSCHED_TESTS_FAKE_LOG_H

#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "basic/clock.h"
#include "rm/abi.h"
#include "rm/rm.h"
#include "rm/sys.h"

#define FAKE_HEADER_SIZE 4096u

static struct {
	uint32_t handles;
	struct nv_log_header *header; /* the log that was opened last */
	struct nv_log_record *records;
	uint32_t count;
	uint16_t seqno;
	uint32_t status, reason; /* the answer to binding a log */
	unsigned int flushes;
	uint64_t call_ns; /* how long a flush takes */
	/*
	 * Samples of GPU use: there are @usage_n, a tenth of a second apart, all with value @usage.
	 */
	uint64_t usage_at;       /* time of the newest sample */
	uint32_t usage_n, usage; /* usage: hundredths of a percent */
	uint32_t usage_status, usage_asked;
	uint64_t dropped; /* records for which the log had no room */
} fake_log;

/* Writes samples in branch 580's layout: 776 bytes each, the graphics engine's figure at 136. */
static inline uint32_t fake_usage(const struct nv_control *c)
{
	uint8_t *at = (uint8_t *)(uintptr_t)c->params + 16;

	fake_log.usage_asked++;
	for (uint32_t i = 0; i < fake_log.usage_n && i < 72; i++, at += 776) {
		uint64_t when = fake_log.usage_at - i * (NS_PER_S / 10);

		memcpy(at, &when, sizeof(when));
		memcpy(at + 136, &fake_log.usage, sizeof(fake_log.usage));
	}
	return fake_log.usage_status     ? fake_log.usage_status
	       : c->params_size == 55888 ? GS_NV_OK
					 : 1;
}

/* Answers a control; the fake GPU's clock is CLOCK_MONOTONIC. */
static inline uint32_t fake_control(const struct nv_control *c)
{
	struct nv_log_bind *bind = (void *)(uintptr_t)c->params;
	uint64_t now = gs_now_ns();

	if (c->cmd == NV_CMD_USAGE)
		return fake_usage(c);
	if (c->cmd == NV_CMD_GPU_TIME)
		memcpy((void *)(uintptr_t)c->params, &now, sizeof(now));
	if (c->cmd == NV_CMD_LOG_BIND) {
		bind->reason = fake_log.reason;
		return fake_log.status;
	}
	if (c->cmd == NV_CMD_LOG_UPDATE_GET)
		fake_log.header->get = ((struct nv_log_get *)(uintptr_t)c->params)->record;
	if (c->cmd == NV_CMD_LOG_FLUSH) {
		fake_log.flushes++;
		while (gs_now_ns() - now < fake_log.call_ns)
			usleep(100);
	}
	return GS_NV_OK;
}

static inline void fake_unmap_header(void)
{
	if (fake_log.header)
		munmap(fake_log.header, FAKE_HEADER_SIZE);
	fake_log.header = NULL;
}

static inline void fake_unmap_records(void)
{
	if (fake_log.records)
		munmap(fake_log.records, fake_log.count * sizeof(*fake_log.records));
	fake_log.records = NULL;
}

/*
 * Maps a log into memory that the caller provides (a memfd), as the simulated RM does: RM's files
 * are FUSE files there, which cannot be mapped for this.
 */
static inline uint32_t fake_map(const struct nv_map_memory *m)
{
	void *p;

	if (fcntl(m->fd, F_GET_SEALS) < 0)
		return GS_NV_NOT_SUPPORTED;
	p = mmap(NULL, m->length, PROT_READ | PROT_WRITE, MAP_SHARED, m->fd, 0);
	if (p == MAP_FAILED)
		return GS_NV_INVALID_ARGUMENT;
	if (m->length == FAKE_HEADER_SIZE) {
		fake_unmap_header();
		fake_log.header = p;
	} else {
		fake_unmap_records();
		fake_log.records = p;
		fake_log.count = (uint32_t)(m->length / sizeof(*fake_log.records));
	}
	return GS_NV_OK;
}

static inline int fake_ioctl(int fd, unsigned long request, void *arg)
{
	(void)fd;
	switch (_IOC_NR(request)) {
	case NV_ESC_ALLOC:
		((struct nv_alloc *)arg)->handle = ++fake_log.handles;
		((struct nv_alloc *)arg)->status = GS_NV_OK;
		return 0;
	case NV_ESC_CONTROL:
		((struct nv_control *)arg)->status = fake_control(arg);
		return 0;
	case NV_ESC_MAP_MEMORY:
		((struct nv_map_memory *)arg)->status = fake_map(arg);
		return 0;
	default:
		return 0;
	}
}

int gs_rm_driver_open_control(void)
{
	return open("/dev/null", O_RDWR | O_CLOEXEC);
}

int gs_rm_driver_open_gpu(unsigned int minor)
{
	return minor ? -1 : open("/dev/null", O_RDWR | O_CLOEXEC);
}

static inline void fake_log_begin(void)
{
	fake_unmap_header();
	fake_unmap_records();
	memset(&fake_log, 0, sizeof(fake_log));
	gs_rm_sys.ioctl = fake_ioctl;
}

/* Writes a record to the log as RM would. The record may have hostile values. */
static inline void fake_log_put(const struct nv_log_record *r)
{
	uint32_t at = fake_log.header->put % fake_log.count, next = (at + 1) % fake_log.count;

	if (next == fake_log.header->get % fake_log.count) {
		fake_log.dropped++;
		return;
	}
	fake_log.records[at] = *r;
	__atomic_store_n(&fake_log.header->put, next, __ATOMIC_RELEASE);
}

static inline void fake_log_switch(uint32_t context, uint32_t pid, bool start, uint64_t ns)
{
	const struct nv_log_record r = {
		.tag = start ? NV_LOG_START : NV_LOG_END,
		.seqno = fake_log.seqno,
		.context = context,
		.pid = pid,
		.ns = ns,
	};

	fake_log_put(&r);
	fake_log.seqno++;
}

#endif /* GPUSCHED_TESTS_FAKE_LOG_H */
