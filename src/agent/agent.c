// SPDX-License-Identifier: MIT
/* agent.c - starts the agent in a program, and again in forked children */
#include "agent/agent.h"
#include "agent/hold.h"
#include "agent/requests.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

/*
 * Resets the agent in a forked child. The child has none of our threads, and our locks may have
 * been held at the fork.
 */
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

	if (!agent_settings.inert && agent_thread_take_process())
		agent_thread(agent_serve);
	errno = saved;
}

/*
 * If CUDA_INJECTION64_PATH names this library, libcuda's cuInit() loads it and calls this function.
 */
EXPORT int InitializeInjection(void);
EXPORT int InitializeInjection(void)
{
	if (agent_settings.inert)
		return 1;
	if (!agent_settings.blind[0])
		strcpy(agent_settings.blind,
		       "the agent came after the program's start, not by LD_PRELOAD");
	if (!agent_thread_is_up()) /* loaded late, we do not see the program's pthread_exit() */
		agent_serve_leave_last();
	agent_start();
	return 1;
}
