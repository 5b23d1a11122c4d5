// SPDX-License-Identifier: MIT
/* agent.c - the agent's life in a program: loaded, started, forked, ended */
#include "agent/agent.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "basic/cleanup.h"

#define STACK_SIZE (256u << 10)

struct agent_settings agent_settings;
__thread bool agent_own;

static _Atomic pid_t started; /* in this process; another's: a fork of it */

/*
 * A tool that counts, times or checks launches itself must find them as they are. Each is known by
 * a variable that it sets in the programs that it starts. NULL: none is.
 */
static const char *tool_there(void)
{
	static const struct {
		const char *name, *part; /* part of its value; "": whatever it is */
	} signs[] = {
		{ "CUDA_INJECTION64_PATH", "" },
		{ "NSYS_PROFILING_SESSION_ID", "" },          /* Nsight Systems */
		{ "NV_NSIGHT_INJECTION_TRANSPORT_TYPE", "" }, /* Nsight Compute */
		{ "NVPROF_ID", "" },
		{ "LD_PRELOAD", "TargetInjection.so" }, /* the last, Compute Sanitizer */
		{ "LD_PRELOAD", "InjectionTarget.so" },
	};

	for (size_t i = 0; i < GS_COUNT(signs); i++) {
		const char *value = getenv(signs[i].name);

		if (value && *value && strstr(value, signs[i].part) &&
		    (i || !strstr(value, "libgpusched-agent")))
			return signs[i].name;
	}
	return NULL;
}

static void read_settings(void)
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

/* In the child there are none of our threads, and locks may have been taken by them. */
static void in_child(void)
{
	agent_tsgs_after_fork();
	agent_page_after_fork();
	agent_sheet_after_fork();
	hold_after_fork();
}

static void __attribute__((constructor)) loaded(void)
{
	int saved = errno;

	read_settings();
	if (!agent_settings.inert)
		pthread_atfork(NULL, NULL, in_child);
	errno = saved;
}

bool agent_is_up(void)
{
	return started == getpid();
}

int agent_thread(void *(*fn)(void *))
{
	sigset_t all, before;
	pthread_attr_t attr;
	pthread_t thread;
	int r;

	sigfillset(&all);
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attr, STACK_SIZE);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	r = -pthread_create(&thread, &attr, fn, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
	return r;
}

/*
 * Its own table of descriptors, empty: the program's numbers and ends of pipes stay the program's,
 * and no closefrom() of it closes ours.
 */
int agent_thread_begin(const char *name)
{
	agent_own = true;
	pthread_setname_np(pthread_self(), name);
	if (syscall(SYS_close_range, 0u, ~0u, CLOSE_RANGE_UNSHARE))
		return -errno;
	for (int i = 0; i < 3; i++) /* what glibc says when it aborts goes to number 2 */
		if (open("/dev/null", O_RDWR | O_CLOEXEC) != i)
			return -EBADF;
	return 0;
}

void agent_start(void)
{
	int saved = errno;
	pid_t self = getpid(), was = started;

	if (!agent_settings.inert && was != self &&
	    __atomic_compare_exchange_n((pid_t *)&started, &was, self, false, __ATOMIC_SEQ_CST,
					__ATOMIC_SEQ_CST))
		agent_thread(agent_serve);
	errno = saved;
}

/* CUDA_INJECTION64_PATH: libcuda loads us in its cuInit(), and names no other function. */
EXPORT int InitializeInjection(void);
EXPORT int InitializeInjection(void)
{
	if (agent_settings.inert)
		return 1;
	if (!agent_settings.blind[0])
		strcpy(agent_settings.blind,
		       "the agent came after the program's start, not by LD_PRELOAD");
	if (!agent_is_up()) /* nor do we see its pthread_exit() */
		agent_leave_last();
	agent_start();
	return 1;
}
