// SPDX-License-Identifier: MIT
/* settings.c - reads the agent's settings from the environment */
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "agent/agent.h"
#include "basic/cleanup.h"
#include "basic/starter.h"

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

/* ---- which children have the agent ------------------------------------------------------------- */

#define BY "GPUSCHED_AGENT_BY"

/* `gpusched run` preloads the agent by itself only where LD_PRELOAD was empty. */
static void leave_environment(void)
{
	static const char *const names[] = { BY, "GPUSCHED_AGENT_CLASS", "LD_PRELOAD" };
	const char *asan = getenv("ASAN_OPTIONS");

	for (size_t i = 0; i < GS_COUNT(names); i++)
		unsetenv(names[i]);
	if (asan && !strcmp(asan, GS_STARTER_ASAN))
		unsetenv("ASAN_OPTIONS");
}

/*
 * `gpusched run --class lc` puts the agent into each program that the command starts. The service
 * may be behind shells, and may start workers. Shells that a program starts are no workers, and
 * clients of containers start none. With --agent a user asks for it in all descendants. This runs
 * before main(), so that no other thread reads the environment.
 */
static void pass_on(void)
{
	const char *by = getenv(BY);
	char exe[PATH_MAX];
	ssize_t n = by ? readlink("/proc/self/exe", exe, sizeof(exe) - 1) : -1;
	enum gs_starter starter;

	if (n < 0)
		return;
	exe[n] = 0;
	starter = gs_starter_of(exe);
	if (starter == GS_STARTER_ELSEWHERE ||
	    (starter == GS_STARTER_HERE && !strcmp(by, "program")))
		leave_environment();
	else if (starter == GS_STARTER_NONE)
		setenv(BY, "program", 1);
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
	pass_on();
}
