// SPDX-License-Identifier: MIT
/* words_book.c - keeps the pods that the runtime has reported, by uid */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "classify/priv.h"
#include "classify/words.h"

static struct gs_pod_words *find(const struct gs_classes *c, const char *uid)
{
	struct gs_pod_words *w = NULL;

	if (*uid)
		HASH_FIND_STR(c->words, uid, w);
	return w;
}

static bool asks_for_part(const struct gs_pod_words *w)
{
	return w->limit_pct || w->request_pct;
}

static bool is_same(const struct gs_pod_words *a, const struct gs_pod_words *b)
{
	return !strcmp(a->who.namespace, b->who.namespace) && !strcmp(a->who.pod, b->who.pod) &&
	       !strcmp(a->class_name, b->class_name) && a->weight == b->weight &&
	       a->limit_pct == b->limit_pct && a->request_pct == b->request_pct &&
	       !strcmp(a->unread, b->unread);
}

int gs_words_put(struct gs_classes *c, const struct gs_pod_words *w)
{
	struct gs_pod_words *at = find(c, w->who.uid), *made;

	if (!*w->who.uid || !*w->who.namespace || !*w->who.pod || !gs_pod_names_valid(&w->who))
		return -EINVAL;
	if (at && is_same(at, w))
		return 0;
	if (!at && HASH_COUNT(c->words) >= GS_WORDS_PODS)
		return -ENOSPC;
	made = malloc(sizeof(*made));
	if (!made)
		return -ENOMEM;
	*made = *w;
	gs_words_drop(c, w->who.uid);
	HASH_ADD_STR(c->words, who.uid, made);
	c->nparts += asks_for_part(made);
	return 1;
}

bool gs_words_drop(struct gs_classes *c, const char *uid)
{
	struct gs_pod_words *w = find(c, uid);

	if (!w)
		return false;
	c->nparts -= asks_for_part(w);
	HASH_DEL(c->words, w);
	free(w);
	return true;
}

void gs_words_move(struct gs_classes *to, struct gs_classes *from)
{
	to->words = from->words;
	to->nparts = from->nparts;
	from->words = NULL;
	from->nparts = 0;
}

void gs_words_free(struct gs_classes *c)
{
	struct gs_pod_words *w, *next;

	HASH_ITER(hh, c->words, w, next) {
		HASH_DEL(c->words, w);
		free(w);
	}
	for (size_t i = 0; i < c->nceilings; i++)
		free(c->ceilings[i].namespace);
	c->nceilings = 0;
}

const struct gs_pod_words *gs_words_of(const struct gs_classes *c, const char *uid)
{
	return find(c, uid);
}

const struct gs_pod_words *gs_words_next(const struct gs_classes *c, const struct gs_pod_words *w)
{
	return w ? w->hh.next : c->words;
}
