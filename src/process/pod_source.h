/* SPDX-License-Identifier: MIT */
/*
 * pod_source.h - a source of pods' names: private to the room
 *
 * Each has a file of its own. It reads entries of folders into its book; watching these and looking
 * again are the same for all of them, in pod_names.c.
 */
#ifndef GPUSCHED_PROCESS_POD_SOURCE_H
#define GPUSCHED_PROCESS_POD_SOURCE_H

#include <jansson.h>

#include "process/pod_names.h"

/* The names that a source knows, by the pod's uid and by the container's id. */
struct gs_pod_entry;
struct gs_pod_book {
	struct gs_pod_entry *all;
};
/*
 * Learns what @n says of the container n->id, or else of the pod n->uid; @from: the entry that says
 * so. -EINVAL: no names as Kubernetes allows them; -EEXIST: another entry says otherwise; -ENOSPC.
 */
int gs_pod_learn(struct gs_pod_book *b, const char *from, const struct gs_pod_names *n);
/* Forgets what @from has said; NULL: all. */
void gs_pod_forget(struct gs_pod_book *b, const char *from);
/* Fills in what *inout does not have. */
void gs_pod_find(const struct gs_pod_book *b, struct gs_pod_names *inout);

struct gs_pod_source {
	const char *name;
	/* The folder that it reads; NULL or "": it is not asked. */
	const char *(*probe)(const struct gs_pod_places *p);
	/* Reads one entry of that folder anew. 0: what it says is known; else it is not believed. */
	int (*read)(struct gs_pod_book *b, const char *folder, const char *entry);
	/* From the path, and from what is known so far. */
	void (*look_up)(const struct gs_pod_book *b, const char *cgroup,
			struct gs_pod_names *inout);
};
extern const struct gs_pod_source gs_pod_by_cgroup;     /* ids, from the path: pod_cgroup.c */
extern const struct gs_pod_source gs_pod_by_logs;       /* pod_logs.c */
extern const struct gs_pod_source gs_pod_by_containers; /* pod_logs.c */
extern const struct gs_pod_source gs_pod_by_fractions;  /* pod_fractions.c */
extern const struct gs_pod_source gs_pod_by_claims;     /* pod_claims.c */

/* gs_pod_find(), for sources that know no more than their book. */
void gs_pod_by_book(const struct gs_pod_book *b, const char *cgroup, struct gs_pod_names *inout);
/* A file that root alone writes, as JSON. -EBADMSG: it is none, or torn; -EFBIG, -EPERM; -errno. */
int gs_pod_json(const char *folder, const char *entry, size_t max, json_t **ret);
/* The text at @key, if it is one and fits; else "". */
void gs_pod_text(const json_t *o, const char *key, char *ret, size_t size);

#endif /* GPUSCHED_PROCESS_POD_SOURCE_H */
