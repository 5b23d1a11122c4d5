// SPDX-License-Identifier: MIT
/*
 * test_policy_object.c - check policy objects without the kernel
 *
 * Their declarations and options, the commands build and new, and the ABI's layout.
 */
#include <pthread.h>
#include <sys/stat.h>

#include "../policy/abi_v1.h"
#include "basic/cleanup.h"
#include "basic/clock.h"
#include "gpusched/policy_types.h"
#include "policy/priv.h"
#include "policy/build.h"
#include "policy_fixture.h"

static char folder[] = "/tmp/gpusched-object-XXXXXX";

static void test_layout(void **state)
{
	struct gs_policy_info info = { 0 };
	struct gs_error err = { 0 };

	(void)state;
#define FIELD(type, field, offset, size) \
	if (offsetof(struct type, field) != (offset) || \
	    sizeof(((struct type *)0)->field) != (size)) \
		fail_msg("struct %s.%s moved: at %zu, %zu bytes; ABI 1 has it at %d, %d bytes", \
			 #type, #field, offsetof(struct type, field), \
			 sizeof(((struct type *)0)->field), (int)(offset), (int)(size));
	GPUSCHED_ABI_V1(FIELD)
#undef FIELD
#define SIZE(type, size) assert_int_equal(sizeof(struct type), size);
	GPUSCHED_ABI_V1_SIZES(SIZE)
#undef SIZE
#define VALUE(name, value) assert_int_equal(name, value);
	GPUSCHED_ABI_V1_VALUES(VALUE)
#undef VALUE
	assert_int_equal(GPUSCHED_ABI_VERSION, 1);
	/* the same layout by clang for BPF */
	if (gs_policy_info(fixture_source("abi_layout"), &info, &err) < 0)
		fail_msg("%s", err.text);
	gs_policy_info_free(&info);
}

static const struct gs_policy_option *option(const struct gs_policy_info *info, const char *name)
{
	for (size_t i = 0; i < info->noptions; i++)
		if (strcmp(info->options[i].name, name) == 0)
			return &info->options[i];
	fail_msg("no option %s", name);
	return NULL;
}

static void test_info(void **state)
{
	struct gs_policy_info info = { 0 };
	struct gs_error err = { 0 };

	(void)state;
	if (gs_policy_info(fixture_source("options"), &info, &err) < 0)
		fail_msg("%s", err.text);
	assert_string_equal(info.name, "options");
	assert_int_equal(info.abi, 1);
	assert_int_equal(info.tick_us, 20000);
	assert_int_equal(info.timeout_ms, 200);
	assert_int_equal(info.flags, GPUSCHED_F_WORK | GPUSCHED_F_ASSUMED);
	assert_string_equal(info.callbacks,
			    "init exit task_init schedule timeslice_set work_submit "
			    "task_destroy tick_begin tick tick_end");
	assert_int_equal(info.noptions, 6);
	assert_int_equal(option(&info, "small")->def, 32);
	assert_string_equal(option(&info, "small")->type, "gs_u32");
	assert_string_equal(option(&info, "small")->help, "any gs_u32");
	assert_int_equal(option(&info, "small")->max, UINT32_MAX);
	assert_int_equal(option(&info, "big")->def, 1ull << 40);
	assert_int_equal((int64_t)option(&info, "neg")->def, -3);
	assert_true(option(&info, "neg")->is_signed);
	assert_int_equal((int64_t)option(&info, "drift")->def, -5000000000);
	assert_int_equal(option(&info, "flag")->size, 1);

	assert_int_equal(gs_option_set(&info, "small=0x10", &err), 0);
	assert_int_equal(option(&info, "small")->value, 16);
	assert_int_equal(gs_option_set(&info, "neg=-2147483648", &err), 0);
	assert_int_equal((int64_t)option(&info, "neg")->value, INT32_MIN);
	assert_int_equal(gs_option_set(&info, "flag=off", &err), 0);
	assert_int_equal(option(&info, "flag")->value, 0);
	assert_int_equal(gs_option_set(&info, "level=-5", &err), 0);
	gs_policy_info_free(&info);
}

/* Finds the facts that a policy reads: directly, in a function, after other calls, by a helper. */
static void test_reads(void **state)
{
	struct gs_policy_info info = { 0 };
	struct gs_error err = { 0 };
	char text[160];

	(void)state;
	if (gs_policy_info(fixture_source("facts"), &info, &err) < 0)
		fail_msg("%s", err.text);
	assert_true(gs_reads_text(info.reads, GPUSCHED_KNOWN_LAUNCHES, text, sizeof(text)));
	assert_string_equal(text, "gpu_time_ns, switches, last_run_ns");
	assert_true(gs_reads_text(info.reads, GPUSCHED_KNOWN_GPU_TIME, text, sizeof(text)));
	assert_string_equal(text, "last_run_ns");
	assert_false(gs_reads_text(info.reads, ~0u, text, sizeof(text)));
	assert_false(info.reads_more);
	assert_true(gs_policy_remark(&info, 0, text, sizeof(text)));
	assert_non_null(strstr(text, "work_submit"));
	assert_true(gs_policy_remark(&info, 1, text, sizeof(text)));
	assert_non_null(strstr(text, "gpu_time_ns, switches"));
	assert_false(gs_policy_remark(&info, 2, text, sizeof(text)));
	gs_policy_info_free(&info);

	if (gs_policy_info(fixture_source("looks"), &info, &err) < 0)
		fail_msg("%s", err.text);
	assert_true(info.reads & GS_READS_FACTS);
	assert_false(info.reads & GS_READS_GPU);
	assert_true(gs_reads_text(info.reads, 0, text, sizeof(text)));
	assert_string_equal(text, "work_ns, block_ns");
	assert_false(info.reads_more);
	info.flags = 0;
	assert_true(gs_policy_remark(&info, 1, text, sizeof(text)));
	assert_non_null(strstr(text, "without GPUSCHED_F_FACTS"));
	gs_policy_info_free(&info);

	if (gs_policy_info(fixture_source("costs"), &info, &err) < 0)
		fail_msg("%s", err.text);
	assert_true(info.reads & GS_READS_GPU);
	gs_policy_info_free(&info);

	if (gs_policy_info(fixture_source("flips"), &info, &err) < 0)
		fail_msg("%s", err.text);
	assert_false(gs_reads_text(info.reads, 0, text, sizeof(text)));
	assert_false(gs_policy_remark(&info, 0, text, sizeof(text)));
	gs_policy_info_free(&info);
}

/* One policy holds and never admits. Others admit, in a callback or by taking a wish back. */
static void test_never_admits(void **state)
{
	static const struct {
		const char *name;
		bool never;
	} all[] = { { "holds_forever", true }, { "holds", false }, { "options", false },
		    { "deny", false },         { "flips", false }, { "suspends_all", false } };
	struct gs_error err = { 0 };
	char text[160];

	(void)state;
	for (size_t i = 0; i < GS_COUNT(all); i++) {
		struct gs_policy_info info = { 0 };

		if (gs_policy_info(fixture_source(all[i].name), &info, &err) < 0)
			fail_msg("%s", err.text);
		assert_int_equal(info.never_admits, all[i].never);
		if (all[i].never)
			assert_true(gs_policy_remark(&info, 0, text, sizeof(text)));
		if (all[i].never)
			assert_non_null(strstr(text, "no callback calls gpusched_admit()"));
		gs_policy_info_free(&info);
	}
}

/* One policy's chain of functions needs too much stack for older kernels; another's just fits. */
static void test_stack(void **state)
{
	struct gs_policy_info info = { 0 };
	struct gs_error err = { 0 };
	char text[160];

	(void)state;
	if (gs_policy_info(fixture_source("big_stack"), &info, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(info.stack, 320);
	assert_true(gs_policy_remark(&info, 0, text, sizeof(text)));
	assert_non_null(strstr(text, "tick takes 320 bytes of stack"));
	assert_false(gs_policy_remark(&info, 1, text, sizeof(text)));
	gs_policy_info_free(&info);

	if (gs_policy_info(fixture_source("flips"), &info, &err) < 0)
		fail_msg("%s", err.text);
	assert_in_range(info.stack, 32, GS_CALLBACK_STACK);
	gs_policy_info_free(&info);
}

static void test_option_errors(void **state)
{
	static const struct {
		const char *text;
		int code;
		const char *words;
	} cases[] = {
		{ "small=4294967296", -ERANGE, "0 to 4294967295" },
		{ "small=-1", -EINVAL, "a number, 0 to 4294967295" },
		{ "small=", -EINVAL, "number" },
		{ "small=12x", -EINVAL, "number" },
		{ "neg=2147483648", -ERANGE, "-2147483648 to 2147483647" },
		{ "drift=-9000000001", -ERANGE, "-9000000000 to 9000000000" },
		{ "level=6", -ERANGE, "-5 to 5" },
		{ "level=010", -ERANGE, "-5 to 5" }, /* decimal 10, not octal */
		{ "level=5us", -EINVAL, "a number, -5 to 5" },
		{ "level= 5", -EINVAL, "number" },
		{ "level=-", -EINVAL, "number" },
		{ "flag=maybe", -EINVAL, "yes or no" },
		{ "nosuch=1", -EINVAL, "it has" },
		{ "small", -EINVAL, "key=value" },
		{ "=1", -EINVAL, "key=value" },
	};
	struct gs_policy_info info = { 0 };

	(void)state;
	assert_int_equal(gs_policy_info(fixture_source("options"), &info, NULL), 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct gs_error err = { 0 };
		int r = gs_option_set(&info, cases[i].text, &err);

		if (r != cases[i].code || !strstr(err.text, cases[i].words))
			fail_msg("'%s': %d, %s", cases[i].text, r, err.text);
	}
	gs_policy_info_free(&info);
}

static void test_new_and_build(void **state)
{
	struct stat st;
	struct gs_policy_info info = { 0 };
	struct gs_error err = { 0 };

	(void)state;
	assert_non_null(mkdtemp(folder));
	assert_int_equal(chdir(folder), 0);
	assert_int_equal(gs_policy_build_skeleton("mine", NULL), 0);
	assert_int_equal(gs_policy_build_skeleton("mine", NULL), -EEXIST);
	assert_int_equal(gs_policy_build_skeleton("no-good", NULL), -EINVAL);
	assert_int_equal(gs_policy_build_skeleton("../mine", NULL), -EINVAL);
	assert_int_equal(gs_policy_build_skeleton("gs_mine", NULL), -EINVAL);
	assert_int_equal(gs_policy_build_skeleton("gpusched_mine", NULL), -EINVAL);
	if (gs_policy_build("mine.bpf.c", NULL, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(gs_policy_info("./mine.bpf.o", &info, NULL), 0);
	assert_string_equal(info.name, "mine");
	gs_policy_info_free(&info);
	assert_int_equal(gs_policy_build("mine.c", NULL, NULL), -EINVAL);
	assert_int_equal(gs_policy_build("nosuch.bpf.c", NULL, NULL), -ENOENT);
	assert_int_equal(stat("mine.bpf.c", &st), 0);
	assert_int_equal(truncate("mine.bpf.c", st.st_size - 5), 0); /* the last bracket */
	assert_int_equal(gs_policy_build("mine.bpf.c", NULL, &err), -ENOEXEC);
	assert_non_null(strstr(err.text, "does not compile"));
	unlink("mine.bpf.c");
	unlink("mine.bpf.o");
	assert_int_equal(chdir("/"), 0);
	assert_int_equal(rmdir(folder), 0);
}

/* Returns whether a process lives. A zombie counts as ended. */
static bool lives(int pid)
{
	char path[64], state = 'Z';
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	f = fopen(path, "re");
	if (!f)
		return false;
	if (fscanf(f, "%*d (%*[^)]) %c", &state) != 1)
		state = 'Z';
	fclose(f);
	return state != 'Z';
}

/*
 * Builds with @script as the compiler, which writes the PIDs of its processes to "pids". Checks
 * that all of these have ended.
 */
static int build_with(const char *script, struct gs_error *err)
{
	int pid, n = 0, r;
	FILE *f = fopen("clang-14", "we");

	assert_non_null(f);
	fprintf(f, "#!/bin/sh\necho $$ >pids\n%s\n", script);
	assert_int_equal(fclose(f), 0);
	assert_int_equal(chmod("clang-14", 0755), 0);
	r = gs_policy_build("mine.bpf.c", NULL, err);
	f = fopen("pids", "re");
	assert_non_null(f);
	for (; fscanf(f, "%d", &pid) == 1; n++)
		for (int i = 0; lives(pid); i++) {
			assert_true(i < 500);
			gs_sleep_ns(10 * NS_PER_MS);
		}
	fclose(f);
	assert_true(n > 0);
	return r;
}

static void *forbid_soon(void *unused)
{
	struct stat st;

	(void)unused;
	while (stat("pids", &st) < 0 || st.st_size == 0)
		gs_sleep_ns(10 * NS_PER_MS);
	gs_policy_build_forbid(true);
	return NULL;
}

/* A compiler that hangs is killed with all its children. So are children that it leaves behind. */
static void test_build_limit(void **state)
{
	const char *path = getenv("PATH");
	char longer[4096], dir[] = "/tmp/gpusched-object-XXXXXX";
	unsigned int limit_s = gs_policy_build_limit_s;
	struct gs_error err = { 0 };
	pthread_t thread;

	(void)state;
	assert_non_null(mkdtemp(dir));
	assert_int_equal(chdir(dir), 0);
	assert_int_equal(gs_policy_build_skeleton("mine", NULL), 0);
	snprintf(longer, sizeof(longer), "%s:%s", dir, path);
	setenv("PATH", longer, 1);

	assert_int_equal(build_with("sleep 600 & echo $! >>pids", &err), 0);
	gs_policy_build_limit_s = 1;
	assert_int_equal(build_with("sleep 600 & echo $! >>pids; exec sleep 600", &err), -ETIME);
	assert_string_equal(err.text,
			    "mine.bpf.c: the compiler has not ended within 1 s and was killed");
	assert_int_equal(build_with("exec 2>&-; exec sleep 600", &err), -ETIME);

	gs_policy_build_limit_s = 100;
	unlink("pids");
	assert_int_equal(pthread_create(&thread, NULL, forbid_soon, NULL), 0);
	assert_int_equal(build_with("exec sleep 600", &err), -EINTR);
	pthread_join(thread, NULL);
	assert_int_equal(gs_policy_build("mine.bpf.c", NULL, &err), -EINTR);
	gs_policy_build_forbid(false);

	gs_policy_build_limit_s = limit_s;
	setenv("PATH", longer + strlen(dir) + 1, 1);
	unlink("mine.bpf.c");
	unlink("clang-14");
	unlink("pids");
	assert_int_equal(chdir("/"), 0);
	assert_int_equal(rmdir(dir), 0);
}

static void test_damaged(void **state)
{
	struct gs_polobj obj = { 0 }, cut;
	struct gs_error err = { 0 };
	char why[200];

	(void)state;
	assert_int_equal(gs_polobj_open(fixture_source("options"), &obj, &err), 0);
	/*
	 * A truncated object, or one with a changed byte, is refused or read. It never causes a
	 * crash.
	 */
	for (size_t len = 0; len < obj.len; len += 61) {
		struct gs_policy_info info = { 0 };

		cut = obj;
		cut.data = malloc(len + 1);
		assert_non_null(cut.data);
		memcpy(cut.data, obj.data, len);
		cut.len = len;
		if (gs_polobj_declared(&cut, &info, NULL) == 0)
			gs_policy_info_free(&info);
		gs_polobj_refuse(&cut, why, sizeof(why));
		free(cut.data);
	}
	for (size_t at = 0; at < 64; at++) {
		struct gs_policy_info info = { 0 };

		obj.data[at] ^= 0xff;
		if (gs_polobj_declared(&obj, &info, NULL) == 0)
			gs_policy_info_free(&info);
		gs_polobj_refuse(&obj, why, sizeof(why));
		obj.data[at] ^= 0xff;
	}
	assert_int_equal(gs_polobj_refuse(&obj, why, sizeof(why)), 0);
	gs_polobj_close(&obj);
	assert_int_equal(gs_polobj_open("/etc/passwd", &obj, &err), 0);
	assert_int_equal(gs_polobj_refuse(&obj, why, sizeof(why)), -EINVAL);
	gs_polobj_close(&obj);
	assert_int_equal(gs_polobj_open("no_such_policy", &obj, &err), -EINVAL);
	assert_int_equal(gs_polobj_open("", &obj, NULL), -EINVAL);
}

static void test_list(void **state)
{
	struct gs_policy_info *infos = NULL;
	bool lcbe = false;
	size_t n = 0;

	(void)state;
	assert_int_equal(gs_policy_list(&infos, &n, NULL), 0);
	for (size_t i = 0; i < n; i++) {
		lcbe = lcbe || strcmp(infos[i].name, "lcbe") == 0;
		assert_true(i == 0 || strcmp(infos[i - 1].name, infos[i].name) < 0);
		gs_policy_info_free(&infos[i]);
	}
	free(infos);
	assert_true(lcbe);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_layout),        cmocka_unit_test(test_info),
		cmocka_unit_test(test_option_errors), cmocka_unit_test(test_new_and_build),
		cmocka_unit_test(test_build_limit),   cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_list),          cmocka_unit_test(test_reads),
		cmocka_unit_test(test_never_admits),  cmocka_unit_test(test_stack),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
