/* SPDX-License-Identifier: MIT */
/*
 * program_kind.h - judges by a program's turns what kind of program it is
 *
 * Pure. The turns come from the GPU's context-switch log, which shows nothing about a program that
 * has the GPU for itself. A launch-bound program is recognized by its counted launches.
 */
#ifndef GPUSCHED_FIGURES_PROGRAM_KIND_H
#define GPUSCHED_FIGURES_PROGRAM_KIND_H

#include <stdbool.h>
#include <stdint.h>

struct gs_costs;

/* Figures of one compute TSG over a span of time. */
struct gs_program_seen {
	bool known;  /* the log had figures at the beginning and at the end */
	bool hidden; /* the user who asks may not see the times */
	bool server; /* an MPS server, in which many programs look like one */
	bool suspended;
	double span_s, held_s; /* length of the span; time in which the TSG held the GPU */
	double turns, slice_ended, drained, returns;
	double launches;    /* NAN: launches were not counted */
	double turn_cost_s; /* part of each turn that is no work; NAN: unknown */
	uint32_t beside_us; /* the longest slice of the others on its runlist; 0: no others */
};

/* A line for each kind: symbol, name in the output, explanation. */
#define GS_PROGRAM_KINDS(X) \
	X(UNSEEN, "not enough seen", "nobody competed with it, or too few of its turns are known") \
	X(UNCLEAR, "not enough seen", \
	  "launches were not counted, and its turns alone do not say whether it is launch-bound") \
	X(HIDDEN, "not yours to see", \
	  "its times are for its user, root and whom AllowTrace= names") \
	X(IDLE, "idle", "it had no turn") \
	X(WHOLE, "whole turns", "its requests are done in one turn each, or a few") \
	X(LAUNCH_BOUND, "launch-bound", \
	  "it launches little at a time: its turns end, and it is back at once") \
	X(BATCH, "batch", "it has work all the time, and its slice ends its turns") \
	X(SERVER, "MPS server", "its clients share its turns")

enum gs_program_kind {
#define X(sym, name, text) GS_PROGRAM_##sym,
	GS_PROGRAM_KINDS(X)
#undef X
		GS_PROGRAM_KIND_MAX
};
const char *gs_program_kind_name(enum gs_program_kind k);
const char *gs_program_kind_text(enum gs_program_kind k);

enum gs_program_kind gs_program_kind(const struct gs_program_seen *s);
/* The part of a turn that is no work, in seconds; NAN: unknown. */
double gs_program_kind_turn_cost(const struct gs_costs *costs);
/* True if the figures were enough to tell. */
static inline bool gs_program_kind_is_known(enum gs_program_kind k)
{
	return k != GS_PROGRAM_UNSEEN && k != GS_PROGRAM_UNCLEAR && k != GS_PROGRAM_HIDDEN;
}

#endif /* GPUSCHED_FIGURES_PROGRAM_KIND_H */
