// SPDX-License-Identifier: MIT
#include "process/pod_synonyms.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/parse.h"

#define WHOLE 100 /* weight, and percent, of a whole GPU */

/* ---- values ---------------------------------------------------------------------------------- */

/* Converts a fraction of a GPU to percent, rounded up. 0: not a number above 0 and up to @max. */
static uint32_t percent_of(const char *value, double max)
{
	double part;
	uint32_t pct;

	if (gs_parse_double(value, 0, max, &part, NULL) || !(part > 0))
		return 0;
	pct = (uint32_t)(part * WHOLE + 0.999999);
	return pct ? pct : 1;
}

static int take_most(uint16_t *inout, uint32_t pct)
{
	if (!pct)
		return -EINVAL;
	if (*inout < pct)
		*inout = (uint16_t)pct;
	return 1;
}

static int read_request(const char *value, struct gs_pod_asks *a)
{
	return take_most(&a->request_pct, percent_of(value, 1));
}

static int read_limit(const char *value, struct gs_pod_asks *a)
{
	return take_most(&a->limit_pct, percent_of(value, 1));
}

/* Reads a fraction as a weight. A value above 1 means several whole GPUs, and gives no weight. */
static int read_weight(const char *value, struct gs_pod_asks *a)
{
	uint32_t weight = percent_of(value, 1024);

	if (!weight)
		return -EINVAL;
	if (weight > WHOLE)
		return 0;
	if (a->weight < weight)
		a->weight = weight;
	return 1;
}

static int read_cores(const char *value, struct gs_pod_asks *a)
{
	uint64_t pct;

	if (gs_parse_u64(value, 0, WHOLE, &pct, NULL))
		return -EINVAL;
	return pct ? take_most(&a->limit_pct, (uint32_t)pct) : 0;
}

static int read_priority(const char *value, struct gs_pod_asks *a)
{
	uint64_t priority;

	if (gs_parse_u64(value, 0, UINT32_MAX, &priority, NULL))
		return -EINVAL;
	strcpy(a->class_name, priority ? "be" : "lc");
	return 1;
}

static int read_interval(const char *value, struct gs_pod_asks *a)
{
	static const struct {
		const char *word;
		uint32_t us;
	} intervals[] = {
		{ "Default", 0 }, { "Short", 1000 }, { "Medium", 2000 }, { "Long", 8000 }
	};

	for (size_t i = 0; i < GS_COUNT(intervals); i++) {
		if (strcmp(value, intervals[i].word) != 0)
			continue;
		if (intervals[i].us && (!a->slice_us || intervals[i].us < a->slice_us))
			a->slice_us = intervals[i].us;
		return intervals[i].us != 0;
	}
	return -EINVAL;
}

/* ---- words ----------------------------------------------------------------------------------- */

static const struct {
	enum gs_pod_where where;
	const char *name; /* of the annotation or variable; a glob pattern if it contains '*' */
	int (*read)(const char *value, struct gs_pod_asks *a);
} synonyms[] = {
	/* NVIDIA's DRA driver */
	{ GS_IN_CLAIM, "interval", read_interval },
	/* KAI, and Run:ai's scheduler */
	{ GS_IN_ANNOTATION, "gpu-fraction", read_weight },
	{ GS_IN_ANNOTATION, "nvidia.com/container.*.gpu-compute.request", read_request },
	{ GS_IN_ANNOTATION, "nvidia.com/container.*.gpu-compute.portion", read_request },
	{ GS_IN_ENVIRONMENT, "GPU_PORTION", read_weight },
	{ GS_IN_ENVIRONMENT, "RUNAI_GPU_COMPUTE_REQUEST", read_request },
	{ GS_IN_ENVIRONMENT, "RUNAI_GPU_COMPUTE_LIMIT", read_limit },
	/* HAMi passes nvidia.com/gpucores and nvidia.com/priority to containers by these */
	{ GS_IN_ENVIRONMENT, "CUDA_DEVICE_SM_LIMIT", read_cores },
	{ GS_IN_ENVIRONMENT, "CUDA_TASK_PRIORITY", read_priority },
};

static bool is_word(const char *pattern, const char *name)
{
	return strchr(pattern, '*') ? !fnmatch(pattern, name, 0) : !strcmp(pattern, name);
}

int gs_pod_synonym(enum gs_pod_where where, const char *name, const char *value,
		   struct gs_pod_asks *inout)
{
	for (size_t i = 0; i < GS_COUNT(synonyms); i++)
		if (synonyms[i].where == where && is_word(synonyms[i].name, name))
			return synonyms[i].read(value, inout);
	return 0;
}

bool gs_pod_asks_any(const struct gs_pod_asks *a)
{
	return *a->class_name || a->weight || a->slice_us || a->limit_pct || a->request_pct;
}

void gs_pod_asks_add(struct gs_pod_asks *inout, const struct gs_pod_asks *from)
{
	if (!*inout->class_name)
		memcpy(inout->class_name, from->class_name, sizeof(inout->class_name));
	if (!inout->weight)
		inout->weight = from->weight;
	if (!inout->limit_pct)
		inout->limit_pct = from->limit_pct;
	if (!inout->request_pct)
		inout->request_pct = from->request_pct;
	if (!inout->slice_us) {
		inout->slice_us = from->slice_us;
		inout->slice_by_admin = from->slice_by_admin;
	}
}
