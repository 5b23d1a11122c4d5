/* SPDX-License-Identifier: MIT */
/*
 * means.h - remembers how each program shared the GPU, to choose its means at the next start
 *
 * The daemon looks at compute TSGs once a second, and adds the account's figures to the records of
 * their programs. A thread writes these records to a file once a minute. Only the main loop's
 * thread may call these functions.
 */
#ifndef GPUSCHED_MEANS_MEANS_H
#define GPUSCHED_MEANS_MEANS_H

#include "figures/figures.h"
#include "means/remembered.h"
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
/* Reads the file. Does nothing if this process is not the daemon. */
void gs_means_start(struct gs_means_known *k, gs_means_told_fn told, void *user);
/* Takes the last figures of all TSGs, and writes the file. Call it before the ledger ends. */
void gs_means_end(struct gs_means_known *k);

/* Callbacks of struct gs_observer. */
void gs_means_seen(void *self, const struct gpusched_tsg *rec);
void gs_means_ended(void *self, const struct gs_end *end);
void gs_means_process_ended(void *self, struct gs_process *p);
void gs_means_answered(void *self, enum gs_reader_what what, pid_t pid);
void gs_means_policy_changed(void *self);
void gs_means_beat(void *self);

/*
 * Called when a user (id->uid) starts the program: marks the program as used now, and returns its
 * record. NULL: nothing was measured.
 */
const struct gs_remembered *gs_means_use(struct gs_means_known *k, const struct gs_program_id *id);
/*
 * A service of user @uid that launches CUDA graphs starts. It may join that user's shared server,
 * where nothing is measured, so their best-effort programs get slices at their next start.
 */
void gs_means_graphs_come(struct gs_means_known *k, uid_t uid);
/* Starts that were told their means. Borrowed. */
struct gs_starts *gs_means_starts(struct gs_means_known *k);
/* True if a program of class lc runs outside of MPS servers. */
bool gs_means_lc_runs(const struct gs_means_known *k);
/* Returns all remembered programs, linked by hh.next. Some may not be measured yet (@looked). */
struct gs_remembered *gs_means_all(const struct gs_means_known *k);
/* Calls @fn for each TSG of a process that runs a measured program. */
void gs_means_running(const struct gs_means_known *k,
		      void (*fn)(const struct gs_remembered *r, uint32_t pid, void *user),
		      void *user);

#endif /* GPUSCHED_MEANS_MEANS_H */
