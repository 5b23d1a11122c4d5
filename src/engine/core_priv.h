/* SPDX-License-Identifier: MIT */
/* core_priv.h - what the core remembers; shared by core_*.c */
#ifndef GPUSCHED_ENGINE_CORE_PRIV_H
#define GPUSCHED_ENGINE_CORE_PRIV_H

#include <errno.h>
#include <uthash.h>

#include "basic/clock.h"
#include "engine/core.h"
#include "engine/fields.h"

#define GS_TRIES 12u
#define GS_PREEMPT (1u << 31) /* beside settings: a preempt call */

/* The settings that a TSG should have, and their source. */
struct gs_goal {
	struct gpusched_settings set; /* every field filled */
	uint8_t src[GS_NFIELDS];
};

/*
 * The rank of a short slice, by its source: the lower one gives way. Users' own slices do not move
 * each other.
 */
enum gs_rank {
	GS_RANK_OWNER, /* its program asked */
	GS_RANK_USER,
	GS_RANK_POLICY,
	GS_RANK_ROOT,
	GS_RANKS
};

/* Queues for calls: the first before the others, and in each the users in turn. */
enum gs_queue {
	GS_QUEUE_FIRST, /* a TSG that had no call yet */
	GS_QUEUE_POLICY,
	GS_QUEUE_USERS, /* what they ask for themselves */
	GS_QUEUES,
	GS_QUEUE_NONE = GS_QUEUES, /* does not wait */
	GS_QUEUE_REQUEST           /* nor does a hold, while there is something in the bucket */
};

/* TSGs of one (GPU, engine), and which of them are to have slices below the switch cost. */
struct gs_runlist {
	UT_hash_handle hh;
	uint64_t id; /* gpusched_runlist(), or above 32 bits one of its own */
	unsigned int nodes;
	unsigned int nshort[GS_RANKS],
		nactive[GS_RANKS]; /* that want a short slice; and are busy */
	unsigned int top;          /* enum gs_rank: the highest of those */
	struct gs_node *first;     /* its nodes, by ->rl_next */
	struct gs_node *elected;   /* the one that may have it */
	/* holds for requests (core_hold.c) */
	unsigned int nyield;    /* nodes that yield to them */
	unsigned int nholding;  /* nodes with a hold */
	struct gs_node *holder; /* the first of them */
	uint64_t held_ns;       /* since when it is held */
	uint64_t held_until;    /* however long others hold it */
	uint64_t pay_until;     /* no hold begins before */
	int64_t stretch_ns;     /* held, less what best effort was paid for it */
	int64_t owed_ns;        /* best effort's floor; below zero: it had more */
	uint64_t owed_at;       /* as of; 0: never held */
};

/* The core's memory of one TSG. */
struct gs_node {
	UT_hash_handle hh;
	struct gpusched_key key;
	uint64_t id;
	uint32_t pid; /* its owner */
	uint64_t owner_start_ns;
	uint64_t round;                /* over all TSGs, that met it last */
	bool preempt;                  /* asked for while busy */
	bool preempting;               /* asked for, and its end not seen yet */
	bool preempt_policy;           /* ... by the policy */
	uint32_t preempts;             /* as its policy has counted them */
	struct gs_rm_result preempted; /* how the last one ended */
	bool busy;                     /* its plan is being made true; then we look again */
	bool forgotten;                /* free it when that is done */
	/* which settings' hardware state is not what `is` says */
	uint32_t owner_set; /* the owner's own call came after ours */
	uint32_t unsure;    /* another daemon's, or a call with no clear end */
	struct gpusched_settings seen_asked;
	uint32_t called;    /* settings of our last call */
	uint64_t called_ns; /* when its end was seen */
	unsigned int suspended_channels;
	/* failures */
	unsigned int fails;
	uint64_t retry_at;
	uint32_t gave_up;   /* settings, until the goal of that setting or the owner changes */
	uint64_t resume_ns; /* ... or, for a resume, until this time */
	struct gpusched_settings gave_up_at;
	unsigned int denials; /* in a row, by RM on the TSG's own file */
	uint64_t check_ns;    /* ask whether it is there, at this time; 0: no need */
	uint64_t sibling_ns;  /* when it was asked because of a new TSG of its client */
	/* laws */
	bool aside;       /* it is about to be parked */
	bool left_alone;  /* by policies: nobody knows its partition */
	uint32_t refused; /* settings with a refused wish; counted once per value */
	struct gpusched_settings refused_wish;
	uint8_t refused_by[GS_NFIELDS]; /* enum gs_overrule */
	struct gpusched_settings seen_want;
	uint32_t overruled; /* 1 << enum gs_overrule: as it was told */
	bool wants_short, active, told_short;
	bool beside_unseen; /* it has its own slice for that */
	uint8_t rank;       /* enum gs_rank */
	uint64_t held_ns;   /* since when it waits for admission, as far as seen; 0: it does not */
	bool released;      /* its suspension hit the limit: until the policy withdraws the wish */
	uint64_t again_ns;  /* released: ... or until then; 0: it is not past its share */
	/* holds for requests */
	bool yields, unable;
	bool holding;
	uint8_t hold_wish;  /* as the policy wrote it; 0: no wish */
	uint8_t hold_state; /* enum gpusched_hold_state, of its own wish */
	uint64_t hold_ns;   /* when it began; with @holding */
	uint64_t hold_due;  /* its end, or when it may begin; 0: nothing to wait for */
	bool starved;
	uint64_t starved_ns, progress, progress_ns;
	bool spent; /* its GPU time is used up, and others want the GPU */
	bool spent_on, spent_unable;
	bool curbed;           /* its long slice is taken away ... */
	uint64_t greedy_until; /* ... until then, unless it goes on */
	/* the call budget */
	uint32_t
		users; /* settings, and GS_PREEMPT, that a user asked for and no call was made of yet */
	bool deferred;
	bool may_go;            /* it has waited, and the next calls are its */
	uint8_t queue;          /* enum gs_queue: in which it waits */
	struct gs_share *share; /* NULL: it does not wait */
	struct gs_budget *budget;
	struct gs_node *wait_prev, *wait_next;
	struct gpusched_settings told; /* dry run: last told */
	uint64_t due;                  /* look again at this time; 0: no need */
	struct gs_runlist *runlist;
	struct gs_node *rl_prev, *rl_next;
};

/* The line of one user. */
struct gs_share {
	struct gs_share *prev, *next;
	uint32_t uid;
	struct gs_node *nodes; /* oldest first */
};

/* Time left for control calls of one GPU; below zero: owed. */
struct gs_budget {
	int64_t left_ns;
	uint64_t at;                        /* as of; 0: never asked */
	struct gs_share *shares[GS_QUEUES]; /* the line of the user that comes next */
	uint64_t due; /* one that waits may go then; UINT64_MAX: nobody waits */
};

struct gs_core {
	struct gs_core_opts opts;
	struct gs_node *nodes;
	struct gs_node *due_at; /* gs_core_due() goes on with this one; NULL: with the first */
	struct gs_runlist *runlists;
	struct gs_budget *budgets; /* ngpus + 1: the last is for unknown GPUs */
	struct gpusched_class classes[GPUSCHED_MAX_CLASSES];
	unsigned int nbusy;
	uint64_t round;
	uint64_t next_due; /* no node is due before; UINT64_MAX: none */
	bool policy_active;
	uint32_t policy_flags;
	uint64_t call_ns_avg;
	uint64_t counters[GS_ENG_MAX];
};

static inline uint64_t gs_core_dilated(const struct gs_core *c, uint64_t ns)
{
	return (uint64_t)((double)ns * c->opts.dilate);
}

/* Look again at that time. */
static inline void gs_core_set_due(struct gs_core *c, struct gs_node *n, uint64_t ns)
{
	if (!n->due || ns < n->due)
		n->due = ns;
	if (ns < c->next_due)
		c->next_due = ns;
}

/* core_laws.c; laws that end something note it in @todo, and its poke has the record */
void gs_core_laws(struct gs_core *c, struct gs_node *n, uint64_t now, struct gs_todo *todo,
		  struct gs_goal *ret);
void gs_core_leave_runlist(struct gs_core *c, struct gs_node *n);

/* 1 << enum gs_overrule. */
uint32_t gs_core_overrules(const struct gs_node *n);

/* core_laws.c: its own hold begins or ends, also while calls of it are under way. */
void gs_core_requests(struct gs_core *c, struct gs_node *n, uint64_t now, struct gs_todo *todo);

/* core_hold.c */
void gs_hold_follow(struct gs_core *c, struct gs_node *n, const struct gpusched_tsg *rec,
		    uint64_t now);
/* Suspends it if a hold wants that and nobody else does. */
void gs_hold_obey(struct gs_core *c, struct gs_node *n, const struct gpusched_tsg *rec, bool whole,
		  uint64_t now, struct gs_goal *t);
/* It leaves its runlist. */
void gs_hold_leave(struct gs_core *c, struct gs_node *n);
/* Into the record, for the policy. */
void gs_hold_note(const struct gs_core *c, const struct gs_node *n, bool held,
		  struct gpusched_poke *p);
/* 1 << enum gs_overrule. */
uint32_t gs_hold_overrules(const struct gs_node *n);

/* core_gap.c; todo->poke has the record */
void gs_core_compare(struct gs_core *c, struct gs_node *n, uint64_t now, struct gs_todo *todo);
/* Names that source in a record's suspended_by. */
enum gpusched_suspend_by gs_suspend_by(uint8_t src);

/* core_results.c; into todo->poke */
void gs_core_results(struct gs_core *c, struct gs_node *n, const struct gs_plan *plan, uint64_t now,
		     struct gs_todo *todo);
/* Whether RM knows the TSG: denied twice it is not there any more, and nothing can be put back. */
void gs_core_presence(struct gs_core *c, struct gs_node *n, const struct gs_plan *plan,
		      uint64_t now, struct gs_todo *todo);
/* Counts what the calls cost; returns it. */
uint64_t gs_core_count(struct gs_core *c, const struct gs_plan *plan);

/* core_budget.c */
/* 0, or how long those in @q have to wait. */
uint64_t gs_budget_wait(const struct gs_core *c, const struct gs_budget *b, uint64_t now,
			enum gs_queue q);
void gs_budget_charge(const struct gs_core *c, struct gs_budget *b, uint64_t now, int64_t ns);
/* Charges an estimate of the plan; false: it has to wait, and is looked at again in time. */
bool gs_budget_take(struct gs_core *c, struct gs_node *n, const struct gpusched_tsg *rec,
		    struct gs_plan *plan, uint64_t now);
/* 0, or how long a hold that makes @ncalls has to wait; UINT64_MAX: it never can. */
uint64_t gs_budget_hold_wait(const struct gs_core *c, uint32_t gpu, unsigned int ncalls,
			     uint64_t now);
/* It waits no longer, if it does. */
void gs_budget_leave(struct gs_node *n);
/* As gs_core_due(): the TSGs that come next. @inout_next: when there may be others. */
size_t gs_budget_due(struct gs_core *c, uint64_t now, struct gpusched_key *ret, size_t max,
		     uint64_t *inout_next);
/* A call on no TSG, which does not wait. */
void gs_budget_spent(struct gs_core *c, uint32_t gpu, uint64_t ns, uint64_t now);
void gs_budget_settle(struct gs_core *c, const struct gs_plan *plan, uint64_t spent_ns);

#endif /* GPUSCHED_ENGINE_CORE_PRIV_H */
