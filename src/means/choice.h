/* SPDX-License-Identifier: MIT */
/*
 * choice.h - chooses the means by which a program shares the GPU, from earlier measurements of it
 *
 * Pure. A service's request waits for a best-effort program (BE) either under slices, for a switch,
 * or in a shared MPS server, for one thread block of the BE. If these two waits are known, the
 * means with the shorter wait is chosen: a shared server for short blocks, slices for long ones.
 * Otherwise slices are chosen, which need no shared server. A turn with many kernels waits for one
 * switch under slices, but for a block before each kernel in a server. So slices are also chosen if
 * the turns of the services on the GPU are long, or of unknown length.
 */
#ifndef GPUSCHED_MEANS_CHOICE_H
#define GPUSCHED_MEANS_CHOICE_H

#include <stdbool.h>
#include <stdint.h>

#include "figures/program_kind.h"

enum gs_role { GS_ROLE_OTHER, GS_ROLE_LC, GS_ROLE_BE };

/* The means, each with its symbol and name. */
#define GS_MEANS(X) \
	X(SLICES, "slices") \
	X(HOLD, "hold") /* slices, and an agent that reports requests */ \
	X(SHARE, "share") \
	X(POOL, "pool")

enum gs_means_name {
#define X(sym, name) GS_MEANS_##sym,
	GS_MEANS(X)
#undef X
		GS_MEANS_MAX
};
enum gs_role gs_means_choice_role(uint32_t class_id);
const char *gs_means_choice_name(enum gs_means_name m);

/* The reasons for a choice, each with its symbol and text. */
#define GS_MEANS_WHYS(X) \
	X(CLASS, "its class is neither lc nor be") \
	X(UNKNOWN, "nothing is known of it: it has not run beside others yet") \
	X(NOT_ALLOWED, \
	  "its thread blocks are short, which a shared server suits, but AllowShare= in " \
	  "gpusched.conf does not allow one") \
	X(NOT_ALLOWED_BOUND, "it is launch-bound, which a shared server suits, but AllowShare= " \
			     "in gpusched.conf does " \
			     "not allow one") \
	X(SHORT_BLOCKS, \
	  "its thread blocks are short: requests wait less for their end than for a " \
	  "switch") \
	X(LC_OUTSIDE, "its thread blocks are short, but a service runs that is not in its user's " \
		      "shared server: it would gain nothing by that") \
	X(LONG_BLOCKS, "its thread blocks are long: requests wait less for a switch than for " \
		       "their end") \
	X(LONG_TURNS, \
	  "its thread blocks are short, but the services beside it had long turns: in a " \
	  "shared server many of their kernels would wait for such blocks") \
	X(NO_TURNS, "its thread blocks are short, but how long the turns of services beside it " \
		    "are is not known: a shared server suits short turns alone") \
	X(GRAPHS, \
	  "its thread blocks are short, but the services beside it launch CUDA graphs: in " \
	  "a shared server each kernel of a graph would wait for such blocks") \
	X(NO_BLOCKS, "how long its thread blocks are is not known") \
	X(POOL_RUNS, \
	  "its thread blocks are not known to be short, and its user's pool of class be runs") \
	X(BOUND, "it is launch-bound, and its user's shared server runs") \
	X(NO_SERVER, \
	  "it is launch-bound, and no shared server of its user has best-effort programs") \
	X(SERVER_RUNS, "its user's shared server runs, with best-effort programs in it") \
	X(MANY_TURNS, "its requests have many turns: best effort is suspended for each") \
	X(UNTOLD, "how many turns its requests have is not known: an agent tells of them") \
	X(WHOLE, "its requests are done in whole turns") \
	X(BATCH, "it has work all the time")

enum gs_means_why {
#define X(sym, text) GS_MEANS_WHY_##sym,
	GS_MEANS_WHYS(X)
#undef X
		GS_MEANS_WHY_MAX
};
const char *gs_means_choice_why_text(enum gs_means_why w);

/* Figures measured for a program; 0: unknown. */
struct gs_evidence {
	enum gs_program_kind kind;
	/* time from its slice's end until it has left the GPU, in each preemption mode */
	uint32_t leave_cilp_us, leave_cta_us;
	uint32_t switch_us; /* from there to the first instruction of the next program */
	uint32_t turns_a_request;
	uint32_t be_beside; /* the most BEs that were on its GPU at a time */
	/*
	 * For a BE: how long a service on its GPU works at a time; for a service: the same of its
	 * own. With an agent that is the mean work per launch, else the mean turn.
	 */
	uint32_t lc_turn_us;
	uint32_t lc_graphs; /* 1: such a service launches CUDA graphs; 0: no, or not known */
};

/* The facts from which the means are chosen. */
struct gs_means_case {
	enum gs_role role;
	bool known; /* @seen is valid */
	struct gs_evidence seen;
	bool may_share; /* AllowShare= allows a shared server */
	/*
	 * The same user's shared server or pool runs. A shared server counts only if best-effort
	 * programs are in it.
	 */
	bool share_runs, pool_runs;
	bool lc_outside; /* a service runs, but none runs in the user's shared server */
};

struct gs_means_choice {
	enum gs_means_name means;
	enum gs_means_why why;
	/*
	 * Longest waits under each means. For a BE: how long a service's request waits for the BE.
	 * For an LC: how long its own request waits for switches. 0: unknown.
	 */
	uint32_t wait_us[GS_MEANS_MAX];
};
struct gs_means_choice gs_means_choice_make(const struct gs_means_case *c);

#endif /* GPUSCHED_MEANS_CHOICE_H */
