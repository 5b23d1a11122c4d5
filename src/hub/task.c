// SPDX-License-Identifier: MIT
/*
 * Runs a long task once in a separate thread. The loop goes on, and gets an event when the task
 * ends.
 */
#include "hub/task.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "basic/clock.h"
#include "basic/log.h"
#include "hub/hub.h"
#include "hub/loop.h"

#define FOLLOW_MS 100 /* time between two checks of *@stop */

void gs_task_unref(struct gs_task *e)
{
	if (!e || --e->refs)
		return;
	if (e->fd >= 0)
		close(e->fd);
	e->free(e);
}

static void *task_main(void *arg)
{
	struct gs_task *e = arg;
	uint64_t one = 1;

	e->work(e);
	if (write(e->fd, &one, sizeof(one)) < 0)
		gs_log(LOG_ERR, "what was begun is done and cannot say so: %s", strerror(errno));
	return NULL;
}

static int on_end(sd_event_source *src, int fd, uint32_t revents, void *user)
{
	struct gs_task *e = user;

	e->source = sd_event_source_disable_unref(src);
	pthread_join(e->thread, NULL);
	e->over = true;
	e->end(e);
	gs_completions_happened(&e->hub->waits, GS_ON_TASK);
	gs_task_unref(e);
	return 0;
}

int gs_task_begin(struct gs_task *e, struct gs_hub *hub, void *owner)
{
	int r;

	e->hub = hub;
	e->owner = owner;
	e->refs = 1;
	e->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	r = e->fd < 0 ? -errno : sd_event_add_io(hub->event, &e->source, e->fd, EPOLLIN, on_end, e);
	if (r >= 0)
		r = -pthread_create(&e->thread, NULL, task_main, e);
	if (r < 0) {
		e->source = sd_event_source_disable_unref(e->source);
		if (e->fd >= 0)
			close(e->fd);
		e->fd = -1;
		return r;
	}
	e->refs++;
	return 0;
}

static int is_over(struct gs_completion *c, uint64_t now_ns)
{
	const struct gs_task *e = c->user;

	return e->over ? 0 : -EINPROGRESS;
}

void gs_task_wait(struct gs_task *e)
{
	struct gs_completion c = { .check = is_over, .on = GS_ON_TASK, .user = e };

	e->refs++; /* keeps @e during the wait; only the loop's thread changes refs */
	gs_loop_wait(e->hub, &c);
	gs_task_unref(e);
}

static int is_over_or_late(struct gs_completion *c, uint64_t now_ns)
{
	return gs_completion_is_late(c, now_ns) ? 0 : is_over(c, now_ns);
}

void gs_task_leave(struct gs_task *e, unsigned int ms)
{
	struct gs_completion c = {
		.check = is_over_or_late,
		.on = GS_ON_TASK,
		.until_ns = gs_now_ns() + ms * NS_PER_MS,
		.user = e,
	};

	e->refs++;
	gs_loop_wait(e->hub, &c);
	if (e->over) {
		gs_task_unref(e);
		return;
	}
	__atomic_store_n(&e->left, true, __ATOMIC_SEQ_CST);
	e->source = sd_event_source_disable_unref(e->source);
	pthread_detach(e->thread); /* the thread may still use @e, so @e is never freed */
}

bool gs_task_follow(const struct gs_task *e, const bool *stop)
{
	struct pollfd p = { .fd = e->fd, .events = POLLIN };

	while (poll(&p, 1, FOLLOW_MS) <= 0)
		if (__atomic_load_n(stop, __ATOMIC_SEQ_CST))
			return false;
	return true;
}

bool gs_task_is_left(const struct gs_task *e)
{
	return __atomic_load_n(&e->left, __ATOMIC_SEQ_CST);
}
