// SPDX-License-Identifier: MIT
#include "account/clusters.h"

#include <stdlib.h>
#include <string.h>

#define FEW 8u   /* a cluster has at least this many lengths */
#define MAKES 3u /* a TSG with this many of the lengths is a maker */

static int by_length(const void *a, const void *b)
{
	const struct gs_length *x = a, *y = b;

	return (x->ns > y->ns) - (x->ns < y->ns);
}

static bool is_among(const uint64_t *ids, unsigned int n, uint64_t id)
{
	for (unsigned int i = 0; i < n; i++)
		if (ids[i] == id)
			return true;
	return false;
}

static void find_makers(const struct gs_length *lengths, unsigned int n, struct gs_cluster *ret)
{
	unsigned int found = 0;

	for (unsigned int i = 0; i < n && found < GS_MAKERS_MAX; i++) {
		unsigned int same = 0;

		if (!lengths[i].id || is_among(ret->maker, found, lengths[i].id))
			continue;
		for (unsigned int k = i; k < n; k++)
			same += lengths[k].id == lengths[i].id;
		if (same >= MAKES)
			ret->maker[found++] = lengths[i].id;
	}
}

/*
 * Finds the densest window in @n sorted lengths. Returns the number of lengths in it; *ret_at: the
 * index of the first.
 */
static unsigned int densest(const struct gs_length *lengths, unsigned int n, unsigned int *ret_at)
{
	unsigned int best = 0;

	for (unsigned int from = 0, to = 0; from < n; from++) {
		while (to < n && lengths[to].ns - lengths[from].ns <= GS_WINDOW_NS)
			to++;
		if (to - from > best) {
			best = to - from;
			*ret_at = from;
		}
	}
	return best;
}

void gs_clusters_sample(const struct gs_length *lengths, unsigned int n, struct gs_sample *ret)
{
	struct gs_length rest[GS_SAMPLE_MAX];
	unsigned int at = 0, in;

	ret->n = n;
	ret->nclusters = 0;
	memcpy(ret->lengths, lengths, n * sizeof(*lengths));
	qsort(ret->lengths, n, sizeof(*lengths), by_length);
	memcpy(rest, ret->lengths, n * sizeof(*rest));
	while (ret->nclusters < GS_CLUSTERS_MAX && (in = densest(rest, n, &at)) >= FEW) {
		struct gs_cluster *c = &ret->clusters[ret->nclusters++];

		*c = (struct gs_cluster){ .low = rest[at].ns,
					  .mid = rest[at + in / 2].ns,
					  .high = rest[at + in - 1].ns,
					  .n = in };
		find_makers(rest + at, in, c);
		memmove(rest + at, rest + at + in, (n - at - in) * sizeof(*rest));
		n -= in;
	}
}

uint64_t gs_clusters_share(const struct gs_cluster *a, const struct gs_cluster *b)
{
	for (unsigned int i = 0; i < GS_MAKERS_MAX && a->maker[i]; i++)
		if (is_among(b->maker, GS_MAKERS_MAX, a->maker[i]))
			return a->maker[i];
	return 0;
}

bool gs_clusters_share_two(const struct gs_cluster *a, const struct gs_cluster *b)
{
	unsigned int shared = 0;

	for (unsigned int i = 0; i < GS_MAKERS_MAX && a->maker[i]; i++)
		shared += is_among(b->maker, GS_MAKERS_MAX, a->maker[i]);
	return shared >= 2;
}
