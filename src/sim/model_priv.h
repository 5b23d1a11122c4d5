/* SPDX-License-Identifier: MIT */
/*
 * model_priv.h - shared by the files of the model; no file outside sim/model*.c includes it
 */
#ifndef GPUSCHED_SIM_MODEL_PRIV_H
#define GPUSCHED_SIM_MODEL_PRIV_H

#include "sim/model.h"
#include "sim/params.h"

#define SIM_NEVER UINT64_MAX
#define SIM_LEVELS 3

enum sim_mode { SIM_WFI = 0, SIM_CTA = 1, SIM_CILP = 2, SIM_MODES };

/* A piece of work and its progress. */
struct sim_item {
	struct sim_work w;
	uint64_t setup; /* ns until its first block may start */
	uint64_t left;  /* blocks not started */
	uint64_t cur;   /* blocks that run: one wave, in which all end together */
	uint64_t rem;   /* ns until that wave ends */
	uint64_t block_ns;
	bool started;
	uint64_t came; /* place in the order of work of an MPS server's clients */
};

struct sim_channel {
	struct sim_tsg *tsg;
	struct sim_channel *next;
	struct sim_item *ring;
	unsigned int cap, head, n;
	uint32_t context_id;
	bool enabled;
	unsigned int client, priority; /* client of an MPS server; 0: of none */
	uint64_t most;                 /* limit of block places; 0: no limit */
	uint64_t served;               /* when it last had block places, in its TSG's count */
	uint64_t round;                /* the TSG's round in which it was last asked */
};

struct sim_tsg {
	struct sim_engine_state *eng;
	struct sim_tsg *prev, *next; /* the engine's TSGs in order of creation */
	struct sim_channel *channels, **last_channel;
	void *user;
	uint64_t timeslice_us;
	unsigned int interleave, mode;
	bool scheduled;
	/* it is scheduled, and an enabled channel has work; the engine counts these TSGs */
	bool ready;
	/* Its last turn cut work off, so its return costs a restore. */
	bool has_state;
	enum sim_mode left_in; /* the mode in which it was cut off */
	uint32_t log_cid;
	uint64_t synced;        /* time up to which its work's progress is known */
	uint64_t waiting_since; /* valid while it is ready and does not have the turn */
	uint64_t gpu_time, wait_time, work_done, switches_in, context_switches;
	uint64_t held; /* time loaded, by the log */
	uint64_t contended, contended_told, waits, cuts, cut_waits, cut_wait;
	bool cut; /* it waits, since it was cut off */
	/*
	 * Contended time of the turn that was cut off. Reported when the TSG goes on: if it is
	 * suspended before, it did not wait.
	 */
	uint64_t contended_cut;
	uint64_t served, round;
	uint64_t came; /* number of pieces of work that have begun */
};

enum sim_phase {
	SIM_PHASE_IDLE,   /* no TSG has the turn; @resident may still be loaded */
	SIM_PHASE_SWITCH, /* END to START */
	SIM_PHASE_START,  /* START to first progress */
	SIM_PHASE_RUN,
	SIM_PHASE_DRAIN, /* CTA, WFI: running work comes to its end */
	SIM_PHASE_SAVE,  /* to END */
};

struct sim_engine_state {
	struct sim_model *m;
	unsigned int gpu, engine; /* SIM_ENGINE_* */
	struct sim_tsg *first, *last;
	unsigned int nready;
	enum sim_phase phase;
	uint64_t phase_end;
	struct sim_tsg *cur;    /* has the turn: from START to END */
	struct sim_tsg *logged; /* the log has its START, but no END yet */
	uint64_t logged_since;
	uint64_t counted;                   /* contended time is counted up to this time */
	uint64_t contended, contended_told; /* contended time of this turn */
	unsigned int ncut;                  /* number of TSGs that wait since they were cut off */
	struct sim_tsg *resident;           /* its context is loaded while nobody has the turn */
	struct sim_tsg *chosen;             /* will have the next turn; NULL: not decided yet */
	struct sim_tsg *prev_turn;
	uint64_t turn_start;
	/* Since when the engine has been busy; @busy does not have this time yet. */
	uint64_t busy_from;
	uint64_t busy[SIM_USAGE_SLOTS]; /* busy time by period, at index period % SIM_USAGE_SLOTS */
	uint64_t busy_period;           /* the last period that was written */
	uint64_t slice_end;             /* 0: not set, since no other TSG is ready */
	uint64_t idle_since;            /* SIM_NEVER: the engine has work */
	bool closed;                    /* this turn takes no more work */
	bool preempt;                   /* a call has requested a preempt */
	bool check_marks;               /* a mark may be at the head of a channel without a turn */
	uint64_t next;
	uint32_t seqno;
	/* the round, when interleave levels count: see model_round.c */
	struct sim_tsg **level[SIM_LEVELS];
	unsigned int nlevel[SIM_LEVELS], cap_level, pos[SIM_LEVELS];
	bool round_dirty;
};

struct sim_model {
	struct sim_params p;
	struct sim_model_ops ops;
	uint64_t now;
	uint64_t rng;
	unsigned int gpus, engines_per_gpu, nengines;
	struct sim_engine_state *eng;
};

/* in model_work.c: progress of the work of one TSG */
void sim_work_sync(struct sim_tsg *t);           /* to the model's time, in the engine's phase */
uint64_t sim_work_next(const struct sim_tsg *t); /* when its work needs attention next */
void sim_work_complete(struct sim_tsg *t);       /* calls on_done */
bool sim_work_running(const struct sim_tsg *t);  /* true if work has begun and is not done */
bool sim_work_backlog(const struct sim_tsg *t);  /* true if work has not begun */
/* In phase DRAIN: true if nothing is left to wait for. */
bool sim_work_settled(const struct sim_tsg *t);
void sim_work_marks(struct sim_tsg *t); /* completes marks at the head of channels */
void sim_tsg_update_ready(struct sim_tsg *t);

static inline struct sim_item *sim_head(const struct sim_channel *ch)
{
	return ch->n ? &ch->ring[ch->head] : NULL;
}

/* model_engine.c: turns */
void sim_engine_run(struct sim_engine_state *e);
/* Call this before a change of the ready or the loaded TSGs. */
void sim_engine_contended(struct sim_engine_state *e);
/* Notes that the TSG no longer waits because it was cut off. */
void sim_tsg_uncut(struct sim_tsg *t);
void sim_engine_forget(struct sim_engine_state *e, struct sim_tsg *t); /* @t is being freed */

/* in model_round.c: the next turn */
struct sim_tsg *sim_round_next(struct sim_engine_state *e);
int sim_round_add(struct sim_engine_state *e, struct sim_tsg *t);
void sim_round_remove(struct sim_engine_state *e, struct sim_tsg *t);
void sim_round_free(struct sim_engine_state *e);

#endif /* GPUSCHED_SIM_MODEL_PRIV_H */
