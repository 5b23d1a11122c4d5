/* SPDX-License-Identifier: MIT */
/*
 * ledger_priv.h - declares what the files of the ledger share
 */
#ifndef GPUSCHED_FIGURES_LEDGER_PRIV_H
#define GPUSCHED_FIGURES_LEDGER_PRIV_H

#include <uthash.h>

#include "basic/share.h"
#include "figures/figures.h"
#include "figures/idle.h"
#include "figures/ledger.h"
#include "figures/verdict.h"
#include "history/history.h"
#include "process/cgroup.h"

/*
 * A group is all TSGs with the same GPU, class and cgroup. Its sums since the daemon's start are
 * for `stats` and metrics, and include TSGs that have ended.
 */
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
	struct gs_history_sums ended; /* in the group without a cgroup: sums of removed groups */
	unsigned int live;            /* TSGs in this group */
	uid_t uid;                    /* of its first TSG; a group with a cgroup is in its share */
	uint64_t left_ns;             /* when the last TSG left */
	bool pool;
	uint64_t recent_ns; /* GPU time of its TSGs in the last 10 s */
	uint64_t memory;    /* bytes that its processes held at the last reading */
	/* the cost of its requests, and of those of removed groups; NULL: none is known */
	struct gs_request_cost *requests, *ended_requests;
};

/* Ring of the last samples. */
#define SAMPLE_NS NS_PER_S
#define SAMPLES 11

/* A process with compute TSGs. */
struct proc {
	struct gs_process *process; /* NULL: it has ended, or too many are known */
	int32_t pid;
	uint64_t start_ns;
	unsigned int ntsgs;
	struct gs_deadlines deadlines;
	struct gs_request_cost *requests; /* NULL: none is known */
	bool job_asked;                   /* its batch job was looked up */
	char job[GS_BATCH_JOB_LEN];
};

/*
 * The ledger's entry for a compute TSG. First comes what is read for all TSGs again and again, so
 * that ten thousand that do nothing cost few cache lines.
 */
struct kept {
	UT_hash_handle hh;
	uint64_t id;
	struct gs_idle idle; /* idle time, as memory.c reads it */
	struct group *group;
	uint64_t sampled;       /* 1 + number of its last stored sample; later samples equal that */
	uint64_t given_ns;      /* time of the last write to the history */
	uint64_t given_sampled; /* @sampled at that time */
	/*
	 * Time up to which the present suspension is counted; 0: the TSG is not suspended.
	 * @request_ns: the same for a suspension for another TSG's request.
	 */
	uint64_t suspended_ns, request_ns;
	uint64_t free_ns; /* when its last suspension ended */
	/* begin and end of the last time in which gpusched called it again and again; 0: never */
	uint64_t acts_begin_ns, acts_end_ns;
	uint32_t class_id;
	unsigned int events;
	bool news;      /* @pending has work or time */
	bool waiting;   /* the TSG waited at its last sample */
	bool mig;       /* in a MIG partition of its GPU */
	bool job_known; /* it is known which batch job it belongs to, or that it belongs to none */
	uint32_t runlist; /* gpusched_runlist() */
	uint32_t holder;  /* its process now; 0: unchanged */
	struct gs_history_who who;

	uint64_t cgroup_id;
	struct proc *proc;
	struct gpusched_key key;
	uint64_t used_ns; /* the highest GPU time used that the account has reported: never falls */
	struct gs_turn_sums seen; /* the account's sums when work was last taken from it */
	/*
	 * @pending: sums that are not yet in the history. @total: sums since the TSG became known.
	 */
	struct gs_history_sums pending, total;
	uint64_t launches, launches_since_ns, gaps;
	uint64_t first_sample;       /* the first sample in which the TSG existed */
	struct gs_slo_recent *slo;   /* NULL: its class has had no slo= */
	struct gs_tsg_sums *samples; /* SAMPLES of them; NULL: all samples so far were 0 */
	/* wait in calm minutes in %, found by a status request at calm_ns; NAN: unknown */
	double calm_pct;
	uint64_t calm_ns;
	/* when the TSG began to starve, to be harmed, and to miss its time; 0: it does not */
	uint64_t starved_ns, harmed_ns, missed_ns;
	struct kept *judged_prev, *judged_next; /* NULL: it is not in gs_ledger.judged */
	struct gs_idle rest;                    /* idle time, as ledger_spend.c reads it */
};

/* The ledger's entry for a GPU. */
struct gpu_kept {
	struct gs_runlist_sums seen;
	struct gs_history_sums pending, total;
	uint64_t given_ns;
	struct gs_gpu_sums samples[SAMPLES];
	uint64_t lossy_ns;     /* when it began to lose too much time to switches; 0: it does not */
	uint64_t classless_ns; /* when programs without a class began to wait for each other */
	struct gs_classless_facts classless; /* such programs, at the last look */
	/* its compute TSGs, and how many of them are in a MIG partition */
	unsigned int ntsgs, nmig;
	bool tells; /* a turn would have been seen, when the last write to the history began */
};

/* State of an update of all sums to the present, which is done in slices. */
struct ledger_bringing {
	uint64_t *ids; /* NULL: none is under way */
	size_t n, at;
};

/* State of a write of everything to the history, which is done in slices. */
struct ledger_giving {
	struct gs_sliced sliced;
	struct gs_figures *fig;
	uint64_t *ids; /* NULL: none is under way */
	size_t n, at;
	bool all; /* no TSG is left out since it did nothing up to the last sample */
	uint64_t began_ns;
	char policy[64]; /* the policy that was in force for the work that is written */
};

struct gs_ledger {
	struct kept *all;
	/*
	 * @judged: TSGs that a finding may be about (ledger_judged.h). @classes: how many TSGs each
	 * class has, by class id.
	 */
	struct kept *judged;
	unsigned int classes[GPUSCHED_MAX_CLASSES];
	struct group *groups;
	struct gs_shares group_shares; /* of the groups with a cgroup */
	struct gpu_kept *gpus;         /* one per GPU of the hub */
	sd_event_source *due;
	uint64_t due_ns; /* nominal time of the next sample */
	struct gs_history *history;
	uint64_t minute_ns, given_ns, brought_ns;
	struct ledger_bringing bringing;
	struct ledger_giving giving;
	struct gs_shares events;       /* of the present minute */
	struct gs_deadlines deadlines; /* of all processes, including those that have ended */
	bool anew;                     /* a TSG has come since the last sample */
	bool unlearned;                /* some process's batch job is still to be found out */
	int64_t clock_s;               /* CLOCK_REALTIME less CLOCK_BOOTTIME; 0: not read yet */
	/*
	 * @nsamples: samples taken so far. @first_sample: number of the first sample after the last
	 * pause.
	 */
	uint64_t nsamples, first_sample;
	uint64_t sampled_ns[SAMPLES];
	struct gs_trouble_counts troubles[SAMPLES];
	unsigned int found[GS_FINDING_MAX]; /* findings about GPUs and TSGs at the last sample */
	enum gs_counting counting;          /* at the last sample, if a finding needed it */
};

/* ledger_take.c: adds new work to all sums. */
void ledger_add(struct kept *k, const struct gs_history_sums *d);
/*
 * Notes that a suspension of the TSG begins, or ends. @for_request: it is for another TSG's
 * request.
 */
void ledger_suspended(struct kept *k, bool begins, bool for_request);
/* The number of gaps in the records of a GPU's log. */
uint64_t ledger_gaps(const struct gs_figures *fig, uint32_t gpu);
void ledger_take_tsg(struct gs_figures *fig, struct kept *k);
void ledger_take_gpu(struct gs_figures *fig, size_t i);

/* ledger_names.c: reads names of the owner that are still unknown. */
void ledger_learn(struct gs_ledger *l, struct kept *k);

/* ledger_give.c. @always: write an entry even if there was no work. */
void ledger_give(struct gs_figures *fig, struct kept *k, bool always);
void ledger_give_begin(struct gs_figures *fig, bool all);
/* Tells the history if the clock was set. Rows that are written already keep their times. */
void ledger_check_clock(struct gs_figures *fig);
void ledger_give_all(struct gs_figures *fig);

/* ledger_groups.c: finds the group, or makes it. Returns NULL if out of memory. */
struct group *ledger_group(struct gs_ledger *l, const struct group_key *key);
/* Puts the TSG into the group for its present class and cgroup. */
void ledger_join(struct gs_figures *fig, struct kept *k);
void ledger_leave(struct kept *k);
/*
 * Removes groups of ended pods after a while, and keeps their sums at the class's group without a
 * cgroup.
 */
void ledger_end_groups(struct gs_figures *fig);
void ledger_free_groups(struct gs_ledger *l);

/*
 * ledger_sums.c: updates all sums, unless they are at most 100 ms old. Returns false if there is
 * more to do after @until_ns.
 */
bool gs_ledger_bring_up(struct gs_figures *fig, uint64_t until_ns);

/* ledger_recent.c */
void ledger_sample(struct gs_figures *fig);
/* Finds the oldest sample that is at least a second old. */
bool ledger_oldest(const struct gs_ledger *l, uint64_t *ret);
/*
 * Finds the youngest sample that is at least a second and more than @ns old; if there is none, the
 * oldest.
 */
bool ledger_older(const struct gs_ledger *l, uint64_t ns, uint64_t *ret);
struct gs_tsg_sums ledger_sample_of(const struct kept *k, uint64_t at);
struct gs_trouble_counts ledger_troubles(const struct gs_figures *fig);
/* window.c: notes after each sample what is wrong, and since when. */
void gs_window_mark(struct gs_figures *fig);
/* Computes for each group which part of the last ten seconds it held the GPU. */
void ledger_take_shares(struct gs_figures *fig);
/* The part that ledger_take_shares() computed; negative: unknown. */
double gs_ledger_share(struct gs_figures *fig, const struct group *g);
/* Starts a new series of samples after a pause. */
void ledger_pause(struct gs_ledger *l);

#endif /* GPUSCHED_FIGURES_LEDGER_PRIV_H */
