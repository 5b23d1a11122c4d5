/* SPDX-License-Identifier: MIT */
/* core_priv.h - declares the core's memory and its internal functions, for core_*.c */
#ifndef GPUSCHED_ENGINE_CORE_PRIV_H
#define GPUSCHED_ENGINE_CORE_PRIV_H

#include <errno.h>
#include <uthash.h>

#include "basic/clock.h"
#include "engine/core.h"
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

/* Queues for calls. The first queue comes before the others, and in each queue users take turns. */
enum gs_queue {
	GS_QUEUE_FIRST, /* a TSG that had no call yet */
	GS_QUEUE_POLICY,
	GS_QUEUE_USERS, /* settings that users other than root made by hand */
	GS_QUEUES,
	GS_QUEUE_NONE = GS_QUEUES, /* the call does not wait */
	/* A hold's suspension: it does not wait either, while anything is left in the bucket. */
	GS_QUEUE_REQUEST
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
	/* holds for requests (core_hold.c) */
	unsigned int nyield;    /* number of nodes that yield to holds */
	unsigned int nholding;  /* number of nodes with a hold */
	struct gs_node *holder; /* the first node with a hold */
	uint64_t held_ns;       /* begin of the present hold */
	uint64_t held_until;    /* end of the hold, whatever its holders wish */
	uint64_t pay_until;     /* no hold begins before this time */
	int64_t stretch_ns;     /* time held in this stretch; time without a hold reduces it */
	int64_t owed_ns;  /* GPU time still owed to BE for its floor; below zero: BE is ahead */
	uint64_t owed_at; /* time of the last change of owed_ns; 0: never held */
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
	uint32_t gave_up;   /* settings given up, until the setting's goal or the owner changes */
	uint64_t resume_ns; /* when a resume that was given up is tried again */
	struct gpusched_settings gave_up_at;
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
	uint32_t pod_slice_us; /* 0: its pod asks for no slice */
	uint32_t overruled;    /* reasons already reported, as 1 << enum gs_overrule */
	bool wants_short, active, told_short;
	bool beside_unseen; /* it keeps its owner's slice, since a TSG outside the table may run */
	uint8_t rank;       /* enum gs_rank */
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
	bool starved;
	uint64_t starved_ns, progress, progress_ns;
	bool spent; /* its GPU time is used up while others want the GPU */
	bool spent_on, spent_unable;
	bool curbed;           /* greed_rule() has taken its long slice away */
	uint64_t greedy_until; /* until then it gets no long slice; a new excess moves this time */
	/*
	 * For the budget of calls. @users: settings, and GS_PREEMPT, that a user other than root
	 * asked for and that had no call yet.
	 */
	uint32_t users;
	bool deferred;
	bool may_go;            /* its wait is over, and the budget is reserved for its calls */
	uint8_t queue;          /* the enum gs_queue in which it waits */
	struct gs_share *share; /* NULL: it does not wait */
	struct gs_budget *budget;
	struct gs_node *wait_prev, *wait_next;
	struct gpusched_settings told; /* dry run: what was last reported */
	uint64_t due;                  /* time of the next evaluation; 0: no need */
	struct gs_runlist *runlist;
	struct gs_node *rl_prev, *rl_next;
};

/* One user's TSGs in a queue for calls. */
struct gs_share {
	struct gs_share *prev, *next;
	uint32_t uid;
	struct gs_node *nodes; /* oldest first */
};

/* One GPU's budget for calls. @left_ns: GPU time left for them; below zero: overspent. */
struct gs_budget {
	int64_t left_ns;
	uint64_t at;                        /* time of the last update; 0: never used */
	struct gs_share *shares[GS_QUEUES]; /* the waiting users; the first is next */
	uint64_t due;            /* when a waiting TSG may go on; UINT64_MAX: none waits */
	uint32_t switch_cost_us; /* the GPU's own; 0: not known */
};

struct gs_core {
	struct gs_core_opts opts;
	struct gs_node *nodes;
	struct gs_node *due_at; /* gs_core_due() goes on with this node; NULL: with the first */
	struct gs_runlist *runlists;
	struct gs_budget *budgets; /* ngpus + 1 of them: the last is for unknown GPUs */
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

/* In core_laws.c. todo->poke has the record. A law that ends a wait notes this in todo->poke. */
void gs_core_laws(struct gs_core *c, struct gs_node *n, uint64_t now, struct gs_todo *todo,
		  struct gs_goal *ret);
void gs_core_leave_runlist(struct gs_core *c, struct gs_node *n);

/* Reasons as 1 << enum gs_overrule. */
uint32_t gs_core_overrules(const struct gs_node *n);

/* In core_laws.c: begins or ends the node's own hold, even while calls for it are under way. */
void gs_core_requests(struct gs_core *c, struct gs_node *n, uint64_t now, struct gs_todo *todo);

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
enum gpusched_suspend_by gs_suspend_by(uint8_t src);

/* in core_results.c; writes into todo->poke */
void gs_core_results(struct gs_core *c, struct gs_node *n, const struct gs_plan *plan, uint64_t now,
		     struct gs_todo *todo);
/*
 * Notes whether RM knows the TSG. If RM denies it twice, the TSG counts as ended, and nothing is
 * restored.
 */
void gs_core_presence(struct gs_core *c, struct gs_node *n, const struct gs_plan *plan,
		      uint64_t now, struct gs_todo *todo);
/* Counts the cost of the calls, and returns it. */
uint64_t gs_core_count(struct gs_core *c, const struct gs_plan *plan);

/* in core_budget.c */
/* How long TSGs in queue @q have to wait; 0: not at all. */
uint64_t gs_budget_wait(const struct gs_core *c, const struct gs_budget *b, uint64_t now,
			enum gs_queue q);
void gs_budget_charge(const struct gs_core *c, struct gs_budget *b, uint64_t now, int64_t ns);
/*
 * Charges the estimated cost of the plan. Returns false if the TSG has to wait; then the TSG is
 * evaluated again when its turn comes.
 */
bool gs_budget_take(struct gs_core *c, struct gs_node *n, const struct gpusched_tsg *rec,
		    struct gs_plan *plan, uint64_t now);
/* How long a hold of @ncalls calls has to wait; 0: not at all; UINT64_MAX: no budget is enough. */
uint64_t gs_budget_hold_wait(const struct gs_core *c, uint32_t gpu, unsigned int ncalls,
			     uint64_t now);
/* Ends the node's wait, if it waits. */
void gs_budget_leave(struct gs_node *n);
/*
 * Gives the TSGs that have waited long enough, for gs_core_due(). @inout_next: lowered to the time
 * when other TSGs may be due.
 */
size_t gs_budget_due(struct gs_core *c, uint64_t now, struct gpusched_key *ret, size_t max,
		     uint64_t *inout_next);
/* Charges a call that belongs to no TSG. Such a call does not wait. */
void gs_budget_spent(struct gs_core *c, uint32_t gpu, uint64_t ns, uint64_t now);
void gs_budget_settle(struct gs_core *c, const struct gs_plan *plan, uint64_t spent_ns);

#endif /* GPUSCHED_ENGINE_CORE_PRIV_H */
