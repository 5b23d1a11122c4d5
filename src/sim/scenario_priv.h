/* SPDX-License-Identifier: MIT */
/*
 * scenario_priv.h - defines a running scenario, for the scenario_*.c files
 */
#ifndef GPUSCHED_SIM_SCENARIO_PRIV_H
#define GPUSCHED_SIM_SCENARIO_PRIV_H

#include "basic/quiet.h"
#include "engine/core.h"
#include "sim/model.h"
#include "sim/scenario.h"

/* a process's last holds, each with a flag that the model may still read */
#define SIM_HOLD_FLAGS 64u

struct sim_proc {
	struct sim_sim *sim;
	const struct sim_group *g;
	struct sim_process_result *res;
	unsigned int index, gpu;
	bool alive;
	/* The process that owns the TSG: this one, or the first process of the same MPS server. */
	struct sim_proc *host;
	struct sim_tsg *tsg;
	struct sim_channel *work, *hold;
	uint64_t rng;
	uint64_t start_ns, stop_ns;
	/* a kernel's blocks: their number, and the length of each */
	uint64_t wave_places, block_ns;
	/* the current request */
	bool busy;
	uint64_t counted_from, next_arrival;
	/*
	 * arrivals by a trace: when it began, and which comes next. @size: of the request that came
	 * last; 1 without a trace
	 */
	uint64_t trace_from;
	size_t trace_next;
	unsigned int size;
	/*
	 * Kernels of the request: @to_launch are launched before the next wait, @to_begin after it.
	 * @to_finish are before that wait and not done yet.
	 */
	unsigned int to_launch, to_finish, to_begin, request;
	uint64_t piece_from; /* when the current piece of the request began */
	/*
	 * be: @steps: steps that are done; @steps_launched: steps that are done or in flight; @ran:
	 * sync = spin: kernels of steps that have run
	 */
	uint64_t steps, steps_launched, ran;
	uint64_t waits_since;  /* since when it waits for the end of its present step */
	bool has_turn;         /* sync = turns: its step is the one under way */
	uint64_t ended_ns;     /* when its last request or kernel was done */
	unsigned int of_burst; /* requests of this arrival that have not begun yet */
	bool released[SIM_HOLD_FLAGS];
	/* request state that the policy was told, from the agent or hints */
	bool told_request, in_wait;
	/*
	 * when the process last became idle; 0: it never launched. Not valid while it waits for the
	 * GPU.
	 */
	uint64_t rests_since;
	struct gs_quiet quiet;
	/* state of scenario_control.c and scenario_calls.c */
	struct gpusched_tsg rec;
	struct gpusched_settings is;     /* settings that the GPU model has now */
	struct gpusched_settings wanted; /* settings that the policy wanted before this tick */
	bool denied;
	uint64_t suspended_since; /* valid while is.runnable is 0 */
	uint64_t base_gpu_time, base_switches, base_launches;
	uint64_t rate_launches, rate_ns;
	/*
	 * @launch_ns: the last launch. @launch_before: the last launch before the log period of
	 * @launch_ns. @launch_told: the launch that was last reported to the account.
	 */
	uint64_t launch_ns, launch_before, launch_told;
	bool cut, drained; /* why the turn that the account got last really ended */
};

/*
 * True if the process has a TSG. False for an MPS client that shares the TSG of another process.
 */
static inline bool sim_has_record(const struct sim_proc *p)
{
	return p->alive && p->host == p;
}

enum sim_event_type {
	SIM_EV_START,
	SIM_EV_STOP,
	SIM_EV_ARRIVE,
	SIM_EV_PREPARED, /* hint: the preparation is over, and the real launch comes */
	SIM_EV_LAUNCH,   /* a launch reaches the GPU */
	SIM_EV_RELEASE,  /* hint: the flag that the hold waits for is set */
	SIM_EV_NOTICE,   /* the program sees that its work is done */
	SIM_EV_WARM,
	SIM_EV_TICK,
	SIM_EV_KICK, /* an extra round that the policy has asked for */
	SIM_EV_ACTION,
	SIM_EV_ROTATE,
	SIM_EV_CALL_EFFECT,
	SIM_EV_CALL_END,
	SIM_EV_DUE,      /* the engine's core is due */
	SIM_EV_BEGIN,    /* the policy hears that a request began */
	SIM_EV_END,      /* the policy hears that a request ended */
	SIM_EV_PATIENCE, /* the process may have waited for too long */
	SIM_EV_QUIET,    /* the process may have been idle long enough to end a request */
};

struct sim_event {
	uint64_t ns, seq;
	enum sim_event_type type;
	unsigned int arg; /* number of the worker or action */
	struct sim_proc *proc;
};

/* RM calls on one process's TSG. */
struct sim_job {
	struct sim_proc *proc;
	struct gs_plan plan;
	unsigned int step; /* the step under way */
};

/*
 * Makes RM calls one after the other. Worker 0 makes the scenario's own calls. Worker 1 + g makes
 * the engine's calls for GPU g.
 */
struct sim_worker {
	struct sim_job *queue;
	size_t n, cap;
	uint64_t began_ns;             /* the present call: since when it has the locks */
	uint64_t kick_ns;              /* how long the call holds the lock of its GPU only */
	const struct sim_fault *fault; /* by which the present call fails; NULL: it does not */
};

/* A waiter for RM's locks: a worker's call, or a process's start or end. */
struct sim_waiter {
	struct sim_proc *proc; /* NULL: a worker */
	enum sim_event_type type;
	unsigned int worker;
};

/* RM's locks: that of all GPUs, which most calls take, or one GPU's. */
struct sim_locks {
	struct sim_waiter *queue;
	size_t n, cap;
	bool all, stuck; /* @stuck: the call under way takes longer than such calls do */
	uint64_t all_since;
	uint64_t gpus; /* by GPU: a call for it alone is under way */
};

/* Time lost between turns of a GPU, in steps of time. */
struct sim_lost {
	uint64_t *ns;
	uint64_t end_ns;
	const void *last; /* the TSG that had the previous turn */
};

struct sim_sim {
	const struct sim_scenario *s;
	struct sim_model *m;
	struct sim_result *res;
	struct sim_proc *procs;
	size_t nprocs;
	struct gpusched_task **tasks; /* tasks of the processes that are alive */
	size_t ntasks;
	struct sim_event *heap;
	size_t nheap, cap;
	uint64_t seq;
	uint64_t end_ns, warm_ns, turns_from, turns_until;
	struct sim_worker *workers;
	struct sim_locks locks;
	unsigned int *faults;     /* by fault: calls that failed by it */
	unsigned int *unanswered; /* by GPU: calls in a row that the firmware did not answer */
	size_t rotate_at;         /* index of the process that may run */
	bool rotating;            /* RM calls of the rotation are under way */
	struct gs_policy *policy; /* NULL: none, or it has ended */
	struct gs_core *core;     /* NULL: the scenario began without a policy */
	struct sim_lost *lost;    /* by GPU */
	uint64_t lost_steps;
	uint64_t due_at; /* time of the event that is posted for the core */
	/*
	 * Time of the extra round that is posted for the policy. If it is past, no round is posted.
	 */
	uint64_t kick_at;
	struct sim_sight *sights; /* by GPU */
	struct gpusched_tsg *recs;
	uint32_t policy_flags;
	struct gs_error err; /* set when a callback ran out of memory */
};

static inline uint64_t sim_us(double us)
{
	return (uint64_t)(us * 1000 + 0.5);
}

/* scenario_run.c */
void sim_event_post(struct sim_sim *x, uint64_t ns, enum sim_event_type type, struct sim_proc *p,
		    unsigned int arg);
struct sim_event sim_event_take(struct sim_sim *x); /* removes and returns the next event */

/* scenario_proc.c: the process's own work */
int sim_proc_start(struct sim_proc *p);
void sim_proc_stop(struct sim_proc *p);
void sim_proc_event(struct sim_proc *p, enum sim_event_type type);
void sim_proc_done(struct sim_proc *p, struct sim_channel *ch, uint64_t cookie);
void sim_proc_count_from_here(struct sim_proc *p); /* starts the measured time, after the warm-up */
void sim_proc_finish(struct sim_proc *p);          /* fills its result */

/* scenario_lost.c: time that switches take */
int sim_lost_init(struct sim_sim *x);
void sim_lost_switch(struct sim_sim *x, const struct sim_switch *sw);
void sim_lost_finish(struct sim_sim *x);
void sim_lost_free(struct sim_sim *x);

/* scenario_control.c: what others do to processes */
int sim_control_init(struct sim_sim *x, const struct sim_run_options *o, struct gs_error *err);
void sim_control_end(struct sim_sim *x);
void sim_control_new(struct sim_proc *p);
void sim_control_gone(struct sim_proc *p);
void sim_control_launch(struct sim_proc *p, unsigned int count);
void sim_control_event(struct sim_sim *x, const struct sim_event *ev);

/* Numbers of jobs that no scenario names begin here. */
#define SIM_OWN_JOBS 20000000000000000ull

/*
 * The number of the process's job; 0: not known, as with gpusched_job(). The processes of a group
 * are jobs of their own, unless the scenario says that they belong together.
 */
static inline uint64_t sim_job_number(const struct sim_proc *p)
{
	const struct sim_group *g = p->g;
	uint64_t id = p->rec.task.id;

	if (!g->job && !g->cgroup_id && !g->own_cgroups && !g->sync)
		return SIM_OWN_JOBS + id;
	return g->job && g->own_cgroups ? g->job + id : g->job;
}

#endif /* GPUSCHED_SIM_SCENARIO_PRIV_H */
