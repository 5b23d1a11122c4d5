/* SPDX-License-Identifier: MIT */
/*
 * session.h - what a plugin of NRI says and hears from its connection on
 *
 * It registers, asks to hear of pods that start and are removed, and of nothing else. Each call is
 * answered at once, and never with an error: an error could keep a pod from starting. Pure, but for
 * the pods that it notes.
 */
#ifndef GPUSCHED_NRI_SESSION_H
#define GPUSCHED_NRI_SESSION_H

#include "nri/frames.h"

struct gs_nri_pods;

struct gs_nri_session {
	struct gs_nri_frames frames;
	struct gs_nri_pods *pods;
	unsigned int wait_ms; /* the longest that the start of a pod waits for the daemon to hear */
	bool configured;      /* the runtime has asked for our events */
	uint64_t calls, unread;
	char refused[128]; /* why the runtime does not want us */
};

/* Makes the registration. @index: two digits, the place among other plugins. */
int gs_nri_session_begin(struct gs_nri_session *s, struct gs_nri_pods *pods, const char *index);
void gs_nri_session_end(struct gs_nri_session *s);
/*
 * Handles what was received; answers are in s->frames.out. -EPROTO, -ENOMEM, -EMSGSIZE; -EACCES:
 * the runtime refuses the plugin. After an error the connection is of no use.
 */
int gs_nri_session_in(struct gs_nri_session *s, const uint8_t *data, size_t n);

#endif /* GPUSCHED_NRI_SESSION_H */
