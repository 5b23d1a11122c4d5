// SPDX-License-Identifier: MIT
#include "sim/rm_fault.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/parse.h"
#include "sim/rm_abi.h"

static const struct {
	const char *name;
	uint32_t cmd;
	enum sim_fault_only only;
} controls[] = {
	{ "schedule", SIM_CTRL_TSG_SCHEDULE, SIM_FAULT_ALWAYS },
	{ "set-timeslice", SIM_CTRL_TSG_SET_TIMESLICE, SIM_FAULT_ALWAYS },
	{ "get-timeslice", SIM_CTRL_TSG_GET_TIMESLICE, SIM_FAULT_ALWAYS },
	{ "preempt", SIM_CTRL_TSG_PREEMPT, SIM_FAULT_ALWAYS },
	{ "set-interleave", SIM_CTRL_TSG_SET_INTERLEAVE, SIM_FAULT_ALWAYS },
	{ "disable-channels", SIM_CTRL_SUB_DISABLE_CHANNELS, SIM_FAULT_ALWAYS },
	{ "suspend", SIM_CTRL_SUB_DISABLE_CHANNELS, SIM_FAULT_SUSPENDS },
	{ "resume", SIM_CTRL_SUB_DISABLE_CHANNELS, SIM_FAULT_RESUMES },
	{ "set-preempt-mode", SIM_CTRL_SUB_PREEMPTION_MODE, SIM_FAULT_ALWAYS },
	{ "placeholder", SIM_CLASS_MEM_LOCAL, SIM_FAULT_ALWAYS },
};

static int parse_control(const char *text, struct sim_fault *f, struct gs_error *err)
{
	uint64_t v = 0;

	for (size_t i = 0; i < GS_COUNT(controls); i++)
		if (!strcmp(text, controls[i].name)) {
			f->cmd = controls[i].cmd;
			f->only = controls[i].only;
			return 0;
		}
	if (gs_parse_u64(text, 1, UINT32_MAX, &v, NULL))
		return gs_fail(
			err, -EINVAL,
			"'%s' is not a control: write set-timeslice, suspend, ... or its number",
			text);
	f->cmd = (uint32_t)v;
	return 0;
}

static int parse_how(const char *word, struct sim_fault *f, struct gs_error *err)
{
	uint64_t v = 0;
	int r;

	if (!strcmp(word, "applied") || !strcmp(word, "refused")) {
		f->applied = word[0] == 'a';
		return 0;
	}
	r = gs_parse_u64(word, 1, UINT32_MAX, &v, err);
	f->counted = !r;
	f->left = (uint32_t)v;
	return r;
}

static int parse(char *text, struct sim_fault *f, struct gs_error *err)
{
	char *at = NULL, *word = strtok_r(text, ":", &at);
	char *equals = word ? strchr(word, '=') : NULL;
	uint64_t status = SIM_NV_NOT_SUPPORTED;
	int r = 0;

	if (!word)
		return gs_fail(err, -EINVAL, "a control is missing");
	if (equals) {
		*equals++ = '\0';
		r = gs_parse_u64(equals, 0, UINT32_MAX, &status, err);
	}
	f->status = (uint32_t)status;
	if (!r)
		r = parse_control(word, f, err);
	while (!r && (word = strtok_r(NULL, ":", &at)))
		r = parse_how(word, f, err);
	return r;
}

int sim_fault_add(struct sim_fault inout[SIM_MAX_FAULTS], const char *text, bool hang,
		  struct gs_error *err)
{
	CLEANUP_FREE char *copy = strdup(text);
	struct sim_fault f = { .hang = hang };
	unsigned int at = 0;
	int r;

	if (!copy)
		return gs_fail(err, -ENOMEM, "out of memory");
	while (inout[at].cmd)
		at++;
	if (at + 1 >= SIM_MAX_FAULTS)
		return gs_fail(err, -EINVAL, "too many controls that fail: at most %d",
			       SIM_MAX_FAULTS - 1);
	r = parse(copy, &f, err);
	if (!r)
		inout[at] = f;
	return r;
}

int sim_fault_list(struct sim_fault inout[SIM_MAX_FAULTS], const char *text, size_t size,
		   struct gs_error *err)
{
	CLEANUP_FREE char *copy = strndup(text, size);
	struct sim_fault made[SIM_MAX_FAULTS] = { 0 };
	char *at = NULL, *word;
	int r = 0;

	if (!copy)
		return gs_fail(err, -ENOMEM, "out of memory");
	word = strtok_r(copy, " \n", &at);
	for (; !r && word && strcmp(word, "none"); word = strtok_r(NULL, " \n", &at))
		r = sim_fault_add(made, word, false, err);
	if (!r)
		memcpy(inout, made, sizeof(made));
	return r;
}

const struct sim_fault *sim_fault_meet(struct sim_fault faults[SIM_MAX_FAULTS], uint32_t cmd,
				       const void *params)
{
	bool disables = params && *(const uint8_t *)params;

	for (struct sim_fault *f = faults; f->cmd; f++) {
		if (f->cmd != cmd || f->hang || (f->counted && !f->left) ||
		    (f->only != SIM_FAULT_ALWAYS && disables != (f->only == SIM_FAULT_SUSPENDS)))
			continue;
		f->left -= f->counted;
		return f;
	}
	return NULL;
}
