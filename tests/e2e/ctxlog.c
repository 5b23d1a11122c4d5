/* SPDX-License-Identifier: MIT */
/*
 * ctxlog - who was on GPU 0 and how long, from the GPU's own context-switch log
 *
 * Prints "ready", reads until SIGTERM, then prints one JSON object. Works on the simulated
 * GPU and, for root, on a real one; no library of gpusched or of NVIDIA is used. Only the mapping
 * differs: where a file of /dev/nvidiactl cannot be mapped, a memfd is handed over in its place.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "../unit/rm_client.h"

#define SLOTS 16384u
#define NOT_SUPPORTED 0x56u
#define READ_ONLY (1u << 22)
#define CACHED (1u << 29)

struct header {
	uint32_t get, put;
	uint64_t count, dropped, vardata_dropped;
};

struct record {
	uint16_t type, subtype;
	uint32_t vardata;
	uint8_t tag, vmid;
	uint16_t seqno;
	uint32_t context, pid;
	uint16_t reserved;
	uint8_t gi, ci;
	uint64_t ns;
};

static volatile sig_atomic_t stop;
static int ctl;
static uint32_t client;
static const struct header *header;
static const struct record *records;
static bool memfd;

static struct {
	uint32_t pid, context;
	uint64_t turns, ns, since;
} sums[64];
static size_t nsums;
static uint64_t total, lost, disorder;

static void must(uint32_t status, const char *what)
{
	if (!status)
		return;
	fprintf(stderr, "ctxlog: %s: status 0x%x\n", what, status);
	exit(1);
}

static int open_ctl(void)
{
	int fd = open("/dev/nvidiactl", O_RDWR | O_CLOEXEC);

	must(fd < 0, "/dev/nvidiactl");
	return fd;
}

static uint32_t alloc(uint32_t parent, uint32_t cls, void *params)
{
	uint32_t w[8] = { client, parent, 0, cls, 0, 0, 0, ~0u };
	uint64_t p = (uintptr_t)params;

	memcpy(&w[4], &p, sizeof(p));
	must(rc_call(ctl, 0x2b, w, sizeof(w)) ? ~0u : w[7], "an object");
	return w[2];
}

static uint32_t control(uint32_t object, uint32_t cmd, void *params, uint32_t size)
{
	uint32_t w[8] = { client, object, cmd, 0, 0, 0, size, ~0u };
	uint64_t p = (uintptr_t)params;

	memcpy(&w[4], &p, sizeof(p));
	return rc_call(ctl, 0x2a, w, sizeof(w)) ? ~0u : w[7];
}

static uint32_t memory(uint64_t size)
{
	uint32_t p[32] = { 0 };

	p[6] = CACHED;
	p[7] = READ_ONLY;
	memcpy(&p[16], &size, sizeof(size));
	return alloc(client, 0x90ce, p);
}

static uint32_t try_map(uint32_t object, uint64_t size, int fd)
{
	uint32_t w[14] = { client, client, object };

	memcpy(&w[6], &size, sizeof(size));
	w[10] = ~0u;
	w[11] = 1; /* to read */
	w[12] = (uint32_t)fd;
	return rc_call(ctl, 0x4e, w, sizeof(w)) ? ~0u : w[10];
}

static const void *map(uint32_t object, uint64_t size)
{
	int fd = open_ctl();
	uint32_t status = try_map(object, size, fd);
	void *p;

	if (status == NOT_SUPPORTED) {
		memfd = true;
		close(fd);
		fd = memfd_create("ctxlog", MFD_CLOEXEC | MFD_ALLOW_SEALING);
		must(fd < 0 || ftruncate(fd, (off_t)size) || fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK),
		     "a memfd");
		status = try_map(object, size, fd);
	}
	must(status, "a mapping");
	p = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
	must(p == MAP_FAILED, "mmap");
	close(fd);
	return p;
}

/* Returns the event buffer. */
static uint32_t begin(uint32_t subdevice)
{
	uint64_t bytes = SLOTS * sizeof(struct record);
	uint32_t h_header = memory(4096), h_records = memory(bytes), buffer;
	uint32_t p[18] = { 0 }, bind[6] = { 0 }, on[2] = { 1, 1 };

	header = map(h_header, 4096);
	records = map(h_records, bytes);
	p[4] = sizeof(struct record);
	p[5] = SLOTS;
	p[9] = SLOTS; /* free threshold */
	p[15] = h_header;
	p[16] = h_records;
	buffer = alloc(client, 0x90cd, p);
	bind[0] = buffer;
	bind[1] = sizeof(struct record);
	bind[3] = ~0u;
	bind[4] = 1; /* all users */
	must(control(subdevice, 0x20801238, bind, sizeof(bind)), "binding the log");
	must(control(buffer, 0x90cd0101, on, sizeof(on)), "enabling the log");
	return buffer;
}

static void account(const struct record *r)
{
	static uint16_t next;
	static uint64_t last;
	size_t i = 0;

	lost += total++ ? (uint16_t)(r->seqno - next) : 0;
	next = r->seqno + 1;
	disorder += r->ns < last;
	last = r->ns;
	while (i < nsums && (sums[i].pid != r->pid || sums[i].context != r->context))
		i++;
	if (i == sizeof(sums) / sizeof(sums[0]))
		return;
	if (i == nsums) {
		sums[nsums].pid = r->pid;
		sums[nsums++].context = r->context;
	}
	if (r->tag == 6) {
		sums[i].since = r->ns;
	} else if (r->tag == 7 && sums[i].since) {
		sums[i].ns += r->ns - sums[i].since;
		sums[i].turns++;
		sums[i].since = 0;
	}
}

static void look(uint32_t buffer)
{
	uint32_t get = header->get, put, where[2] = { 0 };

	must(control(buffer, 0x90cd0104, NULL, 0), "flushing the log");
	put = __atomic_load_n(&header->put, __ATOMIC_ACQUIRE);
	for (; get != put; get = (get + 1) % SLOTS)
		account(&records[get]);
	where[0] = get;
	must(control(buffer, 0x90cd0102, where, sizeof(where)), "moving on in the log");
}

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* GPU time, and the middle of the two readings of CLOCK_MONOTONIC around it: the closest of ten. */
static uint64_t gpu_time(uint32_t subdevice, uint64_t *monotonic)
{
	uint64_t best = ~0ull, ret = 0;

	for (int i = 0; i < 10; i++) {
		uint64_t gpu = 0, t = now(), took;

		must(control(subdevice, 0x20800403, &gpu, sizeof(gpu)), "the GPU's time");
		took = now() - t;
		if (took >= best)
			continue;
		best = took;
		*monotonic = t + took / 2;
		ret = gpu;
	}
	return ret;
}

static void on_signal(int sig)
{
	(void)sig;
	stop = 1;
}

int main(void)
{
	uint32_t device[14] = { 0 }, sub[2] = { 0 }, subdevice, buffer;
	struct sigaction on_term = { .sa_handler = on_signal };
	uint64_t at[2], gpu[2];
	int card = open("/dev/nvidia0", O_RDWR | O_CLOEXEC);

	sigaction(SIGTERM, &on_term, NULL);
	must(card < 0, "/dev/nvidia0");
	ctl = open_ctl();
	client = alloc(0, 0x41, NULL);
	subdevice = alloc(alloc(client, 0x80, device), 0x2080, sub);
	buffer = begin(subdevice);
	gpu[0] = gpu_time(subdevice, &at[0]);
	puts("ready");
	fflush(stdout);
	while (!stop) {
		look(buffer);
		usleep(20000);
	}
	gpu[1] = gpu_time(subdevice, &at[1]);
	look(buffer);
	printf("{\"memfd\":%s,\"records\":%llu,\"lost\":%llu,\"disorder\":%llu,\"clock\":%.6f,"
	       "\"contexts\":[",
	       memfd ? "true" : "false", (unsigned long long)total, (unsigned long long)lost,
	       (unsigned long long)disorder, (double)(gpu[1] - gpu[0]) / (double)(at[1] - at[0]));
	for (size_t i = 0; i < nsums; i++)
		printf("%s{\"pid\":%u,\"context\":%u,\"turns\":%llu,\"gpu_ns\":%llu}", i ? "," : "",
		       sums[i].pid, sums[i].context, (unsigned long long)sums[i].turns,
		       (unsigned long long)sums[i].ns);
	puts("]}");
	return 0;
}
