// SPDX-License-Identifier: MIT
#include "nri/pods.h"

#include <errno.h>
#include <jansson.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <uthash.h>

#include "basic/cleanup.h"
#include "basic/json_sheet.h"

#define PODS_MAX 4096
#define UID_LEN 64

struct pod {
	UT_hash_handle hh;
	char uid[UID_LEN];
	char *args;         /* arguments of pod_set */
	unsigned int round; /* number of the last list that had the pod */
	bool told, gone;    /* the daemon knows the present state; the pod has ended */
};

struct gs_nri_pods {
	pthread_mutex_t lock;
	pthread_cond_t news, told;
	struct pod *all;
	unsigned int round; /* number of lists that the runtime has begun */
	bool complete;      /* the last list is complete */
	bool compare;       /* the daemon may have pods that have ended: GS_NRI_COMPARE is due */
	int64_t daemon;     /* pid of the daemon; 0: none answers */
	bool late;          /* a wait for the daemon timed out, and it has taken no news since */
};

int gs_nri_pods_new(struct gs_nri_pods **ret)
{
	struct gs_nri_pods *p = calloc(1, sizeof(*p));
	pthread_condattr_t attr;

	if (!p)
		return -ENOMEM;
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&p->news, &attr);
	pthread_cond_init(&p->told, &attr);
	pthread_condattr_destroy(&attr);
	pthread_mutex_init(&p->lock, NULL);
	*ret = p;
	return 0;
}

static void drop(struct gs_nri_pods *p, struct pod *pod)
{
	HASH_DEL(p->all, pod);
	free(pod->args);
	free(pod);
}

void gs_nri_pods_free(struct gs_nri_pods *p)
{
	struct pod *pod, *next;

	if (!p)
		return;
	HASH_ITER(hh, p->all, pod, next)
		drop(p, pod);
	free(p);
}

static struct pod *find(struct gs_nri_pods *p, const char *uid)
{
	struct pod *pod = NULL;

	HASH_FIND_STR(p->all, uid, pod);
	return pod;
}

/* ---- reports of the runtime ------------------------------------------------------------------ */

void gs_nri_pods_begin(struct gs_nri_pods *p)
{
	pthread_mutex_lock(&p->lock);
	p->round++;
	p->complete = false;
	pthread_mutex_unlock(&p->lock);
}

static char *args_of(const struct gs_nri_pod *pod)
{
	json_t *words = json_array();
	CLEANUP_JSON json_t *o = NULL;

	for (unsigned int i = 0; i < pod->nwords; i++)
		json_array_append_new(words, gs_json_text(pod->words[i]));
	o = json_pack("{s:s, s:s, s:s, s:o}", "uid", pod->uid, "namespace", pod->namespace, "pod",
		      pod->name, "words", words);
	return o ? json_dumps(o, JSON_COMPACT) : NULL;
}

static int put(struct gs_nri_pods *p, const char *uid, char **args)
{
	struct pod *pod = find(p, uid);

	if (!pod) {
		if (HASH_COUNT(p->all) >= PODS_MAX)
			return -ENOSPC;
		pod = calloc(1, sizeof(*pod));
		if (!pod)
			return -ENOMEM;
		strcpy(pod->uid, uid);
		HASH_ADD_STR(p->all, uid, pod);
	}
	pod->round = p->round;
	if (pod->told && !pod->gone && pod->args && !strcmp(pod->args, *args))
		return 0;
	free(pod->args);
	pod->args = TAKE_PTR(*args);
	pod->told = pod->gone = false;
	pthread_cond_signal(&p->news);
	return 0;
}

int gs_nri_pods_put(struct gs_nri_pods *p, const struct gs_nri_pod *pod)
{
	CLEANUP_FREE char *args = args_of(pod);
	int r;

	if (!args || !*pod->uid || strlen(pod->uid) >= UID_LEN)
		return -EINVAL;
	pthread_mutex_lock(&p->lock);
	r = put(p, pod->uid, &args);
	pthread_mutex_unlock(&p->lock);
	return r;
}

static void end(struct gs_nri_pods *p, struct pod *pod)
{
	pod->gone = true;
	pod->told = false;
	pthread_cond_signal(&p->news);
}

void gs_nri_pods_drop(struct gs_nri_pods *p, const char *uid)
{
	struct pod *pod;

	pthread_mutex_lock(&p->lock);
	pod = find(p, uid);
	if (pod)
		end(p, pod);
	pthread_mutex_unlock(&p->lock);
}

void gs_nri_pods_complete(struct gs_nri_pods *p)
{
	pthread_mutex_lock(&p->lock);
	for (struct pod *pod = p->all; pod; pod = pod->hh.next)
		if (pod->round != p->round)
			end(p, pod);
	p->complete = p->compare = true;
	pthread_cond_signal(&p->news);
	pthread_mutex_unlock(&p->lock);
}

/* ---- news for the daemon --------------------------------------------------------------------- */

static enum gs_nri_news next(struct gs_nri_pods *p, const char **ret)
{
	for (const struct pod *pod = p->all; pod; pod = pod->hh.next) {
		*ret = pod->gone ? pod->uid : pod->args;
		if (!pod->told)
			return pod->gone ? GS_NRI_CLEAR : GS_NRI_SET;
	}
	*ret = "";
	return p->compare && p->complete ? GS_NRI_COMPARE : GS_NRI_NOTHING;
}

enum gs_nri_news gs_nri_pods_news(struct gs_nri_pods *p, char **ret_text)
{
	enum gs_nri_news news;
	const char *text;

	pthread_mutex_lock(&p->lock);
	news = next(p, &text);
	*ret_text = strdup(text);
	pthread_mutex_unlock(&p->lock);
	return *ret_text ? news : GS_NRI_NOTHING;
}

/*
 * Marks the news as told, except if the runtime has changed the pod meanwhile: then the pod is news
 * again.
 */
void gs_nri_pods_told(struct gs_nri_pods *p, enum gs_nri_news news, const char *text)
{
	struct pod *pod, *after;
	const char *rest;

	pthread_mutex_lock(&p->lock);
	p->late = false;
	if (news == GS_NRI_COMPARE)
		p->compare = false;
	HASH_ITER(hh, p->all, pod, after) {
		if (news == GS_NRI_SET && !pod->gone && !strcmp(pod->args, text))
			pod->told = true;
		else if (news == GS_NRI_CLEAR && pod->gone && !strcmp(pod->uid, text))
			drop(p, pod);
	}
	if (next(p, &rest) == GS_NRI_NOTHING)
		pthread_cond_broadcast(&p->told);
	pthread_mutex_unlock(&p->lock);
}

bool gs_nri_pods_has(struct gs_nri_pods *p, const char *uid)
{
	const struct pod *pod;
	bool has;

	pthread_mutex_lock(&p->lock);
	pod = find(p, uid);
	has = pod && !pod->gone;
	pthread_mutex_unlock(&p->lock);
	return has;
}

void gs_nri_pods_daemon(struct gs_nri_pods *p, int64_t pid)
{
	pthread_mutex_lock(&p->lock);
	if (pid && pid != p->daemon) {
		p->compare = true;
		for (struct pod *pod = p->all; pod; pod = pod->hh.next)
			pod->told = false;
	}
	p->daemon = pid;
	pthread_mutex_unlock(&p->lock);
}

static struct timespec in_ms(unsigned int ms)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	t.tv_nsec += (long)(ms % 1000) * 1000000;
	t.tv_sec += ms / 1000 + t.tv_nsec / 1000000000;
	t.tv_nsec %= 1000000000;
	return t;
}

void gs_nri_pods_wait_news(struct gs_nri_pods *p, unsigned int ms)
{
	struct timespec until = in_ms(ms);
	const char *text;

	pthread_mutex_lock(&p->lock);
	if (!p->daemon || next(p, &text) == GS_NRI_NOTHING)
		pthread_cond_timedwait(&p->news, &p->lock, &until);
	pthread_mutex_unlock(&p->lock);
}

void gs_nri_pods_wait_told(struct gs_nri_pods *p, unsigned int ms)
{
	struct timespec until = in_ms(ms);
	const char *rest;

	pthread_mutex_lock(&p->lock);
	while (p->daemon && !p->late && next(p, &rest) != GS_NRI_NOTHING)
		p->late = pthread_cond_timedwait(&p->told, &p->lock, &until) != 0;
	pthread_mutex_unlock(&p->lock);
}
