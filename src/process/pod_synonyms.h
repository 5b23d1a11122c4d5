/* SPDX-License-Identifier: MIT */
/*
 * pod_synonyms.h - translates other programs' settings of pods into gpusched's settings
 *
 * DRA, KAI, Run:ai and HAMi have annotations, variables and claims ("words") that say how a pod
 * shares a GPU. One table maps each word to a class, weight, limit, request or timeslice. We chose
 * the numbers ourselves; docs/kubernetes.md has the same table. Pure.
 */
#ifndef GPUSCHED_PROCESS_POD_SYNONYMS_H
#define GPUSCHED_PROCESS_POD_SYNONYMS_H

#include <stdbool.h>
#include <stdint.h>

/* The place where a word was found. */
enum gs_pod_where {
	GS_IN_ANNOTATION,  /* the pod's annotations */
	GS_IN_ENVIRONMENT, /* the container's environment */
	GS_IN_CLAIM,       /* the configuration in a DRA claim */
};

/* The settings that a pod asks for by these words; "" or 0: not asked for. */
struct gs_pod_asks {
	char class_name[8];
	uint32_t weight, slice_us;
	uint16_t limit_pct, request_pct;
	bool slice_by_admin; /* @slice_us comes from the device class, not from the pod's claim */
};

/*
 * Reads a word into @inout. Returns 1 if it set something; 0 if @name is no known word, or @value
 * asks for nothing; -EINVAL if @value is invalid for the word. If several words ask for the same
 * setting, the highest value counts, and for slices the shortest.
 */
int gs_pod_synonym(enum gs_pod_where where, const char *name, const char *value,
		   struct gs_pod_asks *inout);
/* True if the pod asks for anything. */
bool gs_pod_asks_any(const struct gs_pod_asks *a);
/* Copies to @inout the settings of @from that @inout does not ask for yet. */
void gs_pod_asks_add(struct gs_pod_asks *inout, const struct gs_pod_asks *from);

#endif /* GPUSCHED_PROCESS_POD_SYNONYMS_H */
