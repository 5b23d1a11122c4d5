/* SPDX-License-Identifier: MIT */
/*
 * remembered.h - keeps the records of programs that shared a GPU
 *
 * The number of records is limited. If a user has too many, that user's least recently used record
 * is dropped. If all users together have too many, the user with the most records loses one, so
 * that no user can push out another user's records.
 */
#ifndef GPUSCHED_MEANS_REMEMBERED_H
#define GPUSCHED_MEANS_REMEMBERED_H

#include <uthash.h>

#include "means/beside.h"
#include "means/choice.h"
#include "means/program.h"

#define GS_REMEMBERED_MAX 1024u

/* The record of one program. */
struct gs_remembered {
	UT_hash_handle hh;
	struct gs_program_id id;
	enum gs_role role; /* when the program was last seen */
	/* how often each kind was found lately; seen.kind is the most frequent */
	uint32_t looks[GS_PROGRAM_KIND_MAX];
	struct gs_evidence seen;
	/* when the program was last seen or started, s since 1970; later if the clock was set back */
	int64_t used_s;
	bool looked; /* @seen has measured figures */
	/* number of windows without CUDA graphs since the last one with them; not on disk */
	uint32_t no_graphs;
	size_t at; /* the program's index in an answer that is being built */
};

struct gs_memory_of_programs {
	struct gs_remembered *all;
	bool dirty; /* there are changes that are not in the file yet */
};

/* Finds the program's record, which may have no figures yet (@looked). NULL: there is none. */
struct gs_remembered *gs_remembered_find(const struct gs_memory_of_programs *m,
					 const struct gs_program_id *id);
/*
 * Finds or adds the program's record; NULL: out of memory. @ret_dropped: number of other records
 * that were dropped to make room.
 */
struct gs_remembered *gs_remembered_meet(struct gs_memory_of_programs *m,
					 const struct gs_program_id *id, unsigned int *ret_dropped);
/* Adds one observation: counts its kind, and takes its known figures. */
void gs_remembered_look(struct gs_memory_of_programs *m, struct gs_remembered *r,
			const struct gs_evidence *seen, enum gs_role role, int64_t now_s);
/*
 * Adds how services on a BE's GPU work, or how a service itself works: lc_turn_us and lc_graphs.
 * Graphs are forgotten only after a minute's windows without: a service has none while it starts.
 */
void gs_remembered_service(struct gs_memory_of_programs *m, struct gs_remembered *r,
			   const struct gs_service_work *work);
/* Notes that the program is used now, after all others of its user, whatever the clock says. */
void gs_remembered_used(struct gs_memory_of_programs *m, struct gs_remembered *r, int64_t now_s);
void gs_remembered_done(struct gs_memory_of_programs *m);

#endif /* GPUSCHED_MEANS_REMEMBERED_H */
