/* SPDX-License-Identifier: MIT */
/*
 * switch_log.h - read the GPU's own context-switch log, without a library of gpusched or NVIDIA
 *
 * Works on the simulated GPU and, for root, on a real GPU. Only the mapping differs: if a file of
 * /dev/nvidiactl cannot be mapped, the driver gets a memfd instead. Any failure ends the program
 * with one line.
 */
#ifndef GPUSCHED_TESTS_SWITCH_LOG_H
#define GPUSCHED_TESTS_SWITCH_LOG_H

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "rm_client.h"

#define SL_SLOTS 16384u
#define SL_START 6
#define SL_END 7

struct sl_header {
	uint32_t get, put;
	uint64_t count, dropped, vardata_dropped;
};

struct sl_record {
	uint16_t type, subtype;
	uint32_t vardata;
	uint8_t tag, vmid;
	uint16_t seqno;
	uint32_t context, pid;
	uint16_t reserved;
	uint8_t gi, ci;
	uint64_t ns; /* time on the GPU's clock */
};

struct switch_log {
	int ctl;
	uint32_t client, subdevice, buffer;
	const struct sl_header *header;
	const struct sl_record *records;
	bool memfd;
	uint16_t next; /* the next sequence number */
	uint64_t total, lost;
};

static inline void sl_must(uint32_t status, const char *what)
{
	if (!status)
		return;
	fprintf(stderr, "switch log: %s: status 0x%x\n", what, status);
	exit(1);
}

static inline int sl_open_ctl(void)
{
	int fd = open("/dev/nvidiactl", O_RDWR | O_CLOEXEC);

	sl_must(fd < 0, "/dev/nvidiactl");
	return fd;
}

static inline uint32_t sl_alloc(struct switch_log *l, uint32_t parent, uint32_t cls, void *params)
{
	uint32_t w[8] = { l->client, parent, 0, cls, 0, 0, 0, ~0u };
	uint64_t p = (uintptr_t)params;

	memcpy(&w[4], &p, sizeof(p));
	sl_must(rc_call(l->ctl, 0x2b, w, sizeof(w)) ? ~0u : w[7], "an object");
	return w[2];
}

static inline void sl_control(struct switch_log *l, uint32_t object, uint32_t cmd, void *params,
			      uint32_t size, const char *what)
{
	uint32_t w[8] = { l->client, object, cmd, 0, 0, 0, size, ~0u };
	uint64_t p = (uintptr_t)params;

	memcpy(&w[4], &p, sizeof(p));
	sl_must(rc_call(l->ctl, 0x2a, w, sizeof(w)) ? ~0u : w[7], what);
}

static inline uint32_t sl_memory(struct switch_log *l, uint64_t size)
{
	uint32_t p[32] = { 0 };

	p[6] = 1u << 29; /* cached */
	p[7] = 1u << 22; /* read-only */
	memcpy(&p[16], &size, sizeof(size));
	return sl_alloc(l, l->client, 0x90ce, p);
}

static inline uint32_t sl_try_map(struct switch_log *l, uint32_t object, uint64_t size, int fd)
{
	uint32_t w[14] = { l->client, l->client, object };

	memcpy(&w[6], &size, sizeof(size));
	w[10] = ~0u;
	w[11] = 1; /* access: read */
	w[12] = (uint32_t)fd;
	return rc_call(l->ctl, 0x4e, w, sizeof(w)) ? ~0u : w[10];
}

static inline const void *sl_map(struct switch_log *l, uint32_t object, uint64_t size)
{
	int fd = sl_open_ctl();
	uint32_t status = sl_try_map(l, object, size, fd);
	void *p;

	if (status == 0x56) { /* not supported */
		l->memfd = true;
		close(fd);
		fd = memfd_create("switch-log", MFD_CLOEXEC | MFD_ALLOW_SEALING);
		sl_must(fd < 0 || ftruncate(fd, (off_t)size) ||
				fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK),
			"a memfd");
		status = sl_try_map(l, object, size, fd);
	}
	sl_must(status, "a mapping");
	p = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
	sl_must(p == MAP_FAILED, "mmap");
	close(fd);
	return p;
}

/* Opens GPU 0's log, which has the records of all users from now on. */
static inline void sl_open(struct switch_log *l)
{
	uint64_t bytes = SL_SLOTS * sizeof(struct sl_record);
	uint32_t device[14] = { 0 }, sub[2] = { 0 }, p[18] = { 0 }, bind[6] = { 0 };
	uint32_t on[2] = { 1, 1 }, h_header, h_records;

	*l = (struct switch_log){ 0 };
	sl_must(open("/dev/nvidia0", O_RDWR | O_CLOEXEC) < 0, "/dev/nvidia0");
	l->ctl = sl_open_ctl();
	l->client = sl_alloc(l, 0, 0x41, NULL);
	l->subdevice = sl_alloc(l, sl_alloc(l, l->client, 0x80, device), 0x2080, sub);
	h_header = sl_memory(l, 4096);
	h_records = sl_memory(l, bytes);
	l->header = sl_map(l, h_header, 4096);
	l->records = sl_map(l, h_records, bytes);
	p[4] = sizeof(struct sl_record);
	p[5] = SL_SLOTS;
	p[9] = SL_SLOTS; /* free threshold */
	p[15] = h_header;
	p[16] = h_records;
	l->buffer = sl_alloc(l, l->client, 0x90cd, p);
	bind[0] = l->buffer;
	bind[1] = sizeof(struct sl_record);
	bind[3] = ~0u;
	bind[4] = 1; /* all users */
	sl_control(l, l->subdevice, 0x20801238, bind, sizeof(bind), "binding the log");
	sl_control(l, l->buffer, 0x90cd0101, on, sizeof(on), "enabling the log");
}

/* Calls @fn for each record since the last call. */
static inline void sl_read(struct switch_log *l, void (*each)(const struct sl_record *r))
{
	uint32_t get = l->header->get, put, where[2] = { 0 };

	sl_control(l, l->buffer, 0x90cd0104, NULL, 0, "flushing the log");
	put = __atomic_load_n(&l->header->put, __ATOMIC_ACQUIRE);
	for (; get != put; get = (get + 1) % SL_SLOTS) {
		const struct sl_record *r = &l->records[get];

		l->lost += l->total++ ? (uint16_t)(r->seqno - l->next) : 0;
		l->next = r->seqno + 1;
		each(r);
	}
	where[0] = get;
	sl_control(l, l->buffer, 0x90cd0102, where, sizeof(where), "moving on in the log");
}

static inline uint64_t sl_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/*
 * Returns a GPU time and the CLOCK_MONOTONIC time of the same moment: the middle between two
 * readings just before and after. Tries ten times, and takes the two readings that are closest.
 */
static inline uint64_t sl_gpu_time(struct switch_log *l, uint64_t *monotonic)
{
	uint64_t best = ~0ull, ret = 0;

	for (int i = 0; i < 10; i++) {
		uint64_t gpu = 0, t = sl_now(), took;

		sl_control(l, l->subdevice, 0x20800403, &gpu, sizeof(gpu), "the GPU's time");
		took = sl_now() - t;
		if (took >= best)
			continue;
		best = took;
		*monotonic = t + took / 2;
		ret = gpu;
	}
	return ret;
}

#endif /* GPUSCHED_TESTS_SWITCH_LOG_H */
