/* SPDX-License-Identifier: MIT */
/*
 * gate.h - the gate: a BPF LSM program on ioctl that keeps a TSG off the runlist
 */
#ifndef GPUSCHED_GATE_GATE_H
#define GPUSCHED_GATE_GATE_H

#include "table/table.h"

struct bpf_object;

/*
 * A BPF LSM program on ioctl, loaded by gs_taps_on() where the kernel lets it: it keeps a TSG off
 * the runlist by stopping the process that is about to schedule it.
 */
/* 0: this kernel runs such programs. -EPERM, -ENOTSUP with the reason. Changes nothing. */
int gs_gate_probe(struct gs_error *err);
/* It is loaded, by the `on` that made the table. */
bool gs_gate_there(void);
/* The same, and the running policy may use it (gs_cfg_gate). */
bool gs_gate_used(struct gs_table *t);

struct gs_released {
	unsigned int continued; /* processes that were sent SIGCONT */
	unsigned int left;      /* stopped by somebody else as well: left to them */
	unsigned int gone;
};
/*
 * Continues the processes that the gate stopped, if nobody holds their TSG any more. @all: every
 * process that it stopped; their TSGs are taken as admitted. ret may be NULL.
 */
int gs_gate_release(struct gs_table *t, bool all, struct gs_released *ret);
/* Lets those in that have waited for @limit_ns because they are past their share of the table. */
int gs_gate_limit(struct gs_table *t, uint64_t limit_ns);

/* ---- for the taps, which load it ------------------------------------------------------------- */

/* Loads the gate on the maps of @taps and pins it into @dir. */
int gs_gate_on(const struct bpf_object *taps, const char *dir, struct gs_error *err);
/* Takes it out of @dir; no call reaches it any more. */
void gs_gate_off(const char *dir);

#endif /* GPUSCHED_GATE_GATE_H */
