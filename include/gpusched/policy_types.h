/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * policy_types.h - defines the records that a policy and its host exchange
 *
 * Policies include gpusched/policy.bpf.h, which includes this file. Hosts, and tools that read
 * policy objects, include only this file. It is part of the policy ABI (GPUSCHED_ABI_VERSION).
 */
#ifndef GPUSCHED_POLICY_TYPES_H
#define GPUSCHED_POLICY_TYPES_H

#include "gpusched/abi.h"

enum gpusched_work_kind {
	GPUSCHED_WORK_UNKNOWN = 0,
	GPUSCHED_WORK_KERNEL = 1,
	GPUSCHED_WORK_GRAPH = 2, /* a graph counts as one launch */
	GPUSCHED_WORK_COPY = 3,
};

/* The argument of work_submit(): launches of one TSG. */
struct gpusched_work {
	gs_u64 now_ns;
	gs_u32 count; /* launches since the last call for this TSG, at least 1 */
	gs_u32 kind;  /* enum gpusched_work_kind */
};
_Static_assert(sizeof(struct gpusched_work) == 16, "gpusched_work");

/* How the host learned that a request began or ended. */
enum gpusched_request_from {
	GPUSCHED_REQUEST_HINT = 1, /* the program called gpusched_hint_coming() or _done() */
	/* The program's agent saw a launch after a pause, or a pause after launches. */
	GPUSCHED_REQUEST_AGENT = 2,
	/* The daemon saw such a launch or pause in its own counts of launches. */
	GPUSCHED_REQUEST_COUNT = 3,
};

/* The argument of request_begin() and request_end(). */
struct gpusched_request {
	gs_u64 now_ns;
	gs_u32 from; /* enum gpusched_request_from */
	/* A pause of this length ends the TSG's request; 0: unknown, or only a hint ends it. */
	gs_u32 quiet_us;
};
_Static_assert(sizeof(struct gpusched_request) == 16, "gpusched_request");

/* One round of the tick. tick_begin(), each tick() and tick_end() get the same values. */
struct gpusched_round {
	gs_u64 now_ns; /* one time for the whole round */
	gs_u64 seq;    /* 1 for a policy's first round */
	gs_u32 pass;   /* only this changes: 0 .. passes - 1 */
	gs_u32 passes; /* how many tick_begin() asked for */
	gs_u32 period_us;
	gs_u32 pad;
};
_Static_assert(sizeof(struct gpusched_round) == 32, "gpusched_round");

#define GPUSCHED_MAX_PASSES 4

/* tick_end() may skip rounds for at most this long, ms. */
#define GPUSCHED_REST_MAX_MS 30000

/* Results of schedule(). */
#define GPUSCHED_ADMIT 0
#define GPUSCHED_HOLD 1 /* the TSG waits; no call of the program fails */
#define GPUSCHED_DENY 2 /* the program's call fails; needs GPUSCHED_F_DENY */

/* The argument of exit(): why the policy ends. */
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

/* A TSG's limit on GPU time, as gpusched_limit() returns it. */
struct gpusched_limit {
	gs_u64 group; /* TSGs with the same number share the limit, separately on each GPU */
	gs_u32 pct;   /* percent of a GPU; applies even while no other TSG wants the GPU */
	gs_u32 pad;
};
_Static_assert(sizeof(struct gpusched_limit) == 16, "gpusched_limit");

/*
 * A TSG's promise, as gpusched_promise() returns it: the request= that the TSG's user made, if the
 * GPU's other promises leave enough for it.
 */
struct gpusched_promise {
	gs_u64 group; /* TSGs with the same number share the promise, separately on each GPU */
	gs_u32 pct;   /* percent of a GPU that the group gets at least while it has work */
	gs_u32 pad;
};
_Static_assert(sizeof(struct gpusched_promise) == 16, "gpusched_promise");

/* ---- facts: which TSG had the GPU ------------------------------------------------------------ */

/*
 * Bits of gpusched_facts.known, each with the fields that it stands for. If a field's bit is not
 * set, the field is unknown, and 0.
 */
/* since_ns, held_ns, contended_ns, turns, slice_ended, drained, unsure, returns */
#define GPUSCHED_FACT_HELD (1u << 0)
#define GPUSCHED_FACT_STATE (1u << 1)    /* state; not set after records of the log were lost */
#define GPUSCHED_FACT_LAST_RUN (1u << 2) /* last_run_ns, last_turn_ns, loaded_since_ns */
#define GPUSCHED_FACT_WAIT (1u << 3)     /* wait_ns, waits */
#define GPUSCHED_FACT_DRAIN (1u << 4)    /* drain_ns, drains */
#define GPUSCHED_FACT_WORK (1u << 5)     /* work_ns */
#define GPUSCHED_FACT_BLOCK (1u << 6)    /* block_ns */
/* work_ns and last_work_ns are exact, as they are only in the GPU model */
#define GPUSCHED_FACT_EXACT (1u << 7)

/* Bits of gpusched_facts.state: the TSG's state at the time as_of_ns. */
#define GPUSCHED_STATE_LOADED (1u << 0)    /* loaded on the GPU, whether it works or not */
#define GPUSCHED_STATE_CONTENDED (1u << 1) /* loaded while another TSG waits, so it has work */
#define GPUSCHED_STATE_WAITING (1u << 2)   /* waits for the GPU; unset: unknown */
/* Never set any more: it asked for a trial of mode CTA, which a policy may no longer set. */
#define GPUSCHED_STATE_TRIAL (1u << 3)

/*
 * struct gpusched_facts - facts about one TSG from the GPU's own log, as gpusched_facts() and
 * gpusched_peek() return them. Points in time are ns of CLOCK_MONOTONIC (in the sim, of the model's
 * clock). Durations are ns of the GPU's clock. Sums begin at since_ns, and never decrease while
 * since_ns stays the same: use differences.
 *
 * The facts describe the time as_of_ns, which is up to 67 ms ago: one period of the driver and one
 * of the daemon. With drivers before branch 545, it is up to 100 ms ago. If the policy lacks
 * GPUSCHED_F_FACTS, the facts may be a second old. So compare their times with as_of_ns, not with
 * now.
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
	gs_u64 held_ns; /* time loaded: from the START to the END record of its turns */
	/* The part of held_ns in which another TSG was known to wait, so that this one worked. */
	gs_u64 contended_ns;
	gs_u64 turns; /* turns that have ended; the next three count them by their reason */
	/* Turns that ended because the slice was over: the TSG has more work, and waits. */
	gs_u64 slice_ended;
	gs_u64 drained; /* turns that ended because the TSG had no more work */
	gs_u64 unsure;  /* turns that ended for an unknown reason */
	/*
	 * Turns that began right after a drained turn of the same TSG: within 1 ms, or after one
	 * slice of one other TSG. Nearly all turns of a launch-bound service are such turns, but
	 * hardly any turns of a service that queues enough work for whole turns.
	 */
	gs_u64 returns;
	gs_u64 last_turn_ns;     /* length of the last turn that has ended; 0: none */
	gs_u64 last_run_ns;      /* when it was last loaded; 0: not since the log is being read */
	gs_u64 last_work_ns;     /* when it last certainly had work; 0: never; bit LAST_RUN */
	gs_u64 loaded_since_ns;  /* valid with STATE_LOADED */
	gs_u64 waiting_since_ns; /* valid with STATE_WAITING */
	gs_u64 wait_ns, waits;   /* known waits that have ended */
	/*
	 * The time from the end of its slice until it leaves the GPU, smoothed over some 8 turns.
	 * In that time the GPU saves its context; in modes CTA and WFI, its running thread blocks
	 * end first. Measured in turns in which another TSG waits from START on; @drains counts
	 * these turns.
	 */
	gs_u64 drain_ns, drains;
	gs_u64 work_ns;  /* time in which it worked; known only in the GPU model */
	gs_u64 block_ns; /* length of a typical thread block */
};
_Static_assert(sizeof(struct gpusched_facts) == 184, "gpusched_facts");

/*
 * struct gpusched_runlist_facts - facts about a runlist, as gpusched_runlist_facts() returns them.
 * The times held_ns, lost_ns, open_ns and unknown_ns add up to as_of_ns - since_ns, in ns of the
 * GPU's clock.
 */
struct gpusched_runlist_facts {
	gs_u64 as_of_ns;
	gs_u64 since_ns;
	gs_u64 held_ns;
	gs_u64 unattributed_ns; /* the part of held_ns in which contexts of no known TSG ran */
	gs_u64 lost_ns;         /* switches: from one TSG's END to another's START, if under 1 ms */
	gs_u64 open_ns;         /* no TSG was loaded */
	gs_u64 unknown_ns;      /* time for which records were lost */
	gs_u64 switches;        /* number of START records */
	gs_u32 waiting;         /* TSGs known to wait at as_of_ns */
	gs_u32 pad;
};
_Static_assert(sizeof(struct gpusched_runlist_facts) == 72, "gpusched_runlist_facts");

/*
 * struct gpusched_gpu - costs of a switch from one TSG to another on a GPU, in mode CILP, and how
 * busy the GPU was, as gpusched_gpu() returns them. @known has a bit for each known cost, and one
 * for busy_x100 and idle_ms. Unknown values are 0.
 */
struct gpusched_gpu {
	gs_u32 known;
	gs_u32 switch_us; /* from one TSG's END to another's START */
	gs_u32 save_us;   /* from the end of a slice to END */
	/* From START to the first instruction, if the TSG's slice ended its previous turn. */
	gs_u32 restore_us;
	/* The length of a turn without work: the time to load a TSG, and to save it while idle. */
	gs_u32 idle_turn_us;
	/*
	 * For which part of the last second the GPU worked, in hundredths of a percent (0 to
	 * 10000): the mean of the driver's samples. They are taken seven times a second and asked
	 * for once a second. A TSG that is loaded but idle does not count.
	 */
	gs_u32 busy_x100;
	gs_u32 idle_ms; /* for how long it has been idle at least, by the same samples */
	gs_u32 pad;
};
_Static_assert(sizeof(struct gpusched_gpu) == 32, "gpusched_gpu");

/* Bits of gpusched_gpu.known. */
#define GPUSCHED_GPU_SWITCH (1u << 0)
#define GPUSCHED_GPU_SAVE (1u << 1)
#define GPUSCHED_GPU_RESTORE (1u << 2)
#define GPUSCHED_GPU_IDLE_TURN (1u << 3)
#define GPUSCHED_GPU_BUSY (1u << 4) /* busy_x100 and idle_ms */

/* Flags of GPUSCHED_POLICY(). */
#define GPUSCHED_F_DENY (1u << 0) /* schedule() may return GPUSCHED_DENY */
#define GPUSCHED_F_ASSUMED \
	(1u << 1)                 /* may change settings that are assumed, as in adopted TSGs \
				   */
#define GPUSCHED_F_WORK (1u << 2) /* needs launches counted: turns the launch probes on */
#define GPUSCHED_F_FACTS \
	(1u << 3) /* needs recent facts: the daemon reads the GPUs' logs 30 times a second */
#define GPUSCHED_F_ALL 0xfu

/* Bounds of the arguments of GPUSCHED_POLICY(). A policy that exceeds one is refused. */
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
	gs_u32 timeout_ms; /* longest time that one round of the tick may take */
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
	gs_u64 min, max; /* a gs_u64, or the bits of a gs_s64; both 0: the type's range */
};
_Static_assert(sizeof(struct gpusched_option_desc) == 200, "gpusched_option_desc");

#endif /* GPUSCHED_POLICY_TYPES_H */
