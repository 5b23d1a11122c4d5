/* SPDX-License-Identifier: MIT */
/*
 * newcomers.h - while a program is restored, new programs wait at the gate, if the gate can be used
 *
 * A program that starts during a restore might take the memory that the restore needs, and then the
 * restored program is lost. But nobody may use this to delay others for long: all windows together
 * last 30 s at most, and then none opens for 5 min.
 */
#ifndef GPUSCHED_PARK_NEWCOMERS_H
#define GPUSCHED_PARK_NEWCOMERS_H

#include <stdbool.h>
#include <stdint.h>

struct gs_parking;

struct gs_park_window {
	/* @spent_ns counts the window's time up to here; 0: the window is closed */
	uint64_t open_ns;
	uint64_t closed_ns; /* when the window last closed */
	uint64_t spent_ns;
};

/* Pure: is the window open from now on? Between two calls it stays as the last answer says. */
bool gs_park_window_step(struct gs_park_window *w, bool wanted, uint64_t now_ns, double dilate);

/* Does a gate exist that this daemon may use? */
bool gs_park_gate_there(const struct gs_parking *pk);
/* Opens the window if a program waits to be restored, and closes it otherwise. */
void gs_park_newcomers_tend(struct gs_parking *pk);
/* Closes the window, also one that a daemon that died left open. */
void gs_park_newcomers_end(struct gs_parking *pk);

#endif /* GPUSCHED_PARK_NEWCOMERS_H */
