// SPDX-License-Identifier: MIT
/*
 * fuzz_decode.c - the taps' decoder of ioctls on arbitrary words and sizes
 *
 * The words lie in memory of exactly their size, as the sanitizers like it; what is read past the
 * size that the command encodes is a fault.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "rm/decode.h"

static const gs_u32 branches[] = { 0, 470, 515, 535, 550, 570, 580, 595 };

static void must(int condition)
{
	if (!condition)
		abort();
}

static void alloc_form(const gs_u32 *words, gs_u32 size, gs_u32 branch)
{
	struct gs_alloc a;

	if (!gs_decode_alloc(words, size, branch, &a)) {
		must(size != 32 && size != 48 && size != 40);
		return;
	}
	must(a.root == words[0] && a.parent == words[1] && a.handle == words[2]);
	must(a.class_ == words[3]);
	must((gs_u32)a.params == words[4] && (gs_u32)(a.params >> 32) == words[5]);
	if (a.class_ == GS_CLASS_TSG)
		must(gs_class_matters(a.class_));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	gs_u32 cmd, size, branch;
	gs_u32 *words;

	if (n < 5)
		return 0;
	memcpy(&cmd, data, 4);
	branch = branches[data[4] % (sizeof(branches) / sizeof(branches[0]))];
	data += 5;
	n -= 5;
	size = GS_IOC_SIZE(cmd);
	if (size > n)
		size = (gs_u32)n;
	words = malloc(size ? size : 1);
	if (!words)
		return 0;
	memcpy(words, data, size);
	if (size == 32 || size == 40 || size == 48)
		alloc_form(words, size, branch);
	if (size >= GS_CONTROL_SIZE) {
		struct gs_control c;

		gs_decode_control(words, &c);
		must(c.client == words[0] && c.status == words[7]);
		if (gs_cmd_matters(c.cmd))
			must(c.cmd >> 16 == 0xa06c || c.cmd >> 16 == 0xa06f ||
			     c.cmd >> 16 == 0x2080);
	}
	if (size >= GS_FREE_SIZE) {
		struct gs_free f;

		gs_decode_free(words, &f);
		must(f.root == words[0] && f.status == words[3]);
		must(gs_engine_kind(f.handle) <= GPUSCHED_KIND_COPY);
	}
	free(words);
	return 0;
}
