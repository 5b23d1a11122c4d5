// SPDX-License-Identifier: MIT
/*
 * Adds up records before they are written. A process may have hundreds of TSGs, and each has a
 * record of its own.
 */
#include <stdlib.h>

#include "history/priv.h"

static uint64_t minute_of(const struct item *it)
{
	return (it->at_s - 1) / MINUTE_S;
}

/* Takes @other. */
static void add(struct item *it, struct item *other)
{
	uint64_t began = it->at_s - it->span_s, other_began = other->at_s - other->span_s;

	gs_history_sums_add(&it->sums, &other->sums);
	it->at_s = other->at_s > it->at_s ? other->at_s : it->at_s;
	it->at_ms = other->at_ms > it->at_ms ? other->at_ms : it->at_ms;
	it->span_s = it->at_s - (other_began < began ? other_began : began);
	free(other);
}

struct item **items_merge(struct item **first)
{
	struct item *open = NULL, **at = first;

	while (*at) {
		struct item *it = *at, *same = NULL;

		if (it->kind != ITEM_SUMS) { /* what follows comes after it in the file too */
			HASH_CLEAR(hh, open);
			at = &it->next;
			continue;
		}
		HASH_FIND(hh, open, &it->who, sizeof(it->who), same);
		if (same && minute_of(same) == minute_of(it)) {
			*at = it->next;
			add(same, it);
			continue;
		}
		if (same)
			HASH_DELETE(hh, open, same);
		HASH_ADD(hh, open, who, sizeof(it->who), it);
		at = &it->next;
	}
	HASH_CLEAR(hh, open);
	return at;
}
