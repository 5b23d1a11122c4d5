/* SPDX-License-Identifier: MIT */
/*
 * model_priv.h - what the files of the model share; nothing outside sim/model*.c includes it
 */
#ifndef GPUSCHED_SIM_MODEL_PRIV_H
#define GPUSCHED_SIM_MODEL_PRIV_H

#include "sim/model.h"
#include "sim/params.h"

#define SIM_NEVER UINT64_MAX
#define SIM_LEVELS 3

enum sim_mode { SIM_WFI = 0, SIM_CTA = 1, SIM_CILP = 2, SIM_MODES };

/* A piece of work and how far it has come. */
struct sim_item {
	struct sim_work w;
	uint64_t setup; /* ns until its first block may start */
	uint64_t left;  /* blocks not started */
	uint64_t cur;   /* blocks running: one wave, they end together */
	uint64_t rem;   /* ns until that wave ends */
	uint64_t block_ns;
	bool started;
	uint64_t came; /* its turn among the work of an MPS server's clients */
};

struct sim_channel {
	struct sim_tsg *tsg;
	struct sim_channel *next;
	struct sim_item *ring;
	unsigned int cap, head, n;
	uint32_t context_id;
	bool enabled;
	unsigned int client, priority; /* of an MPS server; 0: of none */
	uint64_t most;                 /* block places for it; 0: all */
	uint64_t served;               /* when it had block places last, as its TSG counts */
	uint64_t round;                /* of the TSG's, in which it was asked */
};

struct sim_tsg {
	struct sim_engine_state *eng;
	struct sim_tsg *prev, *next; /* the engine's TSGs in order of creation */
	struct sim_channel *channels, **last_channel;
	void *user;
	uint64_t timeslice_us;
	unsigned int interleave, mode;
	bool scheduled;
	bool ready; /* cached: scheduled and an enabled channel has work; the engine counts these */
	bool has_state;        /* left in the middle of work: coming back costs a restore */
	enum sim_mode left_in; /* the mode in which it did */
	uint32_t log_cid;
	uint64_t synced;        /* its work's progress is right as of this time */
	uint64_t waiting_since; /* valid while ready and not its turn */
	uint64_t gpu_time, wait_time, work_done, switches_in, context_switches;
	uint64_t held; /* loaded, as the log has it */
	uint64_t contended, contended_told, waits, cuts, cut_waits, cut_wait;
	bool cut; /* it waits since it was cut off */
	/* in the turn that was cut off: told once it goes on; a TSG suspended meanwhile did not wait */
	uint64_t contended_cut;
	uint64_t served, round;
	uint64_t came; /* so much work of it has begun */
};

enum sim_phase {
	SIM_PHASE_IDLE,   /* nobody's turn; @resident may still be loaded */
	SIM_PHASE_SWITCH, /* END to START */
	SIM_PHASE_START,  /* START to first progress */
	SIM_PHASE_RUN,
	SIM_PHASE_DRAIN, /* CTA, WFI: what runs is coming to its end */
	SIM_PHASE_SAVE,  /* to END */
};

struct sim_engine_state {
	struct sim_model *m;
	unsigned int gpu, engine; /* SIM_ENGINE_* */
	struct sim_tsg *first, *last;
	unsigned int nready;
	enum sim_phase phase;
	uint64_t phase_end;
	struct sim_tsg *cur;    /* it has its turn: START to END */
	struct sim_tsg *logged; /* it has a START and no END in the log */
	uint64_t logged_since;
	uint64_t counted;                   /* contended time, up to then: */
	uint64_t contended, contended_told; /* in this turn */
	unsigned int ncut;                  /* that wait since they were cut off */
	struct sim_tsg *resident;           /* its context is loaded while nobody has a turn */
	struct sim_tsg *chosen;             /* it has the next turn, once that is settled */
	struct sim_tsg *prev_turn;
	uint64_t turn_start;
	uint64_t busy_from;             /* from here on its turn is not among the following */
	uint64_t busy[SIM_USAGE_SLOTS]; /* of the period with this rest of its number */
	uint64_t busy_period;           /* the last that was written */
	uint64_t slice_end;             /* 0: not set, nobody else is ready */
	uint64_t idle_since;            /* SIM_NEVER: has work */
	bool closed;                    /* takes no more work in this turn */
	bool preempt;                   /* asked for by a call */
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

/* model_work.c: progress of the work of one TSG */
void sim_work_sync(struct sim_tsg *t);           /* to the model's time, in the engine's phase */
uint64_t sim_work_next(const struct sim_tsg *t); /* when something there needs a look */
void sim_work_complete(struct sim_tsg *t);       /* calls on_done */
bool sim_work_running(const struct sim_tsg *t);  /* anything begun and not done */
bool sim_work_backlog(const struct sim_tsg *t);  /* anything that has not begun */
bool sim_work_settled(const struct sim_tsg *t);  /* DRAIN: nothing left to wait for */
void sim_work_marks(struct sim_tsg *t);          /* does those at the head of channels */
void sim_tsg_update_ready(struct sim_tsg *t);

static inline struct sim_item *sim_head(const struct sim_channel *ch)
{
	return ch->n ? &ch->ring[ch->head] : NULL;
}

/* model_engine.c: turns */
void sim_engine_run(struct sim_engine_state *e);
void sim_engine_contended(struct sim_engine_state *e); /* before ready or loaded TSGs change */
void sim_tsg_uncut(struct sim_tsg *t);                 /* it does not wait for that any more */
void sim_engine_forget(struct sim_engine_state *e, struct sim_tsg *t); /* t is being freed */

/* model_round.c: the next turn */
struct sim_tsg *sim_round_next(struct sim_engine_state *e);
int sim_round_add(struct sim_engine_state *e, struct sim_tsg *t);
void sim_round_remove(struct sim_engine_state *e, struct sim_tsg *t);
void sim_round_free(struct sim_engine_state *e);

#endif /* GPUSCHED_SIM_MODEL_PRIV_H */
