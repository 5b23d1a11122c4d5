/* SPDX-License-Identifier: MIT */
/* core_priv.h - declares the core's memory and its internal functions, for core_*.c */
#ifndef GPUSCHED_ENGINE_CORE_PRIV_H
#define GPUSCHED_ENGINE_CORE_PRIV_H

#include <errno.h>
#include <uthash.h>

#include "basic/clock.h"
#include "engine/core.h"
#include "engine/core_budget.h"
#include "engine/fields.h"

#define GS_TRIES 12u
#define GS_PREEMPT (1u << 31) /* stands for a preempt call among the bits of settings */

/* The settings that a TSG should have, and where each comes from. */
struct gs_goal {
	struct gpusched_settings set; /* every field is set */
	uint8_t src[GS_NFIELDS];
};

/*
 * The rank of a short slice, by its source. A lower rank gives way to a higher one, but an owner's
 * slice gives way only to the policy's and root's.
 */
enum gs_rank {
	GS_RANK_OWNER, /* asked for by its program */
	GS_RANK_USER,
	GS_RANK_POLICY,
	GS_RANK_ROOT,
	GS_RANKS
};

/* The TSGs on one engine of a GPU, and those of them that want slices below the switch cost. */
struct gs_runlist {
	UT_hash_handle hh;
	uint64_t id; /* gpusched_runlist(), or a number above 32 bits if the engine is unknown */
	unsigned int nodes;
	/* nodes that want a short slice, by rank; and how many of these are busy */
	unsigned int nshort[GS_RANKS], nactive[GS_RANKS];
	unsigned int top;        /* the highest rank of a node that wants a short slice */
	struct gs_node *first;   /* its nodes, linked by rl_next */
	struct gs_node *elected; /* the node that may have the short slice */
	unsigned int nfree; /* nodes that run as their owners asked, whatever the policy wishes */
	/* holds for requests (core_hold.c) */
	unsigned int nyield;    /* number of nodes that yield to holds */
	unsigned int nholding;  /* number of nodes with a hold */
	struct gs_node *holder; /* the first node with a hold */
	uint64_t held_ns;       /* begin of the present hold */
	uint64_t held_until;    /* end of the hold, whatever its holders wish */
	uint64_t spread_at;     /* when jobs are held on other GPUs, too; 0: that is over */
	uint64_t pay_until;     /* no hold begins before this time */
	int64_t stretch_ns;     /* time held in this stretch; time without a hold reduces it */
	int64_t owed_ns;  /* GPU time still owed to BE for its floor; below zero: BE is ahead */
	uint64_t owed_at; /* time of the last change of owed_ns; 0: never held */
};

/* A process's compute TSGs on one GPU, or its GPUs (core_mode.c). */
struct gs_work_key {
	uint64_t start_ns;
	uint32_t pid, gpu;
};
struct gs_work {
	UT_hash_handle hh;
	struct gs_work_key key;
	unsigned int n; /* never 0 */
};

/* The core's memory of one TSG. */
struct gs_node {
	UT_hash_handle hh;
	struct gpusched_key key;
	uint64_t id;
	uint32_t pid; /* pid of the owner */
	uint64_t owner_start_ns;
	uint64_t round;      /* number of the last round that evaluated the node */
	bool preempt;        /* a preempt call is wanted and not yet planned */
	bool preempting;     /* a preempt was asked for, and has no result yet */
	bool preempt_policy; /* the policy wished that preempt */
	/* the policy's preempt and park wishes, as last seen in the record */
	uint32_t preempts, parks;
	struct gs_rm_result preempted; /* result of the last preempt */
	/* Calls for it are under way; it is evaluated again afterwards. */
	bool busy;
	bool forgotten; /* free it when the calls are back */
	/* settings with a value in the hardware that may differ from `is` */
	uint32_t owner_set; /* the owner's own call came after ours */
	uint32_t unsure;    /* set by another daemon, or by a call with an unclear result */
	struct gpusched_settings seen_asked;
	uint32_t called;    /* settings in our last call */
	uint64_t called_ns; /* when the result of that call was seen */
	unsigned int suspended_channels;
	/* failed calls */
	unsigned int fails;
	uint64_t retry_at;
	uint32_t gave_up; /* settings given up, until the setting's goal or the owner changes */
	struct gpusched_settings gave_up_at;
	/* calls that put back the owner's settings: they fail and wait apart from those for wishes */
	unsigned int back_fails;
	uint64_t back_at;
	uint32_t left_back;   /* not put back before @later_ns, since their calls failed */
	uint64_t later_ns;    /* when these, or a resume given up, are tried again; 0: none */
	bool unknown;         /* a setting is unknown: gpusched_unknown() */
	unsigned int denials; /* consecutive refusals by RM on the TSG's own file */
	uint64_t check_ns;    /* when to ask RM whether it exists; 0: no need */
	uint64_t sibling_ns;  /* when it was last asked because its client made a new TSG */
	/* state of the laws */
	bool aside;        /* it is about to be parked */
	bool park_refused; /* the policy's last wish to park its process was refused */
	bool left_alone;   /* policies leave it alone: its partition is unknown */
	uint32_t refused;  /* settings with a refused wish; each value is counted once */
	struct gpusched_settings refused_wish;
	uint8_t refused_by[GS_NFIELDS]; /* the law that refused each: enum gs_overrule */
	struct gpusched_settings seen_want;
	struct gs_work *work; /* its process's work on its GPU; NULL: it does not count */
	bool spans; /* a person's mode is refused, since its process has work on two GPUs */
	bool stays; /* its suspension is refused, since it is not in CILP */
	uint32_t pod_slice_us; /* 0: its pod asks for no slice */
	uint64_t job;          /* 0: unknown */
	uint32_t overruled;    /* reasons already reported, as 1 << enum gs_overrule */
	bool wants_short, active, told_short;
	/* it keeps its owner's slice, since a TSG may run that the policy can't set */
	bool beside_unseen;
	bool runs_free; /* counted in its runlist's nfree */
	uint8_t rank;   /* enum gs_rank */
	/* When its wait for admission was first seen; 0: it does not wait. */
	uint64_t held_ns;
	/* Its suspension has reached the limit; set until the policy withdraws the wish. */
	bool released;
	/*
	 * When @released ends although the wish stays; 0: never, as the process is within its
	 * quota.
	 */
	uint64_t again_ns;
	/* holds for requests */
	bool yields, unable;
	bool holding;
	uint8_t hold_wish;  /* the hold that the policy wishes, as want.hold; 0: no wish */
	uint8_t hold_state; /* state of its own hold: enum gpusched_hold_state */
	uint64_t hold_ns;   /* begin of its hold; valid with @holding */
	uint64_t hold_due;  /* when its hold ends or may begin; 0: nothing to wait for */
	struct gs_runlist *held_with; /* its job is held on that other runlist; NULL: it is not */
	bool starved;
	uint64_t starved_ns, progress, progress_ns;
	bool spent; /* its GPU time is used up while others want the GPU */
	bool spent_on, spent_unable;
	/* quarantine (core_quarantine.c); in_quarantine: a wish was refused for that */
	bool quarantined, in_quarantine;
	bool apart_on;        /* the policy's wishes are not followed since RM failed a call */
	uint64_t apart_until; /* until then they do not count; @apart_ns: for how long */
	uint64_t apart_ns;
	bool curbed;           /* greed_rule() has taken its long slice away */
	uint64_t greedy_until; /* until then it gets no long slice; a new excess moves this time */
	/*
	 * For the budget of calls. @users: settings, and GS_PREEMPT, that a user other than root
	 * asked for and that had no call yet.
	 */
	uint32_t users;
	bool deferred;
	bool may_go;            /* its wait is over, and the budget is reserved for its calls */
	bool pauses;            /* its calls suspend it, and no user asked for that */
	uint8_t queue;          /* the enum gs_queue in which it waits */
	struct gs_share *share; /* NULL: it does not wait */
	struct gs_budget *budget;
	struct gs_node *wait_prev, *wait_next;
	struct gpusched_settings told; /* dry run: what was last reported */
	uint64_t due;                  /* time of the next evaluation; 0: no need */
	struct gs_runlist *runlist;
	struct gs_node *rl_prev, *rl_next;
};

struct gs_core {
	struct gs_core_opts opts;
	struct gs_node *nodes;
	struct gs_node *due_at; /* gs_core_due() goes on with this node; NULL: with the first */
	struct gs_runlist *runlists;
	struct gs_work *works;
	struct gs_budget *budgets; /* one per GPU, one for unknown GPUs, and the host's */
	/* the job that had the last suspension let in, at @ns (core_budget.c) */
	struct {
		uint64_t job, ns;
		uint32_t uid;
		unsigned int left; /* how many suspensions of it may follow */
	} along;
	struct gpusched_class classes[GPUSCHED_MAX_CLASSES];
	unsigned int nbusy;
	uint64_t round;
	uint64_t next_due; /* no node is due before this time; UINT64_MAX: none */
	bool policy_active;
	uint32_t policy_flags;
	uint64_t call_ns_avg;
	uint64_t counters[GS_ENG_MAX];
};

static inline struct gs_budget *gs_core_budget(const struct gs_core *c, uint32_t gpu)
{
	return &c->budgets[gpu < c->opts.ngpus ? gpu : c->opts.ngpus];
}

/* For calls that take the locks of all GPUs. */
static inline struct gs_budget *gs_core_host(const struct gs_core *c)
{
	return &c->budgets[c->opts.ngpus + 1];
}

static inline size_t gs_core_nbudgets(const struct gs_core *c)
{
	return c->opts.ngpus + 2;
}

static inline uint64_t gs_core_dilated(const struct gs_core *c, uint64_t ns)
{
	return (uint64_t)((double)ns * c->opts.dilate);
}

/* Asks for an evaluation at that time. */
static inline void gs_core_set_due(struct gs_core *c, struct gs_node *n, uint64_t ns)
{
	if (!n->due || ns < n->due)
		n->due = ns;
	if (ns < c->next_due)
		c->next_due = ns;
}

/*
 * Counts the TSG among those of its runlist that have a short slice, and elects the one that may
 * have it. Returns true if the TSG should have a short slice. Needs n->runlist.
 */
bool gs_core_count_slice(struct gs_core *c, struct gs_node *n, const struct gpusched_tsg *rec,
			 uint64_t now, const struct gs_goal *t);
/* In core_laws.c. todo->poke has the record. A law that ends a wait notes this in todo->poke. */
void gs_core_laws(struct gs_core *c, struct gs_node *n, uint64_t now, struct gs_todo *todo,
		  struct gs_goal *ret);
void gs_core_leave_runlist(struct gs_core *c, struct gs_node *n);

/* Reasons as 1 << enum gs_overrule. */
uint32_t gs_core_overrules(const struct gs_node *n);

/* In core_laws.c: begins or ends the node's own hold, even while calls for it are under way. */
void gs_core_requests(struct gs_core *c, struct gs_node *n, uint64_t now, struct gs_todo *todo);

/* in core_mode.c */
/* Counts the node's process as one with work on the record's GPU. */
void gs_mode_follow(struct gs_core *c, struct gs_node *n, const struct gpusched_tsg *rec);
void gs_mode_leave(struct gs_core *c, struct gs_node *n);
/* True if a policy may wish that mode: CILP, or the owner's own. */
bool gs_mode_allowed(const struct gpusched_tsg *rec, uint32_t mode);

/* in core_hold.c */
void gs_hold_follow(struct gs_core *c, struct gs_node *n, const struct gpusched_tsg *rec,
		    uint64_t now);
/* Suspends the node if a hold wants that and nothing else does. */
void gs_hold_obey(struct gs_core *c, struct gs_node *n, const struct gpusched_tsg *rec, bool whole,
		  uint64_t now, struct gs_goal *t);
/* Ends the node's hold, since the node leaves its runlist. */
void gs_hold_leave(struct gs_core *c, struct gs_node *n);
/* Writes the hold's state into the record, for the policy. */
void gs_hold_note(const struct gs_core *c, const struct gs_node *n, bool held,
		  struct gpusched_poke *p);
/* Reasons as 1 << enum gs_overrule. */
uint32_t gs_hold_overrules(const struct gs_node *n);

/* in core_gap.c; todo->poke has the record */
void gs_core_compare(struct gs_core *c, struct gs_node *n, uint64_t now, struct gs_todo *todo);
/* The value of a record's suspended_by for that source. */
enum gpusched_suspend_by gs_core_suspend_by(uint8_t src);

/* in core_results.c; writes into todo->poke */
void gs_core_results(struct gs_core *c, struct gs_node *n, const struct gs_plan *plan, uint64_t now,
		     struct gs_todo *todo);
/*
 * Notes whether RM knows the TSG. If RM denies it twice, the TSG counts as ended, and nothing is
 * restored.
 */
void gs_core_presence(struct gs_core *c, struct gs_node *n, const struct gs_plan *plan,
		      uint64_t now, struct gs_todo *todo);
/* Counts the calls and their cost. */
void gs_core_count(struct gs_core *c, const struct gs_plan *plan);

#endif /* GPUSCHED_ENGINE_CORE_PRIV_H */
