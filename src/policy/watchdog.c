// SPDX-License-Identifier: MIT
#include "policy/watchdog.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "basic/clock.h"

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

#define STACK_BYTES (64u << 10)
#define BLOCKED_PERIODS 20

/*
 * The state of each thread that runs policies. A thread leaves a call only by a signal to that
 * thread.
 */
static _Thread_local struct {
	sigjmp_buf back;
	volatile sig_atomic_t inside; /* a call is under way */
	/* The number of the present call; the number of the call at the last timer signal. */
	volatile sig_atomic_t running, last_seen;
	/* The call's limit; the thread's CPU time when a timer signal first saw the call. */
	uint64_t limit_ns, seen_cpu_ns;
	unsigned int seen;            /* number of later timer signals that saw the call */
	volatile sig_atomic_t signal; /* signal of the last crash */
	timer_t timer;
	unsigned int users; /* gs_watchdog_start() less gs_watchdog_stop() calls */
	/*
	 * A stack for the handlers, since the policy may have used up the thread's; NULL: the
	 * thread already has one.
	 */
	void *stack;
} me;

static const int crashes[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL };
#define CRASHES (sizeof(crashes) / sizeof(crashes[0]))

/* The process's earlier handlers, which come back when no thread has a watch any more. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct sigaction before[CRASHES], before_tick;
static unsigned int threads;

static int tick_signal(void)
{
	return SIGRTMIN + 4;
}

static void on_crash(int sig)
{
	if (!me.inside) {
		/*
		 * A crash outside a call is not the policy's fault: with the default action, the
		 * repeated fault ends this process.
		 */
		signal(sig, SIG_DFL);
		return;
	}
	me.signal = sig;
	siglongjmp(me.back, GS_WATCHDOG_CRASHED);
}

static uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

/*
 * Runs once per @limit_ns. A call that the last signal saw too has lasted at least that long, but
 * may have had a CPU for a shorter time.
 */
static void on_tick(int sig)
{
	(void)sig;
	if (!me.inside)
		return;
	if (me.last_seen != me.running) {
		me.last_seen = me.running;
		me.seen_cpu_ns = cpu_ns();
		me.seen = 0;
	} else if (cpu_ns() - me.seen_cpu_ns >= me.limit_ns / 2 || ++me.seen >= BLOCKED_PERIODS) {
		siglongjmp(me.back, GS_WATCHDOG_STALLED);
	}
}

int gs_watchdog_run(void (*fn)(void *arg), void *arg)
{
	int why = sigsetjmp(me.back, 1);

	if (!why) {
		me.running = me.running == 0x7ffffffe ? 1 : me.running + 1;
		me.inside = 1;
		fn(arg);
	}
	me.inside = 0;
	return why;
}

int gs_watchdog_signal(void)
{
	return me.signal;
}

static void handlers_get(void)
{
	struct sigaction crash = { .sa_handler = on_crash, .sa_flags = SA_NODEFER | SA_ONSTACK };
	struct sigaction tick = { .sa_handler = on_tick, .sa_flags = SA_RESTART };

	pthread_mutex_lock(&lock);
	if (!threads++) {
		sigaction(tick_signal(), &tick, &before_tick);
		for (size_t i = 0; i < CRASHES; i++)
			sigaction(crashes[i], &crash, &before[i]);
	}
	pthread_mutex_unlock(&lock);
}

static void handlers_put(void)
{
	pthread_mutex_lock(&lock);
	if (!--threads) {
		sigaction(tick_signal(), &before_tick, NULL);
		for (size_t i = 0; i < CRASHES; i++)
			sigaction(crashes[i], &before[i], NULL);
	}
	pthread_mutex_unlock(&lock);
}

static void stack_get(void)
{
	stack_t now;

	if (sigaltstack(NULL, &now) == 0 && now.ss_flags & SS_DISABLE)
		me.stack = malloc(STACK_BYTES);
	if (me.stack)
		sigaltstack(&(stack_t){ .ss_sp = me.stack, .ss_size = STACK_BYTES }, NULL);
}

static void stack_put(void)
{
	if (me.stack)
		sigaltstack(&(stack_t){ .ss_flags = SS_DISABLE }, NULL);
	free(me.stack);
	me.stack = NULL;
}

int gs_watchdog_start(unsigned int limit_ms)
{
	struct sigevent ev = { .sigev_notify = SIGEV_THREAD_ID };
	struct itimerspec every;

	if (me.users++)
		return 0;
	ev.sigev_signo = tick_signal();
	ev.sigev_notify_thread_id = (pid_t)syscall(SYS_gettid);
	stack_get();
	handlers_get();
	if (timer_create(CLOCK_MONOTONIC, &ev, &me.timer) < 0) {
		int r = -errno;

		me.users--;
		handlers_put();
		stack_put();
		return r;
	}
	me.limit_ns = limit_ms * NS_PER_MS;
	every.it_value = (struct timespec){ limit_ms / 1000, (long)(limit_ms % 1000) * 1000000 };
	every.it_interval = every.it_value;
	timer_settime(me.timer, 0, &every, NULL);
	return 0;
}

void gs_watchdog_stop(void)
{
	if (!me.users || --me.users)
		return;
	timer_delete(me.timer);
	handlers_put();
	stack_put();
}
