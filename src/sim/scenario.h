/* SPDX-License-Identifier: MIT */
/*
 * scenario.h - a scenario: processes on the GPU model, actions on them, and expected results
 *
 * docs/model.md describes the file. It is loaded once and run any number of times; the same seed
 * gives the same result.
 */
#ifndef GPUSCHED_SIM_SCENARIO_H
#define GPUSCHED_SIM_SCENARIO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "basic/error.h"
#include "engine/core.h"
#include "gpusched/abi.h"
#include "account/turns.h"
#include "sim/model.h"
#include "sim/params.h"
#include "policy/host.h"

#define SIM_NAME_LEN 48
#define SIM_MAX_OPTIONS 16

enum sim_kind { SIM_KIND_LC, SIM_KIND_BE }; /* requests, or back to back */
enum sim_arrivals {
	SIM_ARRIVE_POISSON,  /* open loop: latency counts from the arrival */
	SIM_ARRIVE_PERIODIC, /* the same, at fixed distances */
	SIM_ARRIVE_CLOSED,   /* a gap of exponential length, at most five times its mean, follows
			      * each completion */
};
enum sim_hold { SIM_HOLD_NONE, SIM_HOLD_HINT_ONE, SIM_HOLD_HINT, SIM_HOLD_REQUEST };
/* How the daemon learns of requests. */
enum sim_requests { SIM_REQUESTS_UNSEEN, SIM_REQUESTS_AGENT, SIM_REQUESTS_HINTS };

/* A group of equal processes, with one TSG each unless they are clients of a server. */
struct sim_group {
	char name[SIM_NAME_LEN], class_name[GPUSCHED_CLASS_NAME_LEN];
	unsigned int count, gpu;
	bool spread; /* gpu = spread: round robin over the GPUs */
	/* MIG: all groups of a scenario are in some partition, or none is; GPUSCHED_NO_INSTANCE */
	unsigned int gpu_instance, compute_instance;
	unsigned int part; /* which partition that is, counted from 0 */
	unsigned int kind, arrivals, hold, requests;
	double kernel_us, block_us, fill_pct; /* block_us 0: as long as the kernel */
	unsigned int kernels;                 /* of a request */
	/* After so many of them, the program waits for the GPU; 0: at the end. */
	unsigned int wait_every;
	unsigned int burst;   /* requests that arrive at once */
	double launch_gap_us; /* CPU time between two launches of a request */
	double gap_us, cv;    /* cv: of the gaps, above 1 they come in bursts */
	double prep_us;       /* hold = hint: CPU time between arrival and launch */
	double hold_limit_us;
	unsigned int in_flight; /* BE */
	bool sync; /* BE: no process begins a kernel before all processes have ended the last one */
	double start_s, start_step_s, stop_s; /* stop_s 0: at the end */
	double begin_s; /* from its start to its first launch: the time that CUDA's start takes */
	/* settings that its owner asks for at its start */
	uint64_t timeslice_us;
	unsigned int interleave, preempt_mode;
	bool suspended;  /* suspended by a person from its start */
	bool adopted;    /* found later, so that its preemption mode is only assumed */
	bool past_share; /* its process has more TSGs than the table takes */
	unsigned int weight;
	/*
	 * Percentages of each GPU; 0: none. Root's command gave the first two to the group, which is
	 * one program. Root's attributes gave the next two to its cgroup. The last one is given to
	 * each process by its owner.
	 */
	unsigned int limit, request, cgroup_limit, cgroup_request, user_limit;
	bool own_cgroups; /* each process is in a cgroup of its own, below the group's */
	uint64_t deadline_us, cgroup_id, job; /* job 0: not known */
	unsigned int uid;
	/* "": its own TSGs; otherwise its processes are clients of the MPS server with this name */
	char server[SIM_NAME_LEN];
	unsigned int priority, sm_pct; /* with a server: CUDA_MPS_CLIENT_PRIORITY, SMs at most */
};

/*
 * The facts of a TSG that policies get: those that the stock host knows, or all that the model
 * knows.
 */
enum sim_facts { SIM_FACTS_STOCK, SIM_FACTS_ALL };
extern const char *const sim_facts_words[]; /* NULL-terminated */

enum sim_do { SIM_DO_SET, SIM_DO_SUSPEND, SIM_DO_RESUME, SIM_DO_PREEMPT };

/* An action, done once by RM calls one after the other, from @at_ms on. */
struct sim_action {
	double at_ms;
	char target[SIM_NAME_LEN]; /* group, "group[i]" or "@class" */
	unsigned int what;
	struct gpusched_settings set;
};

/* One process of the target runnable at a time. */
struct sim_rotate {
	bool on, new_first; /* order = new-first: the next is enabled before the old is disabled */
	char target[SIM_NAME_LEN];
	double period_ms;
};

enum sim_check_op { SIM_CHECK_MAX, SIM_CHECK_MIN, SIM_CHECK_REFERENCE };

struct sim_check {
	char text[128];   /* as written */
	char metric[64];  /* NAME.METRIC */
	char divisor[64]; /* "": none */
	enum sim_check_op op;
	double limit, within_pct;
	bool missed; /* [missed]: a reference that is known not to be met; shown, not counted */
};

struct sim_scenario {
	char name[SIM_NAME_LEN], title[128], basis[16]; /* basis: fitted, predicted, promise, ... */
	char *path;
	struct sim_params params; /* of each part, if there are several */
	unsigned int gpus;
	unsigned int parts;          /* of each GPU; 0: MIG is off, and each has a log */
	double duration_s, warmup_s; /* measured: from warmup_s to duration_s */
	uint64_t seed;
	char policy[256];
	unsigned int facts; /* enum sim_facts */
	char options[SIM_MAX_OPTIONS][96];
	size_t noptions;
	struct sim_group *groups;
	size_t ngroups;
	struct sim_action *actions;
	size_t nactions;
	struct sim_rotate rotate;
	struct sim_check *checks;
	size_t nchecks;
};

int sim_scenario_load(const char *path, struct sim_scenario **ret, struct gs_error *err);
void sim_scenario_free(struct sim_scenario *s);
static inline void sim_scenario_freep(struct sim_scenario **s)
{
	sim_scenario_free(*s);
}

/* "be", "be[2]" or "@class"; false: not this one. */
bool sim_target_matches(const char *target, const struct sim_group *g, unsigned int index);

struct sim_run_options {
	const char *policy;         /* NULL: the scenario's; "none" or "": without one */
	const char *const *options; /* in addition to the scenario's when policy is NULL */
	size_t noptions;
	const uint64_t *seed;        /* NULL: the scenario's */
	const struct gs_host *host;  /* in virtual time; NULL: the native one */
	const enum sim_facts *facts; /* NULL: the scenario's */
	/* called now and then with the progress; may be NULL */
	void (*progress)(void *user, uint64_t done_ns, uint64_t all_ns);
	void *progress_user;
	double timeline_ms; /* keep this much of the context-switch log after the warm-up */
};

/*
 * Whether the log's reasons for the ends of turns are right, by the model's own record. In the
 * measured time.
 */
struct sim_judged {
	uint64_t right, wrong, cut, cut_unknown, drained_unknown; /* cut: by the slice, in all */
};

/* The figures of one process in the measured time. */
struct sim_process_result {
	const struct sim_group *group;
	unsigned int index, gpu;
	uint64_t *latency_ns; /* sorted */
	size_t nlatency;
	uint64_t *piece_ns; /* wait_every: of each piece of a request; sorted */
	size_t npieces;
	uint64_t kernels, launches, missed; /* missed: requests past the group's deadline */
	uint64_t gpu_time_ns, switches, suspended_ns;
	struct sim_tsg_state all;           /* for all of its life, by the model's record */
	struct gs_turn_sums account;        /* the same as the account knows it; */
	struct gs_turn_sums account_of_log; /* and as it would without counted launches */
	struct sim_judged judged;           /* judged by that */
	double ran_s;                       /* of the measured time, how long it existed */
	double lost_pct;                    /* of its GPU, lost in switches in the worst 3 s */
	struct gpusched_settings is;        /* at the end */
};

struct sim_check_result {
	double value;
	bool known, ok;
};

struct sim_turn {
	uint64_t start_ns, end_ns;
	unsigned int gpu;
	size_t process;
};

struct sim_result {
	const struct sim_scenario *scenario; /* not owned */
	uint64_t seed;
	char policy[256];
	char policy_failure[256]; /* "": it ran to the end */
	enum sim_facts facts;
	double measured_s;
	uint64_t calls, call_ns;     /* RM calls made by policy and actions */
	uint64_t engine[GS_ENG_MAX]; /* the counters of its core, where there is a policy */
	struct sim_process_result *processes;
	size_t nprocesses;
	struct sim_check_result *checks; /* as many as the scenario's */
	struct sim_turn *turns;
	size_t nturns, turns_cap;
	bool passed;
};

int sim_scenario_run(const struct sim_scenario *s, const struct sim_run_options *opts,
		     struct sim_result **ret, struct gs_error *err);
void sim_result_free(struct sim_result *r);
static inline void sim_result_freep(struct sim_result **r)
{
	sim_result_free(*r);
}

/* scenario_metric.c: NAME is a group, "group[i]" or "@class". -ENOENT, -ENODATA (unknown here). */
int sim_result_metric(const struct sim_result *r, const char *metric, double *ret);
int sim_metric_check(const struct sim_scenario *s, const char *metric, struct gs_error *err);
void sim_result_check(struct sim_result *r);

#endif /* GPUSCHED_SIM_SCENARIO_H */
