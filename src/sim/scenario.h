/* SPDX-License-Identifier: MIT */
/*
 * scenario.h - loads and runs scenarios: processes on the GPU model, actions, expected results
 *
 * docs/model.md describes the file format. A scenario is loaded once and can be run many times; the
 * same seed gives the same result. A file has one scenario, or several as rows (scenario_rows.h).
 */
#ifndef GPUSCHED_SIM_SCENARIO_H
#define GPUSCHED_SIM_SCENARIO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "basic/arrivals.h"
#include "basic/error.h"
#include "engine/core.h"
#include "gpusched/abi.h"
#include "account/turns.h"
#include "sim/model.h"
#include "sim/params.h"
#include "policy/host.h"

#define SIM_NAME_LEN 48
#define SIM_MAX_OPTIONS 16

/* lc: requests; be: kernels back to back; persistent: one kernel that never ends */
enum sim_kind { SIM_KIND_LC, SIM_KIND_BE, SIM_KIND_PERSISTENT };
/* How the processes of a group wait for each other. */
enum sim_sync {
	SIM_SYNC_NO,
	SIM_SYNC_STEPS, /* on the host: a step begins when all have ended the one before */
	SIM_SYNC_TURNS, /* on the host: a step begins when the process before has ended its own */
	/*
	 * on the GPU: a step is a kernel, and one behind it that spins until the kernels of all
	 * have run
	 */
	SIM_SYNC_SPIN,
};
enum sim_arrivals {
	SIM_ARRIVE_POISSON,  /* requests arrive at random, whether or not earlier ones are done */
	SIM_ARRIVE_PERIODIC, /* requests arrive at equal intervals */
	/*
	 * next request: a random gap after each completion, exponential and at most 5 times its
	 * mean
	 */
	SIM_ARRIVE_CLOSED,
	/*
	 * requests arrive as a file says, from the process's start on and once more from the end of
	 * the warm-up on
	 */
	SIM_ARRIVE_TRACE,
};
enum sim_hold { SIM_HOLD_NONE, SIM_HOLD_HINT_ONE, SIM_HOLD_HINT, SIM_HOLD_REQUEST };
/* How the policy learns when requests begin and end. */
enum sim_requests { SIM_REQUESTS_UNSEEN, SIM_REQUESTS_AGENT, SIM_REQUESTS_HINTS };

/* A group of equal processes. Each has one TSG, or is a client of an MPS server. */
struct sim_group {
	char name[SIM_NAME_LEN], class_name[GPUSCHED_CLASS_NAME_LEN];
	unsigned int count, gpu;
	bool spread; /* gpu = spread: round robin over the GPUs */
	/*
	 * MIG: the group's partition; GPUSCHED_NO_INSTANCE: none. Either all groups of a scenario
	 * have a partition, or none has.
	 */
	unsigned int gpu_instance, compute_instance;
	unsigned int part; /* index of the partition among those of the scenario */
	unsigned int kind, arrivals, hold, requests;
	double kernel_us, block_us, fill_pct; /* block_us 0: as long as the kernel */
	unsigned int kernels;                 /* number of kernels in a request */
	/* The program waits for the GPU after this many kernels; 0: only at the request's end. */
	unsigned int wait_every;
	unsigned int burst;   /* requests that arrive at once */
	double launch_gap_us; /* CPU time between two launches of a request */
	/*
	 * @gap_us: mean gap between requests; @cv: its coefficient of variation (above 1: bursts)
	 */
	double gap_us, cv;
	struct gs_arrivals trace; /* with SIM_ARRIVE_TRACE */
	double prep_us; /* hold = hint: CPU time from a request's arrival to its real launch */
	double hold_limit_us;
	unsigned int in_flight; /* BE: number of kernels that a process keeps in flight */
	unsigned int sync;      /* BE: enum sim_sync */
	double start_s, start_step_s, stop_s; /* @stop_s 0: the process runs to the end */
	/* time from the process's start to its first launch, for example CUDA's initialization */
	double begin_s;
	/* settings that the process itself sets at its start */
	uint64_t timeslice_us;
	unsigned int interleave, preempt_mode;
	bool suspended;  /* an administrator suspends the process at its start */
	bool adopted;    /* the TSG was found later, so its preemption mode is only assumed */
	bool past_share; /* the process has more TSGs than the table takes */
	unsigned int weight;
	/*
	 * Percentages of each GPU; 0: none. @limit, @request: root's command gave them to the whole
	 * group, as one program. @cgroup_limit, @cgroup_request: root's attributes of the group's
	 * cgroup. @user_limit: the owner gave it to each process separately.
	 */
	unsigned int limit, request, cgroup_limit, cgroup_request, user_limit;
	bool own_cgroups; /* each process has a cgroup of its own, below the group's */
	uint64_t deadline_us, cgroup_id, job; /* job 0: unknown */
	double dies_after_s; /* it ends itself after so long without a step; 0: never */
	unsigned int uid;
	/* The MPS server of which the processes are clients; "": they have TSGs of their own. */
	char server[SIM_NAME_LEN];
	/* with an MPS server: CUDA_MPS_CLIENT_PRIORITY, and percentage of SMs at most */
	unsigned int priority, sm_pct;
};

extern const char *const sim_kind_words[]; /* NULL-terminated */

/* Which facts about a TSG policies get: those of the stock host, or everything the model knows. */
enum sim_facts { SIM_FACTS_STOCK, SIM_FACTS_ALL };
extern const char *const sim_facts_words[]; /* NULL-terminated */

/* Why a process ended with an error. */
enum sim_death {
	SIM_LIVES,
	SIM_DIED_WAITING, /* it made no step for dies_after_s */
	SIM_DIED_REMOVED, /* the engine removed its channels (Xid 109) */
	SIM_DIED_LOST,    /* its GPU was marked for reset (Xid 119 three times) */
};
extern const char *const sim_death_words[]; /* NULL-terminated */

/* An RM call of an operation that answers an error. */
struct sim_fault {
	enum gs_rm_op op;
	uint32_t status;
	bool applied;       /* it takes effect all the same */
	unsigned int times; /* how many of these calls fail, from the first; 0: all */
};

enum sim_do { SIM_DO_SET, SIM_DO_SUSPEND, SIM_DO_RESUME, SIM_DO_PREEMPT };

/* An action: RM calls that are made once at @at_ms, one after the other. */
struct sim_action {
	double at_ms;
	char target[SIM_NAME_LEN]; /* group, "group[i]" or "@class" */
	unsigned int what;
	struct gpusched_settings set;
};

/* Takes turns among the processes of the target: only one at a time can run. */
struct sim_rotate {
	/* @new_first: the next process is resumed before the old one is suspended */
	bool on, new_first;
	char target[SIM_NAME_LEN];
	double period_ms;
};

enum sim_check_op { SIM_CHECK_MAX, SIM_CHECK_MIN, SIM_CHECK_REFERENCE };

struct sim_check {
	char text[128];   /* the check as written in the file */
	char metric[64];  /* NAME.METRIC */
	char divisor[64]; /* NAME.METRIC by which the value is divided; "": none */
	enum sim_check_op op;
	double limit, within_pct;
	/* [missed]: a reference that the model is known to miss; shown, but not counted */
	bool missed;
};

struct sim_scenario {
	/* @basis: origin of the expected values: fitted, predicted, promise, ... */
	char name[SIM_NAME_LEN], title[128], basis[16];
	char *path;
	/* parameters of each GPU, or of each part if MIG divides the GPUs */
	struct sim_params params;
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
	struct sim_fault *faults;
	size_t nfaults;
	struct sim_check *checks;
	size_t nchecks;
};

/* @row: the scenario's name in a file with rows; NULL: the file is one scenario. */
int sim_scenario_load(const char *path, const char *row, struct sim_scenario **ret,
		      struct gs_error *err);
void sim_scenario_free(struct sim_scenario *s);
static inline void sim_scenario_freep(struct sim_scenario **s)
{
	sim_scenario_free(*s);
}

/* True if @target ("be", "be[2]" or "@class") names this process. */
bool sim_scenario_matches(const char *target, const struct sim_group *g, unsigned int index);

struct sim_run_options {
	const char *policy; /* NULL: the scenario's own policy; "none" or "": no policy */
	/* options of the policy, after the scenario's own ones; used if @policy is NULL */
	const char *const *options;
	size_t noptions;
	const uint64_t *seed;        /* NULL: the scenario's seed */
	const struct gs_host *host;  /* a host in virtual time; NULL: the native one */
	const enum sim_facts *facts; /* NULL: the scenario's facts */
	/* called regularly with the progress; may be NULL */
	void (*progress)(void *user, uint64_t done_ns, uint64_t all_ns);
	void *progress_user;
	double timeline_ms; /* length of the context-switch log to keep after the warm-up, in ms */
};

/*
 * How often the account names the true reason for the end of a turn. The model's own record is the
 * truth. Counts turns in the measured time.
 */
struct sim_judged {
	/* @cut: all turns that the end of the slice cut off */
	uint64_t right, wrong, cut, cut_unknown, drained_unknown;
};

/* The figures of one process in the measured time. */
struct sim_process_result {
	const struct sim_group *group;
	unsigned int index, gpu;
	uint64_t *latency_ns; /* sorted */
	size_t nlatency;
	uint64_t *piece_ns; /* wait_every: duration of each piece of a request; sorted */
	size_t npieces;
	uint64_t kernels, launches, missed; /* missed: requests past the group's deadline */
	enum sim_death died;
	uint64_t longest_ns; /* longest time in which no request or kernel was done */
	uint64_t gpu_time_ns, switches, suspended_ns;
	/* over the process's whole life, from the model's record */
	struct sim_tsg_state all;
	struct gs_turn_sums account;        /* over the process's whole life, from the account */
	struct gs_turn_sums account_of_log; /* the account without counted launches */
	struct sim_judged judged;           /* for the account without counted launches */
	double ran_s;                       /* how long the process existed in the measured time */
	/* part of its GPU's time that switches took, in the worst 3 s */
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
	const struct sim_scenario *scenario; /* the result only refers to it */
	uint64_t seed;
	char policy[256];
	char policy_failure[256]; /* why the policy failed; "": it ran to the end */
	enum sim_facts facts;
	double measured_s;
	uint64_t calls, call_ns; /* RM calls that the policy and actions caused */
	uint64_t failed_calls;   /* those that answered an error */
	uint64_t longest_call_ns;
	uint64_t lock_ns;            /* time for which calls held all GPUs' locks */
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
void sim_scenario_result_free(struct sim_result *r);
static inline void sim_result_freep(struct sim_result **r)
{
	sim_scenario_result_free(*r);
}

/*
 * In scenario_metric.c: the value of NAME.METRIC. NAME is a group, "group[i]" or "@class". -ENOENT:
 * no such name; -ENODATA: the value is unknown.
 */
int sim_result_metric(const struct sim_result *r, const char *metric, double *ret);
int sim_metric_check(const struct sim_scenario *s, const char *metric, struct gs_error *err);
void sim_metric_check_all(struct sim_result *r);

#endif /* GPUSCHED_SIM_SCENARIO_H */
