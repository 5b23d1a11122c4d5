// SPDX-License-Identifier: MIT
/* agent.c - the agent's life in a program: load, start, fork, end */
#include "agent/agent.h"
#include "agent/hold.h"
#include "agent/requests.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

/* The child has none of our threads, and locks may have been held by them at the fork. */
static void in_child(void)
{
	agent_tsgs_after_fork();
	agent_page_after_fork();
	agent_sheet_after_fork();
	hold_after_fork();
	requests_after_fork();
}

static void __attribute__((constructor)) loaded(void)
{
	int saved = errno;

	agent_settings_read();
	if (!agent_settings.inert)
		pthread_atfork(NULL, NULL, in_child);
	errno = saved;
}

void agent_start(void)
{
	int saved = errno;

	if (!agent_settings.inert && agent_take_process())
		agent_thread(agent_serve);
	errno = saved;
}

/* CUDA_INJECTION64_PATH: libcuda loads us in its cuInit(), and calls this function. */
EXPORT int InitializeInjection(void);
EXPORT int InitializeInjection(void)
{
	if (agent_settings.inert)
		return 1;
	if (!agent_settings.blind[0])
		strcpy(agent_settings.blind,
		       "the agent came after the program's start, not by LD_PRELOAD");
	if (!agent_is_up()) /* loaded late, we do not see the program's pthread_exit() */
		agent_leave_last();
	agent_start();
	return 1;
}
