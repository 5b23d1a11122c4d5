/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * launch.bpf.h - defines the records of contexts and processes that are kept to count launches
 */
#ifndef GPUSCHED_LAUNCH_LAUNCH_BPF_H
#define GPUSCHED_LAUNCH_LAUNCH_BPF_H

#include "table/thread.h"

#define GS_MAX_CONTEXTS 32768
#define GS_MAX_LAUNCHERS 8192
#define GS_MAX_LAUNCH_LIBS 256
#define GS_MAX_TOLD 512 /* processes that count their launches themselves */
/* launches_since_ns of a TSG with a count that is not exact any more. */
#define GS_LAUNCHES_NEVER (~0ull)

struct gs_ctx_key {
	gs_u64 ctx;
	gs_u32 tgid;
	gs_u32 pad;
};

/* A process with launches in an unknown context. */
struct gs_launcher {
	gs_u64 unattributed; /* launches that count for no TSG */
	gs_u64 since_ns;
	/* gpusched_cfg.next_id at the last search for TSGs: if it differs, there may be new TSGs */
	gs_u64 next_id;
	gs_u32 tsgs;            /* number of the process's TSGs at that search */
	gs_u32 ncompute;        /* number of its compute TSGs */
	struct gs_tsg_ref sole; /* the only compute TSG, if @ncompute is 1 */
};

/*
 * Cookie of a probe: the library's number, and the kind of call (@what). For the BPF program
 * "launch", the kind is an enum gpusched_work_kind. For the programs "context" and "made", it is
 * one of the two enums below: what the call does to the thread's contexts.
 */
#define GS_COOKIE(lib, what) ((gs_u64)(lib) << 8 | (what))
enum gs_cookie_context { GS_CTX_MAKE, GS_CTX_SET, GS_CTX_PUSH, GS_CTX_POP, GS_CTX_DESTROY };
enum gs_cookie_made {
	GS_MADE_ONLY,
	GS_MADE_PUSHES, /* the new context also becomes the thread's current one */
};

/*
 * A value in gs_told: the process's agent counts its launches now. Other values are the time at
 * which the agent stopped counting.
 */
#define GS_TOLD_NOW (~0ull)

/* Argument of the program launch_told. */
struct gs_launch_told {
	gs_u32 tgid;
};

/* Argument of the program launch_real. */
struct gs_launch_real {
	gs_u64 at; /* in: an address in a mapping of the caller */
	gs_u64 ino;
	gs_u32 dev; /* as the kernel has it: major << 20 | minor */
	gs_s32 ret;
};

/* The counting programs of src/launch/launch.bpf.c, in the order in which they are attached. */
enum gs_launch_prog {
	GS_LAUNCH_MADE,
	GS_LAUNCH_CONTEXT,
	GS_LAUNCH_WAITED,
	GS_LAUNCH_WAIT,
	GS_LAUNCH_LAUNCH,
	GS_LAUNCH_PROGS
};

/*
 * Values in gs_launch_libs: launches are not counted; or the probes are being attached. Any other
 * value is the time when all probes of the library were in place.
 */
#define GS_LAUNCH_LIB_OFF 0ull
#define GS_LAUNCH_LIB_BEGINS 1ull

/*
 * Launches per second, smoothed: each launch adds 1/T, and the sum decays with e^(-t/T). T is 2^30
 * ns, so that the common case needs no division.
 */
#define GS_RATE_BITS 30
#define GS_RATE_STEP_MHZ 931ull /* 10^12 / 2^30 */
#define GS_RATE_SHORT_NS (1ull << (GS_RATE_BITS - 3))
#define GS_RATE_LONG_NS (1ull << (GS_RATE_BITS + 3))

static inline __attribute__((always_inline)) gs_u64 gs_rate_decayed(gs_u64 rate, gs_u64 ns)
{
	gs_u64 d, x, y, keep;

	if (ns < GS_RATE_SHORT_NS) {
		d = rate * ns >> GS_RATE_BITS;
		return rate - d + (d * ns >> (GS_RATE_BITS + 1));
	}
	if (ns >= GS_RATE_LONG_NS)
		return 0;
	/* e^-x = (e^-(x/8))^8, with 16 binary places */
	x = ns >> (GS_RATE_BITS + 3 - 16);
	y = 65536 + x + (x * x >> 17) + ((x * x >> 16) * x >> 16) / 6;
	keep = (1ull << 32) / y;
	keep = keep * keep >> 16;
	keep = keep * keep >> 16;
	keep = keep * keep >> 16;
	return rate * keep >> 16;
}

#endif /* GPUSCHED_LAUNCH_LAUNCH_BPF_H */
