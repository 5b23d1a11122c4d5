// SPDX-License-Identifier: MIT
/* pod_book.c - stores the names that a source has read, and helps sources read files */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "basic/cleanup.h"
#include "basic/file.h"
#include "process/pod_source.h"

#define ENTRIES_MAX 16384 /* a node has some hundred pods */

struct gs_pod_entry {
	UT_hash_handle hh;
	char key[GS_CONTAINER_LEN]; /* uid of a pod, or id of a container */
	char *from;                 /* name of the file or folder that had these names */
	struct gs_pod_names is;
};

/*
 * True for names that Kubernetes allows: small letters and digits, with '-' and '.' only between
 * them. "" is allowed too.
 */
static bool is_name(const char *text)
{
	for (const char *c = text; *c; c++)
		if (!((*c >= 'a' && *c <= 'z') || (*c >= '0' && *c <= '9') ||
		      (c > text && c[1] && (*c == '-' || *c == '.'))))
			return false;
	return true;
}

static bool is_key(const char *text)
{
	return *text && text[strspn(text, "0123456789abcdef-")] == '\0';
}

bool gs_pod_names_valid(const struct gs_pod_names *n)
{
	return is_key(*n->id ? n->id : n->uid) && (!*n->uid || is_key(n->uid)) &&
	       is_name(n->namespace) && !strchr(n->namespace, '.') && is_name(n->pod) &&
	       is_name(n->container) && !strchr(n->container, '.');
}

static bool is_same(const struct gs_pod_names *a, const struct gs_pod_names *b)
{
	return !strcmp(a->uid, b->uid) && !strcmp(a->namespace, b->namespace) &&
	       !strcmp(a->pod, b->pod) && !strcmp(a->container, b->container);
}

static void drop(struct gs_pod_book *b, struct gs_pod_entry *e)
{
	HASH_DEL(b->all, e);
	free(e->from);
	free(e);
}

int gs_pod_learn(struct gs_pod_book *b, const char *from, const struct gs_pod_names *n)
{
	const char *key = *n->id ? n->id : n->uid;
	struct gs_pod_entry *e = NULL;

	if (!gs_pod_names_valid(n))
		return -EINVAL;
	HASH_FIND_STR(b->all, key, e);
	if (e && strcmp(e->from, from) != 0)
		return is_same(&e->is, n) ? 0 : -EEXIST;
	if (e) {
		e->is = *n;
		return 0;
	}
	if (HASH_COUNT(b->all) >= ENTRIES_MAX)
		return -ENOSPC;
	e = calloc(1, sizeof(*e));
	if (!e)
		return -ENOMEM;
	e->from = strdup(from);
	if (!e->from) {
		free(e);
		return -ENOMEM;
	}
	snprintf(e->key, sizeof(e->key), "%s", key);
	e->is = *n;
	HASH_ADD_STR(b->all, key, e);
	return 0;
}

void gs_pod_forget(struct gs_pod_book *b, const char *from)
{
	struct gs_pod_entry *e, *next;

	HASH_ITER(hh, b->all, e, next)
		if (!from || !strcmp(e->from, from))
			drop(b, e);
}

bool gs_pod_is_known(const struct gs_pod_book *b, const char *key)
{
	const struct gs_pod_entry *e = NULL;

	HASH_FIND_STR(b->all, key, e);
	return e != NULL;
}

static void fill(char *to, size_t size, const char *from)
{
	if (!*to)
		snprintf(to, size, "%s", from);
}

static void find(const struct gs_pod_book *b, const char *key, struct gs_pod_names *inout)
{
	struct gs_pod_entry *e = NULL;

	HASH_FIND_STR(b->all, key, e);
	/* ignores an entry that contradicts the pod's uid in the cgroup's path */
	if (!e || (*inout->uid && *e->is.uid && strcmp(inout->uid, e->is.uid)))
		return;
	fill(inout->uid, sizeof(inout->uid), e->is.uid);
	fill(inout->namespace, sizeof(inout->namespace), e->is.namespace);
	fill(inout->pod, sizeof(inout->pod), e->is.pod);
	fill(inout->container, sizeof(inout->container), e->is.container);
	fill(inout->sharing, sizeof(inout->sharing), e->is.sharing);
	gs_pod_asks_add(&inout->asks, &e->is.asks);
}

void gs_pod_find(const struct gs_pod_book *b, struct gs_pod_names *inout)
{
	if (*inout->id)
		find(b, inout->id, inout);
	if (*inout->uid)
		find(b, inout->uid, inout);
}

void gs_pod_by_book(const struct gs_pod_book *b, const char *cgroup, struct gs_pod_names *inout)
{
	gs_pod_find(b, inout);
}

int gs_pod_json(const char *folder, const char *entry, size_t max, json_t **ret)
{
	CLEANUP_FREE unsigned char *data = NULL;
	char path[PATH_MAX];
	size_t len;
	int r;

	if ((size_t)snprintf(path, sizeof(path), "%s/%s", folder, entry) >= sizeof(path))
		return -ENAMETOOLONG;
	r = gs_file_read_own(path, max, &data, &len, NULL);
	if (r)
		return r;
	/* as reals: a limit of a bundle may be 2^64 - 1 */
	*ret = json_loadb((const char *)data, len, JSON_REJECT_DUPLICATES | JSON_DECODE_INT_AS_REAL,
			  NULL);
	return *ret ? 0 : -EBADMSG;
}

void gs_pod_text(const json_t *o, const char *key, char *ret, size_t size)
{
	const char *text = json_string_value(json_object_get(o, key));

	snprintf(ret, size, "%s", text && strlen(text) < size ? text : "");
}
