// SPDX-License-Identifier: MIT
/* test_taps_hostile.c - check that hostile clients can change nothing but the taps' counters */
#include <bpf/bpf.h>
#include <pthread.h>
#include <sys/socket.h>

#include "taps_fixture.h"
#include "basic/clock.h"
#include "table/cfg.h"
#include "table/procs.h"
#include "taps/holders.h"

#define BAD ((void *)0x10)

static volatile int stop;

static void test_bad_pointers(void **state)
{
	uint64_t before;
	CLEANUP_FD int fd = -1;

	NEEDS();
	fd = open_ctl();
	before = counter(GPUSCHED_CNT_BAD_READ);
	rc_client(fd, RC_CLIENT, 0);
	rc_alloc(fd, RC_CLIENT, RC_DEVICE, RC_TSG, 0xa06c, BAD); /* gets a record without engine */
	assert_int_equal(only().task.kind, GPUSCHED_KIND_OTHER);
	rc_alloc(fd, RC_CLIENT, RC_TSG, 0x5c000020, 0xc86f, BAD);
	rc_control(fd, RC_CLIENT, RC_TSG, 0xa06c0103, BAD, 8);
	rc_control(fd, RC_CLIENT, RC_TSG, 0xa06c0101, BAD, 3);
	rc_control(fd, RC_CLIENT, RC_TSG, 0xa06c0107, (void *)-1ul, 4);
	rc_control(fd, RC_CLIENT, RC_SUBDEVICE, 0x20801210, (void *)0xffff800000000000ul, 32);
	assert_int_equal(counter(GPUSCHED_CNT_BAD_READ) - before, 6);
	assert_int_equal(only().task.asked.timeslice_us, GPUSCHED_DRIVER_TIMESLICE_US);
	assert_int_equal(only().flags, 0);
	rc_call(fd, 0x2b, BAD, 48); /* refused by the kernel itself */
	rc_call(fd, 0x2a, NULL, 32);
	assert_int_equal(records(), 1);
}

/* Arguments end at the end of a page: the taps must not read past the size that the call gives. */
static void test_at_the_end_of_memory(void **state)
{
	const size_t bytes = (size_t)sysconf(_SC_PAGESIZE);
	uint64_t before;
	CLEANUP_FD int fd = -1;
	char *page;

	NEEDS();
	fd = open_ctl();
	page = mmap(NULL, 2 * bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(page != MAP_FAILED);
	assert_int_equal(munmap(page + bytes, bytes), 0);
	before = counter(GPUSCHED_CNT_BAD_READ);
	rc_client(fd, RC_CLIENT, 0);
	for (unsigned int size = 32; size <= 48; size += 16) {
		uint32_t *w = (uint32_t *)(page + bytes - size);
		uint64_t params = (uintptr_t)(page + bytes - size - 16); /* engine: at byte 12 */

		memset(page, 0, bytes);
		w[0] = RC_CLIENT;
		w[1] = RC_DEVICE;
		w[2] = RC_TSG + size;
		w[3] = 0xa06c;
		memcpy(&w[4], &params, sizeof(params));
		assert_int_equal(rc_call(fd, 0x2b, w, size), 0);
	}
	assert_int_equal(records(), 2);
	assert_int_equal(counter(GPUSCHED_CNT_BAD_READ), before);
	munmap(page, bytes);
}

static void test_wrong_sizes(void **state)
{
	static char buf[16384];
	unsigned int sent = 0;
	CLEANUP_FD int fd = -1;
	uint64_t before;

	NEEDS();
	fd = open_ctl();
	before = counter(GPUSCHED_CNT_BAD_SIZE);
	for (unsigned int nr = 0x29; nr <= 0x2b; nr++) {
		for (unsigned int size = 0; size < 16384; size += size < 64 ? 1 : 1021) {
			memset(buf, 0xa0, sizeof(buf));
			sent += !rc_call(fd, nr, buf, size);
		}
	}
	/* all sizes are bad except 16 for FREE, 32 for CONTROL, and 32, 40 and 48 for ALLOC */
	assert_int_equal(counter(GPUSCHED_CNT_BAD_SIZE) - before, sent - 5);
	assert_true(sent > 200);
	assert_int_equal(records(), 0);
}

static void test_refused_calls_do_not_count(void **state)
{
	uint32_t params[5] = { 0, 0, 0, 1 };
	CLEANUP_FD int fd = -1;
	uint64_t us = 5, before;

	NEEDS();
	fd = open_ctl();
	before = counter(GPUSCHED_CNT_RM_FAILED);
	rc_client(fd, RC_CLIENT, 0);
	rc_alloc_as(fd, 0, RC_CLIENT, RC_DEVICE, RC_TSG, 0xa06c, params, 0x1f);
	assert_int_equal(records(), 0);
	rc_tsg(fd, RC_CLIENT, RC_TSG, 1);
	rc_control_as(fd, RC_CLIENT, RC_TSG, 0xa06c0103, &us, 8, 0x1b);
	assert_int_equal(only().task.asked.timeslice_us, GPUSCHED_DRIVER_TIMESLICE_US);
	assert_int_equal(counter(GPUSCHED_CNT_RM_FAILED) - before, 2);
}

/*
 * Calls with another client's handles on the caller's own file do not reach that client's records.
 */
static void test_forged_handles(void **state)
{
	uint64_t orphans;
	CLEANUP_FD int victim = -1;
	struct gpusched_tsg was, is;
	int status;
	pid_t pid;

	NEEDS();
	victim = open_ctl();
	rc_client(victim, RC_CLIENT, 0);
	rc_tsg(victim, RC_CLIENT, RC_TSG, 1);
	rc_channel(victim, RC_CLIENT, RC_TSG, 0x5c000020, 9);
	was = only();
	orphans = counter(GPUSCHED_CNT_ORPHAN_CALL) + counter(GPUSCHED_CNT_ORPHAN_CHANNEL);
	pid = fork();
	if (!pid) {
		uint32_t mode[8] = { 1, RC_TSG, 0, 0 }, level = 0;
		int fd = open(echo.path, O_RDWR);

		close(victim);
		rc_timeslice(fd, RC_CLIENT, RC_TSG, 1);
		rc_schedule(fd, RC_CLIENT, RC_TSG, 0);
		rc_control(fd, RC_CLIENT, RC_TSG, 0xa06c0107, &level, 4);
		rc_control(fd, RC_CLIENT, 0x5c000020, 0xa06f0109, &level, 4);
		rc_control(fd, RC_CLIENT, RC_SUBDEVICE, 0x20801210, mode, sizeof(mode));
		rc_channel(fd, RC_CLIENT, RC_TSG, 0x5c000021, 10);
		rc_free(fd, RC_CLIENT, RC_TSG, 0x5c000020);
		rc_free(fd, RC_CLIENT, RC_DEVICE, RC_TSG);
		rc_free(fd, RC_CLIENT, RC_CLIENT, RC_DEVICE);
		rc_free(fd, RC_CLIENT, RC_CLIENT, RC_CLIENT);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	is = only();
	assert_memory_equal(&was, &is, sizeof(was));
	assert_int_equal(counter(GPUSCHED_CNT_ORPHAN_CALL) + counter(GPUSCHED_CNT_ORPHAN_CHANNEL) -
				 orphans,
			 6);
}

/* Makes TSG number @i with a channel; with @device, on a new device. */
static void used_tsg(int fd, uint32_t i, bool device)
{
	uint32_t params[5] = { 0, 0, 0, 1, 0 }, instance[14] = { 3 };
	uint32_t parent = device ? 0x60000000 + i : RC_DEVICE;

	if (device)
		rc_alloc_as(fd, 1, RC_CLIENT, RC_CLIENT, parent, 0x80, instance, 0);
	rc_alloc(fd, RC_CLIENT, parent, RC_TSG + i, 0xa06c, params);
	rc_channel(fd, RC_CLIENT, RC_TSG + i, 0x70000000 + i, i);
}

static void test_process_limit(void **state)
{
	struct gpusched_proc proc;
	CLEANUP_FD int fd = -1;
	uint64_t before;

	NEEDS();
	fd = open_ctl();
	before = counter(GPUSCHED_CNT_PROC_LIMIT);
	rc_client(fd, RC_CLIENT, 0);
	for (uint32_t i = 0; i < 3000; i++)
		used_tsg(fd, i, false);
	assert_int_equal(records(), 1024);
	assert_int_equal(counter(GPUSCHED_CNT_PROC_LIMIT) - before, 3000 - 1024);
	assert_int_equal(gs_proc_get(table, getpid(), &proc), 0);
	assert_int_equal(proc.tsgs, 1024);
	/* TSGs past the share are counted, up to the number of device entries that are left */
	assert_int_equal(proc.past, 1024 - 3);
	for (uint32_t i = 0; i < 3000; i++)
		rc_free(fd, RC_CLIENT, RC_DEVICE, RC_TSG + i);
	assert_int_equal(records(), 0);
	assert_int_equal(gs_proc_get(table, getpid(), &proc), 0);
	assert_int_equal(proc.tsgs, 0);
	assert_int_equal(proc.past, 0);
}

/* TSGs without channels give way to others, even if a policy has yet to hear of their end. */
static void test_empty_makes_room(void **state)
{
	struct gpusched_key key = { .client = RC_CLIENT, .handle = RC_TSG + 5000 };
	CLEANUP_FREE struct gs_holder *holders = NULL;
	struct gpusched_proc proc;
	struct gpusched_tsg rec;
	CLEANUP_FD int fd = -1;
	size_t n = 0;

	NEEDS();
	fd = open_ctl();
	rc_client(fd, RC_CLIENT, 0);
	for (uint32_t i = 0; i < 2500; i++)
		rc_tsg(fd, RC_CLIENT, RC_TSG + i, 1);
	assert_int_equal(counter(GPUSCHED_CNT_PROC_LIMIT), 0);
	assert_in_range(counter(GPUSCHED_CNT_EVICTED), 2048, 2500);
	used_tsg(fd, 5000, false);
	for (uint32_t i = 0; i < 2500; i++)
		rc_tsg(fd, RC_CLIENT, RC_TSG + 6000 + i, 1);
	gs_sweep(table, NULL, NULL, NULL);
	assert_in_range(records(), 1, 1024);
	assert_int_equal(gs_proc_get(table, getpid(), &proc), 0);
	assert_int_equal(proc.tsgs, records());
	assert_int_equal(proc.past, 0);
	assert_int_equal(gs_holders_of(table, getpid(), &holders, &n, NULL), 0);
	key.file = holders[0].file;
	assert_int_equal(gs_table_get(table, &key, &rec), 0);
	assert_int_equal(rec.nchannels, 1);
}

/* Inserts TSGs of @uid under @file until there is no room, at most @max. Returns their number. */
static unsigned int fill(uint64_t file, uint32_t uid, unsigned int max)
{
	unsigned int n = 0;
	int r = 0;

	while (!r && n < max) {
		struct gpusched_tsg rec = { .key = { file, 5, n + 1 }, .task.uid = uid };

		rec.task.pid = getpid();
		r = gs_table_insert(table, &rec, NULL);
		n += !r;
	}
	return n;
}

/* A user has at most half of the room that others leave, and nothing of root's part. */
static void test_share_of_user(void **state)
{
	const uint32_t all = GPUSCHED_MAX_TSGS, roots = all / GPUSCHED_ROOT_PART;

	NEEDS();
	assert_int_equal(gs_cfg_max_tsgs(table, 0), 0);
	assert_int_equal(fill(0x1230, 60001, all), (all - roots) / 2);
	assert_int_equal(fill(0x1240, 60002, all), (all - roots) / 4);
	assert_int_equal(fill(0x1250, 0, 2 * roots), 2 * roots);
	assert_int_equal(gs_cfg_max_tsgs(table, GPUSCHED_MAX_TSGS_PER_PROC), 0);
	gs_sweep(table, NULL, NULL, NULL);
	assert_int_equal(records(), 0);
	/* each place was given back once */
	assert_int_equal(gs_cfg_max_tsgs(table, 0), 0);
	assert_int_equal(fill(0x1230, 60001, all), (all - roots) / 2);
	assert_int_equal(gs_cfg_max_tsgs(table, GPUSCHED_MAX_TSGS_PER_PROC), 0);
	gs_sweep(table, NULL, NULL, NULL);
	assert_int_equal(records(), 0);
}

/* Checks how many entries of each kind count for this process. */
static void shares_are(uint32_t tsgs, uint32_t devices, uint32_t channels)
{
	struct gpusched_proc proc;

	assert_int_equal(gs_proc_get(table, getpid(), &proc), 0);
	assert_int_equal(proc.tsgs, tsgs);
	assert_int_equal(proc.devices, devices);
	assert_int_equal(proc.channels, channels);
}

/*
 * Sweeps until closed files are gone. Another process that walks over open files may hold them for
 * a moment, longer on a busy machine.
 */
static void sweep_files(void)
{
	struct gpusched_proc proc;

	for (int i = 0; i < 1000; i++) {
		gs_sweep(table, NULL, NULL, NULL);
		if (gs_proc_get(table, getpid(), &proc) || !proc.devices)
			return;
		gs_sleep_ns(10 * NS_PER_MS);
	}
}

/* Waits for the ends of a closed file's TSGs. Returns how many have ended when some have. */
static int sweep_closed(void)
{
	int n = gs_sweep(table, NULL, NULL, NULL);

	for (int i = 0; !n && i < 1000; i++) {
		gs_sleep_ns(10 * NS_PER_MS);
		n = gs_sweep(table, NULL, NULL, NULL);
	}
	return n;
}

static void test_share_of_devices(void **state)
{
	uint32_t device[14] = { 3 };
	CLEANUP_FD int fd = -1, other = -1;
	uint64_t before;

	NEEDS();
	fd = open_ctl();
	before = counter(GPUSCHED_CNT_DEVICE_LIMIT);
	rc_client(fd, RC_CLIENT, 0);
	shares_are(0, 3, 0); /* entries: the file, the client, the device */
	/* devices without a TSG make room for others */
	for (uint32_t i = 0; i < 1500; i++)
		rc_alloc_as(fd, 1, RC_CLIENT, RC_CLIENT, 0x50000000 + i, 0x80, device, 0);
	assert_int_equal(counter(GPUSCHED_CNT_DEVICE_LIMIT), before);
	/* devices with a TSG that has channels do not */
	for (uint32_t i = 0; i < 1020; i++)
		used_tsg(fd, i, true);
	shares_are(1020, 1022, 0);
	for (uint32_t i = 0; i < 10; i++)
		rc_alloc_as(fd, 1, RC_CLIENT, RC_CLIENT, 0x52000000 + i, 0x80, device, 0);
	/* a TSG gets no record unless there is room for the entries by which its end is found */
	for (uint32_t i = 0; i < 1020; i += 2) {
		rc_free(fd, RC_CLIENT, RC_CLIENT, 0x60000000 + i);
		used_tsg(fd, 2000 + i, true);
	}
	assert_int_equal(records(), 1020);
	other = open_ctl();
	rc_free(fd, RC_CLIENT, RC_CLIENT, RC_CLIENT);
	assert_int_equal(records(), 0);
	shares_are(0, 1, 0); /* entries: the file */
	close(fd);
	fd = -1;
	sweep_files();
	shares_are(0, 0, 0);
}

static void test_share_of_files(void **state)
{
	int fds[600];

	NEEDS();
	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < 600; i++) {
			fds[i] = open_ctl();
			rc_client(fds[i], RC_CLIENT, 0);
			rc_tsg(fds[i], RC_CLIENT, RC_TSG, 1);
			rc_channel(fds[i], RC_CLIENT, RC_TSG, 0x70000000, 1);
		}
		/* each file takes three entries (file, client, device), so some 341 files fit */
		assert_in_range(records(), 340, 342);
		for (int i = 0; i < 600; i++)
			close(fds[i]);
		sweep_files();
		shares_are(0, 0, 0);
	}
	assert_in_range(count_events(GPUSCHED_EV_LIMIT), 3, 6);
}

static void test_share_of_channels(void **state)
{
	struct gpusched_proc proc;
	CLEANUP_FD int fd = -1;
	uint64_t before;

	NEEDS();
	fd = open_ctl();
	before = counter(GPUSCHED_CNT_CHANNEL_LIMIT);
	rc_client(fd, RC_CLIENT, 0);
	for (uint32_t i = 0; i < 100; i++) {
		rc_tsg(fd, RC_CLIENT, RC_TSG + i, 1);
		for (uint32_t c = 0; c < 100; c++)
			rc_channel(fd, RC_CLIENT, RC_TSG + i, 0x60000000 + i * 100 + c, c);
	}
	shares_are(100, 3, GPUSCHED_MAX_CHANNELS_PER_PROC);
	/* the first 8 channels of each TSG do not count */
	assert_int_equal(counter(GPUSCHED_CNT_CHANNEL_LIMIT) - before, 100 * (100 - 8) - 8192);
	assert_int_equal(gs_proc_get(table, getpid(), &proc), 0);
	/* the number of TSGs that lack channels in the table */
	assert_int_equal(proc.past, (100 * (100 - 8) - 8192) / 92 + 1);
	for (uint32_t c = 0; c < 50; c++)
		rc_free(fd, RC_CLIENT, RC_TSG, 0x60000000 + c);
	shares_are(100, 3, 8192 - 42);
	rc_free(fd, RC_CLIENT, RC_DEVICE, RC_TSG); /* also frees the other 50 channels */
	shares_are(99, 3, 8192 - 92);
	close(fd);
	fd = -1;
	sweep_files();
	shares_are(0, 0, 0);
}

/* Adoption inserts no more than a process's share. */
static void test_share_of_adopted(void **state)
{
	struct gpusched_channels ch = { .n = 100 };
	unsigned int taken = 0;
	uint64_t before;

	NEEDS();
	before = counter(GPUSCHED_CNT_PROC_LIMIT) + counter(GPUSCHED_CNT_CHANNEL_LIMIT);
	for (uint32_t i = 0; i < 1200; i++) {
		struct gpusched_tsg rec = { .key = { 0x1230, 5, i + 1 } };

		rec.task.pid = getpid();
		ch.n = i < 90 ? 100 : 1;
		for (uint32_t c = 0; c < ch.n; c++)
			ch.ch[c].handle = 0x60000000 + i * 100 + c;
		taken += !gs_table_insert(table, &rec, &ch);
	}
	assert_int_equal(records(), 1024);
	assert_int_equal(taken, 1024 - 1); /* one TSG's channels did not all fit */
	shares_are(1024, 2 + 1200 - 1024, 8192);
	assert_int_equal(counter(GPUSCHED_CNT_PROC_LIMIT) + counter(GPUSCHED_CNT_CHANNEL_LIMIT) -
				 before,
			 1200 - 1024 + 1);
	gs_sweep(table, NULL, NULL, NULL);
	assert_int_equal(records(), 0);
	shares_are(0, 0, 0);
}

struct storm {
	uint32_t client;
	int fd;
};

static void *come_and_go(void *arg)
{
	struct storm *s = arg;

	for (uint32_t i = 0; !stop; i++) {
		rc_client(s->fd, s->client, 0);
		rc_tsg(s->fd, s->client, RC_TSG, 1);
		rc_channel(s->fd, s->client, RC_TSG, 0x60000000, 1);
		if (i % 3)
			rc_free(s->fd, s->client, RC_DEVICE, RC_TSG);
		rc_free(s->fd, s->client, s->client, s->client);
	}
	return NULL;
}

/* Threads use the same file and others while sweeps run: no end must count twice. */
static void test_shares_in_a_storm(void **state)
{
	struct storm s[4];
	pthread_t threads[4];
	int fd;

	NEEDS();
	fd = open_ctl();
	stop = 0;
	for (uint32_t i = 0; i < 4; i++) {
		s[i] = (struct storm){ RC_CLIENT + i / 2, fd };
		assert_int_equal(pthread_create(&threads[i], NULL, come_and_go, &s[i]), 0);
	}
	for (int i = 0; i < 300; i++) {
		int more = open_ctl();

		rc_client(more, RC_CLIENT, 0);
		rc_tsg(more, RC_CLIENT, RC_TSG, 1);
		close(more);
		assert_true(gs_sweep(table, NULL, NULL, NULL) >= 0);
	}
	stop = 1;
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	close(fd);
	sweep_files();
	assert_int_equal(records(), 0);
	shares_are(0, 0, 0);
}

static void test_table_full(void **state)
{
	CLEANUP_FD int fd = -1;
	uint64_t before;

	NEEDS();
	fd = open_ctl();
	before = counter(GPUSCHED_CNT_TABLE_FULL);
	assert_int_equal(gs_cfg_max_tsgs(table, 0), 0);
	rc_client(fd, RC_CLIENT, 0);
	for (uint32_t i = 0; i < GPUSCHED_MAX_TSGS + 500; i++)
		rc_tsg(fd, RC_CLIENT, RC_TSG + i, 1);
	/* a preallocated map keeps a few per processor in reserve */
	assert_in_range(records(), GPUSCHED_MAX_TSGS - 64, GPUSCHED_MAX_TSGS + 256);
	assert_true(counter(GPUSCHED_CNT_TABLE_FULL) - before >= 200);
	rc_free(fd, RC_CLIENT, RC_CLIENT, RC_CLIENT);
	assert_int_equal(records(), 0);
}

static void test_many_channels(void **state)
{
	struct gpusched_channels ch;
	CLEANUP_FD int fd = -1;

	NEEDS();
	fd = open_ctl();
	rc_client(fd, RC_CLIENT, 0);
	rc_tsg(fd, RC_CLIENT, RC_TSG, 1);
	for (uint32_t i = 0; i < 500; i++)
		rc_channel(fd, RC_CLIENT, RC_TSG, 0x5c001000 + i, i);
	assert_int_equal(only().nchannels, GPUSCHED_MAX_CHANNELS);
	assert_int_equal(
		gs_table_channels(
			table, &(struct gpusched_key){ only().key.file, RC_CLIENT, RC_TSG }, &ch),
		0);
	assert_int_equal(ch.n, GPUSCHED_MAX_CHANNELS);
	assert_int_equal(ch.dropped, 500 - GPUSCHED_MAX_CHANNELS);
	for (uint32_t i = 0; i < 500; i++)
		rc_free(fd, RC_CLIENT, RC_TSG, 0x5c001000 + i);
	assert_int_equal(only().nchannels, 0);
}

static void test_event_storm(void **state)
{
	CLEANUP_FD int fd = -1;
	uint64_t lost;

	NEEDS();
	fd = open_ctl();
	lost = counter(GPUSCHED_CNT_EVENTS_LOST);
	rc_client(fd, RC_CLIENT, 0);
	rc_tsg(fd, RC_CLIENT, RC_TSG, 1);
	for (uint32_t i = 0; i < 20000; i++)
		rc_timeslice(fd, RC_CLIENT, RC_TSG, 1000 + i);
	lost = counter(GPUSCHED_CNT_EVENTS_LOST) - lost;
	assert_true(lost > 0);
	assert_int_equal(count_events(GPUSCHED_EV_TIMESLICE) + lost, 20000);
	/* the table has the exact number */
	assert_int_equal(only().task.asked.timeslice_us, 1000 + 19999);
}

static void *rewrite(void *arg)
{
	volatile uint32_t *w = arg;

	for (uint32_t i = 0; !stop; i++) {
		w[1] = RC_DEVICE + (i & 3);
		w[2] = RC_TSG + (i & 7);
		w[3] = i & 1 ? 0xa06c : 0xc86f;
		w[10] = i & 2;
	}
	return NULL;
}

/* Another thread rewrites the arguments while the call runs. */
static void test_memory_rewritten(void **state)
{
	CLEANUP_FREE struct gpusched_tsg *all = NULL;
	CLEANUP_FD int fd = -1, bystander = -1;
	uint32_t w[12] = { RC_CLIENT }, params[92] = { 0, 0, 0, 1 };
	uint64_t p = (uintptr_t)params;
	struct gpusched_proc proc;
	pthread_t thread;
	size_t n = 0;

	NEEDS();
	bystander = open_ctl();
	rc_client(bystander, RC_CLIENT, 0);
	rc_tsg(bystander, RC_CLIENT, RC_TSG, 1);
	fd = open_ctl();
	memcpy(&w[4], &p, sizeof(p));
	rc_client(fd, RC_CLIENT, 0);
	__atomic_store_n(&stop, 0, __ATOMIC_RELAXED);
	assert_int_equal(pthread_create(&thread, NULL, rewrite, w), 0);
	for (int i = 0; i < 20000; i++)
		rc_call(fd, 0x2b, w, sizeof(w));
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	assert_int_equal(gs_table_all(table, &all, &n), 0);
	assert_in_range(n, 1, 9); /* the record of the bystander, and at most eight handles */
	assert_int_equal(gs_proc_get(table, getpid(), &proc), 0);
	assert_int_equal(proc.tsgs, n);
	rc_free(fd, RC_CLIENT, RC_CLIENT, RC_CLIENT);
	assert_int_equal(only().owner_fd, bystander);
}

/* The taps ignore calls on files that are not NVIDIA's, whatever the arguments are. */
static void test_other_files(void **state)
{
	CLEANUP_FD int null = open("/dev/null", O_RDWR), fd = -1;
	uint32_t w[12] = { RC_CLIENT, RC_DEVICE, RC_TSG, 0xa06c };
	uint64_t looked, lost;

	NEEDS();
	fd = open_ctl();
	looked = counter(GPUSCHED_CNT_IOCTLS);
	lost = counter(GPUSCHED_CNT_NO_FILE);
	rc_call(null, 0x2b, w, 48);
	rc_call(-1, 0x2b, w, 48);
	rc_call(1 << 20, 0x2b, w, 48);
	ioctl(fd, _IOC(3u, 'F', 0x4e, 56), w);
	ioctl(fd, _IOC(3u, 'G', 0x2b, 48), w);
	assert_int_equal(counter(GPUSCHED_CNT_IOCTLS), looked);
	assert_int_equal(counter(GPUSCHED_CNT_NO_FILE), lost);
	assert_int_equal(records(), 0);
}

#ifdef __x86_64__
#define NR_IOCTL_32 54
#define NR_LCHOWN_32 16 /* the number of ioctl in 64-bit calls */

static long call32(long nr, long b, long c, long d)
{
	long ret;

	__asm__ volatile("int $0x80" : "=a"(ret) : "a"(nr), "b"(b), "c"(c), "d"(d) : "memory");
	return ret;
}
#endif

/* While an open file is only in a message in flight, its TSG's record stays. */
static void test_file_in_flight(void **state)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(int))];
	} c = { 0 };
	struct iovec byte = { &(char){ 0 }, 1 };
	struct msghdr m = {
		.msg_iov = &byte, .msg_iovlen = 1, .msg_control = &c, .msg_controllen = sizeof(c)
	};
	int fd, pair[2];

	NEEDS();
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	fd = open_ctl();
	rc_client(fd, RC_CLIENT, 0);
	rc_tsg(fd, RC_CLIENT, RC_TSG, 1);
	c.head = (struct cmsghdr){ CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS };
	memcpy(CMSG_DATA(&c.head), &fd, sizeof(fd));
	assert_int_equal(sendmsg(pair[0], &m, 0), 1);
	close(fd);
	for (int i = 0; i < 2; i++)
		assert_int_equal(gs_sweep(table, NULL, NULL, NULL), 0);
	assert_true(only().flags & GPUSCHED_TSG_IN_FLIGHT);
	assert_int_equal(recvmsg(pair[1], &m, 0), 1);
	memcpy(&fd, CMSG_DATA(&c.head), sizeof(fd));
	assert_int_equal(gs_sweep(table, NULL, NULL, NULL), 0);
	assert_false(only().flags & GPUSCHED_TSG_IN_FLIGHT);
	assert_int_equal(count_events(GPUSCHED_EV_OWNER), 1);
	close(fd);
	close(pair[0]);
	close(pair[1]);
	assert_int_equal(sweep_closed(), 1);
	assert_int_equal(records(), 0);
}

/* The table has an entry of an earlier file at this file's address, whose close was not seen. */
static void test_another_file_at_that_address(void **state)
{
	int files, fd;
	struct gpusched_file file;
	uint64_t at;

	NEEDS();
	fd = open_ctl();
	rc_client(fd, RC_CLIENT, 0);
	rc_tsg(fd, RC_CLIENT, RC_TSG, 1);
	at = only().key.file;
	files = gs_table_map_fd(table, "gs_files");
	assert_int_equal(bpf_map_lookup_elem(files, &at, &file), 0);
	assert_true(file.inode && file.data);
	file.data++;
	assert_int_equal(bpf_map_update_elem(files, &at, &file, BPF_EXIST), 0);
	rc_client(fd, RC_CLIENT, 0);
	assert_int_equal(records(), 0);
	rc_tsg(fd, RC_CLIENT, RC_TSG, 1);
	assert_int_equal(only().task.id, 2);
	assert_int_equal(bpf_map_lookup_elem(files, &at, &file), 0);
	file.inode++;
	assert_int_equal(bpf_map_update_elem(files, &at, &file, BPF_EXIST), 0);
	close(fd);
	assert_int_equal(sweep_closed(), 1);
}

static void test_orphans_are_told(void **state)
{
	CLEANUP_FD int fd = -1;
	uint64_t us = 7;

	NEEDS();
	fd = open_ctl();
	rc_client(fd, RC_CLIENT, 0);
	rc_control(fd, RC_CLIENT, RC_TSG, 0xa06c0103, &us, sizeof(us));
	assert_int_equal(count_events(GPUSCHED_EV_ORPHAN), 1);
	assert_int_equal(last_event(GPUSCHED_EV_ORPHAN)->key.handle, RC_TSG);
	assert_int_equal(counter(GPUSCHED_CNT_ORPHAN_CALL), 1);
}

#ifdef __x86_64__
/* 32-bit calls count as 64-bit ones do. Their call numbers are not taken for 64-bit numbers. */
static void test_compat_calls(void **state)
{
	uint64_t looked;
	uint32_t *w;
	int fd, status;
	pid_t pid;

	NEEDS();
	looked = counter(GPUSCHED_CNT_IOCTLS);
	pid = fork();
	if (!pid) {
		const unsigned int cmd = _IOC(3u, 'F', 0x2b, 32);

		signal(SIGSEGV, SIG_DFL);
		fd = open(echo.path, O_RDWR);
		w = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
		w[0] = RC_CLIENT;
		w[1] = RC_DEVICE;
		w[2] = RC_TSG;
		w[3] = 0xa06c;
		call32(NR_IOCTL_32, fd, cmd, (uintptr_t)w);
		w[2]++;
		call32(NR_LCHOWN_32, fd, cmd, (uintptr_t)w);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFSIGNALED(status)) {
		print_message("# this kernel has no 32-bit calls\n");
		return;
	}
	assert_int_equal(counter(GPUSCHED_CNT_IOCTLS) - looked, 1);
	assert_int_equal(records(), 1);
	assert_int_equal(only().key.handle, RC_TSG);
	assert_int_equal(sweep_closed(), 1);
}
#endif

/* Calls on a user's FUSE file with the driver's name do not count, since it is not registered. */
static void test_unregistered_file(void **state)
{
	CLEANUP_FD int fd = -1;
	uint64_t looked;

	NEEDS();
	assert_int_equal(gs_taps_off(NULL), 0);
	gs_table_close(table);
	table = NULL;
	{
		char list[128];
		FILE *f;

		snprintf(list, sizeof(list), "%s/simfiles", echo.dir);
		f = fopen(list, "re+");
		assert_non_null(f);
		fprintf(f, "9");
		fclose(f); /* the list now has another device number */
	}
	assert_int_equal(gs_taps_on(NULL), 0);
	assert_int_equal(gs_table_open(&table, NULL), 0);
	looked = counter(GPUSCHED_CNT_IOCTLS);
	fd = open_ctl();
	rc_client(fd, RC_CLIENT, 0);
	rc_tsg(fd, RC_CLIENT, RC_TSG, 1);
	assert_int_equal(records(), 0);
	assert_int_equal(counter(GPUSCHED_CNT_IOCTLS), looked);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_bad_pointers),
		T(test_at_the_end_of_memory),
		T(test_wrong_sizes),
		T(test_refused_calls_do_not_count),
		T(test_forged_handles),
		T(test_process_limit),
		T(test_empty_makes_room),
		T(test_share_of_user),
		T(test_table_full),
		T(test_many_channels),
		T(test_event_storm),
		T(test_memory_rewritten),
		T(test_other_files),
		T(test_file_in_flight),
		T(test_another_file_at_that_address),
		T(test_orphans_are_told),
#ifdef __x86_64__
		T(test_compat_calls),
#endif
		T(test_share_of_devices),
		T(test_share_of_files),
		T(test_share_of_channels),
		T(test_share_of_adopted),
		T(test_shares_in_a_storm),
		T(test_unregistered_file), /* last, since it spoils the list of files */
	};

	return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
