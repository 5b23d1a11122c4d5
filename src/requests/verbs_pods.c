// SPDX-License-Identifier: MIT
/* verbs_pods.c - handles pod_set, pod_clear and pod_list, by which a runtime reports its pods */
#include <errno.h>
#include <string.h>

#include "basic/cleanup.h"
#include "classify/words.h"
#include "hub/json.h"
#include "intake/rescan.h"
#include "process/cgroup.h"
#include "process/pod_names.h"
#include "requests/requests.h"
#include "requests/verb.h"
#include "requests/verbs_pods.h"

static bool copy(const char *text, char *ret, size_t size)
{
	if (!text || strlen(text) >= size)
		return false;
	strcpy(ret, text);
	return true;
}

/* Reads a pod's names, and its words such as "class=be". -EINVAL: a name is missing or too long. */
static int read_pod(struct gs_request *rq, struct gs_pod_words *ret)
{
	const json_t *word;
	size_t i;

	if (!copy(gs_arg_text(rq, "uid"), ret->who.uid, sizeof(ret->who.uid)) ||
	    !copy(gs_arg_text(rq, "namespace"), ret->who.namespace, sizeof(ret->who.namespace)) ||
	    !copy(gs_arg_text(rq, "pod"), ret->who.pod, sizeof(ret->who.pod)))
		return -EINVAL;
	json_array_foreach(json_object_get(rq->args, "words"), i, word)
		gs_words_read(ret, json_string_value(word));
	return 0;
}

/* Stores a pod's words, and classifies the pod's existing processes again. */
int gs_verb_pod_set(struct gs_request *rq)
{
	struct gs_classes *c = rq->rs->hub->classes;
	struct gs_pod_words w = { .weight = 0 };
	struct gs_words_given g;
	int r = read_pod(rq, &w);

	if (!r)
		r = gs_words_put(c, &w);
	if (r == -EINVAL)
		return gs_fail(rq->err, r,
			       "uid, namespace and pod: not all of them are such as "
			       "Kubernetes gives");
	if (r < 0) {
		gs_count(rq->rs->hub, GS_SVC_POD_WORDS_LEFT);
		return gs_fail(rq->err, r, "pod %s cannot be noted: %s", w.who.pod, strerror(-r));
	}
	gs_words_judge(c, &w, GPUSCHED_CLASS_BE, &g);
	json_object_set_new(rq->answer, "left", *g.left ? gs_json_text(g.left) : json_null());
	if (!r)
		return 0;
	if (*g.left)
		gs_count(rq->rs->hub, GS_SVC_POD_WORDS_LEFT);
	gs_rescan_all(rq->rs->intake);
	return 0;
}

int gs_verb_pod_clear(struct gs_request *rq)
{
	if (!gs_words_drop(rq->rs->hub->classes, gs_arg_text(rq, "uid")))
		return gs_fail(rq->err, -ENOENT, "nobody told of such a pod");
	gs_rescan_all(rq->rs->intake);
	return 0;
}

static json_t *number(uint32_t n)
{
	return n ? json_integer(n) : json_null();
}

/* "left": the words that have no effect, assuming that no rule gives the pod a higher class. */
static json_t *pod_json(const struct gs_classes *c, const struct gs_pod_words *w)
{
	struct gs_words_given g;

	gs_words_judge(c, w, GPUSCHED_CLASS_BE, &g);
	return json_pack("{s:s, s:s, s:s, s:s?, s:o, s:o, s:o, s:o}", "uid", w->who.uid,
			 "namespace", w->who.namespace, "pod", w->who.pod, "class",
			 *w->class_name ? w->class_name : NULL, "weight", number(w->weight),
			 "limit_pct", number(w->limit_pct), "request_pct", number(w->request_pct),
			 "left", *g.left ? gs_json_text(g.left) : json_null());
}

int gs_verb_pod_list(struct gs_request *rq)
{
	const struct gs_classes *c = rq->rs->hub->classes;
	const struct gs_pod_words *w = NULL;
	json_t *list = json_array();

	json_object_set_new(rq->answer, "pods", list);
	while ((w = gs_words_next(c, w)))
		json_array_append_new(list, pod_json(c, w));
	return 0;
}

void gs_pods_add_unread(json_t *steps, pid_t pid)
{
	char cgroup[GS_CGROUP_PATH_LEN], text[640];
	struct gs_pod_unread one;
	struct gs_pod_names pod;

	if (gs_cgroup_path(pid, cgroup) || !gs_pod_names(cgroup, &pod))
		return;
	for (size_t i = 0; gs_pods_unread(&pod, i, &one); i++) {
		snprintf(text, sizeof(text), "%s is not read: %s", one.path, one.why);
		json_array_append_new(steps, gs_json_text(text));
	}
}
