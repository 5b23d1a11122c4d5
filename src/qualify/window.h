/* SPDX-License-Identifier: MIT */
/*
 * window.h - collects turns from a stretch of the GPU's log, and computes costs from their lengths
 *
 * Pure. A program is known by its pid or, if the log hides the pid, by its context.
 */
#ifndef GPUSCHED_QUALIFY_WINDOW_H
#define GPUSCHED_QUALIFY_WINDOW_H

#include "account/switchlog.h"

struct qualify_turn {
	uint64_t id;
	uint64_t ns, gap_ns; /* START to END; END to the START of another program, 0: not seen */
};

#define QUALIFY_TURNS 8192u /* most turns of a window: later ones are dropped */
#define QUALIFY_IDS 8u

struct qualify_window {
	struct qualify_turn v[QUALIFY_TURNS];
	unsigned int n;
	uint64_t records;
	/* the turn under way; start 0: none is; end 0: no turn ended right before */
	uint64_t id, start_ns, end_ns;
	uint64_t ours[QUALIFY_IDS]; /* pids of which turns count; 0: unused */
};

/* Forgets all turns. From now on only turns of the processes @ours count. */
void qualify_window_begin(struct qualify_window *w, const int *ours, unsigned int n);
void qualify_window_feed(struct qualify_window *w, const struct gs_switchlog_record *rec);

/* Returns how many programs had turns, and fills in each one's number, largest first. */
unsigned int qualify_window_count(const struct qualify_window *w, uint64_t ret_id[QUALIFY_IDS],
				  unsigned int ret_turns[QUALIFY_IDS]);

/*
 * ns: the length at which most turns of @id (0: of all) lie close together; 0: no such length.
 * @gaps: the same for the gaps after the turns.
 */
double qualify_main(const struct qualify_window *w, uint64_t id, bool gaps);
/* ns: of the turns longer than @than_ns, a twentieth are shorter than this; 0: too few turns. */
double qualify_low(const struct qualify_window *w, double than_ns);
/* ns: half of the turns of @id are shorter than this; 0: too few turns. */
double qualify_middle(const struct qualify_window *w, uint64_t id);

/*
 * Computes the unit of slices and the save from the lengths of turns that slices of @a_us and @b_us
 * ended. false: the lengths do not fit.
 */
bool qualify_unit(double a_us, double a_ns, double b_us, double b_ns, double *ret_unit,
		  double *ret_save_ns);

#endif /* GPUSCHED_QUALIFY_WINDOW_H */
