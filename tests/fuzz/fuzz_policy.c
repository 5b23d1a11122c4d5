// SPDX-License-Identifier: MIT
/* fuzz_policy.c - a policy's object: what it declares, what it may not hold, its options */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/priv.h"

/* Every option that was declared, set to the end of the input. */
static void set_all(struct gs_policy_info *info, const uint8_t *data, size_t n)
{
	size_t len = n ? data[n - 1] % 32u : 0;
	char text[128];
	struct gs_error err = { 0 };

	if (len > n)
		len = n;
	for (size_t i = 0; i < info->noptions && i < 4; i++) {
		snprintf(text, sizeof(text), "%s=%.*s", info->options[i].name, (int)len,
			 (const char *)data + n - len);
		if (gs_option_set(info, text, &err) && !err.text[0])
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct gs_polobj obj = { .path = "fuzz", .len = n };
	struct gs_policy_info info = { 0 };
	struct gs_error err = { 0 };
	char why[256] = "";

	obj.data = malloc(n ? n : 1);
	if (!obj.data)
		return 0;
	memcpy(obj.data, data, n);
	/* A refusal says why. */
	if (!gs_polobj_declared(&obj, &info, &err)) {
		(void)gs_options_vet(&info, &err);
		set_all(&info, data, n);
		gs_policy_info_free(&info);
	} else if (!err.text[0]) {
		abort();
	}
	if (gs_polobj_refuse(&obj, why, sizeof(why)) && !why[0])
		abort();
	free(obj.data);
	return 0;
}
