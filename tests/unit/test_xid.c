/* SPDX-License-Identifier: MIT */
/* test_xid.c - check what is read from the driver's lines in the kernel's log */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "basic/cleanup.h"
#include "rm/xid.h"

#define HEAD "4,1234,5678901,-;"

static const struct {
	const char *record;
	struct gs_xid is; /* located false and reset false: no report */
} lines[] = {
	{ HEAD "NVRM: Xid (PCI:0000:0b:00): 109, pid=11263, name=Renderer, Ch 00000020, "
	       "errorString CTX SWITCH TIMEOUT, Info 0xac00d\n",
	  { 109, true, 0, 0x0b, 0, 11263, "Renderer", true, 0x20, false } },
	{ HEAD "NVRM: Xid (PCI:0000:02:00): 109, pid=8494, name=RenderThread, channel 0x0000000d, "
	       "CTX SWITCH TIMEOUT, Info 0x14c011",
	  { 109, true, 0, 2, 0, 8494, "RenderThread", true, 0xd, false } },
	{ HEAD "NVRM: Xid (PCI:0000:cb:00): 13, pid='<unknown>', name=<unknown>, Graphics SM Warp "
	       "Exception on (GPC 7, TPC 7, SM 0): Illegal Instruction Parameter\n",
	  { 13, true, 0, 0xcb, 0, 0, "", false, 0, false } },
	{ HEAD "NVRM: Xid (PCI:0000:9b:00): 119, pid=4071838, name=python, Timeout after 45s of "
	       "waiting for RPC response from GPU4 GSP! Expected function 76 (GSP_RM_CONTROL) "
	       "(0x20801702 0x4).\n",
	  { 119, true, 0, 0x9b, 0, 4071838, "python", false, 0, false } },
	{ HEAD "NVRM: Xid (0000:03:00): 59, 0082(1c88) 00000000 00000000\n",
	  { 59, true, 0, 3, 0, 0, "", false, 0, false } },
	{ HEAD "NVRM: Xid (PCI:0000:17:00 GPU-I:05): 43, pid=77, name=job, Ch 00000009\n",
	  { 43, true, 0, 0x17, 0, 77, "job", true, 9, false } },
	{ HEAD "NVRM: Xid (PCI:00010000:17:1f.0): 31, pid=77, name=job, Ch 00000009, intr "
	       "00000000. MMU Fault\n",
	  { 31, true, 0x10000, 0x17, 0x1f, 77, "job", true, 9, false } },
	{ HEAD "NVRM: Xid (PCI:0000:0b:00): 154, GPU recovery action changed from 0x0 (None) to "
	       "0x1 (GPU Reset Required)\n",
	  { 154, true, 0, 0x0b, 0, 0, "", false, 0, true } },
	{ HEAD "NVRM: Xid (PCI:0000:0b:00): 154, GPU recovery action changed from 0x1 (GPU Reset "
	       "Required) to 0x0 (None)\n",
	  { 154, true, 0, 0x0b, 0, 0, "", false, 0, false } },
	{ HEAD "NVRM: Xid (PCI:0000:41:00): 79, pid=5, name=x, GPU has fallen off the bus.\n",
	  { 79, true, 0, 0x41, 0, 5, "x", false, 0, true } },
	{ HEAD "NVRM: GPU 0000:41:00.0: GPU has fallen off the bus.\n",
	  { 0, true, 0, 0x41, 0, 0, "", false, 0, true } },
	{ HEAD "NVRM: GPU at PCI:0000:41:00 has fallen off the bus.\n",
	  { 0, true, 0, 0x41, 0, 0, "", false, 0, true } },
	{ HEAD "NVRM: nvAssertFailedNoLog: Assertion failed: Back to back GSP RPC timeout "
	       "detected! GPU marked for reset @ kernel_gsp.c:2387\n",
	  { 0, false, 0, 0, 0, 0, "", false, 0, true } },
	/* the name is the program's choice: what it holds changes nothing that counts */
	{ HEAD "NVRM: Xid (PCI:0000:0b:00): 31, pid=9, name=pid=7 to 0x1, Ch 00000020\n",
	  { 31, true, 0, 0x0b, 0, 9, "pid=7 to 0x1", true, 0x20, false } },
	/* the record has further lines, of the device */
	{ "4,1,2,-;NVRM: Xid (PCI:0000:0b:00): 8, pid=9\n SUBSYSTEM=pci\n, name=z\n",
	  { 8, true, 0, 0x0b, 0, 9, "", false, 0, false } },
};

static const char *const others[] = {
	"",
	"\n",
	";",
	"4,1,2,-",
	"4,1,2,-;",
	"4,1,2,-;NVRM: ",
	"4,1,2,-;NVRM: Xid (",
	"4,1,2,-;NVRM: Xid (PCI:0000:0b:00): ",
	"4,1,2,-;NVRM: Xid (PCI:0000:0b:00): 0, pid=1",
	"4,1,2,-;NVRM: Xid (PCI:0000:0b:00): 4294967296, pid=1",
	"4,1,2,-;NVRM: Xid (PCI:0000:0b): 109, pid=1",
	"4,1,2,-;NVRM: Xid (PCI:zz:0b:00): 109, pid=1",
	"4,1,2,-;NVRM: Xid (PCI:0000:0b:00 GPU-I:05 109, pid=1",
	"NVRM: Xid (PCI:0000:0b:00): 109, pid=1, name=a",
	"4,1,2,-;NVRM: GPU at PCI:0000:0b:00: GPU-aaaba90e-a327-1a65-9c8d-fd28b59b8057\n",
	"4,1,2,-;x NVRM: Xid (PCI:0000:0b:00): 109, pid=1, name=a\n",
	/* a process wrote this: facility 1 */
	"12,1,2,-;NVRM: Xid (PCI:0000:0b:00): 109, pid=1, name=a\n",
	/* the name of a program that crashed */
	"6,1,2,-;NVRM: Xid (PCI:[1234]: segfault at 0 ip 0000000000400000\n",
};

static void lines_of_the_driver_are_read(void **state)
{
	for (size_t i = 0; i < GS_COUNT(lines); i++) {
		const struct gs_xid *is = &lines[i].is;
		struct gs_xid x;

		print_message("%s\n", lines[i].record);
		assert_true(gs_xid_read(lines[i].record, strlen(lines[i].record), &x));
		assert_int_equal(x.number, is->number);
		assert_int_equal(x.located, is->located);
		assert_int_equal(x.domain, is->domain);
		assert_int_equal(x.bus, is->bus);
		assert_int_equal(x.device, is->device);
		assert_int_equal(x.pid, is->pid);
		assert_string_equal(x.name, is->name);
		assert_int_equal(x.has_channel, is->has_channel);
		assert_int_equal(x.channel, is->channel);
		assert_int_equal(x.reset, is->reset);
	}
}

static void other_lines_are_ignored(void **state)
{
	for (size_t i = 0; i < GS_COUNT(others); i++) {
		struct gs_xid x;

		print_message("%s\n", others[i]);
		assert_false(gs_xid_read(others[i], strlen(others[i]), &x));
	}
}

/* Under sanitizers, a read past the end of a shortened record would be an error. */
static void no_beginning_of_a_line_reads_past_it(void **state)
{
	for (size_t i = 0; i < GS_COUNT(lines); i++)
		for (size_t n = 0; n <= strlen(lines[i].record); n++) {
			char *copy = malloc(n + !n);
			struct gs_xid x;

			assert_non_null(copy);
			memcpy(copy, lines[i].record, n);
			if (gs_xid_read(copy, n, &x))
				assert_true(x.located || x.reset);
			free(copy);
		}
}

static void a_long_name_is_cut(void **state)
{
	const char record[] = HEAD "NVRM: Xid (PCI:0000:0b:00): 31, pid=9, name="
				   "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa, Ch 00000020\n";
	struct gs_xid x;

	assert_true(gs_xid_read(record, sizeof(record) - 1, &x));
	assert_string_equal(x.name, "aaaaaaaaaaaaaaaa");
}

static void programs_own_mistakes_are_not_ours(void **state)
{
	assert_true(gs_xid_is_own(13) && gs_xid_is_own(31) && gs_xid_is_own(43) &&
		    gs_xid_is_own(45));
	assert_true(gs_xid_is_ours(8) && gs_xid_is_ours(109) && gs_xid_is_ours(151));
	for (uint32_t i = 0; i < 200; i++)
		assert_false(gs_xid_is_own(i) && gs_xid_is_ours(i));
	assert_false(gs_xid_is_own(119) || gs_xid_is_ours(119));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_of_the_driver_are_read),
		cmocka_unit_test(other_lines_are_ignored),
		cmocka_unit_test(no_beginning_of_a_line_reads_past_it),
		cmocka_unit_test(a_long_name_is_cut),
		cmocka_unit_test(programs_own_mistakes_are_not_ours),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
