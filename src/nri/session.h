/* SPDX-License-Identifier: MIT */
/*
 * session.h - handles the plugin's side of an NRI connection
 *
 * The plugin registers, and subscribes only to events of pods that start or are removed. It answers
 * the calls for pods without an error, since an error could keep a pod from starting. These
 * functions do no I/O; they only record pods (pods.h).
 */
#ifndef GPUSCHED_NRI_SESSION_H
#define GPUSCHED_NRI_SESSION_H

#include "nri/frames.h"

struct gs_nri_pods;

struct gs_nri_session {
	struct gs_nri_frames frames;
	struct gs_nri_pods *pods;
	/* longest time for which a pod's start waits until the daemon knows the pod */
	unsigned int wait_ms;
	bool configured;        /* the runtime has configured the plugin */
	uint64_t calls, unread; /* number of calls; of calls and parts that were not understood */
	char refused[128];      /* why the runtime refused the plugin */
};

/* Puts the registration into s->frames.out. @index: two digits, the order among the plugins. */
int gs_nri_session_begin(struct gs_nri_session *s, struct gs_nri_pods *pods, const char *index);
void gs_nri_session_end(struct gs_nri_session *s);
/*
 * Handles received bytes; puts answers into s->frames.out. -EPROTO, -ENOMEM, -EMSGSIZE; -EACCES:
 * the runtime refuses the plugin. After an error the connection cannot be used any more.
 */
int gs_nri_session_in(struct gs_nri_session *s, const uint8_t *data, size_t n);

#endif /* GPUSCHED_NRI_SESSION_H */
