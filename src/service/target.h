/* SPDX-License-Identifier: MIT */
/*
 * target.h - which TSGs a verb means: pid:N tsg:N comm:NAME cgroup:PATH class:NAME gpu:SELECTOR all
 */
#ifndef GPUSCHED_SERVICE_TARGET_H
#define GPUSCHED_SERVICE_TARGET_H

#include "basic/error.h"
#include "classify/classify.h"
#include "gpusched/abi.h"
#include "rm/rm.h"

/* What a target is, for people. */
#define GS_TARGETS "pid:N, tsg:N, comm:NAME, cgroup:PATH, class:NAME, gpu:SELECTOR or all"

enum gs_target_kind {
	GS_TARGET_ALL,
	GS_TARGET_PID,
	GS_TARGET_TSG,
	GS_TARGET_COMM,
	GS_TARGET_CGROUP,
	GS_TARGET_CLASS,
	GS_TARGET_GPU,
};

struct gs_target {
	enum gs_target_kind kind;
	uint64_t number; /* pid, TSG id, class id, GPU index */
	char text[256]; /* comm pattern; cgroup's path below the root, without a slash at the end */
	char whole[300]; /* as written, for messages */
};

/* @classes, @gpus: to look names up. -EINVAL: not a target; -ENOENT: no such class, GPU, cgroup. */
int gs_target_parse(const char *text, const struct gs_classes *classes, const struct gs_gpu *gpus,
		    size_t ngpus, struct gs_target *ret, struct gs_error *err);
/* @rec has GPU and class filled in. */
bool gs_target_match(const struct gs_target *t, const struct gpusched_tsg *rec);
/* One process or TSG was named: refusing is better than leaving it out. */
static inline bool gs_target_narrow(const struct gs_target *t)
{
	return t->kind == GS_TARGET_PID || t->kind == GS_TARGET_TSG;
}

#endif /* GPUSCHED_SERVICE_TARGET_H */
