// SPDX-License-Identifier: MIT
/* test_waiters.c - check how threads that seem to wait in libcuda are found, from /proc */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include "process/waiters.h"

static void its_zeroed_data_is_libcudas(void **state)
{
	static const char *const maps[] = {
		"7f10-7f20 r-xp 00000000 00:2a 11 /usr/lib/libother.so.1\n",
		"7f20-7f30 rw-p 00000000 00:00 0 \n", /* memory of another library */
		"7f40-7f50 r-xp 00000000 00:2a 12 /usr/lib/libcuda.so.580.95\n",
		"7f50-7f60 rw-p 00010000 00:2a 12 /usr/lib/libcuda.so.580.95\n",
		"7f60-7f70 rw-p 00000000 00:00 0 \n",
		"7f80-7f90 rw-p 00000000 00:00 0 \n", /* not adjacent to libcuda's memory */
	};
	struct gs_cuda_range r = { 0 };

	for (unsigned int i = 0; i < 6; i++)
		gs_waiters_add_range(&r, maps[i]);
	assert_int_equal(r.start, 0x7f40);
	assert_int_equal(r.end, 0x7f70);
	gs_waiters_add_range(&r, "7f70-7f80 rw-p 00000000 00:00 0 [heap]\n");
	gs_waiters_add_range(&r, "nonsense\n");
	assert_int_equal(r.end, 0x7f70);
}

static bool waits_at(const char *address, const struct gs_cuda_range *r)
{
	char line[96];

	snprintf(line, sizeof(line), "%d %s 0x80 0x2 0x0 0x0 0x0 0x7ffd 0x7f00\n", (int)SYS_futex,
		 address);
	return gs_waiters_waits_in(line, r);
}

static void a_futex_there_counts(void **state)
{
	const struct gs_cuda_range r = { 0x7f40, 0x7f70 }, none = { 0 };

	assert_true(waits_at("0x7f68", &r));
	assert_false(waits_at("0x7f70", &r));
	assert_false(waits_at("0x7f68", &none));
	assert_false(gs_waiters_waits_in("0 0x7f68 0x80 0x2 0x0 0x0 0x0 0x7ffd 0x7f00\n", &r));
	assert_false(gs_waiters_waits_in("running\n", &r));
	assert_false(gs_waiters_waits_in("-1 0x7f68 0x7f00\n", &r));
	assert_false(gs_waiters_waits_in("", &r));
}

static void without_libcuda_it_is_unknown(void **state)
{
	uint32_t n = 77;

	assert_int_equal(gs_waiters_read(getpid(), &n), -ENOENT);
	assert_int_equal(n, 77);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(its_zeroed_data_is_libcudas),
		cmocka_unit_test(a_futex_there_counts),
		cmocka_unit_test(without_libcuda_it_is_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
