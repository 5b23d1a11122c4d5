// SPDX-License-Identifier: MIT
#include "nri/teller.h"

#include <errno.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/log.h"
#include "basic/json_sheet.h"
#include "gpusched/gpusched.h"
#include "nri/pods.h"

#define AGAIN_MS 1000 /* how often we check whether a daemon runs, or has restarted */

struct teller {
	struct gs_nri_pods *pods;
	struct gpusched *g; /* NULL: no daemon answers */
	bool missed;        /* the log says that no daemon answers */
};

static bool is_lost(int r)
{
	return r == -ECONNREFUSED || r == -ETIMEDOUT || r == -ENOENT || r == -EPIPE || r == -EIO;
}

static void lose(struct teller *t, int r)
{
	if (!t->missed)
		gs_log(LOG_WARNING, "the daemon does not answer (%s): it is asked each second",
		       t->g && *gpusched_error(t->g) ? gpusched_error(t->g) : strerror(-r));
	t->missed = true;
	gpusched_close(t->g);
	t->g = NULL;
	gs_nri_pods_daemon(t->pods, 0);
}

static int ask(struct teller *t, const char *verb, const char *args, json_t **ret)
{
	CLEANUP_FREE char *text = NULL;
	int r = gpusched_request(t->g, verb, args, &text);

	*ret = r ? NULL : json_loads(text, 0, NULL);
	return r ? r : *ret ? 0 : -EIO;
}

/* Finds out the daemon's pid, which shows a restart: a new daemon knows none of our pods. */
static bool meet(struct teller *t)
{
	CLEANUP_JSON json_t *o = NULL;
	int r = t->g ? 0 : gpusched_open(NULL, &t->g);

	if (!r)
		r = ask(t, "ping", NULL, &o);
	if (r) {
		lose(t, r);
		return false;
	}
	if (t->missed)
		gs_log(LOG_NOTICE, "the daemon answers");
	t->missed = false;
	gs_nri_pods_daemon(t->pods, json_integer_value(json_object_get(o, "pid")));
	return true;
}

static int set(struct teller *t, const char *args)
{
	CLEANUP_JSON json_t *o = NULL;
	CLEANUP_JSON json_t *pod = json_loads(args, 0, NULL);
	const char *left;
	int r = ask(t, "pod_set", args, &o);

	if (r)
		return r;
	left = json_string_value(json_object_get(o, "left"));
	if (left)
		gs_log(LOG_NOTICE, "pod %s/%s: left out: %s",
		       json_string_value(json_object_get(pod, "namespace")),
		       json_string_value(json_object_get(pod, "pod")), left);
	return 0;
}

static int clear(struct teller *t, const char *uid)
{
	CLEANUP_JSON json_t *args = json_pack("{s:s}", "uid", uid);
	CLEANUP_FREE char *text = args ? json_dumps(args, JSON_COMPACT) : NULL;
	CLEANUP_JSON json_t *o = NULL;
	int r = text ? ask(t, "pod_clear", text, &o) : -ENOMEM;

	return r == -ENOENT ? 0 : r; /* the daemon does not know the pod */
}

/* Makes the daemon forget pods that have ended without a report. */
static int compare(struct teller *t)
{
	CLEANUP_JSON json_t *o = NULL;
	const json_t *pod;
	size_t i;
	int r = ask(t, "pod_list", NULL, &o);

	json_array_foreach(json_object_get(o, "pods"), i, pod) {
		const char *uid = json_string_value(json_object_get(pod, "uid"));

		if (!r && uid && !gs_nri_pods_has(t->pods, uid))
			r = clear(t, uid);
	}
	return r;
}

static int tell(struct teller *t, enum gs_nri_news news, const char *text)
{
	switch (news) {
	case GS_NRI_SET:
		return set(t, text);
	case GS_NRI_CLEAR:
		return clear(t, text);
	case GS_NRI_COMPARE:
		return compare(t);
	case GS_NRI_NOTHING:
		break;
	}
	return 0;
}

/* Reports all news to the daemon. If the daemon refuses a pod, that pod is not reported again. */
static void tell_all(struct teller *t)
{
	for (;;) {
		CLEANUP_FREE char *text = NULL;
		enum gs_nri_news news = gs_nri_pods_news(t->pods, &text);
		int r;

		if (news == GS_NRI_NOTHING)
			return;
		r = tell(t, news, text);
		if (is_lost(r)) {
			lose(t, r);
			return;
		}
		if (r)
			gs_log(LOG_WARNING, "the daemon does not take it: %s: %s", text,
			       gpusched_error(t->g));
		gs_nri_pods_told(t->pods, news, text);
	}
}

void *gs_nri_teller(void *pods)
{
	struct teller t = { .pods = pods };

	for (;;) {
		if (meet(&t))
			tell_all(&t);
		gs_nri_pods_wait_news(t.pods, AGAIN_MS);
	}
	return NULL;
}
