// SPDX-License-Identifier: MIT
/* nodes.c - what the engine remembers of each TSG */
#include <stdlib.h>

#include "engine/internal.h"

struct gs_node *gs_node_find(struct gs_engine *e, const struct gpusched_key *key)
{
	struct gs_node *n = NULL;

	HASH_FIND(hh, e->nodes, key, sizeof(*key), n);
	return n;
}

void gs_node_free(struct gs_engine *e, struct gs_node *n)
{
	gs_runlist_leave(e, n);
	HASH_DELETE(hh, e->nodes, n);
	free(n);
}

/* The owner's own later call changed the hardware; `is` no longer says what it holds. */
static void follow_asked(struct gs_node *n, const struct gpusched_tsg *rec)
{
	const struct gpusched_settings *asked = &rec->task.asked;

	for (unsigned int i = 0; i < GS_NFIELDS; i++) {
		uint32_t bit = GS_BIT(i);

		if (!(asked->valid & bit))
			continue;
		if (!(n->seen_asked.valid & bit) ||
		    gs_field_get(&n->seen_asked, bit) != gs_field_get(asked, bit))
			n->owner_set |= bit & rec->task.is.valid;
	}
	n->seen_asked = *asked;
}

/* What the process that ended could not be told the one that has its file now can. */
static void follow_owner(struct gs_node *n, const struct gpusched_tsg *rec)
{
	if (n->pid == rec->task.pid && n->owner_start_ns == rec->owner_start_ns)
		return;
	n->pid = rec->task.pid;
	n->owner_start_ns = rec->owner_start_ns;
	n->gave_up = 0;
	n->fails = 0;
}

struct gs_node *gs_node_of(struct gs_engine *e, const struct gpusched_tsg *rec)
{
	struct gs_node *n = gs_node_find(e, &rec->key);

	/* The same handles again: another TSG. A busy node is told apart when its job is done. */
	if (n && n->id != rec->task.id && !n->busy) {
		gs_node_free(e, n);
		n = NULL;
	}
	if (!n) {
		n = calloc(1, sizeof(*n));
		if (!n)
			return NULL;
		n->key = rec->key;
		n->id = rec->task.id;
		n->gpu = rec->task.gpu;
		n->seen_asked = rec->task.asked;
		/* Left by another engine; what happened since was not seen. */
		n->unsure = rec->changed;
		HASH_ADD(hh, e->nodes, key, sizeof(n->key), n);
	}
	follow_asked(n, rec);
	follow_owner(n, rec);
	return n;
}
