/* SPDX-License-Identifier: MIT */
/*
 * params.h - parameters of the GPU model, read from a file such as h200.conf
 */
#ifndef GPUSCHED_SIM_PARAMS_H
#define GPUSCHED_SIM_PARAMS_H

#include "basic/error.h"
#include "sim/model.h"
#include "sim/model_time.h"

struct sim_call_range {
	uint64_t min_ns, max_ns;
};

/* The parameters; each field is also a key in the file. */
struct sim_params {
	char name[64];
	char pci_name[64];       /* product name that the simulated RM reports */
	unsigned int gr_engines; /* graphics engines: one for each MIG instance */
	unsigned int copy_engines;
	unsigned int cuda_copy_engine; /* the first copy engine that CUDA takes */
	unsigned int blocks_at_once; /* thread blocks that run side by side on a graphics engine */
	uint64_t switch_cta_ns, switch_cilp_ns,
		switch_wfi_ns;   /* from END of one TSG to START of the next */
	uint64_t switch_idle_ns; /* from END to START, if the TSG that leaves had no work left */
	/*
	 * From the decision to switch to END. CILP saves at once, CTA first waits for the running
	 * blocks, WFI for all running work.
	 */
	uint64_t save_cta_ns, save_cilp_ns, save_wfi_ns;
	/*
	 * From START to the first instruction. The first two: with state that was saved in that
	 * mode. The last: without saved state.
	 */
	uint64_t restore_cta_ns, restore_cilp_ns, start_ns;
	uint64_t save_idle_ns;   /* from the end of the last work to END */
	uint64_t slice_unit_ns;  /* real length of one us of a timeslice */
	uint64_t switch_copy_ns; /* copy engines: END to START; they have nothing to save */
	/* false, as measured on the H200: interleave levels have no effect */
	bool interleave_honoured;
	uint64_t default_timeslice_us;
	unsigned int default_preempt_mode;
	uint64_t copy_bytes_per_us;
	unsigned int queue_depth;
	uint64_t kernel_gap_ns; /* time between two kernels of a channel */
	/*
	 * On a real GPU, blocks of a wave do not end together. So other clients of an MPS server
	 * get their places earlier, by this percentage of a block's time.
	 */
	unsigned int mps_overlap_pct;
	uint64_t hold_poll_ns; /* how often the model asks a running HOLD whether it is released */
	/*
	 * The host's part of a launch, on the way there and back: two fixed times, and the mean of
	 * an exponential tail on the way back.
	 */
	uint64_t launch_ns, notice_ns, notice_tail_ns;
	/*
	 * The GPU's clocks change after each such period. In every second period a switch takes
	 * @clocks_pct of its usual time. Period 0: the clocks do not change.
	 */
	uint64_t clocks_period_ns;
	unsigned int clocks_pct;
	uint64_t sleep_late_ns; /* how late a sleeping process wakes */
	/*
	 * Time-outs; 0: none. @drain_most_ns: a TSG is removed if its work does not let it leave
	 * the engine for so long. @busy_retry_ns: a call that waits for that answers BUSY_RETRY after
	 * so long. @rpc_most_ns: a call that the firmware does not answer.
	 */
	uint64_t drain_most_ns, busy_retry_ns, rpc_most_ns;
	/* an RM call takes effect after this part of its duration, in percent */
	unsigned int call_effect_pct;
	struct sim_call_range call[SIM_CALL_MAX];
};

/* The compiled-in H200 values; the installed h200.conf holds the same. */
void sim_params_default(struct sim_params *p);
/*
 * Reads a file. 0, -ENOENT, -EINVAL. On -EINVAL, *ret_error names file, line and error; free() it.
 */
#define SIM_MAX_FILE (1u << 20) /* limit for a scenario's or a model's file, in bytes */
int sim_params_load(const char *path, struct sim_params *ret, char **ret_error);
/* Like sim_params_load(), for a file that a user named: -EINVAL in place of -ENOENT. */
int sim_params_named(const char *path, struct sim_params *ret, struct gs_error *err);

#endif /* GPUSCHED_SIM_PARAMS_H */
