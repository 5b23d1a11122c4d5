/* SPDX-License-Identifier: MIT */
/*
 * pods.h - the pods that the runtime has reported, and the news of them for the daemon
 *
 * The runtime's last report of a pod counts. A separate thread passes it to the daemon, so that no
 * pod's start waits for a daemon that is slow or missing. After a restart the daemon is told of all
 * pods. It also has to forget pods that the runtime does not have. For any thread.
 */
#ifndef GPUSCHED_NRI_PODS_H
#define GPUSCHED_NRI_PODS_H

#include <stdbool.h>
#include <stdint.h>

#define GS_NRI_WORDS 8
#define GS_NRI_WORD_LEN 80

struct gs_nri_pods;

struct gs_nri_pod {
	const char *uid, *namespace, *name;
	char words[GS_NRI_WORDS][GS_NRI_WORD_LEN]; /* such as "class=lc", from the annotations */
	unsigned int nwords;
};

int gs_nri_pods_new(struct gs_nri_pods **ret);
/* For tests. Not while a thread runs gs_nri_teller(). */
void gs_nri_pods_free(struct gs_nri_pods *pods);

/* A connection to a runtime was made, which now lists its pods. */
void gs_nri_pods_begin(struct gs_nri_pods *pods);
/*
 * A pod exists, or is about to start. -EINVAL: its uid is missing, or a text is not UTF-8; -ENOSPC;
 * -ENOMEM.
 */
int gs_nri_pods_put(struct gs_nri_pods *pods, const struct gs_nri_pod *pod);
void gs_nri_pods_drop(struct gs_nri_pods *pods, const char *uid);
/* The runtime's list is complete: pods that are not in it have ended. */
void gs_nri_pods_complete(struct gs_nri_pods *pods);

/* ---- for the thread that tells --------------------------------------------------------------- */

enum gs_nri_news {
	GS_NRI_NOTHING,
	GS_NRI_SET,     /* @ret_text: arguments of pod_set */
	GS_NRI_CLEAR,   /* @ret_text: a uid */
	GS_NRI_COMPARE, /* compare the daemon's pods with gs_nri_pods_has() */
};
/* Returns the next news; free *ret_text. The same news come again until gs_nri_pods_told(). */
enum gs_nri_news gs_nri_pods_news(struct gs_nri_pods *pods, char **ret_text);
void gs_nri_pods_told(struct gs_nri_pods *pods, enum gs_nri_news news, const char *text);
/* True if the runtime has that pod. */
bool gs_nri_pods_has(struct gs_nri_pods *pods, const char *uid);
/*
 * The daemon with this pid answers; 0: none does. A new pid means that it must be told everything.
 */
void gs_nri_pods_daemon(struct gs_nri_pods *pods, int64_t pid);
/* Waits for news, for at most @ms. */
void gs_nri_pods_wait_news(struct gs_nri_pods *pods, unsigned int ms);
/*
 * Waits until the daemon has all news, for at most @ms. Does not wait if no daemon answers, or if
 * it was too late the last time.
 */
void gs_nri_pods_wait_told(struct gs_nri_pods *pods, unsigned int ms);

#endif /* GPUSCHED_NRI_PODS_H */
