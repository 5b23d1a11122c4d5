/* SPDX-License-Identifier: MIT */
/*
 * qualify.h - tests gpusched on a GPU of an untried kind, and measures the costs of switches there
 *
 * Runs its own loads and its own daemon, on a GPU that is otherwise idle. After QUALIFY_LIMIT_S at
 * most, all loads have ended and all settings are restored: programs and daemon end with this
 * process. If this process is killed, a second process turns the taps off and removes the folder.
 */
#ifndef GPUSCHED_QUALIFY_QUALIFY_H
#define GPUSCHED_QUALIFY_QUALIFY_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "basic/error.h"

#define QUALIFY_LIMIT_S 180u

/* One line per check: symbol, name, text. */
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

/* One line per cost, in us: symbol, name, text. */
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
	bool known, works; /* @works is valid if @known */
	char why[200];     /* the observation; if not @known, the reason */
};

struct qualify_cost {
	double us;     /* NAN: unknown */
	char why[200]; /* the reason why @us is unknown */
};

struct qualify_result {
	char gpu[80], uuid[48], pci[20], driver[32];
	double multiprocessors, seconds; /* number of multiprocessors; duration in real seconds */
	double dilate;                   /* real seconds per second of the (simulated) GPU's time */
	double default_slice_us;         /* the timeslice that CUDA sets; 0: unknown */
	bool complete;  /* false: a part failed, the time was over, or a signal came */
	char left[200]; /* why the taps could not be turned off; "": no such error */
	struct qualify_check checks[QUALIFY_CHECKS_MAX];
	struct qualify_cost costs[QUALIFY_COSTS_MAX];
	uint64_t records, lost; /* records of the log that were read, and that were lost */
	json_t *calls;          /* `stats` about calls: count, mean_us, max_us; NULL: none */
	json_t *latencies;      /* an array, with one object for each load and scheme */
};

struct qualify_opts {
	const char *gpu;                /* a selector; NULL: the first GPU */
	bool force;                     /* run even if other programs use the GPU */
	bool quick;                     /* measure for a shorter time, and measure no latencies */
	void (*tell)(const char *what); /* called with each part's name; may be NULL */
};

/*
 * Returns 0 if @ret has results, even if most are unknown. -EBUSY: other programs use the GPU, or
 * another daemon runs. Call qualify_free() even after an error.
 */
int qualify_run(const struct qualify_opts *o, struct qualify_result *ret, struct gs_error *err);
void qualify_free(struct qualify_result *r);

json_t *qualify_keep_json(const struct qualify_result *r);
/* Writes DIR/result.json, and DIR/gpu.conf with parameters for the model. Makes DIR if needed. */
int qualify_keep(const struct qualify_result *r, const char *dir, struct gs_error *err);

#endif /* GPUSCHED_QUALIFY_QUALIFY_H */
