/* SPDX-License-Identifier: MIT */
/*
 * target.h - parses targets such as "class:be,gpu:0", and matches TSGs against them
 *
 * A target says on which TSGs a verb acts: "all", or a list of parts that must all hold.
 */
#ifndef GPUSCHED_REQUESTS_TARGET_H
#define GPUSCHED_REQUESTS_TARGET_H

#include "basic/error.h"
#include "classify/classify.h"
#include "gpusched/abi.h"
#include "rm/rm.h"

/* The forms of a target, as help shows them. */
#define GS_TARGETS \
	"pid:N, tid:N, tsg:N, uid:N, user:NAME, comm:NAME, cgroup:PATH, class:NAME, " \
	"gpu:SELECTOR, namespace:NAME, pod:NAMESPACE/NAME, " \
	"several of them with a comma between (all must hold), or all"

/* Their prefixes, for one line. */
#define GS_TARGET_KINDS "pid|tid|tsg|uid|user|comm|cgroup|class|gpu|namespace|pod"

/* The same forms, as completions offer them. */
#define GS_TARGET_WORDS \
	"pid:", "tid:", "tsg:", "uid:", "user:", "comm:", "cgroup:", "class:", "gpu:", \
		"namespace:", "pod:", "all"

enum gs_target_kind {
	GS_TARGET_ALL,
	GS_TARGET_PID,
	GS_TARGET_TID, /* the thread that made the TSG */
	GS_TARGET_TSG,
	GS_TARGET_UID,
	GS_TARGET_COMM,
	GS_TARGET_CGROUP,
	GS_TARGET_CLASS,
	GS_TARGET_GPU,
	GS_TARGET_NAMESPACE,
	GS_TARGET_POD,
	GS_TARGET_SEVERAL, /* parts of several kinds, or several of one kind */
};

struct gs_target_part {
	enum gs_target_kind kind;
	uint64_t number; /* pid, tid, TSG id, uid, class id or GPU index */
	/* a GPU's MIG partition: value and mask of a TSG's engine field; 0: the whole GPU */
	uint16_t engine, of_engine;
	/* pattern of a comm; a cgroup's path, as "/a/b"; a namespace; a pod, as "NS/NAME" */
	char text[256];
};

#define GS_TARGET_PARTS 4
struct gs_target {
	struct gs_target_part part[GS_TARGET_PARTS];
	size_t n;        /* 0: all TSGs */
	char whole[300]; /* as written, for messages */
};

/* Reads the names of users while nobody can delay that; for a daemon's start. */
void gs_target_begin(void);
/*
 * Parses a target, and looks up its names in @classes and @gpus. Returns -EINVAL if @text is not a
 * target or names an unknown class. Returns -ENOENT if there is no such GPU, cgroup or user.
 */
int gs_target_parse(const char *text, const struct gs_classes *classes, const struct gs_gpu *gpus,
		    size_t ngpus, struct gs_target *ret, struct gs_error *err);
/*
 * True if @rec matches. The caller has filled in the record's GPU and class. @tid: the thread that
 * made the TSG; 0: unknown.
 */
bool gs_target_match(const struct gs_target *t, const struct gpusched_tsg *rec, uint32_t tid);

/* Fails if @v, the value of a part "gpu:", is the UUID of a MIG partition. */
int gs_target_refuse_mig(const char *v, struct gs_error *err);

static inline enum gs_target_kind gs_target_kind(const struct gs_target *t)
{
	return !t->n ? GS_TARGET_ALL : t->n == 1 ? t->part[0].kind : GS_TARGET_SEVERAL;
}
static inline bool gs_target_has(const struct gs_target *t, enum gs_target_kind kind)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->part[i].kind == kind)
			return true;
	return false;
}
/*
 * True if the target names a single process, thread or TSG. A request that may not act on that one
 * is then refused; with other targets, it skips TSGs of other users.
 */
static inline bool gs_target_narrow(const struct gs_target *t)
{
	return gs_target_has(t, GS_TARGET_PID) || gs_target_has(t, GS_TARGET_TID) ||
	       gs_target_has(t, GS_TARGET_TSG);
}

#endif /* GPUSCHED_REQUESTS_TARGET_H */
