// SPDX-License-Identifier: MIT
/* test_hooks.c - check that the agent's hooks pass arguments to libcuda, and results back */
#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

typedef int launch_fn(uint64_t, unsigned int, unsigned int, unsigned int, unsigned int,
		      unsigned int, unsigned int, unsigned int, uint64_t, uint64_t, uint64_t);
launch_fn cuLaunchKernel;
int cuInit(unsigned int flags);

extern uint64_t hooks_given[11];
extern int hooks_calls;

static void launch(launch_fn *f)
{
	const uint64_t sent[11] = {
		1ull << 40 | 1, 2, 3, 4, 5, 6, 7, 8, 1ull << 41 | 9, 1ull << 42 | 10,
		1ull << 43 | 11
	};
	int got;

	memset(hooks_given, 0, sizeof(hooks_given));
	got = f(sent[0], 2, 3, 4, 5, 6, 7, 8, sent[8], sent[9], sent[10]);
	assert_int_equal(got, 40 + hooks_calls);
	assert_memory_equal(hooks_given, sent, sizeof(sent));
}

static const char *file_of(const void *p)
{
	Dl_info info;

	assert_true(dladdr(p, &info));
	return strrchr(info.dli_fname, '/') ? strrchr(info.dli_fname, '/') + 1 : info.dli_fname;
}

/*
 * Tests several calls: a thread's first call takes a slower path, since the thread has no counter.
 */
static void test_linked(void **state)
{
	assert_string_equal(file_of((void *)cuLaunchKernel), "libgpusched-agent.so");
	for (int i = 0; i < 3; i++)
		launch(cuLaunchKernel);
	assert_int_equal(cuInit(0), 100);
}

static void test_by_name(void **state)
{
	void *h = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
	launch_fn *f = (launch_fn *)dlsym(h, "cuLaunchKernel");

	assert_non_null(f);
	assert_string_equal(file_of((void *)f), "libgpusched-agent.so");
	for (int i = 0; i < 3; i++)
		launch(f);
	assert_null(dlsym(h, "cuNoSuchFunction"));
	assert_non_null(dlsym(h, "hooks_calls"));
	dlclose(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_linked),
		cmocka_unit_test(test_by_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
