/* SPDX-License-Identifier: MIT */
/*
 * task.h - what takes long, in a thread of its own
 */
#ifndef GPUSCHED_HUB_TASK_H
#define GPUSCHED_HUB_TASK_H

#include <pthread.h>
#include <stdbool.h>
#include <systemd/sd-event.h>

struct gs_hub;

struct gs_errand {
	void (*work)(struct gs_errand *e); /* in the thread */
	void (*end)(struct gs_errand *e);  /* in the loop, afterwards */
	void (*free)(struct gs_errand *e);
	struct gs_hub *hub;
	void *owner;       /* the room that owns the task */
	unsigned int refs; /* the caller's, and the thread's */
	bool over, left;
	pthread_t thread;
	int fd;
	sd_event_source *source;
};
/* On failure the caller frees it. */
int gs_errand_begin(struct gs_errand *e, struct gs_hub *hub, void *owner);
void gs_errand_unref(struct gs_errand *e);
/* Runs the loop until it is over. */
void gs_errand_wait(struct gs_errand *e);
/* The same for @ms at most; then its thread stays behind alone, since its call does not return. */
void gs_errand_leave(struct gs_errand *e, unsigned int ms);
/* For another thread, which has a reference: until it is over (true), or *@stop. */
bool gs_errand_follow(const struct gs_errand *e, const bool *stop);
/* For the thread: the service may be gone. */
bool gs_errand_is_left(const struct gs_errand *e);

#endif /* GPUSCHED_HUB_TASK_H */
