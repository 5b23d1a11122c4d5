/* SPDX-License-Identifier: MIT */
/*
 * newcomers.h - makes new programs wait at the gate while a parked program is restored
 *
 * A program that starts during a restore might take the memory that the restore needs, and then the
 * restored program is lost. The time in which new programs wait is called the window. So that
 * nobody can use this to delay others for long, windows last 30 s together at most, and then none
 * opens for 5 min. Without a gate there is no window.
 */
#ifndef GPUSCHED_PARK_NEWCOMERS_H
#define GPUSCHED_PARK_NEWCOMERS_H

#include <stdbool.h>
#include <stdint.h>

struct gs_parking;

struct gs_park_window {
	uint64_t open_ns;   /* time of the last step, while the window is open; 0: it is closed */
	uint64_t closed_ns; /* when the window last closed */
	uint64_t spent_ns;  /* how long windows were open, up to the last step */
};

/* Pure: one step. Returns whether the window is open from now until the next step. */
bool gs_park_newcomers_window(struct gs_park_window *w, bool wanted, uint64_t now_ns,
			      double dilate);

/* Returns true if there is a gate that this daemon may use. */
bool gs_park_newcomers_gate(const struct gs_parking *pk);
/* Opens the window if a program waits to be restored, and closes it otherwise. */
void gs_park_newcomers_tend(struct gs_parking *pk);
/* Closes the window, even if an earlier daemon opened it and died. */
void gs_park_newcomers_end(struct gs_parking *pk);

#endif /* GPUSCHED_PARK_NEWCOMERS_H */
