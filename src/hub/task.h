/* SPDX-License-Identifier: MIT */
/*
 * task.h - runs a long task in a separate thread
 */
#ifndef GPUSCHED_HUB_TASK_H
#define GPUSCHED_HUB_TASK_H

#include <pthread.h>
#include <stdbool.h>
#include <systemd/sd-event.h>

struct gs_hub;

struct gs_task {
	void (*work)(struct gs_task *e); /* runs in the thread */
	void (*end)(struct gs_task *e);  /* runs in the loop, afterwards */
	void (*free)(struct gs_task *e);
	struct gs_hub *hub;
	void *owner;       /* the object that owns the task */
	unsigned int refs; /* one held by the caller, one by the thread */
	bool over, left;
	pthread_t thread;
	int fd;
	sd_event_source *source;
};
/* On failure the caller frees @e. */
int gs_task_begin(struct gs_task *e, struct gs_hub *hub, void *owner);
void gs_task_unref(struct gs_task *e);
/* Runs the loop until the task is over. */
void gs_task_wait(struct gs_task *e);
/*
 * Runs the loop until the task is over, for @ms at most. If its call does not return by then, the
 * thread is left behind.
 */
void gs_task_leave(struct gs_task *e, unsigned int ms);
/*
 * For another thread, which has a reference: waits until the task is over (returns true) or *@stop
 * is set (returns false).
 */
bool gs_task_follow(const struct gs_task *e, const bool *stop);
/* For the task's thread: true if it was left behind, so that the service may be gone. */
bool gs_task_is_left(const struct gs_task *e);

#endif /* GPUSCHED_HUB_TASK_H */
