/* SPDX-License-Identifier: MIT */
/*
 * pod_synonyms.h - other programs' words for a pod's class, weight, limit, request and timeslice
 *
 * DRA, KAI, Run:ai and HAMi have words for how a pod shares a GPU. One table says what each of them
 * is here. The numbers are our choice (docs/kubernetes.md has the same table). Pure.
 */
#ifndef GPUSCHED_PROCESS_POD_SYNONYMS_H
#define GPUSCHED_PROCESS_POD_SYNONYMS_H

#include <stdbool.h>
#include <stdint.h>

/* Where a word stands. */
enum gs_pod_where {
	GS_IN_ANNOTATION,  /* of the pod */
	GS_IN_ENVIRONMENT, /* of the container */
	GS_IN_CLAIM,       /* configuration of a DRA claim */
};

/* All that a pod asks for in such words. "" or 0: it does not ask. */
struct gs_pod_asks {
	char class_name[8];
	uint32_t weight, slice_us;
	uint16_t limit_pct, request_pct;
	bool slice_by_admin; /* the claim's device class sets the slice, and not the pod */
};

/*
 * Reads a word into @inout. 1: read; 0: it is no such word, or asks for nothing; -EINVAL: the value
 * is none that the word can have. If a word comes several times, the most counts, and the shortest
 * slice.
 */
int gs_pod_synonym(enum gs_pod_where where, const char *name, const char *value,
		   struct gs_pod_asks *inout);
/* True if the pod asks for anything. */
bool gs_pod_asks_any(const struct gs_pod_asks *a);
/* Adds to @inout what it does not ask for yet. */
void gs_pod_asks_add(struct gs_pod_asks *inout, const struct gs_pod_asks *from);

#endif /* GPUSCHED_PROCESS_POD_SYNONYMS_H */
