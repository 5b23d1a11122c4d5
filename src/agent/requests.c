// SPDX-License-Identifier: MIT
/*
 * requests.c - finds when the program's requests begin, and tells the daemon
 *
 * The daemon may then keep other programs off the GPU.
 *
 * A rest is the time from the end of a wait, if no other thread waits, to the next launch. A
 * request is a sequence of launches and waits without a rest as long as `quiet`, a time that is
 * learned from the rests. So only launches after a wait matter: all others take the hooks' short
 * path.
 *
 * The page says whether the program rests, and since when: the daemon finds the end of a request
 * there. Only a begin wakes the daemon, by a thread that has the descriptor for that.
 */
#include <linux/futex.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "agent/agent.h"
#include "agent/launches.h"
#include "agent/requests.h"
#include "basic/clock.h"
#include "basic/quiet.h"

static struct gs_agent_sheet *_Atomic sheet; /* NULL: no daemon wants to know of requests */
static struct gs_quiet quiet;
/* Taken with trylock only: requests may be missed. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* Threads of the program that wait for the GPU. */
static _Atomic uint32_t waiting;
/* Since when the program rests; 0: it does not. */
static _Atomic uint64_t rest_ns;
/* Number of begins for which the daemon is to be woken. */
static _Atomic uint32_t signals;
/* wakes the daemon; in the descriptor table of the serving thread */
static _Atomic int wake_fd = -1;

void requests_after_fork(void)
{
	sheet = NULL;
	waiting = 0;
	rest_ns = 0;
	wake_fd = -1;
	pthread_mutex_init(&lock, NULL);
}

/* ---- the thread that wakes the daemon -------------------------------------------------------- */

static void *wake(void *unused)
{
	uint32_t seen = 0;
	char one = 1;

	agent_own = true;
	pthread_setname_np(pthread_self(), "gpusched-wake");
	for (;;) {
		uint32_t now;

		while ((now = signals) == seen)
			syscall(SYS_futex, &signals, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0);
		seen = now;
		if (send(wake_fd, &one, sizeof(one), MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
			continue; /* the daemon has not read earlier ones, or has ended */
	}
	return NULL;
}

static void signal_daemon(void)
{
	signals++;
	syscall(SYS_futex, &signals, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

void requests_tell(struct gs_agent_sheet *to, int fd)
{
	int was = wake_fd;

	wake_fd = fd;
	if (was >= 0) { /* an earlier daemon's descriptor */
		close(was);
	} else if (agent_thread(wake)) {
		close(wake_fd);
		wake_fd = -1;
		return;
	}
	to->rest_ns = rest_ns;
	sheet = to;
	launches_watch_waits();
}

/* ---- in the program's threads ---------------------------------------------------------------- */

void requests_launch(void)
{
	struct gs_agent_sheet *s = sheet;
	uint64_t since = rest_ns, rest;
	uint32_t least;

	if (!s || !since)
		return;
	rest_ns = s->rest_ns = 0;
	launches_watch_next(false);
	rest = gs_now_ns() - since;
	if (pthread_mutex_trylock(&lock))
		return;
	gs_quiet_rest(&quiet, rest);
	least = s->quiet_us;
	/* a shorter rest ends no request, so what it says can wait */
	if (!least || rest >= GS_QUIET_LEAST_US * NS_PER_US)
		s->quiet_us = least = gs_quiet_us(&quiet);
	if (least && (!s->begins || rest >= least * NS_PER_US)) {
		s->begins++;
		signal_daemon();
	}
	pthread_mutex_unlock(&lock);
}

void requests_wait(bool begins)
{
	struct gs_agent_sheet *s = sheet;
	uint64_t now;

	if (!s)
		return;
	if (begins) {
		requests_launch();
		waiting++;
		rest_ns = s->rest_ns = 0;
		return;
	}
	if (waiting && --waiting)
		return;
	now = gs_now_ns();
	rest_ns = s->rest_ns = now;
	launches_watch_next(true);
}

void requests_polled(bool busy)
{
	struct gs_agent_sheet *s = sheet;

	if (!s || waiting || !busy)
		return;
	rest_ns = s->rest_ns = gs_now_ns();
	launches_watch_next(true);
}

void requests_hint(bool comes)
{
	struct gs_agent_sheet *s = sheet;

	if (!s)
		return;
	if (s->hinted == comes) {
		s->blurs += comes;
		return;
	}
	s->arrivals += comes;
	s->hinted = comes;
	s->begins += comes;
	signal_daemon();
}
