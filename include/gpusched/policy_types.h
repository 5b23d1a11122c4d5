/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * policy_types.h - records between a policy and its host
 *
 * Policies include gpusched/policy.bpf.h, which includes this file. Hosts and tools that read
 * policy objects include this file alone. Part of the policy ABI, version GPUSCHED_ABI_VERSION.
 */
#ifndef GPUSCHED_POLICY_TYPES_H
#define GPUSCHED_POLICY_TYPES_H

#include "gpusched/abi.h"

enum gpusched_work_kind {
	GPUSCHED_WORK_UNKNOWN = 0,
	GPUSCHED_WORK_KERNEL = 1,
	GPUSCHED_WORK_GRAPH = 2, /* a graph counts as one */
	GPUSCHED_WORK_COPY = 3,
};

/* Launches, for work_submit(). */
struct gpusched_work {
	gs_u64 now_ns;
	gs_u32 count; /* launches since the last call for this TSG, at least 1 */
	gs_u32 kind;  /* enum gpusched_work_kind */
};
_Static_assert(sizeof(struct gpusched_work) == 16, "gpusched_work");

/* The source of a request's begin or end. */
enum gpusched_request_from {
	GPUSCHED_REQUEST_HINT = 1, /* the program called gpusched_hint_coming() or _done() */
	GPUSCHED_REQUEST_AGENT =
		2, /* its agent saw a launch after a rest, or a rest after launches */
	GPUSCHED_REQUEST_COUNT = 3, /* the same, seen in launches that the daemon counted */
};

/* A request, for request_begin() and request_end(). */
struct gpusched_request {
	gs_u64 now_ns;
	gs_u32 from; /* enum gpusched_request_from */
	/* A rest of this length ends a request of this TSG; 0: unknown, or no rest ends one. */
	gs_u32 quiet_us;
};
_Static_assert(sizeof(struct gpusched_request) == 16, "gpusched_request");

/* One round of the tick: the same for tick_begin(), each tick() and tick_end(). */
struct gpusched_round {
	gs_u64 now_ns; /* one time for the whole round */
	gs_u64 seq;    /* 1 for a policy's first round */
	gs_u32 pass;   /* 0 .. passes - 1 */
	gs_u32 passes; /* how many tick_begin() asked for */
	gs_u32 period_us;
	gs_u32 pad;
};
_Static_assert(sizeof(struct gpusched_round) == 32, "gpusched_round");

#define GPUSCHED_MAX_PASSES 4

/* The longest rest that tick_end() may ask for, ms. */
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
	gs_u64 group; /* all TSGs with this number share the limit, on each GPU by itself */
	gs_u32 pct;   /* percent of a GPU; it holds even while no other TSG wants the GPU */
	gs_u32 pad;
};
_Static_assert(sizeof(struct gpusched_limit) == 16, "gpusched_limit");

/* The request= of a TSG, where its GPU has room for it; from gpusched_promise(). */
struct gpusched_promise {
	gs_u64 group; /* all TSGs with this number share the promise, on each GPU by itself */
	gs_u32 pct;   /* percent of a GPU that the group gets at least, while it has work */
	gs_u32 pad;
};
_Static_assert(sizeof(struct gpusched_promise) == 16, "gpusched_promise");

/* ---- facts: which TSG had the GPU ------------------------------------------------------------ */

/* Bits of gpusched_facts.known. If a field's bit is not set, the field is unknown, and 0. */
/* since_ns, held_ns, contended_ns, turns, slice_ended, drained, unsure, returns */
#define GPUSCHED_FACT_HELD (1u << 0)
#define GPUSCHED_FACT_STATE (1u << 1)    /* state, unless records of the log were lost */
#define GPUSCHED_FACT_LAST_RUN (1u << 2) /* last_run_ns, last_turn_ns, loaded_since_ns */
#define GPUSCHED_FACT_WAIT (1u << 3)     /* wait_ns, waits */
#define GPUSCHED_FACT_DRAIN (1u << 4)    /* drain_ns, drains */
#define GPUSCHED_FACT_WORK (1u << 5)     /* work_ns */
#define GPUSCHED_FACT_BLOCK (1u << 6)    /* block_ns */
/* work_ns and last_work_ns are exact; only the GPU model can say so */
#define GPUSCHED_FACT_EXACT (1u << 7)

/* Bits of gpusched_facts.state: the TSG's state at as_of_ns */
#define GPUSCHED_STATE_LOADED (1u << 0)    /* loaded on the GPU, whether it works or not */
#define GPUSCHED_STATE_CONTENDED (1u << 1) /* loaded while another TSG waits, so it has work */
#define GPUSCHED_STATE_WAITING (1u << 2)   /* waits for the GPU; unset: unknown */
/*
 * The daemon wishes to know how long the thread blocks of the TSG's program are, for two seconds at
 * most, once for a program that asked for means=auto. A policy that can afford it gives the TSG CTA
 * mode meanwhile, and a slice that shows in the length of turns (eight saves).
 */
#define GPUSCHED_STATE_TRIAL (1u << 3)

/*
 * struct gpusched_facts - facts about one TSG from the GPU's own log; from gpusched_facts() or
 * gpusched_peek(). Points in time are ns of CLOCK_MONOTONIC (in the sim, of the model's clock).
 * Durations are ns of the GPU's clock. Sums begin at since_ns, and never decrease while since_ns
 * stays the same: use differences.
 *
 * The facts hold for as_of_ns, which is up to 67 ms ago: a period of the driver and one of the
 * daemon. With drivers before branch 545 that is 100 ms. If the policy lacks GPUSCHED_F_FACTS, the
 * facts may be a second old. So compare their times with as_of_ns, not with now.
 *
 * The log says which TSG is loaded, not whether that TSG works. A TSG that has drained stays loaded
 * until another one is ready. So held_ns alone is no sign of work.
 */
struct gpusched_facts {
	gs_u64 id;
	gs_u32 known;   /* GPUSCHED_FACT_* */
	gs_u32 state;   /* GPUSCHED_STATE_* */
	gs_u32 runlist; /* as gpusched_runlist() */
	gs_u32 pad;
	gs_u64 as_of_ns;
	gs_u64 since_ns;
	gs_u64 held_ns; /* time loaded: from START to END of its turns */
	/* The part of held_ns in which another TSG was known to wait, so that this one worked. */
	gs_u64 contended_ns;
	gs_u64 turns; /* turns that have ended; the next three say why, as far as known by now */
	/* Turns that ended because the slice was over: the TSG has more work, and waits. */
	gs_u64 slice_ended;
	gs_u64 drained; /* turns that ended because the TSG had no more work */
	gs_u64 unsure;  /* turns that ended for a reason that stays unknown */
	/*
	 * Turns that began right after a drained turn of the same TSG: within 1 ms, or after one
	 * slice of one other TSG. Nearly all turns of a launch-bound service are such turns, and
	 * hardly any of a service that works in whole turns.
	 */
	gs_u64 returns;
	gs_u64 last_turn_ns;     /* length of the last turn that has ended; 0: none */
	gs_u64 last_run_ns;      /* when it was last loaded; 0: never since the log has been read */
	gs_u64 last_work_ns;     /* when it last certainly had work; with LAST_RUN; 0: never */
	gs_u64 loaded_since_ns;  /* valid with STATE_LOADED */
	gs_u64 waiting_since_ns; /* valid with STATE_WAITING */
	gs_u64 wait_ns, waits;   /* known waits that have ended */
	/*
	 * The time from the end of its slice until it leaves the GPU, smoothed over some 8 turns.
	 * That time goes into saving its context; in modes CTA and WFI, its running thread blocks
	 * end first. Measured in turns with another TSG waiting from START on; @drains counts them.
	 */
	gs_u64 drain_ns, drains;
	gs_u64 work_ns;  /* time in which it worked; known only in the GPU model */
	gs_u64 block_ns; /* length of a typical thread block */
};
_Static_assert(sizeof(struct gpusched_facts) == 184, "gpusched_facts");

/*
 * struct gpusched_runlist_facts - facts about a runlist; from gpusched_runlist_facts(). Its times
 * held, lost, open and unknown add up to as_of_ns - since_ns, in ns of the GPU's clock.
 */
struct gpusched_runlist_facts {
	gs_u64 as_of_ns;
	gs_u64 since_ns;
	gs_u64 held_ns;
	gs_u64 unattributed_ns; /* the part of held_ns by contexts of no known TSG */
	gs_u64 lost_ns;         /* switches: from one TSG's END to another's START, if under 1 ms */
	gs_u64 open_ns;         /* no TSG was loaded */
	gs_u64 unknown_ns;      /* records were lost */
	gs_u64 switches;        /* number of STARTs */
	gs_u32 waiting;         /* TSGs known to wait at as_of_ns */
	gs_u32 pad;
};
_Static_assert(sizeof(struct gpusched_runlist_facts) == 72, "gpusched_runlist_facts");

/*
 * struct gpusched_gpu - costs of a switch from one TSG to another on a GPU, in mode CILP; from
 * gpusched_gpu(). @known has a bit for each known cost; unknown costs are 0.
 */
struct gpusched_gpu {
	gs_u32 known;
	gs_u32 switch_us;  /* from one TSG's END to another's START */
	gs_u32 save_us;    /* from the end of a slice to END */
	gs_u32 restore_us; /* from START to the first instruction, after the slice ended a turn */
	/* The time to load a TSG and to save it idle: the part of a drained turn without work. */
	gs_u32 idle_turn_us;
	gs_u32 pad[3];
};
_Static_assert(sizeof(struct gpusched_gpu) == 32, "gpusched_gpu");

/* Bits of gpusched_gpu.known. */
#define GPUSCHED_GPU_SWITCH (1u << 0)
#define GPUSCHED_GPU_SAVE (1u << 1)
#define GPUSCHED_GPU_RESTORE (1u << 2)
#define GPUSCHED_GPU_IDLE_TURN (1u << 3)

/* Flags of GPUSCHED_POLICY(). */
#define GPUSCHED_F_DENY (1u << 0) /* schedule() may return GPUSCHED_DENY */
#define GPUSCHED_F_ASSUMED \
	(1u << 1)                 /* may change settings that are assumed, as in adopted TSGs \
				   */
#define GPUSCHED_F_WORK (1u << 2) /* wants launches counted: turns the launch probes on */
#define GPUSCHED_F_FACTS \
	(1u << 3) /* wants gpusched_facts(): the daemon reads the GPUs' logs 30 times a second */
#define GPUSCHED_F_ALL 0xfu

/* Bounds of the arguments of GPUSCHED_POLICY(): a policy past one is refused with its name. */
#define GPUSCHED_TICK_MIN_US 1000u
#define GPUSCHED_TICK_MAX_US 10000000u
#define GPUSCHED_TIMEOUT_MIN_MS 10u
#define GPUSCHED_TIMEOUT_MAX_MS 30000u

#define GPUSCHED_POLICY_NAME_LEN 32
#define GPUSCHED_ABOUT_LEN 68   /* in section "gpusched.about" */
#define GPUSCHED_CLASSES_LEN 64 /* in section "gpusched.classes" */
#define GPUSCHED_DESC_MAGIC 0x6c6f7047u
/* Section "gpusched" of a policy's object: one for each policy. */
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

/* Section "gpusched.opts" of a policy's object: one for each option. */
struct gpusched_option_desc {
	char name[32];
	char type[16];
	char help[120];
	gs_u32 size;
	gs_u32 is_signed;
	gs_u64 def;
	gs_u64 min, max; /* bits of a gs_u64, or of a gs_s64 if signed; both 0: the type's range */
};
_Static_assert(sizeof(struct gpusched_option_desc) == 200, "gpusched_option_desc");

#endif /* GPUSCHED_POLICY_TYPES_H */
