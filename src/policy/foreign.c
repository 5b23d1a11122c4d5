// SPDX-License-Identifier: MIT
#include "policy/foreign.h"

#include <string.h>

#include "basic/cleanup.h"

static const char module[] = "a policy of the kernel module's kind, struct gpu_sched_ops: clang "
			     "compiles it, and policy-load starts it there "
			     "(/usr/share/doc/gpusched/module.md; sources in "
			     "/usr/share/gpusched/kit)";
static const char hooks[] = "programs for hooks gpu_sched/..., which no driver and no kernel has: "
			    "begin with 'gpusched policy new NAME'; task_init, timeslice_set, "
			    "work_submit and task_destroy are callbacks there "
			    "(/usr/share/doc/gpusched/writing-policies.md)";

static const struct {
	const char *section; /* how its name begins */
	const char *is;
} kinds[] = {
	{ ".struct_ops", module },
	{ "struct_ops", module },
	{ "gpu_sched/", hooks },
};

const char *gs_foreign_section(const char *name)
{
	for (size_t i = 0; i < GS_COUNT(kinds); i++)
		if (!strncmp(name, kinds[i].section, strlen(kinds[i].section)))
			return kinds[i].is;
	return NULL;
}

const char *gs_foreign_source(const char *text, size_t len)
{
	static const char sec[] = "SEC(\"";
	const char *end = text + len, *at = text;

	if (memmem(text, len, "GPUSCHED_POLICY(", 16))
		return NULL;
	if (memmem(text, len, "struct gpu_sched_ops", 20))
		return module;
	while ((at = memmem(at, (size_t)(end - at), sec, sizeof(sec) - 1))) {
		char name[16] = "";
		const char *is;

		at += sizeof(sec) - 1;
		memcpy(name, at, (size_t)(end - at) < 15 ? (size_t)(end - at) : 15);
		is = gs_foreign_section(name);
		if (is)
			return is;
	}
	return NULL;
}
