// SPDX-License-Identifier: MIT
/*
 * test_decode.c - check the decoding of calls, the list of simulated files, the search for objects
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <errno.h>
#include <sys/sysmacros.h>

#include "taps/adopt.h"
#include "rm/decode.h"
#include "table/events.h"
#include "table/table.h"
#include "taps/simfiles.h"

static void test_alloc_by_size(void **state)
{
	uint32_t w[12];
	struct gs_alloc a;

	for (uint32_t i = 0; i < 12; i++)
		w[i] = 100 + i;
	assert_int_equal(gs_decode_alloc(w, 48, 580, &a), 1);
	assert_int_equal(a.root, 100);
	assert_int_equal(a.parent, 101);
	assert_int_equal(a.handle, 102);
	assert_int_equal(a.class_, 103);
	assert_true(a.params == (105ull << 32 | 104));
	assert_int_equal(a.status, 110);
	assert_int_equal(gs_decode_alloc(w, 32, 580, &a), 1);
	assert_int_equal(a.status, 107);
	assert_int_equal(gs_decode_alloc(w, 32, 0, &a), 1); /* an unknown branch counts as new */
	assert_int_equal(a.status, 107);
	assert_int_equal(gs_decode_alloc(w, 32, 525, &a), 1);
	assert_int_equal(a.status, 106);
	assert_int_equal(gs_decode_alloc(w, 40, 525, &a), 1);
	assert_int_equal(a.status, 109);
	assert_int_equal(gs_decode_alloc(w, 40, 515, &a), 1);
	assert_int_equal(a.status, 108);
	for (uint32_t size = 0; size < 128; size++)
		assert_int_equal(gs_decode_alloc(w, size, 580, &a),
				 size == 32 || size == 40 || size == 48);
}

static void test_classes_and_commands(void **state)
{
	assert_true(gs_class_matters(0xa06c) && gs_class_matters(0xc86f) &&
		    gs_class_matters(0x2080) && gs_class_matters(0x80) && gs_class_matters(0x41));
	assert_false(gs_class_matters(0xcbc0) || gs_class_matters(0x6f) ||
		     gs_class_matters(0x90cd) || gs_class_matters(0x1006f));
	assert_true(gs_class_draws(0x9097) && gs_class_draws(0xcb97));
	assert_false(gs_class_draws(0xcbc0) || gs_class_draws(0x97) || gs_class_draws(0x1cb97));
	assert_true(gs_cmd_matters(0xa06c0103) && gs_cmd_matters(0x20801210));
	assert_false(gs_cmd_matters(0xa06c0104) || gs_cmd_matters(0x2080110b));
	assert_int_equal(gs_engine_kind(1), GPUSCHED_KIND_COMPUTE);
	assert_int_equal(gs_engine_kind(8), GPUSCHED_KIND_COMPUTE);
	assert_int_equal(gs_engine_kind(9), GPUSCHED_KIND_COPY);
	assert_int_equal(gs_engine_kind(0x3d), GPUSCHED_KIND_COPY);
	assert_int_equal(gs_engine_kind(0), GPUSCHED_KIND_OTHER);
	assert_int_equal(gs_engine_kind(0x13), GPUSCHED_KIND_OTHER);
	assert_true(gs_timeslice_us(1ull << 40) == 0xffffffffu);
	assert_int_equal(gs_timeslice_us(2048), 2048);
}

static void test_simfile_line(void **state)
{
	struct gs_simfile_entry e;

	assert_int_equal(gs_simfile_parse("74 12 /tmp/x/dev/nvidiactl\n", &e), 0);
	assert_true(e.key.dev == 74 && e.key.ino == 12);
	assert_int_equal(e.control, 1);
	assert_int_equal(gs_simfile_parse("74 13 /tmp/x/nvidiactl/nvidia0\n", &e), 0);
	assert_int_equal(e.control, 0);
	assert_int_equal(gs_simfile_parse("74 13 nvidiactl2\n", &e), 0);
	assert_int_equal(e.control, 0);
	assert_int_equal(gs_simfile_parse("74\n", &e), -EINVAL);
	assert_int_equal(gs_simfile_parse("74 12\n", &e), -EINVAL);
	assert_int_equal(gs_simfile_parse("x y z\n", &e), -EINVAL);
	assert_true(gs_simfiles_kernel_dev(makedev(8, 300)) == (8u << 20 | 300));
}

static void test_event_names(void **state)
{
	assert_string_equal(gs_event_name(GPUSCHED_EV_TSG_NEW), "tsg-new");
	assert_non_null(gs_event_name(GPUSCHED_EV_POLICY));
	assert_null(gs_event_name(GPUSCHED_EV_NONE));
	assert_null(gs_event_name(GPUSCHED_EV_MAX));
}

/* ---- objects --------------------------------------------------------------------------------- */

#define CLIENT 0xc1d00042u

struct fake {
	const struct gs_object *all;
	size_t n;
	unsigned int calls;
};

static int fake_query(void *user, uint32_t client, uint32_t object, uint32_t index, uint32_t *ret)
{
	struct fake *f = user;

	f->calls++;
	for (size_t i = 0; client == CLIENT && i < f->n; i++) {
		if (f->all[i].handle != object)
			continue;
		*ret = index == GS_INDEX_CLASS ? f->all[i].class_ : f->all[i].parent;
		return 0;
	}
	return -ENOENT;
}

static int fake_child(void *user, uint32_t client, uint32_t parent, uint32_t class_, uint32_t *ret)
{
	struct fake *f = user;

	for (size_t i = 0; client == CLIENT && i < f->n; i++) {
		if (f->all[i].parent != parent || f->all[i].class_ != class_)
			continue;
		*ret = f->all[i].handle;
		return 0;
	}
	return -ENOENT;
}

static void test_objects_of_cuda(void **state)
{
	static const struct gs_object all[] = {
		{ 0x5c000001, 0x80, CLIENT },       { 0x5c000002, 0x2080, 0x5c000001 },
		{ 0x5c000003, 0x003e, 0x5c000001 }, { 0x5c000010, 0xa06c, 0x5c000001 },
		{ 0x5c000011, 0xc86f, 0x5c000010 }, { 0x5c000012, 0xc8b5, 0x5c000011 },
		{ 0x5c000013, 0xcbc0, 0x5c000011 }, { 0x5c000014, 0xc86f, 0x5c000010 },
		{ 0x5c0000c0, 0xa06c, 0x5c000001 }, { 0x5c0000c1, 0xc86f, 0x5c0000c0 },
		{ 0x5c0000c2, 0xc8b5, 0x5c0000c1 },
	};
	struct fake f = { all, sizeof(all) / sizeof(all[0]), 0 };
	const struct gs_object_source src = { fake_query, fake_child, &f };
	struct gpusched_channels ch = {};
	struct gs_objects s = {};

	assert_int_equal(gs_objects_scan(&src, CLIENT, &s), 0);
	assert_int_equal(s.n, 10); /* all objects but the memory */
	assert_int_equal(gs_objects_child(&s, 0x5c000001, 0x2080), 0x5c000002);
	assert_int_equal(gs_objects_kind(&s, 0x5c000010), GPUSCHED_KIND_COMPUTE);
	assert_int_equal(gs_objects_kind(&s, 0x5c0000c0), GPUSCHED_KIND_COPY);
	assert_int_equal(gs_objects_kind(&s, 0x5c000077), GPUSCHED_KIND_OTHER);
	gs_objects_channels(&s, 0x5c000010, &ch);
	assert_int_equal(ch.n, 2);
	assert_int_equal(ch.ch[1].handle, 0x5c000014);
	assert_false(gs_objects_has(&s, 0xc637));
	assert_true(f.calls < 2000);
	free(s.all);
}

/* A context of OpenGL computes and copies as well. */
static void test_objects_that_draw(void **state)
{
	static const struct gs_object all[] = {
		{ 0x5c000001, 0x80, CLIENT },       { 0x5c000010, 0xa06c, 0x5c000001 },
		{ 0x5c000011, 0xc86f, 0x5c000010 }, { 0x5c000012, 0xc8b5, 0x5c000011 },
		{ 0x5c000013, 0xcbc0, 0x5c000011 }, { 0x5c000014, 0xcb97, 0x5c000011 },
		{ 0x5c000020, 0xa06c, 0x5c000001 }, { 0x5c000021, 0xc86f, 0x5c000020 },
		{ 0x5c000022, 0xcb97, 0x5c000021 },
	};
	struct fake f = { all, sizeof(all) / sizeof(all[0]), 0 };
	const struct gs_object_source src = { fake_query, fake_child, &f };
	struct gs_objects s = {};

	(void)state;
	assert_int_equal(gs_objects_scan(&src, CLIENT, &s), 0);
	assert_int_equal(gs_objects_engine(&s, 0x5c000010)->class_, 0xcb97);
	assert_int_equal(gs_objects_kind(&s, 0x5c000010), GPUSCHED_KIND_COMPUTE);
	assert_int_equal(gs_objects_kind(&s, 0x5c000020), GPUSCHED_KIND_COMPUTE);
	free(s.all);
}

static void test_objects_elsewhere(void **state)
{
	static const struct gs_object all[] = {
		{ 0x00de0001, 0x80, CLIENT },
		{ 0x00de0002, 0x2080, 0x00de0001 },
		{ 0x77770005, 0xa06c, 0x00de0001 },
		{ 0x77770006, 0xc86f, 0x77770005 },
	};
	struct fake f = { all, sizeof(all) / sizeof(all[0]), 0 };
	const struct gs_object_source src = { fake_query, fake_child, &f };
	struct gs_objects s = {};

	assert_int_equal(gs_objects_scan(&src, CLIENT, &s), 0);
	assert_int_equal(s.n, 4);
	assert_int_equal(gs_objects_child(&s, 0x00de0001, 0xa06c), 0x77770005);
	free(s.all);
}

static void test_objects_of_nobody(void **state)
{
	struct fake f = {};
	const struct gs_object_source src = { fake_query, fake_child, &f };
	struct gs_objects s = {};

	assert_int_equal(gs_objects_scan(&src, CLIENT, &s), 0);
	assert_int_equal(s.n, 0);
	free(s.all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_alloc_by_size),
		cmocka_unit_test(test_classes_and_commands),
		cmocka_unit_test(test_simfile_line),
		cmocka_unit_test(test_event_names),
		cmocka_unit_test(test_objects_of_cuda),
		cmocka_unit_test(test_objects_that_draw),
		cmocka_unit_test(test_objects_elsewhere),
		cmocka_unit_test(test_objects_of_nobody),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
