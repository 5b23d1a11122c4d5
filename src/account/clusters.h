/* SPDX-License-Identifier: MIT */
/*
 * clusters.h - finds lengths of time that lie close together, and the TSGs that made them
 *
 * Pure. The mean of lengths with several causes says nothing, so this finds the densest windows.
 */
#ifndef GPUSCHED_ACCOUNT_CLUSTERS_H
#define GPUSCHED_ACCOUNT_CLUSTERS_H

#include <stdbool.h>
#include <stdint.h>

/* Lengths in one window count as equal: the saves of an H200 spread by 16 us. */
#define GS_WINDOW_NS 40000u
#define GS_SAMPLE_MAX 128u
#define GS_CLUSTERS_MAX 6u
#define GS_MAKERS_MAX 4u /* makers kept for a cluster: enough to tell clusters apart */

struct gs_length {
	uint64_t ns, id; /* a length, and the TSG that made it (0: none) */
};

struct gs_cluster {
	uint64_t low, mid, high;
	unsigned int n;
	uint64_t maker[GS_MAKERS_MAX]; /* TSGs with several of these lengths; 0: none */
};

/* Sorted lengths, and their clusters, the largest first. */
struct gs_sample {
	struct gs_length lengths[GS_SAMPLE_MAX];
	struct gs_cluster clusters[GS_CLUSTERS_MAX];
	unsigned int n, nclusters;
};
/* Sorts @n lengths (GS_SAMPLE_MAX at most) and finds their clusters. */
void gs_clusters_sample(const struct gs_length *lengths, unsigned int n, struct gs_sample *ret);

/* Returns a TSG that is a maker of both clusters; 0: none. */
uint64_t gs_clusters_share(const struct gs_cluster *a, const struct gs_cluster *b);
/* True if at least two TSGs are makers of both clusters. */
bool gs_clusters_share_two(const struct gs_cluster *a, const struct gs_cluster *b);

#endif /* GPUSCHED_ACCOUNT_CLUSTERS_H */
