/* SPDX-License-Identifier: MIT */
/*
 * pods.h - records the pods that the runtime reports, and queues the changes for the daemon
 *
 * A separate thread (teller.h) passes the last report of each pod to the daemon, so that no pod's
 * start waits long for a daemon that is slow or missing. A new daemon gets all pods, and is made to
 * forget pods that the runtime does not have. A change that the daemon does not have yet is called
 * news. Any thread may call these functions.
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
/* For tests only. Do not call this while a thread runs gs_nri_teller(). */
void gs_nri_pods_free(struct gs_nri_pods *pods);

/* Called after a connection to a runtime: the runtime now lists its pods. */
void gs_nri_pods_begin(struct gs_nri_pods *pods);
/*
 * Records that a pod exists, or is about to start. -EINVAL: its uid is missing, or a text is not
 * UTF-8; -ENOSPC: there are too many pods; -ENOMEM.
 */
int gs_nri_pods_put(struct gs_nri_pods *pods, const struct gs_nri_pod *pod);
void gs_nri_pods_drop(struct gs_nri_pods *pods, const char *uid);
/* Called when the runtime's list is complete: pods that are not in it have ended. */
void gs_nri_pods_complete(struct gs_nri_pods *pods);

/* ---- for the teller's thread ----------------------------------------------------------------- */

enum gs_nri_news {
	GS_NRI_NOTHING,
	GS_NRI_SET,     /* a pod is new or changed; @ret_text: the arguments of pod_set */
	GS_NRI_CLEAR,   /* a pod has ended; @ret_text: its uid */
	GS_NRI_COMPARE, /* the daemon must forget pods for which gs_nri_pods_has() is false */
};
/*
 * Returns the next news; the caller frees *ret_text. The same news are returned until
 * gs_nri_pods_told().
 */
enum gs_nri_news gs_nri_pods_news(struct gs_nri_pods *pods, char **ret_text);
void gs_nri_pods_told(struct gs_nri_pods *pods, enum gs_nri_news news, const char *text);
/* True if the runtime has that pod. */
bool gs_nri_pods_has(struct gs_nri_pods *pods, const char *uid);
/*
 * Sets the pid of the daemon that answers; 0: none does. After a change to another pid, all pods
 * are news again.
 */
void gs_nri_pods_daemon(struct gs_nri_pods *pods, int64_t pid);
/* Waits for news, for at most @ms. */
void gs_nri_pods_wait_news(struct gs_nri_pods *pods, unsigned int ms);
/*
 * Waits until the daemon has all news, for at most @ms. Does not wait if no daemon answers, or if
 * an earlier wait timed out and the daemon has taken no news since.
 */
void gs_nri_pods_wait_told(struct gs_nri_pods *pods, unsigned int ms);

#endif /* GPUSCHED_NRI_PODS_H */
