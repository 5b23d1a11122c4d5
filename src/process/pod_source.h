/* SPDX-License-Identifier: MIT */
/*
 * pod_source.h - a source of pods' names: private to the room
 *
 * Each source has a file of its own, and reads entries of a folder into its book. pod_names.c
 * watches the folders for all of them.
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
 * Stores the names in @n: for the container n->id, or if that is empty, for the pod n->uid. @from:
 * the entry that has the names. Returns -EINVAL for names that Kubernetes does not allow, -EEXIST
 * if another entry has other names, or -ENOSPC.
 */
int gs_pod_learn(struct gs_pod_book *b, const char *from, const struct gs_pod_names *n);
/* Forgets what came from entry @from; NULL: everything. */
void gs_pod_forget(struct gs_pod_book *b, const char *from);
/* True if the book has an entry for that pod's uid, or container's id. */
bool gs_pod_is_known(const struct gs_pod_book *b, const char *key);
/* Adds names that *inout does not have yet. */
void gs_pod_find(const struct gs_pod_book *b, struct gs_pod_names *inout);

struct gs_pod_source {
	const char *name;
	/* The folder that the source reads; NULL or "": the source is not used. */
	const char *(*probe)(const struct gs_pod_places *p);
	/*
	 * Reads one entry of that folder anew. 0: its names are stored; otherwise it is not
	 * believed.
	 */
	int (*read)(struct gs_pod_book *b, const char *folder, const char *entry);
	/* Entries are containers' ids, and each is read when its container is asked for. */
	bool when_asked;
	/* Adds names to *inout: from the path, and from names that it has already. */
	void (*look_up)(const struct gs_pod_book *b, const char *cgroup,
			struct gs_pod_names *inout);
};
extern const struct gs_pod_source gs_pod_by_cgroup;     /* in pod_cgroup.c: ids from the path */
extern const struct gs_pod_source gs_pod_by_logs;       /* in pod_logs.c */
extern const struct gs_pod_source gs_pod_by_containers; /* in pod_logs.c */
extern const struct gs_pod_source gs_pod_by_fractions;  /* in pod_fractions.c */
extern const struct gs_pod_source gs_pod_by_claims;     /* in pod_claims.c */
extern const struct gs_pod_source gs_pod_by_bundles;    /* in pod_bundles.c */

/* gs_pod_find(), for sources that know only what is in their book. */
void gs_pod_by_book(const struct gs_pod_book *b, const char *cgroup, struct gs_pod_names *inout);
/*
 * Reads a file that only root can write, as JSON. -EBADMSG: not JSON, or torn; -EFBIG, -EPERM;
 * -errno.
 */
int gs_pod_json(const char *folder, const char *entry, size_t max, json_t **ret);
/* Copies the text at @key if it is a string and fits; else "". */
void gs_pod_text(const json_t *o, const char *key, char *ret, size_t size);

#endif /* GPUSCHED_PROCESS_POD_SOURCE_H */
