/* SPDX-License-Identifier: MIT */
/*
 * ledger.h - use of the GPUs, from the account's totals: kept for the history, for metrics, and for
 * the last ten seconds
 *
 * One entry per compute TSG while a daemon runs. Its work since the last look is written down
 * every minute, at its end, when its class, cgroup or policy changes, and when somebody asks.
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
struct gs_figures;

/* For a daemon; the history, if the configuration wants one. */
int gs_ledger_start(struct gs_figures *fig, struct gs_error *err);
/* Takes all down, and ends the history. */
void gs_ledger_end(struct gs_figures *fig);

/* It is there, or its class or cgroup may have changed. */
void gs_ledger_record(void *self, const struct gpusched_tsg *rec);
/* Before the account forgets it. */
void gs_ledger_ended(void *self, const struct gs_end *end);
void gs_ledger_event(void *self, const struct gpusched_event *ev, const struct gpusched_tsg *rec);
void gs_ledger_call(void *self, const struct gs_engine_call *call);
void gs_ledger_restored(void *self);
/* An answer from /proc came late. */
void gs_ledger_answered(void *self, enum gs_reader_what what, pid_t pid);
/* Messages to people: the end of a policy by itself is kept beside their own changes. */
void gs_ledger_said(void *self, json_t *event, uid_t owner);
/* @peer did it, or was refused. */
void gs_ledger_change(struct gs_figures *fig, const struct gs_peer *peer, const char *verb,
		      const char *target, const char *args, const char *result);
/* Another policy is about to act: what was done so far counts for the one before. */
void gs_ledger_policy_changes(void *self);
/*
 * The history is to have all that was done up to a second ago; false: there is more to do after
 * @until_ns.
 */
bool gs_ledger_give_for_answer(struct gs_figures *fig, uint64_t until_ns);
/*
 * Sums by process, class, cgroup (for root, and users who may see others' times) or gpu, since the
 * daemon's start; @sees_all: the caller may see others' times. -ENOTSUP: not a daemon; -EPERM;
 * -EINVAL.
 */
struct gs_ledger_rows;
int gs_ledger_rows(struct gs_figures *fig, bool sees_all, const char *by,
		   struct gs_ledger_rows **ret, struct gs_error *err);
/* Adds them up; false: there is more to do after @until_ns. */
bool gs_ledger_rows_sum(struct gs_figures *fig, struct gs_ledger_rows *r, uint64_t until_ns);
/* The next one; NULL: there is none. A process's is only for users who may see that user's. */
json_t *gs_ledger_row(struct gs_ledger_rows *r, bool *ret_process, uid_t *ret_uid);
void gs_ledger_rows_free(struct gs_ledger_rows *r);

/* A compute TSG, for callers that count GPU time. */
struct gs_spender {
	uint64_t id;
	const struct gpusched_key *key;
	uint32_t pid, runlist;
	uid_t uid;
	const char *cgroup;
	bool works; /* since the last look it had the GPU or waited for it, as far as known */
};
/* All of them, once a second; what they did until now is charged before. */
void gs_ledger_spenders(struct gs_figures *fig, void (*fn)(const struct gs_spender *s, void *user),
			void *user);
/* How many compute TSGs each class has, by its id. */
void gs_ledger_classes(const struct gs_figures *fig, unsigned int ret[GPUSCHED_MAX_CLASSES]);
/* The owner of a TSG, as far as it is known; NULL: there is none of that id here. */
const struct gs_history_who *gs_ledger_who(const struct gs_figures *fig, uint64_t id);

/* Requests that had a deadline, as far as their begin and end are known. */
struct gs_deadlines {
	uint64_t requests, missed, worst_ns; /* worst_ns: past the deadline, at most; 0: none was */
};
void gs_ledger_request(void *self, const struct gs_request_done *done);
/* Those of a TSG's process. false: no end of one is known. */
bool gs_ledger_deadlines(const struct gs_figures *fig, const struct gpusched_tsg *rec,
			 struct gs_deadlines *ret);
/* The sum over all processes since the daemon's start. */
bool gs_ledger_all_deadlines(const struct gs_figures *fig, struct gs_deadlines *ret);

/* NULL: none is kept. */
struct gs_history *gs_ledger_history(const struct gs_figures *fig);

#endif /* GPUSCHED_FIGURES_LEDGER_H */
