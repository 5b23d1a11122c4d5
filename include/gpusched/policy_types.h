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

/* A launch, for work_submit(). */
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

/* The source of a request's begin or end. */
enum gpusched_request_from {
	GPUSCHED_REQUEST_HINT = 1,  /* the program: gpusched_hint_coming(), gpusched_hint_done() */
	GPUSCHED_REQUEST_AGENT = 2, /* its agent: a launch after a rest, a rest after launches */
	GPUSCHED_REQUEST_COUNT = 3, /* launches that were counted */
};

/* A request, for request_begin() and request_end(). */
struct gpusched_request {
	gs_u64 now_ns;
	gs_u32 from; /* enum gpusched_request_from */
	/* A rest of this length ends this TSG's requests; 0: unknown, or no rest does. */
	gs_u32 quiet_us;
};
_Static_assert(sizeof(struct gpusched_request) == 16, "gpusched_request");

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

/* Results of schedule(). */
#define GPUSCHED_ADMIT 0
#define GPUSCHED_HOLD 1 /* the TSG waits; nothing fails */
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

/*
 * Selects the TSGs that gpusched_count() counts. A field is compared if its bit is set in @match.
 */
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

/* A TSG's limit on GPU time; from gpusched_limit(). */
struct gpusched_limit {
	gs_u64 group; /* all TSGs with this number share the limit, on each GPU */
	gs_u32 pct;   /* percent of a GPU, even while no other TSG wants it */
	gs_u32 pad;
};
_Static_assert(sizeof(struct gpusched_limit) == 16, "gpusched_limit");

/* The request= of a TSG, where its GPU has room for it; from gpusched_promise(). */
struct gpusched_promise {
	gs_u64 group; /* as gpusched_limit.group */
	gs_u32 pct;   /* of a GPU, at least, while the group has work */
	gs_u32 pad;
};
_Static_assert(sizeof(struct gpusched_promise) == 16, "gpusched_promise");

/* ---- facts: who had the GPU ------------------------------------------------------------------ */

/* Bits of gpusched_facts.known. A field without its bit is unknown, and 0. */
/* since_ns, held_ns, contended_ns, turns, slice_ended, drained, unsure, returns */
#define GPUSCHED_FACT_HELD (1u << 0)
#define GPUSCHED_FACT_STATE (1u << 1)    /* state: no record was lost since */
#define GPUSCHED_FACT_LAST_RUN (1u << 2) /* last_run_ns, last_turn_ns, loaded_since_ns */
#define GPUSCHED_FACT_WAIT (1u << 3)     /* wait_ns, waits */
#define GPUSCHED_FACT_DRAIN (1u << 4)    /* drain_ns, drains */
#define GPUSCHED_FACT_WORK (1u << 5)     /* work_ns */
#define GPUSCHED_FACT_BLOCK (1u << 6)    /* block_ns */
/* work_ns and last_work_ns are exact, as only in the model */
#define GPUSCHED_FACT_EXACT (1u << 7)

/* gpusched_facts.state, at as_of_ns */
#define GPUSCHED_STATE_LOADED (1u << 0)    /* it holds the GPU, whether it works or not */
#define GPUSCHED_STATE_CONTENDED (1u << 1) /* ... and another TSG waits, so it has work */
#define GPUSCHED_STATE_WAITING (1u << 2)   /* it waits for the GPU; unset: unknown */
/*
 * The daemon would like to know how long its thread blocks are, for two seconds at most, once for a
 * program that asked for means=auto. A policy that can afford it gives the TSG CTA mode meanwhile,
 * and a slice that shows in the length of turns (eight saves).
 */
#define GPUSCHED_STATE_TRIAL (1u << 3)

/*
 * struct gpusched_facts - facts about one TSG from the GPU's own log; from gpusched_facts() or
 * gpusched_peek(). Times of day are CLOCK_MONOTONIC (in the sim: the model's), ns; durations are
 * the GPU's, ns. Sums begin at since_ns and never go back while since_ns stays the same: use
 * differences.
 *
 * The facts hold for as_of_ns, which is up to 67 ms ago (the driver's period and the daemon's), 100
 * ms before driver branch 545; a policy without GPUSCHED_F_FACTS may find them a second old.
 * Compare times of the facts with as_of_ns, not with now.
 *
 * The log has the loaded TSG, not whether it works. So held_ns alone is no sign of work: a TSG that
 * has drained stays loaded until another one is ready.
 */
struct gpusched_facts {
	gs_u64 id;
	gs_u32 known;   /* GPUSCHED_FACT_* */
	gs_u32 state;   /* GPUSCHED_STATE_* */
	gs_u32 runlist; /* as gpusched_runlist() */
	gs_u32 pad;
	gs_u64 as_of_ns;
	gs_u64 since_ns;
	gs_u64 held_ns; /* loaded: from START to END */
	/* Part of it in which another TSG was known to wait: then this one worked. */
	gs_u64 contended_ns;
	gs_u64 turns; /* turns that have ended, */
	/* Those that ended because the slice was over: it has more work, and waits. */
	gs_u64 slice_ended;
	gs_u64 drained; /* those that ended because it had no more work */
	gs_u64 unsure;  /* those with an unknown reason; for the rest, it is not known yet */
	/*
	 * Turns that began right after a drained turn of the same TSG: within 1 ms, or after one
	 * slice of one other TSG. Nearly all turns of a launch-bound service are such turns, and
	 * hardly any of a service that works in whole turns.
	 */
	gs_u64 returns;
	gs_u64 last_turn_ns;     /* length of the last turn that has ended; 0: none */
	gs_u64 last_run_ns;      /* when it was last loaded; 0: not since its log is read */
	gs_u64 last_work_ns;     /* when it last certainly had work; with LAST_RUN; 0: never */
	gs_u64 loaded_since_ns;  /* with STATE_LOADED */
	gs_u64 waiting_since_ns; /* with STATE_WAITING */
	gs_u64 wait_ns, waits;   /* known waits that have ended */
	/*
	 * How long after the end of its slice it leaves the GPU, smoothed over some 8 of @drains.
	 * This is the time to save its context, and with CTA and WFI first the end of its running
	 * thread blocks. From turns during which another TSG waited from START on.
	 */
	gs_u64 drain_ns, drains;
	gs_u64 work_ns;  /* time worked: known in the model; a stock driver does not tell */
	gs_u64 block_ns; /* typical thread block */
};
_Static_assert(sizeof(struct gpusched_facts) == 184, "gpusched_facts");

/*
 * struct gpusched_runlist_facts - the same for a runlist; from gpusched_runlist_facts(). Times
 * held, lost, open and unknown add up to as_of_ns - since_ns, in the GPU's time.
 */
struct gpusched_runlist_facts {
	gs_u64 as_of_ns;
	gs_u64 since_ns;
	gs_u64 held_ns;
	gs_u64 unattributed_ns; /* part of held_ns by contexts of no known TSG */
	gs_u64 lost_ns;         /* switches: from one TSG's END to another's START, if under 1 ms */
	gs_u64 open_ns;         /* no TSG was loaded */
	gs_u64 unknown_ns;      /* records were lost */
	gs_u64 switches;        /* number of STARTs */
	gs_u32 waiting;         /* TSGs known to wait at as_of_ns */
	gs_u32 pad;
};
_Static_assert(sizeof(struct gpusched_runlist_facts) == 72, "gpusched_runlist_facts");

/*
 * struct gpusched_gpu - costs of a switch from one TSG to another on a GPU, in CILP mode. It comes
 * from gpusched_gpu(). known has a bit for each known cost; the others are 0.
 */
struct gpusched_gpu {
	gs_u32 known;
	gs_u32 switch_us;  /* from one TSG's END to another's START */
	gs_u32 save_us;    /* from the end of a slice to END */
	gs_u32 restore_us; /* from START to the first instruction, for a TSG that was cut off */
	/* Loading, and saving an idle TSG: the part of a drained turn that is no work. */
	gs_u32 idle_turn_us;
	gs_u32 pad[3];
};
_Static_assert(sizeof(struct gpusched_gpu) == 32, "gpusched_gpu");

/* Bits of known. */
#define GPUSCHED_GPU_SWITCH (1u << 0)
#define GPUSCHED_GPU_SAVE (1u << 1)
#define GPUSCHED_GPU_RESTORE (1u << 2)
#define GPUSCHED_GPU_IDLE_TURN (1u << 3)

/* Flags of GPUSCHED_POLICY(). */
#define GPUSCHED_F_DENY (1u << 0) /* schedule() may return GPUSCHED_DENY */
#define GPUSCHED_F_ASSUMED \
	(1u << 1)                 /* may change settings that are only assumed (adopted TSGs) \
				   */
#define GPUSCHED_F_WORK (1u << 2) /* wants launches counted: turns the launch probes on */
#define GPUSCHED_F_FACTS \
	(1u << 3) /* wants gpusched_facts(): the daemon reads the GPUs' logs 30 times a second */
#define GPUSCHED_F_ALL 0xfu

/* Limits of GPUSCHED_POLICY(), refused by name when exceeded. */
#define GPUSCHED_TICK_MIN_US 1000u
#define GPUSCHED_TICK_MAX_US 10000000u
#define GPUSCHED_TIMEOUT_MIN_MS 10u
#define GPUSCHED_TIMEOUT_MAX_MS 30000u

#define GPUSCHED_POLICY_NAME_LEN 32
#define GPUSCHED_ABOUT_LEN 68   /* in section "gpusched.about" */
#define GPUSCHED_CLASSES_LEN 64 /* in section "gpusched.classes" */
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
