/* SPDX-License-Identifier: MIT */
/*
 * means.h - remembers how each program ran beside others, to choose its means at the next start
 *
 * The daemon looks at compute TSGs once a second, and adds the account's figures to what is known
 * of their programs. A thread writes the file once a minute. For the loop's thread.
 */
#ifndef GPUSCHED_MEANS_MEANS_H
#define GPUSCHED_MEANS_MEANS_H

#include "figures/figures.h"
#include "means/memory.h"
#include "means/starts.h"
#include "process/reader.h"

struct gs_means_known;

int gs_means_new(struct gs_hub *hub, struct gs_figures *fig, struct gs_means_known **ret);
void gs_means_free(struct gs_means_known *k);
/* What the agent in a process has counted until @ns, its last report. */
struct gs_told {
	uint64_t ns, launches, graphs;
};
/* False: there is no agent in @rec's process, or it does not count launches. */
typedef bool (*gs_means_told_fn)(void *user, const struct gpusched_tsg *rec, struct gs_told *ret);
/* Reads the file. Does nothing if this is no daemon. */
void gs_means_start(struct gs_means_known *k, gs_means_told_fn told, void *user);
/* Call it before the ledger ends: takes last figures of all TSGs, and writes the file. */
void gs_means_end(struct gs_means_known *k);

/* As an observer. */
void gs_means_seen(void *self, const struct gpusched_tsg *rec);
void gs_means_ended(void *self, const struct gs_end *end);
void gs_means_answered(void *self, enum gs_reader_what what, pid_t pid);
void gs_means_policy_changed(void *self);
void gs_means_beat(void *self);

enum gs_role gs_means_role(uint32_t class_id);
/*
 * Call it when user @id->uid starts the program: returns what is known, and counts the program as
 * used now. NULL: nothing is known.
 */
const struct gs_remembered *gs_means_use(struct gs_means_known *k, const struct gs_program_id *id);
/*
 * Call it when a start of a best-effort program asked for its means. True: CTA mode may be tried on
 * the program beside a service, since it is unknown how long its thread blocks are.
 */
bool gs_means_ask(struct gs_means_known *k, const struct gs_program_id *id);
/* Starts that were told their means. Borrowed. */
struct gs_starts *gs_means_starts(struct gs_means_known *k);
/* True if a program of class lc runs outside of MPS servers. */
bool gs_means_lc_runs(const struct gs_means_known *k);
/* All remembered programs, linked by hh.next. Without @looked, nothing was measured of one. */
struct gs_remembered *gs_means_all(const struct gs_means_known *k);
/* Calls @fn for each process that runs a known program: once for each of its TSGs. */
void gs_means_running(const struct gs_means_known *k,
		      void (*fn)(const struct gs_remembered *r, uint32_t pid, void *user),
		      void *user);

#endif /* GPUSCHED_MEANS_MEANS_H */
