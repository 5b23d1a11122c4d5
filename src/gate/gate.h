/* SPDX-License-Identifier: MIT */
/*
 * gate.h - loads the gate, and continues processes that it has stopped
 */
#ifndef GPUSCHED_GATE_GATE_H
#define GPUSCHED_GATE_GATE_H

#include "table/table.h"

struct bpf_object;

/*
 * The gate is a BPF LSM program on ioctl, which gs_taps_on() loads if the kernel allows it. It
 * keeps a TSG off the runlist by stopping the process that is about to schedule the TSG.
 */
/* Finds out whether this kernel runs BPF LSM programs. 0; -EPERM, -ENOTSUP with the reason. */
int gs_gate_probe(struct gs_error *err);
/* True if gs_taps_on() loaded the gate when it made the table. */
bool gs_gate_there(void);
/* True if the gate is there, and the running policy may use it (gs_cfg_gate). */
bool gs_gate_used(struct gs_table *t);

struct gs_released {
	unsigned int continued; /* processes that were sent SIGCONT */
	/* Processes that stay stopped, since another process has stopped them too. */
	unsigned int left;
	unsigned int gone;
};
/*
 * Continues processes that the gate stopped, if their TSG is not held any more. @all: continues all
 * of them; their TSGs count as admitted. ret may be NULL.
 */
int gs_gate_release(struct gs_table *t, bool all, struct gs_released *ret);
/*
 * Continues processes that have waited for @limit_ns because they are past their quota of table
 * records.
 */
int gs_gate_limit(struct gs_table *t, uint64_t limit_ns);

/* ---- for the taps, which load it ------------------------------------------------------------- */

/* Loads the gate with the maps of @taps and pins it into @dir. */
int gs_gate_on(const struct bpf_object *taps, const char *dir, struct gs_error *err);
/* Removes the gate from @dir; no call reaches it any more. */
void gs_gate_off(const char *dir);

#endif /* GPUSCHED_GATE_GATE_H */
