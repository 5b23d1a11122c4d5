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
	uint64_t left;  /* blocks that have not started */
	uint64_t cur;   /* blocks in the running wave; they all end together */
	uint64_t rem;   /* ns until that wave ends */
	uint64_t block_ns;
	uint64_t laps; /* STAY: times that its length has passed, and on_done was not called yet */
	bool started;
	uint64_t came; /* arrival number, by which an MPS server orders its clients' work */
};

struct sim_channel {
	struct sim_tsg *tsg;
	struct sim_channel *next;
	struct sim_item *ring;
	unsigned int cap, head, n;
	uint32_t context_id;
	bool enabled;
	bool leaves;                   /* it is disabled once another TSG of the engine has work */
	unsigned int client, priority; /* client number of an MPS server; 0: none */
	uint64_t most;                 /* most block places that the client may have; 0: no limit */
	/* the TSG's counter when the channel last got block places */
	uint64_t served;
	uint64_t round; /* the TSG's round in which the channel was last served */
};

struct sim_tsg {
	struct sim_engine_state *eng;
	struct sim_tsg *prev, *next; /* the engine's TSGs in order of creation */
	struct sim_channel *channels, **last_channel;
	void *user;
	uint64_t timeslice_us;
	unsigned int interleave, mode;
	bool scheduled, removed;
	/* scheduled, and an enabled channel has work; the engine counts the ready TSGs */
	bool ready;
	/* Its last turn cut work off, so its next turn begins with a restore. */
	bool has_state;
	enum sim_mode left_in; /* preemption mode by which it was cut off */
	uint32_t log_cid;
	uint64_t synced;        /* time up to which the progress of its work is computed */
	uint64_t waiting_since; /* valid while the TSG is ready and does not have the turn */
	uint64_t gpu_time, wait_time, work_done, switches_in, context_switches;
	uint64_t held; /* time between START and END in the log */
	uint64_t contended, contended_told, waits, cuts, cut_waits, cut_wait;
	bool cut; /* it waits because its turn was cut off */
	/*
	 * Contended time of the turn that was cut off. It counts once the TSG goes on. If the TSG
	 * is suspended first, it did not wait, and the time is dropped.
	 */
	uint64_t contended_cut;
	uint64_t served, round;
	uint64_t came; /* number of pieces of work that have begun */
};

enum sim_phase {
	SIM_PHASE_IDLE,   /* no TSG has the turn; @resident may still be loaded */
	SIM_PHASE_SWITCH, /* from END to START */
	SIM_PHASE_START,  /* from START to first progress */
	SIM_PHASE_RUN,
	SIM_PHASE_DRAIN, /* CTA, WFI: until the running blocks or work end */
	SIM_PHASE_SAVE,  /* the context is saved, up to END */
};

struct sim_engine_state {
	struct sim_model *m;
	unsigned int gpu, engine; /* SIM_ENGINE_* */
	struct sim_tsg *first, *last;
	unsigned int nready;
	enum sim_phase phase;
	uint64_t phase_end;
	struct sim_tsg *cur;    /* the TSG that has the turn, from START to END */
	struct sim_tsg *logged; /* the log has its START, but no END yet */
	uint64_t logged_since;
	uint64_t counted;                   /* contended time is counted up to this time */
	uint64_t contended, contended_told; /* contended time of this turn */
	unsigned int ncut;                  /* number of TSGs that wait because they were cut off */
	struct sim_tsg *resident;           /* its context is loaded while nobody has the turn */
	struct sim_tsg *chosen;             /* the TSG of the next turn; NULL: not chosen yet */
	struct sim_tsg *prev_turn;
	uint64_t turn_start, drain_since; /* @drain_since: of phase DRAIN */
	/* Since when the engine has been busy; time from then on is not in @busy yet. */
	uint64_t busy_from;
	uint64_t busy[SIM_USAGE_SLOTS]; /* busy time by period, at index period % SIM_USAGE_SLOTS */
	uint64_t busy_period;           /* the last period that @busy covers */
	uint64_t slice_end;             /* 0: not set, since no other TSG is ready */
	uint64_t idle_since;            /* SIM_NEVER: the engine has work */
	bool closed;                    /* this turn takes no new launches */
	bool preempt;                   /* an RM call has requested a preemption */
	/* a mark may be at the head of a channel of a TSG that does not have the turn */
	bool check_marks;
	uint64_t next;
	uint32_t seqno;
	/* the place in the round, for interleave levels: see model_round.c */
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
void sim_work_sync(struct sim_tsg *t);           /* computes progress up to the model's time */
uint64_t sim_work_next(const struct sim_tsg *t); /* when the work needs attention next */
void sim_work_complete(struct sim_tsg *t);       /* calls on_done for completed work */
bool sim_work_running(const struct sim_tsg *t);  /* true if some work has begun and is not done */
bool sim_work_backlog(const struct sim_tsg *t);  /* true if some work has not begun */
/* In phase DRAIN: true if no running work is left that must end before the TSG leaves. */
bool sim_work_settled(const struct sim_tsg *t);
void sim_work_marks(struct sim_tsg *t); /* completes marks at the head of channels */
void sim_work_update_ready(struct sim_tsg *t);
/* Call this after a change of what @t may do: the next advance looks at its engine again. */
void sim_work_touch(struct sim_tsg *t);

static inline struct sim_item *sim_head(const struct sim_channel *ch)
{
	return ch->n ? &ch->ring[ch->head] : NULL;
}

/* model_engine.c: turns */
void sim_engine_run(struct sim_engine_state *e);
/* Call this before the set of ready TSGs or the loaded TSG changes. */
void sim_engine_contended(struct sim_engine_state *e);
/* Notes that the TSG no longer waits because of a cut-off turn. */
void sim_engine_uncut(struct sim_tsg *t);
void sim_engine_forget(struct sim_engine_state *e, struct sim_tsg *t); /* @t is being freed */

/* in model_round.c: which TSG has the next turn */
struct sim_tsg *sim_round_next(struct sim_engine_state *e);
int sim_round_add(struct sim_engine_state *e, struct sim_tsg *t);
void sim_round_remove(struct sim_engine_state *e, struct sim_tsg *t);
void sim_round_free(struct sim_engine_state *e);

#endif /* GPUSCHED_SIM_MODEL_PRIV_H */
