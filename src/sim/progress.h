/* SPDX-License-Identifier: MIT */
/*
 * progress.h - shows the progress of a long run on stderr
 *
 * Prints nothing in the first 2 s. After that, a terminal gets one line that is updated in place,
 * and any other output gets a new line every 10 s.
 */
#ifndef GPUSCHED_SIM_PROGRESS_H
#define GPUSCHED_SIM_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct sim_progress {
	const char *name; /* of the scenario */
	uint64_t began_ns, next_ns;
	bool terminal, shown;
};

void sim_progress_begin(struct sim_progress *p, const char *name);
/* Reports that @done_ns of @all_ns are simulated. Cheap enough to call every thousand events. */
void sim_progress_tell(void *progress, uint64_t done_ns, uint64_t all_ns);
/* Removes the terminal's line. */
void sim_progress_end(struct sim_progress *p);

#endif /* GPUSCHED_SIM_PROGRESS_H */
