/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * pstate.h - defines the data that a policy's glue shares with user space; private to src/policy
 */
#ifndef GPUSCHED_POLICY_PSTATE_H
#define GPUSCHED_POLICY_PSTATE_H

#include "gpusched/policy_types.h"

#define GS_KICK_USERS 64

/* The one value of map gs_pstate. */
struct gs_pstate {
	gs_u32 failed; /* gpusched_fail() was called: no callback runs any more */
	/* Set by user space: no callback runs any more, and a round ends at the next TSG. */
	gs_u32 stopped;
	gs_s32 fail_code;
	gs_u32 claimed;    /* set by the first gpusched_fail(), which fills fail_code, fail_text */
	gs_u64 is_virtual; /* sim host: the time is virtual_now, not the kernel's */
	gs_u64 virtual_now;
	/* CLOCK_REALTIME minus CLOCK_MONOTONIC, when user space last ran the policy */
	gs_u64 wall_offset_ns;
	gs_u64 random_state; /* sim host: state of a seeded generator; 0: use the kernel's */
	gs_u64 log_seq;      /* lines written so far */
	gs_u64 walks_refused;
	gs_u64 activity; /* counts callbacks for TSGs, except those of the tick and of launches */
	/*
	 * Launches without a work_submit callback, since the memory for it was in use. The
	 * launches are counted nevertheless.
	 */
	gs_u64 work_missed;
	gs_u64 kicks;         /* rounds that gpusched_kick() has caused */
	gs_u64 kicks_refused; /* calls of gpusched_kick() past its limits */
	/* Refused calls by user. Index: uid modulo size. @uid: the last user counted there. */
	struct {
		gs_u32 uid, times;
	} kicks_refused_of[GS_KICK_USERS];
	struct gpusched_text fail_text;
};

/* Ring of the policy's last log lines: map gs_plog. */
#define GS_PLOG_LINES 64
struct gs_plog {
	gs_u64 seq; /* number of the line, from 1; written last */
	gs_u64 value;
	struct gpusched_text text;
};

/* gpusched_count() calls allowed per callback, and per round of the tick. */
#define GS_WALKS_PER_CALL 32

/*
 * With up to GS_TICK_KEYS TSGs the tick goes through a list of their keys, which is faster than a
 * walk of the table. Even then it walks the whole table every GS_TICK_WALK_NS.
 */
#define GS_TICK_KEYS 1024
#define GS_TICK_WALK_NS 10000000000ull

/*
 * Set in a record's mark, in addition to a policy's generation number, while the record is prepared
 * for that policy. No generation number has this bit.
 */
#define GS_GENERATION_CLAIM (1u << 31)

/* Argument of TASK_INIT: skip TSGs that this policy has seen. */
#define GS_INIT_ONCE 1

/* Argument of WORK_SUBMIT: number of launches, and their kind (enum gpusched_work_kind). */
#define GS_WORK_ARG(count, kind) ((gs_u64)(kind) << 32 | (gs_u32)(count))

/*
 * Argument of REQUEST_BEGIN and REQUEST_END: the source (enum gpusched_request_from), and the pause
 * in us that ends a request.
 */
#define GS_REQUEST_ARG(from, quiet_us) ((gs_u64)(from) << 32 | (gs_u32)(quiet_us))

#endif /* GPUSCHED_POLICY_PSTATE_H */
