/* SPDX-License-Identifier: MIT */
/*
 * words.h - what pods ask for, and how much of that they get
 *
 * The container runtime tells of a pod and its annotations before it starts a container
 * (gpusched-nri). Other programs' words come from files (process/pod_synonyms.h), and count where
 * the annotations say nothing. The maker of a pod chooses both, so they are judged as a user's own
 * words are: they may lower what the rules give. More than that needs a ceiling, which the
 * administrator sets by namespace. A pod that the runtime has told of, and for which no rule holds,
 * is of class be. For the loop's thread.
 */
#ifndef GPUSCHED_CLASSIFY_WORDS_H
#define GPUSCHED_CLASSIFY_WORDS_H

#include <uthash.h>

#include "classify/classify.h"
#include "process/pod_names.h"

#define GS_WORDS_PODS 4096 /* on a node; the kubelet allows some hundred */

struct gs_pod_words {
	UT_hash_handle hh;
	struct gs_pod_names who; /* uid, namespace and pod are known */
	/* "" or 0: the pod does not ask for it */
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
 * Keeps a copy of @w. 0: nothing new; 1: it is new or says something else; -EINVAL: Kubernetes
 * allows no such name; -ENOSPC; -ENOMEM.
 */
int gs_words_put(struct gs_classes *c, const struct gs_pod_words *w);
/* Returns false if there is no such pod. */
bool gs_words_drop(struct gs_classes *c, const char *uid);
/* For another configuration's classes: @to has none yet. */
void gs_words_move(struct gs_classes *to, struct gs_classes *from);
void gs_words_free(struct gs_classes *c);
/* NULL: nobody told of that pod. */
const struct gs_pod_words *gs_words_of(const struct gs_classes *c, const char *uid);
/* All of them, one by one; NULL: the first; returns NULL at the end. */
const struct gs_pod_words *gs_words_next(const struct gs_classes *c, const struct gs_pod_words *w);

/*
 * Adds up all that the container @pod asks for: what was told of its pod, and what files say.
 * Returns false if it asks for nothing, and nobody told of its pod.
 */
bool gs_words_add(const struct gs_classes *c, const struct gs_pod_names *pod,
		  struct gs_pod_words *ret);

/*
 * PodCeiling= of the configuration: "NAMESPACE CLASS [weight=N] [request=PERCENT]
 * [timeslice=TIME]".
 */
int gs_words_add_ceiling(struct gs_classes *c, const char *line, struct gs_error *err);

struct gs_words_given {
	uint32_t class_id;
	uint32_t weight;                 /* 0: that of the class */
	uint16_t limit_pct, request_pct; /* 0: none of its own */
	uint32_t slice_us;               /* 0: none by a claim */
	char left[128];                  /* words that do not count, and why; "": all do */
};
/* @from: the class by rules, GPUSCHED_CLASS_BE without one. Pure. */
void gs_words_judge(const struct gs_classes *c, const struct gs_pod_words *w, uint32_t from,
		    struct gs_words_given *ret);
/*
 * Limit, request and slice that processes of class @class_id have in the container @pod. Returns a
 * number that all with the same limit or request have in common, a pod's or a container's
 * processes; 0: it has neither.
 */
uint64_t gs_words_part(const struct gs_classes *c, const struct gs_pod_names *pod,
		       uint32_t class_id, struct gs_words_given *ret);

#endif /* GPUSCHED_CLASSIFY_WORDS_H */
