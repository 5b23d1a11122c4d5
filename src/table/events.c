// SPDX-License-Identifier: MIT
/* events.c - reads the taps' events in order */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <string.h>
#include <time.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "process/process.h"
#include "table/events.h"
#include "table/started.h"
#include "table/priv.h"

static const char *const names[GPUSCHED_EV_MAX] = {
#define X(sym, name, text) [GPUSCHED_EV_##sym] = name,
	GPUSCHED_EVENTS(X)
#undef X
};

const char *gs_event_name(unsigned int type)
{
	return type < GS_COUNT(names) ? names[type] : NULL;
}

/*
 * Total time that the machine was suspended. A start time includes this (CLOCK_BOOTTIME), an
 * event's time does not (CLOCK_MONOTONIC).
 */
static uint64_t slept_ns(void)
{
	struct timespec boot, monotonic;

	clock_gettime(CLOCK_MONOTONIC, &monotonic);
	clock_gettime(CLOCK_BOOTTIME, &boot);
	return (uint64_t)(boot.tv_sec - monotonic.tv_sec) * NS_PER_S + (uint64_t)boot.tv_nsec -
	       (uint64_t)monotonic.tv_nsec;
}

/*
 * Reads the process's start last: if another process has taken over the pid meanwhile, it started
 * after the event.
 */
int gs_event_uid(const struct gpusched_event *ev, uid_t *ret)
{
	uint64_t started;
	uid_t uid;
	int r = gs_process_uid((pid_t)ev->pid, &uid);

	if (!r)
		r = gs_started((pid_t)ev->pid, &started);
	if (r)
		return r;
	if (started > ev->ns + slept_ns())
		return -ESRCH;
	*ret = uid;
	return 0;
}

#define AT_ONCE 64
#define AT_ONCE_NS (10 * NS_PER_MS)

static int on_record(void *user, void *data, size_t size)
{
	struct gs_table *t = user;
	struct gpusched_event ev;

	if (size < sizeof(ev))
		return 0;
	memcpy(&ev, data, sizeof(ev)); /* copy it, since the kernel may reuse the ring's memory */
	t->fn(&ev, t->user);
	return ++t->handled < AT_ONCE && gs_now_ns() < t->handle_until_ns ? 0 : -ECANCELED;
}

int gs_events_open(struct gs_table *t, gs_event_fn fn, void *user, struct gs_error *err)
{
	if (t->ring)
		return gs_fail(err, -EBUSY, "events are being read already");
	t->fn = fn;
	t->user = user;
	t->ring = ring_buffer__new(t->fd[GS_PIN_gs_events], on_record, t, NULL);
	if (!t->ring)
		return gs_fail(err, -errno, "cannot map the ring of events: %s", strerror(errno));
	return 0;
}

int gs_events_fd(const struct gs_table *t)
{
	return t->ring ? ring_buffer__epoll_fd(t->ring) : -EBADF;
}

int gs_events_dispatch(struct gs_table *t)
{
	int r;

	if (!t->ring)
		return -EBADF;
	t->handled = 0;
	t->handle_until_ns = gs_now_ns() + AT_ONCE_NS;
	r = ring_buffer__consume(t->ring);
	return r == -ECANCELED ? (int)t->handled : r;
}

size_t gs_events_room(const struct gs_table *t)
{
	struct bpf_map_info info = { 0 };
	uint32_t len = sizeof(info);

	if (bpf_obj_get_info_by_fd(t->fd[GS_PIN_gs_events], &info, &len))
		return 0;
	return info.max_entries / sizeof(struct gpusched_event);
}

int gs_events_counter(struct gs_table *t, enum gpusched_tap_counter which, uint64_t *ret)
{
	CLEANUP_FREE uint64_t *v = calloc(t->cpus, sizeof(*v));
	uint32_t key = which;
	uint64_t sum = 0;

	if (!v)
		return -ENOMEM;
	if (bpf_map_lookup_elem(t->fd[GS_PIN_gs_counters], &key, v))
		return -errno;
	for (unsigned int c = 0; c < t->cpus; c++)
		sum += v[c];
	*ret = sum;
	return 0;
}
