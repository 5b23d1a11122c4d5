/* SPDX-License-Identifier: MIT */
/*
 * scenario.h - a scenario: processes on the GPU model, actions on them, and expected results
 *
 * docs/model.md describes the file. A scenario is loaded once and can be run many times; the same
 * seed gives the same result.
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

enum sim_kind { SIM_KIND_LC, SIM_KIND_BE }; /* lc: requests; be: kernels back to back */
enum sim_arrivals {
	SIM_ARRIVE_POISSON,  /* open loop: latency counts from the arrival */
	SIM_ARRIVE_PERIODIC, /* open loop, at equal distances */
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
	/*
	 * MIG: either all groups of a scenario are in a partition, or none is.
	 * GPUSCHED_NO_INSTANCE: none.
	 */
	unsigned int gpu_instance, compute_instance;
	unsigned int part; /* number of that partition, from 0 */
	unsigned int kind, arrivals, hold, requests;
	double kernel_us, block_us, fill_pct; /* block_us 0: as long as the kernel */
	unsigned int kernels;                 /* number in a request */
	/* The program waits for the GPU after this many kernels; 0: only at the request's end. */
	unsigned int wait_every;
	unsigned int burst;   /* requests that arrive at once */
	double launch_gap_us; /* CPU time between two launches of a request */
	/* mean of the gaps; cv: their variation, above 1 they come in bursts */
	double gap_us, cv;
	double prep_us; /* hold = hint: CPU time between arrival and launch */
	double hold_limit_us;
	unsigned int in_flight; /* BE */
	/* BE: a process begins a kernel when all processes of the group have ended the last one */
	bool sync;
	double start_s, start_step_s, stop_s; /* @stop_s 0: it runs to the end */
	double begin_s; /* time from its start to its first launch, as CUDA's start takes */
	/* settings that its owner asks for at its start */
	uint64_t timeslice_us;
	unsigned int interleave, preempt_mode;
	bool suspended;  /* a person suspends it at its start */
	bool adopted;    /* it was found later, so its preemption mode is only assumed */
	bool past_share; /* the process has more TSGs than the table takes */
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
	/* The MPS server that has its processes as clients; "": they have TSGs of their own. */
	char server[SIM_NAME_LEN];
	unsigned int priority, sm_pct; /* with a server: CUDA_MPS_CLIENT_PRIORITY, SMs at most */
};

/* The facts of a TSG that policies get: those of the stock host, or all that the model has. */
enum sim_facts { SIM_FACTS_STOCK, SIM_FACTS_ALL };
extern const char *const sim_facts_words[]; /* NULL-terminated */

enum sim_do { SIM_DO_SET, SIM_DO_SUSPEND, SIM_DO_RESUME, SIM_DO_PREEMPT };

/* An action: RM calls that are made once, one after the other, from @at_ms on. */
struct sim_action {
	double at_ms;
	char target[SIM_NAME_LEN]; /* group, "group[i]" or "@class" */
	unsigned int what;
	struct gpusched_settings set;
};

/* Lets one process of the target run at a time. */
struct sim_rotate {
	/*
	 * @new_first (order = new-first): the next process is enabled before the old one is
	 * disabled
	 */
	bool on, new_first;
	char target[SIM_NAME_LEN];
	double period_ms;
};

enum sim_check_op { SIM_CHECK_MAX, SIM_CHECK_MIN, SIM_CHECK_REFERENCE };

struct sim_check {
	char text[128];   /* text in the file */
	char metric[64];  /* NAME.METRIC */
	char divisor[64]; /* "": none */
	enum sim_check_op op;
	double limit, within_pct;
	/* [missed]: the model is known not to meet this reference; shown, but not counted */
	bool missed;
};

struct sim_scenario {
	/* @basis: fitted, predicted, promise, ... */
	char name[SIM_NAME_LEN], title[128], basis[16];
	char *path;
	struct sim_params params; /* of each part, if GPUs are divided */
	unsigned int gpus;
	unsigned int parts;          /* parts of each GPU; 0: MIG is off, and each GPU has a log */
	double duration_s, warmup_s; /* measured from @warmup_s to @duration_s */
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

/* True if @target ("be", "be[2]" or "@class") names this process. */
bool sim_target_matches(const char *target, const struct sim_group *g, unsigned int index);

struct sim_run_options {
	const char *policy;         /* NULL: the scenario's policy; "none" or "": no policy */
	const char *const *options; /* after the scenario's options, if @policy is NULL */
	size_t noptions;
	const uint64_t *seed;        /* NULL: the scenario's seed */
	const struct gs_host *host;  /* a host in virtual time; NULL: the native one */
	const enum sim_facts *facts; /* NULL: the scenario's facts */
	/* called now and then with the progress; may be NULL */
	void (*progress)(void *user, uint64_t done_ns, uint64_t all_ns);
	void *progress_user;
	double timeline_ms; /* length of the context-switch log to keep after the warm-up */
};

/*
 * Whether the log gives the right reasons for the ends of turns, compared to the model's own
 * record. In the measured time.
 */
struct sim_judged {
	/* cut: all turns that the slice ended */
	uint64_t right, wrong, cut, cut_unknown, drained_unknown;
};

/* The figures of one process in the measured time. */
struct sim_process_result {
	const struct sim_group *group;
	unsigned int index, gpu;
	uint64_t *latency_ns; /* sorted */
	size_t nlatency;
	uint64_t *piece_ns; /* wait_every: time of each piece of a request; sorted */
	size_t npieces;
	uint64_t kernels, launches, missed; /* missed: requests past the group's deadline */
	uint64_t gpu_time_ns, switches, suspended_ns;
	struct sim_tsg_state all;           /* over its whole life, from the model's record */
	struct gs_turn_sums account;        /* over its whole life, from the account */
	struct gs_turn_sums account_of_log; /* the account without counted launches */
	struct sim_judged judged;           /* judges the account without counted launches */
	double ran_s;                       /* how long it existed in the measured time */
	/* part of its GPU's time that switches took in the worst 3 s */
	double lost_pct;
	struct gpusched_settings is; /* settings at the end */
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
	const struct sim_scenario *scenario; /* not freed with the result */
	uint64_t seed;
	char policy[256];
	char policy_failure[256]; /* "": the policy ran to the end */
	enum sim_facts facts;
	double measured_s;
	uint64_t calls, call_ns;     /* RM calls that the policy and actions caused */
	uint64_t engine[GS_ENG_MAX]; /* counters of the engine's core, if there is a policy */
	struct sim_process_result *processes;
	size_t nprocesses;
	struct sim_check_result *checks; /* one for each check of the scenario */
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

/*
 * In scenario_metric.c: the value of NAME.METRIC. NAME is a group, "group[i]" or "@class". -ENOENT,
 * -ENODATA (unknown here).
 */
int sim_result_metric(const struct sim_result *r, const char *metric, double *ret);
int sim_metric_check(const struct sim_scenario *s, const char *metric, struct gs_error *err);
void sim_result_check(struct sim_result *r);

#endif /* GPUSCHED_SIM_SCENARIO_H */
