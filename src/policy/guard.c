// SPDX-License-Identifier: MIT
#include "policy/guard.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>

static sigjmp_buf back;
static volatile sig_atomic_t inside; /* a call is under way */

static const int crashes[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL };
static struct sigaction before[4], before_tick;
static volatile sig_atomic_t running, last_seen; /* numbers of calls */
static timer_t timer;
static bool on;
static unsigned int users;

static int tick_signal(void)
{
	return SIGRTMIN + 4;
}

static void on_crash(int sig)
{
	if (!inside) {
		signal(sig, SIG_DFL); /* not the policy's: die of it when it happens again */
		return;
	}
	siglongjmp(back, GS_GUARD_CRASHED);
}

/* The same call seen twice: it has lasted longer than one period. */
static void on_tick(int sig)
{
	(void)sig;
	if (!inside)
		return;
	if (last_seen == running)
		siglongjmp(back, GS_GUARD_STALLED);
	last_seen = running;
}

int gs_guard_run(void (*fn)(void *arg), void *arg)
{
	int why = sigsetjmp(back, 1);

	if (!why) {
		running = running == 0x7ffffffe ? 1 : running + 1;
		inside = 1;
		fn(arg);
	}
	inside = 0;
	return why;
}

int gs_guard_start(unsigned int limit_ms)
{
	struct sigevent ev = { .sigev_notify = SIGEV_SIGNAL };
	struct sigaction crash = { .sa_handler = on_crash, .sa_flags = SA_NODEFER };
	struct sigaction tick = { .sa_handler = on_tick, .sa_flags = SA_RESTART };
	struct itimerspec every;

	if (users++)
		return 0;
	ev.sigev_signo = tick_signal();
	sigaction(tick_signal(), &tick, &before_tick);
	if (timer_create(CLOCK_MONOTONIC, &ev, &timer) < 0) {
		users--;
		sigaction(tick_signal(), &before_tick, NULL);
		return -errno;
	}
	every.it_value = (struct timespec){ limit_ms / 1000, (long)(limit_ms % 1000) * 1000000 };
	every.it_interval = every.it_value;
	timer_settime(timer, 0, &every, NULL);
	for (size_t i = 0; i < sizeof(crashes) / sizeof(crashes[0]); i++)
		sigaction(crashes[i], &crash, &before[i]);
	on = true;
	return 0;
}

void gs_guard_stop(void)
{
	if (!on || --users)
		return;
	on = false;
	timer_delete(timer);
	sigaction(tick_signal(), &before_tick, NULL);
	for (size_t i = 0; i < sizeof(crashes) / sizeof(crashes[0]); i++)
		sigaction(crashes[i], &before[i], NULL);
}
