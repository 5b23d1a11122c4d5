/* SPDX-License-Identifier: MIT */
/*
 * model.h - models how an NVIDIA GPU shares itself between TSGs
 *
 * The model has no I/O, no clock and no threads: the caller moves time. It has two callers:
 * scenarios (virtual time) and the simulated RM (real time, possibly dilated). Same calls and same
 * seed give the same result to the nanosecond.
 *
 * Every GPU has engines (GR0, copy engines), each with a runlist. A runlist gives its TSGs turns in
 * rounds. A TSG's interleave level says how often it appears in a round. A turn ends when its
 * timeslice is over and another TSG is ready. It also ends when all channels of the TSG are
 * drained, or the TSG is preempted or disabled. The cost of a switch depends on the preemption mode
 * of the TSG that leaves. WFI waits for the running work to finish, CTA for the running thread
 * blocks, CILP saves state at once. Work is a fixed amount in thread blocks.
 */
#ifndef GPUSCHED_SIM_MODEL_H
#define GPUSCHED_SIM_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sim_model;
struct sim_tsg;
struct sim_channel;

/*
 * Parameters of the model. All times in this interface are in ns unless the name says otherwise.
 * sim_params_load() (params.h) reads parameters from a file; h200.conf is the reference.
 */
struct sim_params;

/* NV2080_ENGINE_TYPE_* numbers: GR0..GR7 1..8, COPY0..COPY9 9..18, COPY10 and up from 0x34. */
enum sim_engine { SIM_ENGINE_GR = 1, SIM_ENGINE_COPY0 = 9, SIM_ENGINE_COPY10 = 0x34 };
#define SIM_MAX_GR 8

/* The number of copy engine @i, counted from 0. */
static inline unsigned int sim_copy_engine(unsigned int i)
{
	return i < 10 ? SIM_ENGINE_COPY0 + i : SIM_ENGINE_COPY10 + i - 10;
}

/* One piece of work on a channel. A channel's work runs in order. */
struct sim_work {
	enum {
		SIM_WORK_KERNEL, /* blocks of block_ns each, as many at once as the GPU holds */
		SIM_WORK_COPY,   /* bytes on a copy engine, or on GR */
		/* a kernel that runs until released(arg), or for limit_ns of GPU time */
		SIM_WORK_HOLD,
		/*
		 * a kernel of one thread that runs until released(arg). The model asks only when
		 * the kernel begins to run, and after sim_model_channel_look()
		 */
		SIM_WORK_SPIN,
		/* one thread block that never ends; on_done is called each limit_ns of its time */
		SIM_WORK_STAY,
		SIM_WORK_MARK, /* takes no time: an event or a semaphore release */
	} kind;
	uint64_t blocks;
	uint64_t block_ns;
	uint64_t bytes;
	uint64_t limit_ns;
	bool (*released)(void *arg); /* HOLD, SPIN: called whenever the model looks at this work */
	void *arg;
	uint64_t cookie; /* passed to on_done */
};

/* One record of the context-switch log. */
struct sim_switch {
	uint64_t ns;
	unsigned int gpu, engine;
	bool start; /* true: START, false: END */
	/* END: @cut: the TSG has more work; @drained: it has none. Both false: it was suspended. */
	bool cut, drained;
	uint32_t context_id;
	uint32_t seqno;
	void *user; /* user pointer of the TSG */
};

struct sim_model_ops {
	/*
	 * The model calls these from sim_model_advance(). They may submit work, change settings and
	 * make objects, but must not free any. sim_model_tsg_free() also calls on_switch, with the
	 * END of a TSG that has the turn. In that call on_switch must not use the model.
	 */
	/* work is complete at model time @ns */
	void (*on_done)(void *user, struct sim_channel *ch, uint64_t cookie, uint64_t ns);
	/* may be NULL */
	void (*on_switch)(void *user, const struct sim_switch *sw);
	/*
	 * The engine has removed the TSG, since its work did not let it leave (drain_us of the
	 * parameters), or sim_work_remove_tsg() has. Its work is dropped, and it takes no more. May
	 * be NULL.
	 */
	void (*on_removed)(void *user, struct sim_tsg *t);
	void *user;
};

/*
 * The model copies @params. @seed drives every random choice. Returns 0 or -ENOMEM, -EINVAL;
 * @ret is left alone on failure.
 */
int sim_model_new(const struct sim_params *params, unsigned int gpus, uint64_t seed,
		  const struct sim_model_ops *ops, struct sim_model **ret);
void sim_model_free(struct sim_model *m);

uint64_t sim_model_now(const struct sim_model *m);
/*
 * Time of the next event; UINT64_MAX: none. Right after a change it is the present time, since
 * changes take effect in the next sim_model_advance(). That call may advance to the present time.
 * While a HOLD runs, the next event is at most one hold_poll_ns (params.h) away.
 */
uint64_t sim_model_next(const struct sim_model *m);
/* Moves time to @ns (never back) and handles everything that happens until then, in order. */
void sim_model_advance(struct sim_model *m, uint64_t ns);

/*
 * Makes a TSG. It is not scheduled, and has the driver's default timeslice, interleave level MEDIUM
 * and the preemption mode of the parameters.
 */
int sim_model_tsg_new(struct sim_model *m, unsigned int gpu, unsigned int engine, void *user,
		      struct sim_tsg **ret);
void sim_model_tsg_free(struct sim_tsg *t); /* frees its channels too; their work is dropped */
int sim_model_channel_new(struct sim_tsg *t, uint32_t context_id, struct sim_channel **ret);
void sim_model_channel_free(struct sim_channel *ch);
/*
 * Assigns @ch to client @client (not 0) of an MPS server; all clients' channels are in one TSG.
 * Their kernels run side by side: priority 0 before 1, then in order of arrival. A client gets at
 * most @sm_pct of the GPU's block places. -EINVAL: out of range.
 */
int sim_model_channel_share(struct sim_channel *ch, unsigned int client, unsigned int priority,
			    unsigned int sm_pct);
void *sim_model_tsg_user(const struct sim_tsg *t);
struct sim_tsg *sim_model_channel_tsg(const struct sim_channel *ch);

/*
 * How long engine @engine had work in each of the last SIM_USAGE_SLOTS periods of SIM_USAGE_NS. The
 * last period is the present one. @ret[i] is for period @ret_first + i. A TSG that is loaded but
 * idle does not count.
 */
#define SIM_USAGE_SLOTS 72u
#define SIM_USAGE_NS 138888888u
void sim_engine_usage(struct sim_model *m, unsigned int gpu, unsigned int engine,
		      uint64_t *ret_first, uint64_t ret[SIM_USAGE_SLOTS]);

/* These return 0, or -EINVAL for a value out of range. They take effect at sim_model_now(). */
int sim_model_tsg_set_timeslice(struct sim_tsg *t, uint64_t us);
int sim_model_tsg_set_interleave(struct sim_tsg *t, unsigned int level);
int sim_model_tsg_set_mode(struct sim_tsg *t, unsigned int mode);
void sim_model_tsg_schedule(struct sim_tsg *t, bool on);
void sim_model_tsg_preempt(struct sim_tsg *t);
void sim_work_enable_channel(struct sim_channel *ch, bool on);
void sim_work_remove_tsg(struct sim_tsg *t); /* as the engine does after a fault; see on_removed */
/*
 * Disables the channel without a wait: it works on until another TSG of its engine has work.
 * sim_work_enable_channel() ends that.
 */
void sim_model_channel_leave(struct sim_channel *ch);

struct sim_tsg_state {
	uint64_t timeslice_us;
	unsigned int interleave, preempt_mode;
	unsigned int channels, disabled_channels;
	/* @draining: it has to leave the engine, and its running work does not let it */
	bool scheduled, running, draining, removed;
	uint64_t gpu_time_ns; /* sum of its turns, including the present one */
	/* Time from START to END in the log, including time when the TSG was loaded but idle. */
	uint64_t held_ns;
	uint64_t contended_ns; /* part of held_ns in which another TSG of its runlist was ready */
	/*
	 * The part of contended_ns that the log can show: in turns that were cut off, or while a
	 * TSG that had been cut off waited.
	 */
	uint64_t contended_told_ns;
	/* Time in which the TSG could run and had work, but did not have the turn. */
	uint64_t wait_time_ns;
	uint64_t waits;       /* waits that have ended with a turn */
	uint64_t cuts;        /* turns that were cut off: the TSG had more work and could run */
	uint64_t cut_waits;   /* waits that began when a turn was cut off */
	uint64_t cut_wait_ns; /* sum of the cut_waits */
	uint64_t work_done;   /* pieces of work completed */
	uint64_t queued;      /* pieces of work waiting or running */
	uint64_t switches_in;
	uint64_t context_switches; /* switches that loaded its context */
};
void sim_model_tsg_state(const struct sim_tsg *t, struct sim_tsg_state *ret);

/* Queues work. 0, or -ENOSPC: the channel's queue (params) is full; -ENODEV: it was removed. */
int sim_work_submit(struct sim_channel *ch, const struct sim_work *w);

/* Call this when what a SPIN of the channel waits for has happened. on_done may call it. */
void sim_model_channel_look(struct sim_channel *ch);

#endif /* GPUSCHED_SIM_MODEL_H */
