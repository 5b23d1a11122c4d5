/* SPDX-License-Identifier: MIT */
/*
 * qualify.h - finds out what of gpusched works on a GPU that nobody has tried, and what switches
 * cost there
 *
 * It runs its own loads and its own daemon, on a GPU that is otherwise idle. Within QUALIFY_LIMIT_S
 * all has ended and is restored, whatever happens: programs and daemon end with this process. If
 * this process is killed, another one turns the taps off and removes its folder.
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

/* in us: symbol, name, words */
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
	char why[200];     /* what was seen; if unknown, the reason */
};

struct qualify_cost {
	double us; /* NAN: unknown */
	char why[200];
};

struct qualify_result {
	char gpu[80], uuid[48], pci[20], driver[32];
	double multiprocessors, seconds; /* number of multiprocessors; real seconds that it took */
	double dilate;
	double default_slice_us; /* the timeslice that CUDA sets; 0: unknown */
	bool complete;           /* false: time was over, or a signal stopped it */
	char left[200];          /* why the taps could not be turned off; "": they are off */
	struct qualify_check checks[QUALIFY_CHECKS_MAX];
	struct qualify_cost costs[QUALIFY_COSTS_MAX];
	uint64_t records, lost; /* of the log: read, and lost */
	json_t *calls;          /* as in `stats`: count, mean_us, max_us; NULL: none */
	json_t *latencies;      /* an array */
};

struct qualify_opts {
	const char *gpu;                /* a selector; NULL: the first */
	bool force;                     /* even if other programs use the GPU */
	bool quick;                     /* measure for a shorter time, and no latencies */
	void (*tell)(const char *what); /* called with each part's name; may be NULL */
};

/*
 * 0: @ret has all that was found out, which may be little. Free @ret in any case. -EBUSY: other
 * programs use the GPU, or another daemon runs.
 */
int qualify_run(const struct qualify_opts *o, struct qualify_result *ret, struct gs_error *err);
void qualify_free(struct qualify_result *r);

json_t *qualify_json(const struct qualify_result *r);
/* Writes DIR/gpu.conf, which the model accepts, and DIR/result.json; DIR may exist. */
int qualify_keep(const struct qualify_result *r, const char *dir, struct gs_error *err);

#endif /* GPUSCHED_QUALIFY_QUALIFY_H */
