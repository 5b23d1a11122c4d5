/* SPDX-License-Identifier: MIT */
/*
 * session.h - the plugin's side of an NRI connection
 *
 * The plugin registers, and asks only for events of pods that start or are removed. It answers each
 * call at once, and never with an error, since an error could keep a pod from starting. Pure, but
 * for the pods that it records.
 */
#ifndef GPUSCHED_NRI_SESSION_H
#define GPUSCHED_NRI_SESSION_H

#include "nri/frames.h"

struct gs_nri_pods;

struct gs_nri_session {
	struct gs_nri_frames frames;
	struct gs_nri_pods *pods;
	/* the longest time that a pod's start waits until the daemon knows of it */
	unsigned int wait_ms;
	bool configured; /* the runtime has configured us */
	uint64_t calls, unread;
	char refused[128]; /* why the runtime refused us */
};

/* Puts the registration into s->frames.out. @index: two digits, the place among other plugins. */
int gs_nri_session_begin(struct gs_nri_session *s, struct gs_nri_pods *pods, const char *index);
void gs_nri_session_end(struct gs_nri_session *s);
/*
 * Handles received bytes; puts answers into s->frames.out. -EPROTO, -ENOMEM, -EMSGSIZE; -EACCES:
 * the runtime refuses the plugin. After an error the connection cannot be used any more.
 */
int gs_nri_session_in(struct gs_nri_session *s, const uint8_t *data, size_t n);

#endif /* GPUSCHED_NRI_SESSION_H */
