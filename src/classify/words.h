/* SPDX-License-Identifier: MIT */
/*
 * words.h - keeps what pods ask for, and decides how much of that they get
 *
 * Words are settings such as class=be. The container runtime reports a pod and the words in its
 * annotations before it starts a container (gpusched-nri). Words for other programs, such as HAMi,
 * come from files (process/pod_synonyms.h), and count where the annotations say nothing. A pod's
 * maker chooses both, so they are judged like a user's own settings: they may lower what the rules
 * give. To get more, a pod needs a ceiling, which the administrator sets for its namespace. If the
 * runtime reported a pod and no rule matches it, its class is be. Call these functions only from
 * the event loop's thread.
 */
#ifndef GPUSCHED_CLASSIFY_WORDS_H
#define GPUSCHED_CLASSIFY_WORDS_H

#include <uthash.h>

#include "classify/classify.h"
#include "process/pod_names.h"

#define GS_WORDS_PODS 4096 /* per node; the kubelet allows some hundred pods */

struct gs_pod_words {
	UT_hash_handle hh;
	struct gs_pod_names who; /* uid, namespace and pod are known */
	/* "" or 0: not asked for */
	char class_name[GPUSCHED_CLASS_NAME_LEN];
	uint32_t weight;
	uint16_t limit_pct, request_pct;
	char unread[64]; /* the first word that could not be read; "": none */
	/* only in what gs_words_add() returns */
	uint32_t slice_us;
	bool slice_by_admin;
	bool class_of_container; /* the class comes from the container's environment */
	bool parts_of_container; /* so do limit and request: they are that container's alone */
};

/* Reads "class=NAME", "weight=N", "limit=PERCENT" or "request=PERCENT" into @w. */
void gs_words_read(struct gs_pod_words *w, const char *word);
/*
 * Keeps a copy of @w. 0: nothing new; 1: the pod is new, or asks for something else; -EINVAL:
 * Kubernetes allows no such name; -ENOSPC; -ENOMEM.
 */
int gs_words_put(struct gs_classes *c, const struct gs_pod_words *w);
/* Returns false if there is no such pod. */
bool gs_words_drop(struct gs_classes *c, const char *uid);
/* Moves all pods to the classes of a new configuration, which have none yet. */
void gs_words_move(struct gs_classes *to, struct gs_classes *from);
void gs_words_free(struct gs_classes *c);
/* NULL: no such pod was reported. */
const struct gs_pod_words *gs_words_of(const struct gs_classes *c, const char *uid);
/* Returns the pod after @w, or the first one if @w is NULL; NULL at the end. */
const struct gs_pod_words *gs_words_next(const struct gs_classes *c, const struct gs_pod_words *w);

/*
 * Collects all that the container @pod asks for, in the annotations that the runtime reported and
 * in files. Returns false if it asks for nothing, and its pod was not reported.
 */
bool gs_words_add(const struct gs_classes *c, const struct gs_pod_names *pod,
		  struct gs_pod_words *ret);

/*
 * PodCeiling= of the configuration: "NAMESPACE CLASS [weight=N] [request=PERCENT]
 * [timeslice=TIME]".
 */
int gs_words_add_ceiling(struct gs_classes *c, const char *line, struct gs_error *err);

/*
 * From now on no pod gets the slice that its claim asks for, until a reload makes new classes.
 * @after: what happened, a text that outlives @c.
 */
void gs_words_no_slices(struct gs_classes *c, const char *after);

struct gs_words_given {
	uint32_t class_id;
	uint32_t weight;                 /* 0: that of the class */
	uint16_t limit_pct, request_pct; /* 0: none of its own */
	uint32_t slice_us;               /* 0: no claim asks for one */
	char left[128];                  /* words that were not accepted, and why; "": all were */
};
/*
 * Decides what the pod gets. @from: the class by rules, or GPUSCHED_CLASS_BE if no rule matched.
 * Pure.
 */
void gs_words_judge(const struct gs_classes *c, const struct gs_pod_words *w, uint32_t from,
		    struct gs_words_given *ret);
/*
 * Finds limit, request and slice for processes of class @class_id in the container @pod. Returns a
 * number that all processes of the pod or container with this limit or request share; 0: there is
 * neither.
 */
uint64_t gs_words_part(const struct gs_classes *c, const struct gs_pod_names *pod,
		       uint32_t class_id, struct gs_words_given *ret);

#endif /* GPUSCHED_CLASSIFY_WORDS_H */
