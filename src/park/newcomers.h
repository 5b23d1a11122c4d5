/* SPDX-License-Identifier: MIT */
/*
 * newcomers.h - while memory is brought back, new programs wait at the gate, where there is one
 *
 * A program that starts meanwhile might take the memory, and then the parked one is lost. But nobody
 * may hold others up by it for long: all windows together last 30 s, and then there is none for 5 min.
 */
#ifndef GPUSCHED_PARK_NEWCOMERS_H
#define GPUSCHED_PARK_NEWCOMERS_H

#include <stdbool.h>
#include <stdint.h>

struct gs_parking;

struct gs_park_window {
	uint64_t open_ns;   /* counted up to then; 0: it is closed */
	uint64_t closed_ns; /* since then */
	uint64_t spent_ns;
};

/* Pure: is it open from now on? A time in between counts as the last answer was. */
bool gs_park_window_step(struct gs_park_window *w, bool wanted, uint64_t now_ns, double dilate);

/* There is a gate that this daemon may use. */
bool gs_park_gate_there(const struct gs_parking *pk);
/* Opens or closes it, as the wishes are. */
void gs_park_newcomers_tend(struct gs_parking *pk);
/* Nobody waits any more: also not for a daemon that died. */
void gs_park_newcomers_end(struct gs_parking *pk);

#endif /* GPUSCHED_PARK_NEWCOMERS_H */
