/* SPDX-License-Identifier: MIT */
/*
 * memory.h - what is known of programs that ran beside others
 *
 * Bounded: if a user has too many programs, the user's least recently used one is dropped. If all
 * users together have too many, the user with the most loses one, so that nobody can push out what
 * another user has.
 */
#ifndef GPUSCHED_MEANS_MEMORY_H
#define GPUSCHED_MEANS_MEMORY_H

#include <uthash.h>

#include "means/choice.h"
#include "means/program.h"

#define GS_REMEMBERED_MAX 1024u
#define GS_REMEMBERED_USER 128u /* for each user */

struct gs_remembered {
	UT_hash_handle hh;
	struct gs_program_id id;
	enum gs_role role; /* when the program was last seen */
	/* how often each kind was found lately; seen.kind is the most frequent */
	uint32_t looks[GS_PROGRAM_KIND_MAX];
	struct gs_evidence seen;
	int64_t used_s; /* seconds since 1970: when the program was last seen, or asked for */
	bool looked;    /* something was measured of the program */
	bool asked;     /* a start asked for its means, so that a trial may be worth it */
	uint32_t tries; /* trials of CTA mode */
	size_t at;      /* the program's place in the answer that is being made */
};

struct gs_memory_of_programs {
	struct gs_remembered *all;
	bool dirty; /* not all is written yet */
};

/* NULL: the program is not remembered. @looked tells whether a remembered one was measured. */
struct gs_remembered *gs_remember_find(const struct gs_memory_of_programs *m,
				       const struct gs_program_id *id);
/*
 * Finds or adds the program; NULL: out of memory. @ret_dropped: number of programs dropped for it.
 */
struct gs_remembered *gs_remember(struct gs_memory_of_programs *m, const struct gs_program_id *id,
				  unsigned int *ret_dropped);
/* Adds one observation: counts its kind, and takes its known figures. */
void gs_remember_look(struct gs_memory_of_programs *m, struct gs_remembered *r,
		      const struct gs_evidence *seen, enum gs_role role, int64_t now_s);
/* Adds how services beside a BE work: lc_turn_us and lc_graphs of struct gs_evidence. */
void gs_remember_service(struct gs_memory_of_programs *m, struct gs_remembered *r, uint32_t us,
			 bool graphs);
/*
 * Adds a trial's result. In @seen, the time to leave in CTA mode was measured; the other figures
 * are the GPU's usual ones.
 */
void gs_remember_trial(struct gs_memory_of_programs *m, struct gs_remembered *r,
		       const struct gs_evidence *seen, int64_t now_s);
void gs_remember_used(struct gs_memory_of_programs *m, struct gs_remembered *r, int64_t now_s);
void gs_memory_of_programs_done(struct gs_memory_of_programs *m);

#endif /* GPUSCHED_MEANS_MEMORY_H */
