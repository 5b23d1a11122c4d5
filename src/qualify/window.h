/* SPDX-License-Identifier: MIT */
/*
 * window.h - collects turns from a span of the GPU's log, and computes costs from their lengths
 *
 * Pure. A program's id is its pid or, if the log hides that, is made from its context's number.
 */
#ifndef GPUSCHED_QUALIFY_WINDOW_H
#define GPUSCHED_QUALIFY_WINDOW_H

#include "account/switchlog.h"

struct qualify_turn {
	uint64_t id;
	/* from START to END; from END to the START of another program, 0: not seen */
	uint64_t ns, gap_ns;
};

#define QUALIFY_TURNS 8192u /* turns that a window can hold; later ones are dropped */
#define QUALIFY_IDS 8u

struct qualify_window {
	struct qualify_turn v[QUALIFY_TURNS];
	unsigned int n;
	uint64_t records;
	/* program of the last START; begin of its turn, 0: no turn is open; its end, 0: unknown */
	uint64_t id, start_ns, end_ns;
	uint64_t ours[QUALIFY_IDS]; /* only turns of these pids count; 0: unused */
};

/* Drops all turns. From now on, only turns of the processes @ours count. */
void qualify_window_begin(struct qualify_window *w, const int *ours, unsigned int n);
/* Adds a record of the log. */
void qualify_window_feed(struct qualify_window *w, const struct gs_switchlog_record *rec);

/*
 * Returns how many programs had turns, and fills in their ids and numbers of turns, largest number
 * first.
 */
unsigned int qualify_window_count(const struct qualify_window *w, uint64_t ret_id[QUALIFY_IDS],
				  unsigned int ret_turns[QUALIFY_IDS]);

/*
 * The usual length in ns of the turns of program @id, or of the gaps after them (@gaps). More than
 * half of the lengths are close to it. @id 0: of all programs. Returns 0 if there is none.
 */
double qualify_window_main(const struct qualify_window *w, uint64_t id, bool gaps);
/* The 5 % quantile in ns of the turns that are longer than @than_ns; 0: too few turns. */
double qualify_window_low(const struct qualify_window *w, double than_ns);
/* The median length in ns of the turns of program @id (0: of all programs); 0: too few turns. */
double qualify_window_middle(const struct qualify_window *w, uint64_t id);

/*
 * Computes the unit of slices (us per us) and the save from two lengths of turns: @a_ns with slices
 * of @a_us, and @b_ns with slices of @b_us. False: the lengths are not plausible.
 */
bool qualify_window_unit(double a_us, double a_ns, double b_us, double b_ns, double *ret_unit,
			 double *ret_save_ns);

#endif /* GPUSCHED_QUALIFY_WINDOW_H */
