// SPDX-License-Identifier: MIT
/* The service's descriptors under one epoll descriptor, and its two timers. */
#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "basic/clock.h"
#include "basic/log.h"
#include "process/reader.h"
#include "service/internal.h"
#include "table/cfg.h"
#include "table/events.h"

#define HEARTBEAT_NS (250 * NS_PER_MS)
#define MAX_READY 8

int gs_loop_add(struct gs_service *s, int fd)
{
	struct epoll_event ev = { .events = EPOLLIN, .data.fd = fd };

	return epoll_ctl(s->ep_fd, EPOLL_CTL_ADD, fd, &ev) ? -errno : 0;
}

void gs_loop_del(struct gs_service *s, int fd)
{
	epoll_ctl(s->ep_fd, EPOLL_CTL_DEL, fd, NULL);
}

static int timer_new(struct gs_service *s, int *ret)
{
	*ret = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	return *ret < 0 ? -errno : gs_loop_add(s, *ret);
}

static struct timespec timespec_of(uint64_t ns)
{
	return (struct timespec){ .tv_sec = (time_t)(ns / NS_PER_S),
				  .tv_nsec = (long)(ns % NS_PER_S) };
}

int gs_loop_new(struct gs_service *s, struct gs_error *err)
{
	struct itimerspec beat = { .it_interval = timespec_of(HEARTBEAT_NS),
				   .it_value = timespec_of(HEARTBEAT_NS) };
	int r;

	s->ep_fd = epoll_create1(EPOLL_CLOEXEC);
	if (s->ep_fd < 0)
		return gs_fail(err, -errno, "epoll: %s", strerror(errno));
	r = timer_new(s, &s->sweep_fd);
	if (!r && s->opts.daemon) {
		r = timer_new(s, &s->beat_fd);
		if (!r && timerfd_settime(s->beat_fd, 0, &beat, NULL))
			r = -errno;
		if (!r)
			r = gs_reader_begin(&s->reader_fd);
		if (!r)
			r = gs_loop_add(s, s->reader_fd);
		gs_loop_beat(s);
	}
	return r ? gs_fail(err, r, "timer: %s", strerror(-r)) : 0;
}

/* A dry run leaves it as it was: an old one says that there is something to repair. */
void gs_loop_beat(struct gs_service *s)
{
	if (s->opts.daemon && !s->opts.dry_run)
		gs_cfg_heartbeat(s->o, gs_now_ns());
}

bool gs_loop_settle(struct gs_service *s, unsigned int ms)
{
	uint64_t begin = gs_now_ns(), end;
	bool settled = !gs_engine_settle(s->e, begin < s->impatient_until_ns ? 0 : ms);

	if (!settled && begin >= s->impatient_until_ns) {
		end = gs_now_ns();
		s->impatient_until_ns = end + 3 * (end - begin);
		gs_loop_beat(s);
	}
	return settled;
}

void gs_loop_sweep_in(struct gs_service *s, uint64_t ns)
{
	struct itimerspec now, due = { .it_value = timespec_of(ns) };

	if (s->sweep_fd < 0 || timerfd_gettime(s->sweep_fd, &now))
		return;
	if (s->sweep_armed &&
	    (uint64_t)now.it_value.tv_sec * NS_PER_S + (uint64_t)now.it_value.tv_nsec <= ns)
		return;
	timerfd_settime(s->sweep_fd, 0, &due, NULL);
	s->sweep_armed = true;
}

/* A late answer: it is asked for again, and is there now. */
static void on_read(enum gs_reader_what what, pid_t pid, void *user)
{
	struct gs_service *s = user;

	if (what == GS_READER_PROGRAM)
		gs_process_reclassify(s, pid);
	else if (s->launches)
		gs_launches_process(s->launches, pid);
}

static void drain_timer(int fd)
{
	uint64_t ticks;

	if (read(fd, &ticks, sizeof(ticks)) < 0 && errno != EAGAIN)
		gs_log(LOG_WARNING, "timer: %s", strerror(errno));
}

static void handle(struct gs_service *s, int fd)
{
	if (fd == s->beat_fd) {
		drain_timer(fd);
		gs_loop_beat(s);
	} else if (fd == s->sweep_fd) {
		drain_timer(fd);
		s->sweep_armed = false;
		gs_service_sweep(s);
	} else if (fd == s->reader_fd) {
		gs_reader_dispatch(on_read, s);
	} else if (fd == s->guardian_pidfd) {
		gs_guarding_lost(s);
	} else if (fd == gs_events_fd(s->o)) {
		gs_events_dispatch(s->o);
		gs_losses_check(s);
	} else if (s->e && fd == gs_engine_fd(s->e)) {
		gs_engine_dispatch(s->e);
	} else if (fd == gs_starting_fd(s)) {
		gs_starting_dispatch(s);
	} else if (s->p && fd == gs_policy_fd(s->p)) {
		gs_service_policy_dispatch(s);
	}
}

int gs_service_fd(const struct gs_service *s)
{
	return s->ep_fd;
}

int gs_service_dispatch(struct gs_service *s)
{
	struct epoll_event ready[MAX_READY];
	int n;

	if (s->ep_fd < 0)
		return 0;
	n = epoll_wait(s->ep_fd, ready, MAX_READY, 0);
	if (n < 0)
		return errno == EINTR ? 0 : -errno;
	for (int i = 0; i < n; i++)
		handle(s, ready[i].data.fd);
	return n;
}
