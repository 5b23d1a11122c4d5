/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * pstate.h - what a policy's glue and the host in user space share, private to src/policy
 */
#ifndef GPUSCHED_POLICY_PSTATE_H
#define GPUSCHED_POLICY_PSTATE_H

#include "gpusched/policy_types.h"

#define GS_KICK_USERS 64

/* The one value of map gs_pstate. */
struct gs_pstate {
	gs_u32 failed;  /* gpusched_fail() was called: no callback any more */
	gs_u32 stopped; /* set by user space: no callback any more, a round ends at the next TSG */
	gs_s32 fail_code;
	gs_u32 claimed;    /* first claimant of fail_code and fail_text */
	gs_u64 is_virtual; /* sim host: the time is virtual_now, not the kernel's */
	gs_u64 virtual_now;
	gs_u64 wall_offset_ns; /* CLOCK_REALTIME less CLOCK_MONOTONIC, at user space's last call */
	gs_u64 random_state;   /* sim host: seeded generator; 0: the kernel's */
	gs_u64 log_seq;        /* lines written so far */
	gs_u64 walks_refused;
	gs_u64 activity;      /* changes with every TSG that a callback saw outside of the tick */
	gs_u64 work_missed;   /* launches that found the probes' memory in use; counted all the same
			     */
	gs_u64 kicks;         /* rounds that gpusched_kick() has asked for */
	gs_u64 kicks_refused; /* past its limits */
	/* the same of users' TSGs, by uid modulo their number: which was the last, and how many */
	struct {
		gs_u32 uid, times;
	} kicks_refused_of[GS_KICK_USERS];
	struct gpusched_text fail_text;
};

/* Ring of the policy's last log lines: map gs_plog. */
#define GS_PLOG_LINES 64
struct gs_plog {
	gs_u64 seq; /* line's number, from 1; written last */
	gs_u64 value;
	struct gpusched_text text;
};

/* gpusched_count() calls per callback, and per round of the tick. */
#define GS_WALKS_PER_CALL 32

/* TSGs that the tick finds without a walk of the table; and how often it walks all the same. */
#define GS_TICK_KEYS 1024
#define GS_TICK_WALK_NS 10000000000ull

/* In a record's mark: the policy of this generation is about to see it. No generation has it. */
#define GS_GENERATION_CLAIM (1u << 31)

/* TASK_INIT's arg: skip TSGs that this policy has seen. */
#define GS_INIT_ONCE 1

/* WORK_SUBMIT's arg: how many launches, of what kind (enum gpusched_work_kind). */
#define GS_WORK_ARG(count, kind) ((gs_u64)(kind) << 32 | (gs_u32)(count))

/*
 * REQUEST_BEGIN's and -END's arg: its source (enum gpusched_request_from), and how long a rest is.
 */
#define GS_REQUEST_ARG(from, quiet_us) ((gs_u64)(from) << 32 | (gs_u32)(quiet_us))

#endif /* GPUSCHED_POLICY_PSTATE_H */
