/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * policy_types.h - records between a policy and its host
 *
 * Policies get this through gpusched/policy.bpf.h; hosts and tools that read policy objects
 * include it alone. Part of the policy ABI, version GPUSCHED_ABI_VERSION.
 */
#ifndef GPUSCHED_POLICY_TYPES_H
#define GPUSCHED_POLICY_TYPES_H

#include "gpusched/abi.h"

/* What work_submit() is told of a launch. */
enum gpusched_work_kind {
	GPUSCHED_WORK_UNKNOWN = 0,
	GPUSCHED_WORK_KERNEL = 1,
	GPUSCHED_WORK_GRAPH = 2, /* a graph counts as one */
	GPUSCHED_WORK_COPY = 3,
};

struct gpusched_work {
	gs_u64 now_ns;
	gs_u32 count; /* launches since the last call for this TSG, at least 1 */
	gs_u32 kind;  /* enum gpusched_work_kind */
};
_Static_assert(sizeof(struct gpusched_work) == 16, "gpusched_work");

/* One round of the tick: the same for tick_begin(), each tick() and tick_end(). */
struct gpusched_round {
	gs_u64 now_ns; /* one time for the whole round */
	gs_u64 seq;    /* 1 for a policy's first round */
	gs_u32 pass;   /* 0 .. passes - 1 */
	gs_u32 passes; /* what tick_begin() asked for */
	gs_u32 period_us;
	gs_u32 pad;
};
_Static_assert(sizeof(struct gpusched_round) == 32, "gpusched_round");

#define GPUSCHED_MAX_PASSES 4

/* Longest rest that tick_end() may ask for, ms. */
#define GPUSCHED_REST_MAX_MS 30000

/* What schedule() returns. */
#define GPUSCHED_ADMIT 0
#define GPUSCHED_HOLD 1 /* it waits; nothing fails */
#define GPUSCHED_DENY 2 /* an error for the program; needs GPUSCHED_F_DENY */

/* Why exit() is called. */
enum gpusched_exit_reason {
	GPUSCHED_EXIT_NONE = 0,
	GPUSCHED_EXIT_STOPPED = 1,
	GPUSCHED_EXIT_SWITCHED = 2,
	GPUSCHED_EXIT_VERIFIER = 3,
	GPUSCHED_EXIT_REFUSED = 4,
	GPUSCHED_EXIT_ERROR = 5,
	GPUSCHED_EXIT_STALLED = 6,
};

#define GPUSCHED_TEXT_LEN 64
struct gpusched_text {
	char s[GPUSCHED_TEXT_LEN] __attribute__((aligned(8)));
};

/* Which TSGs gpusched_count() counts; a field's bit in @match makes it count. */
#define GPUSCHED_MATCH_GPU (1u << 0)
#define GPUSCHED_MATCH_ENGINE (1u << 1)
#define GPUSCHED_MATCH_KIND (1u << 2)
#define GPUSCHED_MATCH_CLASS (1u << 3)
#define GPUSCHED_MATCH_CGROUP (1u << 4)
#define GPUSCHED_MATCH_PID (1u << 5)

struct gpusched_filter {
	gs_u32 match; /* GPUSCHED_MATCH_* */
	gs_u32 gpu;
	gs_u16 kind;
	gs_u16 engine;
	gs_u32 class_id;
	gs_u64 cgroup_id;
	gs_u32 pid;
	gs_u32 pad;
};
_Static_assert(sizeof(struct gpusched_filter) == 32, "gpusched_filter");

/* Flags of GPUSCHED_POLICY(). */
#define GPUSCHED_F_DENY (1u << 0) /* schedule() may return GPUSCHED_DENY */
#define GPUSCHED_F_ASSUMED \
	(1u << 1)                 /* may change settings that are only assumed (adopted TSGs) \
				   */
#define GPUSCHED_F_WORK (1u << 2) /* wants launches counted: turns the launch probes on */
#define GPUSCHED_F_ALL 0x7u

/* Limits of GPUSCHED_POLICY(), refused by name when exceeded. */
#define GPUSCHED_TICK_MIN_US 1000u
#define GPUSCHED_TICK_MAX_US 10000000u
#define GPUSCHED_TIMEOUT_MIN_MS 10u
#define GPUSCHED_TIMEOUT_MAX_MS 30000u

#define GPUSCHED_POLICY_NAME_LEN 32
#define GPUSCHED_ABOUT_LEN 68 /* in section "gpusched.about" */
#define GPUSCHED_DESC_MAGIC 0x6c6f7047u
/* In section "gpusched" of a policy's object, one per policy. */
struct gpusched_policy_desc {
	gs_u32 magic;
	gs_u32 abi;
	gs_u32 tick_us;    /* 0: no tick */
	gs_u32 timeout_ms; /* longest that one round of the tick may take */
	gs_u32 flags;      /* GPUSCHED_F_* */
	gs_u32 pad;
	char name[GPUSCHED_POLICY_NAME_LEN];
};
_Static_assert(sizeof(struct gpusched_policy_desc) == 56, "gpusched_policy_desc");

/* In section "gpusched.opts", one per option. */
struct gpusched_option_desc {
	char name[32];
	char type[16];
	char help[120];
	gs_u32 size;
	gs_u32 is_signed;
	gs_u64 def;
	gs_u64 min, max; /* as gs_u64, or gs_s64 where signed; both 0: the type's range */
};
_Static_assert(sizeof(struct gpusched_option_desc) == 200, "gpusched_option_desc");

#endif /* GPUSCHED_POLICY_TYPES_H */
