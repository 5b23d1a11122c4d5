/* SPDX-License-Identifier: MIT */
/*
 * pod_source.h - declares what a source of pods' names implements; private to src/process
 *
 * A source reads the entries of a folder into its book. pod_names.c watches the folders of all
 * sources.
 */
#ifndef GPUSCHED_PROCESS_POD_SOURCE_H
#define GPUSCHED_PROCESS_POD_SOURCE_H

#include <jansson.h>

#include "process/pod_names.h"

/* The names that a source has read, by the pod's uid or the container's id. */
struct gs_pod_entry;
struct gs_pod_book {
	struct gs_pod_entry *all;
};
/*
 * Stores the names in @n for the container n->id, or if that is empty, for the pod n->uid. @from:
 * the folder's entry with the names. -EINVAL: Kubernetes does not allow such names; -EEXIST: an
 * earlier entry has other names for the same id; -ENOSPC.
 */
int gs_pod_learn(struct gs_pod_book *b, const char *from, const struct gs_pod_names *n);
/* Drops the names that came from entry @from; NULL: drops all. */
void gs_pod_forget(struct gs_pod_book *b, const char *from);
/* True if the book has names for @key, a pod's uid or a container's id. */
bool gs_pod_is_known(const struct gs_pod_book *b, const char *key);
/* Looks up inout->id and inout->uid, and adds the names that *inout does not have yet. */
void gs_pod_find(const struct gs_pod_book *b, struct gs_pod_names *inout);

struct gs_pod_source {
	const char *name;
	/* returns the folder that the source reads; NULL or "": the source is not used */
	const char *(*probe)(const struct gs_pod_places *p);
	/* reads one entry of that folder, again if need be; 0: valid, else -errno */
	int (*read)(struct gs_pod_book *b, const char *folder, const char *entry);
	/* entries are named by containers' ids, and are read only when needed, not in advance */
	bool when_asked;
	/* adds names to *inout, found by the cgroup's path or by the ids already in *inout */
	void (*look_up)(const struct gs_pod_book *b, const char *cgroup,
			struct gs_pod_names *inout);
};
extern const struct gs_pod_source gs_pod_by_cgroup;     /* in pod_cgroup.c: ids from the path */
extern const struct gs_pod_source gs_pod_by_logs;       /* in pod_logs.c */
extern const struct gs_pod_source gs_pod_by_containers; /* in pod_logs.c */
extern const struct gs_pod_source gs_pod_by_fractions;  /* in pod_fractions.c */
extern const struct gs_pod_source gs_pod_by_claims;     /* in pod_claims.c */
/* in pod_bundles.c; the last three are used unless the configuration names a folder */
extern const struct gs_pod_source gs_pod_by_bundles;
extern const struct gs_pod_source gs_pod_by_bundles_k3s;
extern const struct gs_pod_source gs_pod_by_bundles_microk8s;
extern const struct gs_pod_source gs_pod_by_bundles_k0s;

/* A look_up for sources that only need their book: calls gs_pod_find(). */
void gs_pod_by_book(const struct gs_pod_book *b, const char *cgroup, struct gs_pod_names *inout);
/*
 * Reads a JSON file of at most @max bytes. All its numbers are reals. -EBADMSG: not JSON, or torn;
 * -EFBIG: too large; -EPERM: users other than root can write it; other -errno.
 */
int gs_pod_json(const char *folder, const char *entry, size_t max, json_t **ret);
/* Entries that were not read. More than GS_POD_UNREAD_MAX are only counted. */
#define GS_POD_UNREAD_MAX 64
struct gs_pod_unreads {
	struct gs_pod_unread one[GS_POD_UNREAD_MAX];
	size_t n;
};
/* Notes what reading an entry gave, 0 or -errno. True: it was not read, and this is new. */
bool gs_pod_unread_set(struct gs_pod_unreads *u, const char *folder, const char *entry, int code);
/* The folder is read anew: an entry that is not read then either is not new. */
void gs_pod_unread_forget(struct gs_pod_unreads *u, const char *folder);
const char *gs_pod_unread_why(int code);
/* True if the entry would have had names or settings of the container or pod @n. */
bool gs_pod_unread_concerns(const struct gs_pod_unread *one, const struct gs_pod_names *n);
/* The entry with the claims of all pods. */
#define GS_POD_CHECKPOINT "checkpoint.json"

/* True if only root (or our user) can write the folder, so that its names can be trusted. */
bool gs_pod_folder_trusted(int fd);
/* Copies the value of @key; "" if it is not a string, or too long. */
void gs_pod_text(const json_t *o, const char *key, char *ret, size_t size);

#endif /* GPUSCHED_PROCESS_POD_SOURCE_H */
