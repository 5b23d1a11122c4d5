// SPDX-License-Identifier: MIT
/* test_launch.c - check the search for libcudas and their functions, and the rate of launches */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cmocka.h>

#include "launch/launch.bpf.h"
#include "launch/launch.h"
#include "launch/launch_find.h"

#define S 1000000000ull
#define LIBC "/lib/" GS_MULTIARCH "/libc.so.6"

static void test_maps_lines(void **state)
{
	struct gs_cuda_map m;

	(void)state;
	assert_true(gs_cuda_map_parse("7f0000001000-7f0000403000 r-xp 00001000 fd:00 5334080 "
				      "      /usr/lib/x86_64-linux-gnu/libcuda.so.580.159.04\n",
				      &m));
	assert_int_equal(m.start, 0x7f0000001000);
	assert_int_equal(m.end, 0x7f0000403000);
	assert_string_equal(m.path, "/usr/lib/x86_64-linux-gnu/libcuda.so.580.159.04");
	assert_true(
		gs_cuda_map_parse("1000-2000 r-xp 0 00:4f 9 /a b/libcuda.so.1 (deleted)\n", &m));
	assert_string_equal(m.path, "/a b/libcuda.so.1 (deleted)");
}

static void test_mounts_that_serve_users(void **state)
{
	static const struct {
		const char *line;
		bool serves;
	} lines[] = {
		{ "40 31 0:50 / /mnt/a rw,nosuid - fuse.sshfs u@h:/ rw,user_id=1000,group_id=1000",
		  true },
		{ "40 31 0:50 / /mnt/a rw shared:9 - fuse helper rw,user_id=0,group_id=0", false },
		{ "40 31 0:50 / /mnt/a rw - fuse helper rw,user_id=0,group_id=0,allow_other",
		  true },
		{ "40 31 0:50 / /mnt/a rw - fuseblk /dev/sdb1 rw,user_id=0,group_id=0,allow_other",
		  true },
		{ "40 31 0:50 / /mnt/a rw - fusectl fusectl rw", false },
		{ "40 31 0:50 / /mnt/a rw - ext4 /dev/sda1 rw", false },
		{ "40 31 0:50 / /mnt/fuse rw - tmpfs fuse rw,user_id=7", false },
		{ "", false },
	};
	char place[256];
	dev_t dev;

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		if (gs_launch_mount_serves_users(lines[i].line, &dev, place) != lines[i].serves)
			fail_msg("taken for the other kind: %s", lines[i].line);
	assert_true(gs_launch_mount_serves_users(lines[0].line, &dev, place));
	assert_string_equal(place, "/mnt/a");
	assert_int_equal(dev, makedev(0, 50));
}

/* If the mounts cannot be read, probes may be dangerous, and are refused. */
static void test_unseen_mounts_refuse(void **state)
{
	struct gs_error why = { 0 };
	bool allowed = !gs_launches_allowed(false, &why);
	struct rlimit was, none;
	int r;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &was), 0);
	none = (struct rlimit){ 0, was.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	why = (struct gs_error){ 0 };
	r = gs_launches_allowed(false, &why);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &was), 0);
	assert_int_not_equal(r, 0);
	if (allowed)
		assert_non_null(strstr(why.text, "mounts cannot be read"));
}

static void test_other_maps_lines(void **state)
{
	static const char *const lines[] = {
		"",
		"\n",
		"nonsense",
		"1000-2000 r--p 0 fd:00 7 /usr/lib/libcuda.so.1\n", /* not executable */
		"1000-2000 r-xp 0 fd:00 7 /usr/lib/libcudart.so.12\n",
		"1000-2000 r-xp 0 fd:00 7 /usr/lib/libcuda.so.1/other.so\n",
		"1000-2000 r-xp 0 fd:00 7 /usr/lib/libnvidia-ml.so.1\n",
		"1000-2000 r-xp 0 00:00 0 \n",
		"1000-2000 r-xp 0 00:00 0 [vdso]\n",
		/* the name of a mapping without a file */
		"1000-2000 r-xp 0 00:00 0 libcuda.so.1\n",
		"1000 r-xp 0 fd:00 7 /usr/lib/libcuda.so.1\n",
	};
	struct gs_cuda_map m;

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		if (gs_cuda_map_parse(lines[i], &m))
			fail_msg("taken for a libcuda: %s", lines[i]);
}

static void test_long_path_is_cut(void **state)
{
	struct gs_cuda_map m;
	char line[1024];

	(void)state;
	snprintf(line, sizeof(line), "1000-2000 r-xp 0 fd:00 7 /%0600d/libcuda.so.1\n", 0);
	assert_false(gs_cuda_map_parse(line, &m)); /* the name is too long, so it may be cut */
}

/* Uses the C library as an ELF object with symbols. */
static void test_offsets(void **state)
{
	static const char *const names[] = { "malloc", "no_such_function", "free", "malloc" };
	uint64_t at[4];
	int fd = open(LIBC, O_RDONLY | O_CLOEXEC);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(gs_launch_find_offsets(fd, names, 4, at), 0);
	assert_int_not_equal(at[0], 0);
	assert_int_equal(at[1], 0);
	assert_int_not_equal(at[2], 0);
	assert_int_not_equal(at[0], at[2]);
	assert_int_equal(at[3], 0); /* an alias is probed once */
	close(fd);
}

static void test_no_elf(void **state)
{
	static const char *const names[] = { "cuLaunchKernel" };
	uint64_t at[1] = { 7 };
	int fd = memfd_create("text", MFD_CLOEXEC);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(write(fd, "no ELF file", 11), 11);
	assert_int_equal(gs_launch_find_offsets(fd, names, 1, at), -ENOEXEC);
	assert_int_equal(at[0], 0);
	close(fd);
}

static int copy_of(const char *path)
{
	int from = open(path, O_RDONLY | O_CLOEXEC), to = memfd_create("copy", MFD_CLOEXEC);
	char piece[65536];
	ssize_t n;

	assert_true(from >= 0 && to >= 0);
	while ((n = read(from, piece, sizeof(piece))) > 0)
		assert_int_equal(write(to, piece, (size_t)n), n);
	close(from);
	return to;
}

static bool stop;

/* Truncates the file and restores it, over and over. */
static void *cut(void *arg)
{
	int fd = *(int *)arg, whole = copy_of(LIBC);
	off_t size = lseek(whole, 0, SEEK_END);

	while (!__atomic_load_n(&stop, __ATOMIC_ACQUIRE)) {
		if (ftruncate(fd, 4096))
			break;
		lseek(whole, 0, SEEK_SET);
		lseek(fd, 0, SEEK_SET);
		if (sendfile(fd, whole, NULL, (size_t)size) < 0)
			break;
	}
	close(whole);
	return NULL;
}

/* A user that changes a library while the daemon reads it cannot crash the daemon. */
static void test_cut_meanwhile(void **state)
{
	static const char *const names[] = { "malloc" };
	int fd = copy_of(LIBC);
	pthread_t thread;
	uint64_t at[1];

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, cut, &fd), 0);
	for (int i = 0; i < 1000; i++)
		gs_launch_find_offsets(fd, names, 1, at);
	__atomic_store_n(&stop, true, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
	close(fd);
}

/* Tables of an implausible size are not read. */
static void test_absurd_sizes(void **state)
{
	static const char *const names[] = { "malloc" };
	int fd = copy_of(LIBC);
	uint64_t at[1];
	Elf64_Ehdr h;
	Elf64_Shdr sh;

	(void)state;
	assert_int_equal(pread(fd, &h, sizeof(h), 0), sizeof(h));
	for (unsigned int i = 0; i < h.e_shnum; i++) {
		off_t where = (off_t)(h.e_shoff + i * sizeof(sh));

		assert_int_equal(pread(fd, &sh, sizeof(sh), where), sizeof(sh));
		if (sh.sh_type != SHT_DYNSYM)
			continue;
		sh.sh_size = 1ull << 40;
		assert_int_equal(pwrite(fd, &sh, sizeof(sh), where), sizeof(sh));
	}
	assert_int_equal(ftruncate(fd, 1ll << 41), 0);
	assert_int_equal(gs_launch_find_offsets(fd, names, 1, at), 0);
	assert_int_equal(at[0], 0);
	h.e_shnum = 0; /* means: the first section's size is the number of sections */
	assert_int_equal(pwrite(fd, &h, sizeof(h), 0), sizeof(h));
	assert_int_equal(gs_launch_find_offsets(fd, names, 1, at), -ENOEXEC);
	close(fd);
}

/* The total work has a limit, too, however many tables or sections there are. */
static void test_absurd_numbers(void **state)
{
	static const char *const names[] = { "malloc" };
	int fd = copy_of(LIBC);
	uint64_t at[1];
	Elf64_Ehdr h;
	Elf64_Shdr sh = { 0 };

	(void)state;
	assert_int_equal(pread(fd, &h, sizeof(h), 0), sizeof(h));
	for (unsigned int i = 0; sh.sh_type != SHT_DYNSYM; i++)
		assert_int_equal(pread(fd, &sh, sizeof(sh), (off_t)(h.e_shoff + i * sizeof(sh))),
				 sizeof(sh));
	assert_int_equal(gs_launch_find_offsets(fd, names, 1, at), 0);
	assert_int_not_equal(at[0], 0);
	for (unsigned int i = h.e_shnum - 3; i < h.e_shnum; i++)
		assert_int_equal(pwrite(fd, &sh, sizeof(sh), (off_t)(h.e_shoff + i * sizeof(sh))),
				 sizeof(sh));
	assert_int_equal(gs_launch_find_offsets(fd, names, 1, at), -ENOEXEC);
	h.e_shnum = 65000;
	assert_int_equal(pwrite(fd, &h, sizeof(h), 0), sizeof(h));
	assert_int_equal(gs_launch_find_offsets(fd, names, 1, at), -ENOEXEC);
	close(fd);
}

/* For a steady load, the smoothed rate is the load's rate, whether high or low. */
static void test_steady_rates(void **state)
{
	static const uint64_t per_s[] = { 1, 5, 50, 1000, 30000, 1000000 };

	(void)state;
	for (size_t i = 0; i < sizeof(per_s) / sizeof(per_s[0]); i++) {
		uint64_t rate = 0, gap = S / per_s[i];

		for (uint64_t t = 0; t < 12 * S; t += gap)
			rate = gs_rate_decayed(rate, gap) + GS_RATE_STEP_MHZ;
		/* the rate jumps at a launch and then decays: its mean between launches is right */
		rate = (rate + gs_rate_decayed(rate, gap)) / 2;
		if (rate < per_s[i] * 900 || rate > per_s[i] * 1100)
			fail_msg("%lu/s comes out as %lu mHz", per_s[i], rate);
	}
}

static void test_rate_fades(void **state)
{
	struct gpusched_task t = { .launch_rate_mhz = 1000000, .last_launch_ns = S };
	uint64_t half = 744261118; /* ln 2 of 2^30 ns */

	(void)state;
	assert_int_equal(gs_launch_rate_mhz(&t, S), 1000000);
	assert_int_equal(gs_launch_rate_mhz(&t, S / 2), 1000000);
	assert_in_range(gs_launch_rate_mhz(&t, S + half), 495000, 505000);
	assert_in_range(gs_launch_rate_mhz(&t, S + 2 * half), 245000, 255000);
	assert_in_range(gs_launch_rate_mhz(&t, S + 4 * half), 60000, 65000);
	assert_int_equal(gs_launch_rate_mhz(&t, 20 * S), 0);
	/* the two formulas agree where they meet */
	assert_in_range(gs_rate_decayed(1000000, GS_RATE_SHORT_NS - 1), 882000, 883500);
	assert_in_range(gs_rate_decayed(1000000, GS_RATE_SHORT_NS), 882000, 883500);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_maps_lines),
		cmocka_unit_test(test_other_maps_lines),
		cmocka_unit_test(test_mounts_that_serve_users),
		cmocka_unit_test(test_unseen_mounts_refuse),
		cmocka_unit_test(test_long_path_is_cut),
		cmocka_unit_test(test_offsets),
		cmocka_unit_test(test_no_elf),
		cmocka_unit_test(test_steady_rates),
		cmocka_unit_test(test_rate_fades),
		cmocka_unit_test(test_cut_meanwhile),
		cmocka_unit_test(test_absurd_sizes),
		cmocka_unit_test(test_absurd_numbers),
	};

	return cmocka_run_group_tests_name("launch", tests, NULL, NULL);
}
