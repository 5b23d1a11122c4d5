/* SPDX-License-Identifier: MIT */
/*
 * window.h - turns in a stretch of the GPU's log, and what costs follow from their lengths
 *
 * Pure. Programs are told apart by their process or, where the log hides it, by their context.
 */
#ifndef GPUSCHED_QUALIFY_WINDOW_H
#define GPUSCHED_QUALIFY_WINDOW_H

#include "account/switchlog.h"

struct qualify_turn {
	uint64_t id;
	uint64_t ns, gap_ns; /* START to END; END to another's START, 0: not seen */
};

#define QUALIFY_TURNS 8192u /* of a window: later ones are not kept */
#define QUALIFY_IDS 8u

struct qualify_window {
	struct qualify_turn v[QUALIFY_TURNS];
	unsigned int n;
	uint64_t records;
	/* under way */
	uint64_t id, start_ns, end_ns; /* start 0: nobody; end 0: no turn ended right before */
	uint64_t ours[QUALIFY_IDS];    /* processes; 0: none. Others' turns are left out */
};

/* Forgets all turns; turns of the processes @ours count. */
void qualify_window_begin(struct qualify_window *w, const int *ours, unsigned int n);
void qualify_window_feed(struct qualify_window *w, const struct gs_switchlog_record *rec);

/* How many programs had turns, and how many turns each, the one with the most first. */
unsigned int qualify_window_count(const struct qualify_window *w, uint64_t ret_id[QUALIFY_IDS],
				  unsigned int ret_turns[QUALIFY_IDS]);

/*
 * ns, of the turns of @id (0: everybody's): where most lengths lie close together; 0: there is no
 * such place. @gaps: of the times behind them.
 */
double qualify_main(const struct qualify_window *w, uint64_t id, bool gaps);
/* ns: a twentieth of the turns that are longer than @than_ns are shorter; 0: too few. */
double qualify_low(const struct qualify_window *w, double than_ns);
/* ns: half of the turns are shorter; 0: too few. */
double qualify_middle(const struct qualify_window *w, uint64_t id);

/* Turns that slices of @a_us and @b_us ended have these lengths: false, or the unit and the save. */
bool qualify_unit(double a_us, double a_ns, double b_us, double b_ns, double *ret_unit,
		  double *ret_save_ns);

#endif /* GPUSCHED_QUALIFY_WINDOW_H */
