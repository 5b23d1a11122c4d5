/* SPDX-License-Identifier: MIT */
/*
 * qualify.h - what of gpusched works on a GPU that nobody has tried, and what switches cost it
 *
 * With loads and a daemon of its own, on a GPU that is otherwise idle. All is over and put back within
 * QUALIFY_LIMIT_S, whatever happens: programs and daemon end with this process. If it is killed,
 * another process turns the taps off and removes its folder.
 */
#ifndef GPUSCHED_QUALIFY_QUALIFY_H
#define GPUSCHED_QUALIFY_QUALIFY_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "basic/error.h"

#define QUALIFY_LIMIT_S 180u

/* symbol, name, words */
#define QUALIFY_CHECKS(X) \
	X(LOG, "log", "the GPU's own log of turns can be read") \
	X(SEEN, "seen", "TSGs are seen, with owner, engine and settings") \
	X(SLICE, "timeslice", "a timeslice from outside changes turns") \
	X(CTA, "mode_cta", "preemption mode CTA waits for thread blocks") \
	X(WFI, "mode_wfi", "preemption mode WFI waits for kernels") \
	X(SUSPEND, "suspend", "a suspended program has no turn") \
	X(RESUME, "resume", "it has turns again once resumed") \
	X(INTERLEAVE, "interleave", "an interleave level changes the round") \
	X(TAIL, "auto_1be", "the LC's tail beside one BE is shorter under auto") \
	X(TAIL_3, "auto_3be", "the same beside three")

enum qualify_check_id {
#define X(sym, name, text) QUALIFY_##sym,
	QUALIFY_CHECKS(X)
#undef X
		QUALIFY_CHECKS_MAX
};

/* symbol, name, words: us */
#define QUALIFY_COSTS(X) \
	X(UNIT, "slice_unit_us", "one us of a timeslice lasts") \
	X(SWITCH, "switch_cilp_us", "switch: END to another's START, in CILP") \
	X(SWITCH_CTA, "switch_cta_us", "the same in CTA") \
	X(SWITCH_WFI, "switch_wfi_us", "the same in WFI") \
	X(SWITCH_IDLE, "switch_idle_us", "the same after one that had nothing left") \
	X(SAVE, "save_cilp_us", "save: end of the slice to END, in CILP") \
	X(SAVE_CTA, "save_cta_us", "the same in CTA, beside the blocks' end") \
	X(SAVE_WFI, "save_wfi_us", "the same in WFI, beside the kernel's end") \
	X(RESTORE, "restore_cilp_us", "restore of what was saved in CILP") \
	X(IDLE_TURN, "idle_turn_us", "restore and save of an idle context, in all") \
	X(GAP, "kernel_gap_us", "between two kernels of a channel") \
	X(ALONE_P50, "alone_p50_us", "a request of 100 us alone, half of them") \
	X(ALONE_P99, "alone_p99_us", "the same, 99 of 100")

enum qualify_cost_id {
#define X(sym, name, text) QUALIFY_##sym,
	QUALIFY_COSTS(X)
#undef X
		QUALIFY_COSTS_MAX
};

struct qualify_check {
	bool known, works; /* works: only if known */
	char why[200];     /* what was seen; else why nothing is known */
};

struct qualify_cost {
	double us; /* NAN: unknown */
	char why[200];
};

struct qualify_result {
	char gpu[80], uuid[48], pci[20], driver[32];
	double multiprocessors, seconds; /* it took, real ones */
	double dilate;
	double default_slice_us; /* that CUDA sets; 0: unknown */
	bool complete;           /* else time was over, or somebody stopped it */
	char left[200];          /* why the taps could not be turned off; "": nothing is left */
	struct qualify_check checks[QUALIFY_CHECKS_MAX];
	struct qualify_cost costs[QUALIFY_COSTS_MAX];
	uint64_t records, lost; /* of the log */
	json_t *calls;          /* as `stats` has them: count, mean_us, max_us; NULL: none */
	json_t *latencies;      /* an array */
};

struct qualify_opts {
	const char *gpu;                /* a selector; NULL: the first */
	bool force;                     /* beside others' TSGs, too */
	bool quick;                     /* shorter, and no latencies */
	void (*tell)(const char *what); /* may be NULL: what is measured now */
};

/*
 * 0: @ret has what was found out, which may be little: free it in any case. -EBUSY: others are at work
 * there, or another daemon.
 */
int qualify_run(const struct qualify_opts *o, struct qualify_result *ret, struct gs_error *err);
void qualify_free(struct qualify_result *r);

json_t *qualify_json(const struct qualify_result *r);
/* DIR/gpu.conf, which the model takes, and DIR/result.json; DIR may be there. */
int qualify_keep(const struct qualify_result *r, const char *dir, struct gs_error *err);

#endif /* GPUSCHED_QUALIFY_QUALIFY_H */
