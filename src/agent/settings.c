// SPDX-License-Identifier: MIT
/* settings.c - reads the agent's settings from the environment */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "agent/agent.h"
#include "basic/cleanup.h"

struct agent_settings agent_settings;

/*
 * Tools that count, time or check launches must find them unchanged. Each tool is known by a
 * variable that it sets in the programs that it starts. Returns NULL if there is none.
 */
static const char *tool_there(void)
{
	static const struct {
		const char *name, *part; /* a part of the value; "": any value */
	} signs[] = {
		{ "CUDA_INJECTION64_PATH", "" },
		{ "NSYS_PROFILING_SESSION_ID", "" },          /* Nsight Systems */
		{ "NV_NSIGHT_INJECTION_TRANSPORT_TYPE", "" }, /* Nsight Compute */
		{ "NVPROF_ID", "" },
		{ "LD_PRELOAD", "TargetInjection.so" },
		{ "LD_PRELOAD", "InjectionTarget.so" }, /* Compute Sanitizer */
	};

	for (size_t i = 0; i < GS_COUNT(signs); i++) {
		const char *value = getenv(signs[i].name);

		if (value && *value && strstr(value, signs[i].part) &&
		    (i || !strstr(value, "libgpusched-agent")))
			return signs[i].name;
	}
	return NULL;
}

void agent_settings_read(void)
{
	const char *class_ = getenv("GPUSCHED_AGENT_CLASS"), *hint = getenv("GPUSCHED_AGENT_HINT");
	const char *sig = getenv("GPUSCHED_AGENT_SIGNAL"), *tool = tool_there();
	const char *blocking = getenv("CUDA_LAUNCH_BLOCKING");
	struct agent_settings *s = &agent_settings;
	long n = sig ? strtol(sig, NULL, 10) : -1;

	s->inert = getauxval(AT_SECURE);
	if (s->inert)
		return;
	if (class_)
		memcpy(s->class_, class_, strnlen(class_, sizeof(s->class_) - 1));
	s->lc = !strcmp(s->class_, "lc");
	s->hint_auto = hint && !strcmp(hint, "auto");
	s->blocking = blocking && atoi(blocking);
	s->signal = sig && *sig && n >= 0 && SIGRTMIN + n <= SIGRTMAX ? SIGRTMIN + (int)n : 0;
	if (tool)
		snprintf(s->blind, sizeof(s->blind), "a profiler is there (%s)", tool);
}
