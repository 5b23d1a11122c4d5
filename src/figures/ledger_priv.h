/* SPDX-License-Identifier: MIT */
/*
 * ledger_priv.h - what the files of the ledger share
 */
#ifndef GPUSCHED_FIGURES_LEDGER_PRIV_H
#define GPUSCHED_FIGURES_LEDGER_PRIV_H

#include <uthash.h>

#include "figures/figures.h"
#include "figures/idle.h"
#include "figures/ledger.h"
#include "figures/verdict.h"
#include "history/history.h"
#include "process/cgroup.h"

/* Sums since the daemon's start, of ended TSGs as well: for sums and metrics. */
#define GROUPS_MAX 1024
struct group_key {
	uint32_t gpu;
	char class[32], cgroup[GS_CGROUP_PATH_LEN];
};
struct group {
	UT_hash_handle hh;
	struct group_key key;
	struct gs_history_sums sums;
	struct gs_pod_names pod;
	struct gs_history_sums
		ended;     /* of groups that are not here any more: pods that have ended */
	unsigned int live; /* TSGs */
	uint64_t left_ns;  /* the last one went */
	bool pool;
	uint64_t recent_ns; /* that its TSGs held of the last 10 s */
	uint64_t memory;    /* bytes that its processes held when that was read last */
};

/* Ring of the last samples. */
#define SAMPLE_NS NS_PER_S
#define SAMPLES 11

/* A process with compute TSGs. */
struct proc {
	UT_hash_handle hh;
	int32_t pid;
	uint64_t start_ns;
	unsigned int ntsgs;
	struct gs_deadlines deadlines;
	bool job_asked; /* of which batch job it is: that is known, or that it is of none */
	char job[GS_BATCH_JOB_LEN];
};

struct kept {
	UT_hash_handle hh;
	uint64_t id, cgroup_id;
	uint32_t class_id;
	bool job_known; /* of which batch job it is, or that it is of none */
	struct proc *proc;
	struct gpusched_key key;
	struct gs_history_who who;
	struct group *group;
	struct gs_turn_sums seen;              /* the account's, as far as it was taken down */
	struct gs_history_sums pending, total; /* for the history; since it is known */
	uint64_t launches, launches_since_ns, gaps;
	uint64_t given_ns; /* to the history */
	/* suspended, and so for another's request: added up until then; 0: it is not */
	uint64_t suspended_ns, request_ns;
	unsigned int events;
	uint64_t first_sample; /* that it was there for */
	uint64_t sampled;      /* how many are known: the later ones are as the last */
	struct gs_tsg_sums samples[SAMPLES];
	double calm_pct; /* as a status request found it; NAN: not known */
	uint64_t calm_ns;
	uint64_t starved_ns, harmed_ns; /* it is so since then; 0: it is not */
	bool waiting;                   /* at its last sample */
	bool mig;                       /* in a partition of its GPU */
	uint32_t runlist;               /* gpusched_runlist() */
	struct gs_idle idle;            /* memory.c's */
	struct gs_idle rest;            /* ledger_spend.c's */
};

struct gpu_kept {
	struct gs_runlist_sums seen;
	struct gs_history_sums pending, total;
	uint64_t given_ns;
	struct gs_gpu_sums samples[SAMPLES];
	uint64_t lossy_ns; /* it loses too much since then; 0: it does not */
};

/* All sums are being brought up to now, in slices. */
struct ledger_bringing {
	uint64_t *ids; /* NULL: they are not */
	size_t n, at;
};

/* All of it is being given to the history, in slices. */
struct ledger_giving {
	struct gs_sliced sliced;
	struct gs_figures *fig;
	uint64_t *ids; /* NULL: it is not */
	size_t n, at;
	uint64_t began_ns;
	char policy[64]; /* in force until then */
};

struct gs_ledger {
	struct kept *all;
	struct proc *procs;
	struct group *groups;
	struct gpu_kept *gpus; /* as s->gpus */
	sd_event_source *due;
	struct gs_history *history;
	uint64_t minute_ns, given_ns, brought_ns;
	struct ledger_bringing bringing;
	struct ledger_giving giving;
	unsigned int events;
	struct gs_deadlines deadlines; /* of all processes, those that have ended among them */
	bool anew;                     /* somebody came since the last sample */
	bool unlearned;                /* a reader will say of which batch job somebody is */
	int64_t clock_s; /* the machine's clock less that since boot; 0: not looked at yet */
	uint64_t nsamples, first_sample; /* taken so far; from which on there was no pause */
	uint64_t sampled_ns[SAMPLES];
	struct gs_trouble_counts troubles[SAMPLES];
	unsigned int found[GS_FINDING_MAX]; /* at the last sample, about GPUs and TSGs */
};

/* ledger_take.c: what has been done since the last time, into all sums. */
void ledger_add(struct kept *k, const struct gs_history_sums *d);
/* It is suspended from now on (for another TSG's request), or no longer. */
void ledger_suspended(struct kept *k, bool begins, bool for_request);
/* Gaps in the records of a GPU's log. */
uint64_t ledger_gaps(const struct gs_figures *fig, uint32_t gpu);
void ledger_take_tsg(struct gs_figures *fig, struct kept *k);
void ledger_take_gpu(struct gs_figures *fig, size_t i);

/* ledger_names.c: the owner, where it is not known yet. */
void ledger_learn(struct gs_ledger *l, struct kept *k);

/* ledger_give.c. @always: an entry even if there is nothing to tell. */
void ledger_give(struct gs_figures *fig, struct kept *k, bool always);
void ledger_give_begin(struct gs_figures *fig);
void ledger_give_all(struct gs_figures *fig);

/* ledger_groups.c. NULL: out of memory. */
struct group *ledger_group(struct gs_ledger *l, const struct group_key *key);
/* Joins the group that its class and cgroup say now. */
void ledger_join(struct gs_figures *fig, struct kept *k);
void ledger_leave(struct kept *k);
/* Those of pods that have ended go after a while, and their sums to the class's own. */
void ledger_end_groups(struct gs_figures *fig);
void ledger_free_groups(struct gs_ledger *l);

/* ledger_take.c: of the TSGs that are there now: some may end before it is their turn. */
uint64_t *ledger_ids(const struct gs_ledger *l, size_t *ret_n);

/* ledger_sums.c: all sums up to now, or what they were up to 100 ms ago; false: there is more to do after @until_ns. */
bool gs_ledger_bring_up(struct gs_figures *fig, uint64_t until_ns);

/* ledger_recent.c */
void ledger_sample(struct gs_figures *fig);
/* The oldest sample, if it is a second old at least. */
bool ledger_oldest(const struct gs_ledger *l, uint64_t *ret);
/* The youngest that is older than @ns, a second or more; else the oldest. */
bool ledger_older(const struct gs_ledger *l, uint64_t ns, uint64_t *ret);
struct gs_tsg_sums ledger_sample_of(const struct kept *k, uint64_t at);
struct gs_trouble_counts ledger_troubles(const struct gs_figures *fig);
/* window.c: what is wrong, and since when it is so, after each sample. */
void ledger_mark(struct gs_figures *fig);
/* The part of the last ten seconds that each group held. */
void ledger_take_shares(struct gs_figures *fig);
/* The same as a part of that time; negative: not known. */
double gs_ledger_share(struct gs_figures *fig, const struct group *g);
/* Samples begin anew after a pause. */
void ledger_pause(struct gs_ledger *l);

#endif /* GPUSCHED_FIGURES_LEDGER_PRIV_H */
