// SPDX-License-Identifier: MIT
/*
 * test_kept.c - check the costs that are stored for the next daemon
 *
 * Which costs are stored for which GPU, and how damaged, forged or foreign files are treated.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "account/kept.h"

#define DRIVER "580.95.05"
#define DAY 1795651200u

static char dir[] = "/tmp/gpusched-test-kept.XXXXXX";
static char path[64];
static const struct gs_gpu gpu = { .uuid = "GPU-1", .vbios = "96.00.90.00.01" };
static const struct gs_gpu other = { .uuid = "GPU-2" };
static const struct gs_costs nothing;

/* Returns costs as from a log: unit 1.28, a save of 158 us, a switch of 143 us. */
static struct gs_costs told(void)
{
	return (struct gs_costs){ .unit_ps = 1280000,
				  .save_low_ns = 120000,
				  .save_ns = 158000,
				  .save_high_ns = 200000,
				  .switch_ns = 143000,
				  .save_basis = GS_COST_CALIBRATED,
				  .switch_basis = GS_COST_CALIBRATED };
}

static void put_file(const char *text, size_t len, mode_t mode)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_int_equal(fwrite(text, 1, len, f), len);
	assert_int_equal(fclose(f), 0);
	assert_int_equal(chmod(path, mode), 0);
}

static void comes_back_as_it_was(void **state)
{
	struct gs_costs c = told(), b;
	struct gs_kept kept = { 0 }, again;
	struct gs_error err = { 0 };
	struct stat st;

	assert_true(gs_kept_differs(NULL, &c));
	assert_true(gs_kept_put(&kept, &gpu, DRIVER, &c, DAY));
	assert_int_equal(gs_kept_save(&kept, &err), 0);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_int_equal(gs_kept_load(&again, &err), 0);
	assert_memory_equal(&again, &kept, sizeof(kept));
	assert_true(gs_kept_counts(gs_kept_find(&again, &gpu), &gpu, DRIVER));
	assert_null(gs_kept_find(&again, &other));
	b = gs_kept_begin(gs_kept_find(&again, &gpu), &nothing);
	assert_int_equal(b.save_basis, GS_COST_KEPT);
	assert_int_equal(b.switch_basis, GS_COST_KEPT);
	assert_int_equal(b.save_at_s, DAY);
	assert_int_equal(b.unit_ps, 1280000);
	assert_int_equal(b.save_ns, 158000);
	assert_int_equal(b.switch_ns, 143000);
	assert_int_equal(b.restore_ns, 0);
	/* reading stored costs does not make them count as measured */
	assert_false(gs_kept_differs(gs_kept_find(&again, &gpu), &b));
	assert_false(gs_kept_is_older(gs_kept_find(&again, &gpu), &b));
	assert_true(gs_kept_is_older(gs_kept_find(&again, &gpu), &c));
}

static void of_another_driver_or_vbios_does_not_count(void **state)
{
	struct gs_gpu flashed = gpu;
	struct gs_costs c = told();
	struct gs_kept kept = { 0 };
	const struct gs_kept_gpu *k;

	strcpy(flashed.vbios, "96.00.91.00.01");
	gs_kept_put(&kept, &gpu, DRIVER, &c, DAY);
	k = gs_kept_find(&kept, &flashed);
	assert_non_null(k);
	assert_false(gs_kept_counts(k, &gpu, "580.95.06"));
	assert_false(gs_kept_counts(k, &flashed, DRIVER));
	assert_false(gs_kept_counts(NULL, &gpu, DRIVER));
	gs_kept_put(&kept, &flashed, DRIVER, &c, DAY);
	assert_int_equal(kept.n, 1); /* the new costs replace the old ones */
	assert_true(gs_kept_counts(gs_kept_find(&kept, &flashed), &flashed, DRIVER));
}

/* Costs of a GPU without a UUID could later be taken for another GPU's. */
static void nothing_is_kept_of_a_gpu_without_uuid(void **state)
{
	const struct gs_gpu unnamed = { .uuid = "" };
	struct gs_costs c = told();
	struct gs_kept kept = { 0 };

	assert_false(gs_kept_put(&kept, &unnamed, DRIVER, &c, DAY));
	/* built-in costs of the product are not stored either */
	assert_false(gs_kept_put(&kept, &gpu, DRIVER, &gs_costs_h200, DAY));
	assert_int_equal(kept.n, 0);
	assert_null(gs_kept_find(&kept, &unnamed));
}

static void what_the_log_contradicts_is_dropped(void **state)
{
	struct gs_costs c = told(), now;
	struct gs_kept kept = { 0 };

	gs_kept_put(&kept, &gpu, DRIVER, &c, DAY);
	now = gs_kept_begin(gs_kept_find(&kept, &gpu), &nothing);
	now.unit_ps = now.save_low_ns = now.save_ns = now.save_high_ns = now.save_at_s = 0;
	now.save_basis = GS_COST_UNKNOWN;
	assert_true(gs_kept_differs(gs_kept_find(&kept, &gpu), &now));
	assert_true(gs_kept_put(&kept, &gpu, DRIVER, &now, DAY + 9));
	now = gs_kept_begin(gs_kept_find(&kept, &gpu), &nothing);
	assert_int_equal(now.save_basis, GS_COST_UNKNOWN);
	assert_int_equal(now.switch_at_s, DAY);
	assert_true(gs_kept_put(&kept, &gpu, DRIVER, &nothing, DAY));
	assert_int_equal(kept.n, 0);
}

/*
 * A cost that no log has shown is taken from the built-in costs of this GPU model, but only if the
 * GPU's stored costs match the built-in ones.
 */
static void a_products_restore_holds_with_its_save(void **state)
{
	struct gs_costs c = told(), b;
	struct gs_kept kept = { 0 };

	gs_kept_put(&kept, &gpu, DRIVER, &c, DAY);
	b = gs_kept_begin(gs_kept_find(&kept, &gpu), &gs_costs_h200);
	assert_int_equal(b.restore_basis, GS_COST_UNKNOWN);
	assert_int_equal(b.restore_ns, 0);
	c.save_ns = gs_costs_h200.save_ns;
	c.save_low_ns = c.save_ns - 1;
	gs_kept_put(&kept, &gpu, DRIVER, &c, DAY);
	b = gs_kept_begin(gs_kept_find(&kept, &gpu), &gs_costs_h200);
	assert_int_equal(b.restore_basis, GS_COST_MEASURED);
	assert_int_equal(b.restore_ns, gs_costs_h200.restore_ns);
	c.restore_basis = GS_COST_QUALIFIED;
	c.restore_ns = 31000;
	gs_kept_put(&kept, &gpu, DRIVER, &c, DAY);
	b = gs_kept_begin(gs_kept_find(&kept, &gpu), &gs_costs_h200);
	assert_int_equal(b.restore_ns, 31000);
	b = gs_kept_begin(NULL, &gs_costs_h200);
	assert_memory_equal(&b, &gs_costs_h200, sizeof(b));
}

static void the_oldest_makes_room(void **state)
{
	struct gs_costs c = told();
	struct gs_kept kept = { 0 };

	for (unsigned int i = 0; i <= GS_KEPT_MAX; i++) {
		struct gs_gpu g = { .index = i };

		snprintf(g.uuid, sizeof(g.uuid), "GPU-%u", i);
		gs_kept_put(&kept, &g, DRIVER, &c, DAY + (i == 5 ? 0 : 100 + i));
	}
	assert_int_equal(kept.n, GS_KEPT_MAX);
	assert_null(gs_kept_find(&kept, &(struct gs_gpu){ .uuid = "GPU-5" }));
	assert_non_null(gs_kept_find(&kept, &(struct gs_gpu){ .uuid = "GPU-64" }));
}

#define SAVE "\"save\":{\"by\":\"kept\",\"at_s\":5,\"unit_ps\":1024000,\"low_ns\":70000,"
#define GPU(uuid, rest) "{\"gpu_uuid\":\"" uuid "\",\"driver\":\"580\",\"vbios\":\"\"" rest "}"
#define ALL(version, gpus) "{\"version\":" #version ",\"gpus\":[" gpus "]}"

static void forged_files_are_refused_as_a_whole(void **state)
{
	static const char *const bad[] = {
		"",
		"nonsense",
		"[]",
		"{}",
		"{\"version\":1}",
		"{\"version\":\"1\",\"gpus\":[]}",
		"{\"version\":1,\"gpus\":{}}",
		"{\"version\":1,\"version\":1,\"gpus\":[]}",
		ALL(0, ""),
		ALL(2, ""),
		ALL(1, "5"),
		ALL(1, "{}"),
		ALL(1, GPU("", "")),
		ALL(1, GPU("GPU-1 ; rm", "")),
		ALL(1, GPU("GPU-1\\u0007", "")),
		ALL(1, GPU("GPU-0123456789012345678901234567890123456789012345678", "")),
		ALL(1, GPU("GPU-1", "") "," GPU("GPU-1", "")),
		ALL(1, GPU("GPU-1", ",\"save\":{}")),
		ALL(1, GPU("GPU-1", ",\"save\":5")),
		ALL(1, GPU("GPU-1", ",\"switch\":{\"by\":\"kept\",\"at_s\":5,\"ns\":0}")),
		ALL(1, GPU("GPU-1", ",\"switch\":{\"by\":\"kept\",\"at_s\":5,\"ns\":-84000}")),
		ALL(1, GPU("GPU-1", ",\"switch\":{\"by\":\"kept\",\"at_s\":5,\"ns\":8.4e4}")),
		ALL(1, GPU("GPU-1", ",\"switch\":{\"by\":\"kept\",\"at_s\":5,\"ns\":9000000}")),
		ALL(1, GPU("GPU-1", ",\"switch\":{\"by\":\"kept\",\"ns\":84000}")),
		ALL(1, GPU("GPU-1", ",\"switch\":{\"by\":\"kept\",\"at_s\":-1,\"ns\":84000}")),
		/* a file may not claim that its costs come from the present log, or are unknown */
		ALL(1, GPU("GPU-1", ",\"switch\":{\"by\":\"calibrated\",\"at_s\":5,\"ns\":84000}")),
		ALL(1, GPU("GPU-1", ",\"switch\":{\"by\":\"unknown\",\"at_s\":5,\"ns\":84000}")),
		ALL(1, GPU("GPU-1", "," SAVE "\"ns\":100000}")),
		ALL(1, GPU("GPU-1", "," SAVE "\"ns\":60000,\"high_ns\":150000}")),
		ALL(1, GPU("GPU-1", "," SAVE "\"ns\":160000,\"high_ns\":150000}")),
		ALL(1, GPU("GPU-1", "," SAVE "\"ns\":100000,\"high_ns\":99999999999999999999}")),
		ALL(1, GPU("GPU-2", "") "," GPU("GPU-1", ",\"restore\":{\"by\":\"kept\"}")),
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct gs_error err = { 0 };
		struct gs_kept kept;

		assert_int_equal(gs_kept_parse(bad[i], &kept, &err), -EINVAL);
		assert_int_equal(kept.n, 0);
		assert_true(err.text[0]);
	}
}

/* A truncated file, or one with a changed byte, is refused or has plausible costs. */
static void torn_files_are_harmless(void **state)
{
	struct gs_costs c = told();
	struct gs_kept kept = { 0 }, k;
	struct gs_error err = { 0 };
	char *text, *torn;
	size_t len;

	gs_kept_put(&kept, &other, DRIVER, &c, DAY);
	gs_kept_put(&kept, &gpu, DRIVER, &c, DAY);
	text = gs_kept_text(&kept);
	len = strlen(text);
	assert_int_equal(gs_kept_parse(text, &k, NULL), 0);
	for (size_t i = 0; i < len; i++) {
		put_file(text, i, 0600);
		assert_int_equal(gs_kept_load(&k, &err), -EINVAL);
		assert_int_equal(k.n, 0);
		torn = strdup(text);
		for (unsigned int byte = 0; byte < 256; byte += 7) {
			torn[i] = (char)byte;
			put_file(torn, len, 0600);
			if (gs_kept_load(&k, &err))
				assert_int_equal(k.n, 0);
			for (unsigned int g = 0; g < k.n; g++)
				assert_true(gs_costs_plausible(&k.gpus[g].costs));
		}
		free(torn);
	}
	free(text);
}

static void others_files_are_not_read(void **state)
{
	struct gs_error err = { 0 };
	struct gs_kept kept;

	put_file(ALL(1, ""), strlen(ALL(1, "")), 0666);
	assert_int_equal(gs_kept_load(&kept, &err), -EPERM);
	unlink(path);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(gs_kept_load(&kept, &err), -ENOEXEC);
	unlink(path);
	assert_int_equal(symlink("/etc/passwd", path), 0);
	assert_int_equal(gs_kept_load(&kept, &err), -ELOOP);
	unlink(path);
	assert_int_equal(gs_kept_load(&kept, &err), -ENOENT);
	put_file("", 0, 0600);
	assert_int_equal(truncate(path, 1 << 20), 0);
	assert_int_equal(gs_kept_load(&kept, &err), -EFBIG);
}

static int make_dir(void **state)
{
	if (!mkdtemp(dir) || setenv("GPUSCHED_SIM", dir, 1))
		return -1;
	snprintf(path, sizeof(path), "%s/state", dir);
	if (mkdir(path, 0700))
		return -1;
	snprintf(path, sizeof(path), "%s/state/costs.json", dir);
	return 0;
}

static int remove_dir(void **state)
{
	char state_dir[64];

	unlink(path);
	snprintf(state_dir, sizeof(state_dir), "%s/state", dir);
	return rmdir(state_dir) || rmdir(dir);
}

#define T(name) cmocka_unit_test(name)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(comes_back_as_it_was),
		T(of_another_driver_or_vbios_does_not_count),
		T(nothing_is_kept_of_a_gpu_without_uuid),
		T(what_the_log_contradicts_is_dropped),
		T(a_products_restore_holds_with_its_save),
		T(the_oldest_makes_room),
		T(forged_files_are_refused_as_a_whole),
		T(torn_files_are_harmless),
		T(others_files_are_not_read),
	};

	return cmocka_run_group_tests_name("kept", tests, make_dir, remove_dir);
}
