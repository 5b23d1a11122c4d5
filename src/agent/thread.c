// SPDX-License-Identifier: MIT
/* thread.c - starts the agent's threads, and knows in which process they run */
#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "agent/agent.h"

#define STACK_SIZE (256u << 10)

__thread bool agent_own;

/* The process in which the agent's threads run; if getpid() differs, this is a fork of it. */
static _Atomic pid_t started;

bool agent_thread_is_up(void)
{
	return started == getpid();
}

bool agent_thread_take_process(void)
{
	pid_t self = getpid(), was = started;

	return was != self && __atomic_compare_exchange_n((pid_t *)&started, &was, self, false,
							  __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
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
 * Gives the thread its own, empty descriptor table. So the agent takes no descriptor numbers of the
 * program and keeps none of its pipes open, and a closefrom() of the program closes none of ours.
 */
int agent_thread_begin(const char *name)
{
	agent_own = true;
	pthread_setname_np(pthread_self(), name);
	if (syscall(SYS_close_range, 0u, ~0u, CLOSE_RANGE_UNSHARE))
		return -errno;
	for (int i = 0; i < 3; i++) /* fills 0 to 2: when glibc aborts, it prints to 2 */
		if (open("/dev/null", O_RDWR | O_CLOEXEC) != i)
			return -EBADF;
	return 0;
}
