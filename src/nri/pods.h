/* SPDX-License-Identifier: MIT */
/*
 * pods.h - the pods that the runtime told of, and what the daemon is still to hear of them
 *
 * The runtime's last word holds. A thread of its own tells the daemon, so that a daemon that is slow
 * or missing keeps no pod from starting. A daemon that has started again is told of every pod. It
 * is made to forget pods that the runtime does not know. For any thread.
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
	char words[GS_NRI_WORDS][GS_NRI_WORD_LEN]; /* "class=lc", as annotated */
	unsigned int nwords;
};

int gs_nri_pods_new(struct gs_nri_pods **ret);
/* For tests: without a thread that tells. */
void gs_nri_pods_free(struct gs_nri_pods *pods);

/* A runtime has been connected to, and lists its pods. */
void gs_nri_pods_begin(struct gs_nri_pods *pods);
/* A pod is there, or is about to be. -EINVAL: it has no uid, or no UTF-8; -ENOSPC; -ENOMEM. */
int gs_nri_pods_put(struct gs_nri_pods *pods, const struct gs_nri_pod *pod);
void gs_nri_pods_drop(struct gs_nri_pods *pods, const char *uid);
/* The list is complete: a pod that is not in it has ended. */
void gs_nri_pods_complete(struct gs_nri_pods *pods);

/* ---- for the thread that tells --------------------------------------------------------------- */

enum gs_nri_news {
	GS_NRI_NOTHING,
	GS_NRI_SET,     /* the text: arguments of pod_set */
	GS_NRI_CLEAR,   /* the text: a uid */
	GS_NRI_COMPARE, /* a new daemon: what it knows is to be compared with gs_nri_pods_has() */
};
/* The next news; *ret_text is to be freed. It comes again until gs_nri_pods_told(). */
enum gs_nri_news gs_nri_pods_news(struct gs_nri_pods *pods, char **ret_text);
void gs_nri_pods_told(struct gs_nri_pods *pods, enum gs_nri_news news, const char *text);
/* False: the runtime has no such pod. */
bool gs_nri_pods_has(struct gs_nri_pods *pods, const char *uid);
/* The daemon with process id @pid answers; 0: none does. */
void gs_nri_pods_daemon(struct gs_nri_pods *pods, int64_t pid);
/* Waits for news, for at most @ms. */
void gs_nri_pods_wait_news(struct gs_nri_pods *pods, unsigned int ms);
/*
 * Waits until the daemon has heard everything, for at most @ms; not at all if none
 * answers, or if it was late the last time.
 */
void gs_nri_pods_wait_told(struct gs_nri_pods *pods, unsigned int ms);

#endif /* GPUSCHED_NRI_PODS_H */
