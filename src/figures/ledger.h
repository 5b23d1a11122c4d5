/* SPDX-License-Identifier: MIT */
/*
 * ledger.h - sums up the use of the GPUs, for the history, for metrics and for the last 10 s
 *
 * A daemon keeps one entry per compute TSG. The TSG's new work, taken from the account's totals, is
 * written down every minute, at its end, when its class, cgroup or policy changes, and when a
 * request needs it.
 */
#ifndef GPUSCHED_FIGURES_LEDGER_H
#define GPUSCHED_FIGURES_LEDGER_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "basic/error.h"
#include "gpusched/abi.h"
#include "history/history.h"
#include "process/reader.h"

struct gpusched_event;
struct gpusched_tsg;
struct gs_end;
struct gs_request_done;
struct gs_engine_call;
struct gs_peer;
struct gs_process;
struct gs_figures;

/* For a daemon. Opens a history if the configuration asks for one. */
int gs_ledger_start(struct gs_figures *fig, struct gs_error *err);
/* Writes everything down, and closes the history. */
void gs_ledger_end(struct gs_figures *fig);

/* A TSG exists, or its class or cgroup may have changed. */
void gs_ledger_record(void *self, const struct gpusched_tsg *rec);
/* A TSG ends. Runs before the account forgets the TSG. */
void gs_ledger_ended(void *self, const struct gs_end *end);
void gs_ledger_process_ended(void *self, struct gs_process *process);
void gs_ledger_event(void *self, const struct gpusched_event *ev, const struct gpusched_tsg *rec);
void gs_ledger_call(void *self, const struct gs_engine_call *call);
void gs_ledger_restored(void *self);
/* A delayed read of /proc is done: names that were unknown may be known now. */
void gs_ledger_answered(void *self, enum gs_reader_what what, pid_t pid);
/*
 * Writes down that a policy ended by itself, an Xid, or a quarantine. Other messages to people
 * (@event) are left out.
 */
void gs_ledger_said(void *self, json_t *event, uid_t owner);
/* Writes down that @peer made a change, or was refused. */
void gs_ledger_change(struct gs_figures *fig, const struct gs_peer *peer, const char *verb,
		      const char *target, const char *args, const char *result);
/* Another policy is about to start: counts all work until now for the old one. */
void gs_ledger_policy_changes(void *self);
/*
 * Writes all work up to a second ago into the history. Returns false if there is more to do after
 * @until_ns.
 */
bool gs_ledger_give_for_answer(struct gs_figures *fig, uint64_t until_ns);
/*
 * Sums since the daemon's start by process, class, cgroup or gpu. By cgroup only for root, and for
 * users who may see others' times (@sees_all). -ENOTSUP: no daemon; -EPERM; -EINVAL.
 */
struct gs_ledger_rows;
int gs_ledger_rows(struct gs_figures *fig, bool sees_all, const char *by,
		   struct gs_ledger_rows **ret, struct gs_error *err);
/* Computes the sums. Returns false if there is more to do after @until_ns. */
bool gs_ledger_rows_sum(struct gs_figures *fig, struct gs_ledger_rows *r, uint64_t until_ns);
/*
 * Returns the next row; NULL after the last. A process's row is only for users who may see the user
 * of that process.
 */
json_t *gs_ledger_row(struct gs_ledger_rows *r, bool *ret_process, uid_t *ret_uid);
void gs_ledger_rows_free(struct gs_ledger_rows *r);

/* A compute TSG, for functions that count GPU time. */
struct gs_spender {
	uint64_t id;
	const struct gpusched_key *key;
	uint32_t pid, runlist;
	uid_t uid;
	const char *cgroup;
	/* since the last call the TSG had the GPU or waited for it, as far as is known */
	bool works;
};
/*
 * Charges the work of all compute TSGs until now, and calls @fn for each. Call this once a second.
 */
void gs_ledger_spenders(struct gs_figures *fig, void (*fn)(const struct gs_spender *s, void *user),
			void *user);
/* Counts the compute TSGs of each class, by class id. */
void gs_ledger_classes(const struct gs_figures *fig, unsigned int ret[GPUSCHED_MAX_CLASSES]);
/* The owner of a TSG, as far as known; NULL if there is no such TSG. */
const struct gs_history_who *gs_ledger_who(const struct gs_figures *fig, uint64_t id);

/* Counts of requests that had a deadline and a known begin and end. */
struct gs_deadlines {
	/* worst_ns: how late the latest request was; 0: none was late. */
	uint64_t requests, missed, worst_ns;
};
void gs_ledger_request(void *self, const struct gs_request_done *done);
/* The counts for the TSG's process. Returns false if no such request is known. */
bool gs_ledger_deadlines(const struct gs_figures *fig, const struct gpusched_tsg *rec,
			 struct gs_deadlines *ret);
/* The counts for all processes since the daemon's start. */
bool gs_ledger_all_deadlines(const struct gs_figures *fig, struct gs_deadlines *ret);

/* Returns NULL if no history is kept. */
struct gs_history *gs_ledger_history(const struct gs_figures *fig);

#endif /* GPUSCHED_FIGURES_LEDGER_H */
