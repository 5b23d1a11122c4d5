// SPDX-License-Identifier: MIT
/* fuzz_config.c - arbitrary configuration files, up to the classes and rules they make */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "classify/classify.h"
#include "config/config.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct gs_declared made = { NULL };
	struct gs_config *c = NULL;
	struct gs_error err = { 0 };
	FILE *f;
	int r;

	if (!n)
		return 0;
	f = fmemopen((void *)(uintptr_t)data, n, "r");
	if (!f)
		return 0;
	if (!gs_config_new(&c)) {
		r = gs_config_parse(c, f, "fuzz.conf", &err);
		/* A refusal says why; what was accepted can be used or refused with a reason. */
		if (r && !err.text[0])
			abort();
		if (!r) {
			(void)gs_config_log_level(c);
			r = gs_config_declare(c, GS_NAMING_STRICT, &made, &err);
			if (r && !err.text[0])
				abort();
			if (!r)
				gs_config_declared_done(&made);
		}
		gs_config_free(c);
	}
	fclose(f);
	return 0;
}
