/* SPDX-License-Identifier: MIT */
/*
 * verdict.h - judges figures: finds out what is wrong, how bad, since when, and what helps
 *
 * Pure: no clock, no I/O. This is the only place that judges figures: `status`, `top`, `advise`,
 * events and metrics print its findings. The limits come from the configuration.
 */
#ifndef GPUSCHED_FIGURES_VERDICT_H
#define GPUSCHED_FIGURES_VERDICT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "figures/rates.h"
#include "figures/slo.h"

struct gs_config;

/* wrong: a person should act; note: good to know; unknown: nobody can tell whether all is well. */
enum gs_level { GS_LEVEL_WRONG, GS_LEVEL_NOTE, GS_LEVEL_UNKNOWN, GS_LEVELS };
const char *gs_verdict_level_name(enum gs_level level);

/* Symbol, name, level, text. */
#define GS_FINDINGS(X) \
	X(NO_DAEMON, "no-daemon", WRONG, "no daemon runs") \
	X(DRIVER_UNKNOWN, "driver-unknown", WRONG, \
	  "the driver's branch is not known: the daemon only watches") \
	X(POLICY_DIED, "policy-died", WRONG, "the policy ended by itself, and none runs") \
	X(POLICY_DIFFERS, "policy-differs", WRONG, "the configured policy does not run") \
	X(LINES_LEFT, "lines-left-out", WRONG, "lines of the configuration are left out") \
	X(GPU_LOST, "gpu-lost", WRONG, "a GPU is lost, or needs a reset") \
	X(XID, "xid", WRONG, "the driver reported an error that is no program's own mistake") \
	X(CALL_FAILED, "call-failed", WRONG, "the driver failed a suspension, a resume or a mode") \
	X(KEPT_IDLE, "kept-idle", WRONG, "a GPU is idle, and a policy keeps a program off it") \
	X(NO_TURN, "no-turn", WRONG, "a program has work, and got no turn for 10 s") \
	X(LOG_UNREAD, "log-unread", WRONG, "a GPU's context-switch log cannot be read") \
	X(LOST_TIME, "lost-time", WRONG, "a GPU loses too much of its time in switches") \
	X(STARVED, "starved", WRONG, "a program waits for the GPU and hardly gets it") \
	X(LC_WAITS, "lc-waits", WRONG, "a service is harmed: it waits too long for the GPU") \
	X(SLO_MISSED, "slo-missed", WRONG, "a service is late because of others") \
	X(STUCK, "calls-stuck", WRONG, "calls to the driver do not return") \
	X(GAVE_UP, "calls-given-up", WRONG, "changes were given up after calls failed") \
	X(LOG_LOST, "log-lost", WRONG, "records of a GPU's log were lost") \
	X(TABLE_FULL, "table-full", WRONG, "the table of programs is full") \
	X(PARK_LOST, "park-lost", WRONG, "a parked program is lost: its restore met no memory") \
	X(DRY_RUN, "dry-run", NOTE, "the daemon makes no call: DryRun=yes") \
	X(ROOT_PASSED, "passed-over", NOTE, "a container's root chose what a rule matches") \
	X(PODS_UNWATCHED, "pods-unwatched", NOTE, "folders that name pods are not watched") \
	X(QUARANTINE, "quarantine", NOTE, "a program is in quarantine after an Xid") \
	X(NO_STEPS, "no-steps", NOTE, \
	  "a program works on, but makes no step since gpusched acted") \
	X(CLASSLESS, "classless-wait", NOTE, "programs without a class wait for each other") \
	X(CLASS_IDLE, "class-idle", NOTE, "a class has programs, and nothing acts on it") \
	X(MEMORY_IDLE, "memory-idle", NOTE, "a program is idle and holds much memory of a GPU") \
	X(SUSPENDED, "suspended", NOTE, "a person keeps a program off the GPU") \
	X(PARKED, "parked", NOTE, "a program is parked: its GPU memory is taken out") \
	X(BUDGET, "budget-used-up", NOTE, "a budget of GPU time is used up") \
	X(PARK_IN_VAIN, "park-in-vain", NOTE, "an idle program is not parked by itself any more") \
	X(NO_MIG_LOG, "no-mig-log", UNKNOWN, "a GPU in MIG mode has no log of the whole GPU") \
	X(WAITS_UNSEEN, "waits-unseen", UNKNOWN, "what a service waits is not known")

enum gs_finding_kind {
#define X(sym, name, level, text) GS_FINDING_##sym,
	GS_FINDINGS(X)
#undef X
		GS_FINDING_MAX
};
const char *gs_verdict_name(enum gs_finding_kind kind);
enum gs_level gs_verdict_level(enum gs_finding_kind kind);

struct gs_finding {
	enum gs_finding_kind kind;
	double amount_pct; /* how bad it is in %; NAN: this finding has no degree */
	uint64_t since_ns; /* it began then, or earlier; 0: unknown */
	int gpu;           /* -1: the finding is about no GPU */
	uint64_t tsg;      /* 0: the finding is about no TSG */
	uint32_t pid;
	uid_t uid; /* the TSG's owner */
	/* one sentence each; the remedy quotes one command, or says that nothing is to be done */
	char text[320], remedy[320];
};

struct gs_findings {
	struct gs_finding *all;
	size_t n, room;
};
void gs_verdict_done(struct gs_findings *f);
/* Sorts them by severity, the worst first. */
void gs_verdict_sort(struct gs_findings *f);
json_t *gs_verdict_json(const struct gs_finding *f);

/* A process that holds this much memory, and is idle for this long, gives a finding. */
struct gs_limits {
	uint64_t idle_ns, idle_bytes;
};
struct gs_limits gs_verdict_limits(const struct gs_config *config);

/* True if a service that waits like this is harmed. All values in %; NAN: unknown. */
bool gs_verdict_is_harmed(double waited, double wait_share, double calm);
bool gs_verdict_is_lossy(double lost);
/*
 * True if a process that holds @bytes and has not worked since @idle_since_ns gives a finding.
 * @idle_since_ns 0: it has worked, or that is unknown.
 */
bool gs_verdict_is_hoarding(const struct gs_limits *l, uint64_t bytes, uint64_t idle_since_ns,
			    uint64_t now_ns);

/* ---- the facts to judge ---------------------------------------------------------------------- */

/* Counters that mean trouble when they rise. */
struct gs_trouble_counts {
	uint64_t stuck, gave_up, log_lost, table_full;
};

struct gs_state_facts {
	bool daemon, dry_run;
	/* branch of a driver that is only watched; 0: the branch is known */
	unsigned int unknown_branch;
	const char *start_daemon; /* the command that starts a daemon */
	const char *policy;       /* NULL: none runs */
	/* The configured policy, which should run and does not ("": none should); NULL: it does. */
	const char *differs;
	/* lines of the configuration that were left out, and the first one's place ("FILE:LINE") */
	size_t left_out;
	const char *left_out_at;
	/* those of them that wait for the name of a user or group; those of these in Budget= */
	size_t waiting, waiting_budgets;
	unsigned int root_passed;    /* programs that a rule passes over: their root chose it */
	unsigned int pods_unwatched; /* folders that name pods, and are not watched */
	/* A policy that ended by itself, which no person has acknowledged yet. */
	const char *died;
	const char *died_start; /* what starts it again: its name, or its path; NULL: not known */
	const char *died_why;
	uint64_t died_ns;
	struct gs_trouble_counts rose; /* how much the counters rose within the window */
};
void gs_verdict_state(const struct gs_state_facts *s, struct gs_findings *ret);

/* A class that a person gave to programs. */
struct gs_class_facts {
	const char *name;
	const char *policy; /* NULL: none runs */
	bool ignored;       /* the policy declares its classes, and this one is not among them */
	bool beside_lc;     /* there are programs of class lc, too */
	const char *acts_on;
};
void gs_verdict_class(const struct gs_class_facts *c, struct gs_findings *ret);

struct gs_gpu_facts {
	int gpu;
	bool read;          /* a daemon reads the log, or would if there were programs */
	bool log;           /* the log can be read */
	const char *reason; /* why the log cannot be read; NULL: nobody has tried */
	bool mig;
	/* rates of the last ten seconds, and of the last one or two */
	struct gs_gpu_rates window, lately;
};
void gs_verdict_gpu(const struct gs_gpu_facts *g, struct gs_findings *ret);

/* A GPU without work, and the program that a policy has kept off it for the longest time. */
struct gs_kept_idle_facts {
	int gpu;
	const char *policy;       /* NULL: none runs */
	uint64_t idle_ns, off_ns; /* for how long; 0: not so, or unknown */
	uint64_t now_ns;
	uint64_t tsg;
	uint32_t pid;
	uid_t uid;
	const char *comm;
	bool held; /* it has not been admitted; false: it is suspended */
};
void gs_verdict_kept_idle(const struct gs_kept_idle_facts *k, struct gs_findings *ret);

/* Whether launches are counted: says which remedy can work where they are not known. */
enum gs_counting { GS_COUNTING_UNKNOWN, GS_COUNTING_OFF, GS_COUNTING_ON, GS_COUNTING_REFUSED };

struct gs_tsg_facts {
	uint64_t id;
	uint32_t pid;
	uid_t uid;
	const char *comm;
	int gpu;
	bool lc, waiting, suspended;
	bool counted;              /* launches of this program are counted, or its requests told */
	enum gs_counting counting; /* of the instance; only read where @counted is false */
	const char *policy;        /* NULL: none runs */
	double calm_pct;
	struct gs_tsg_rates window;
	/* for how long it has waited while nothing of ours kept it off; 0: it does not, or unknown */
	uint64_t stuck_ns;
	/*
	 * It launched often, stopped @still_ns ago while gpusched acted on it, and has not drained
	 * since; 0: not so, or unknown.
	 */
	uint64_t still_ns;
	const char *class;
	uint64_t slo_ns;          /* slo= of its class; 0: none */
	struct gs_slo_counts slo; /* its last requests */
};
void gs_verdict_tsg(const struct gs_tsg_facts *t, struct gs_findings *ret);

/* Programs of a GPU without a class, on which no policy acts. */
struct gs_classless_facts {
	int gpu;
	bool several;  /* two or more of them had the GPU */
	uint64_t last; /* the TSG that waited most at the last look; 0: not known */
	/* the TSG that waited most; 0: none of them had the GPU */
	uint64_t tsg;
	uint32_t pid;
	uid_t uid;
	char comm[32];
	double waited_pct; /* part of the time; NAN: unknown */
};
void gs_verdict_classless(const struct gs_classless_facts *c, struct gs_findings *ret);

/* A process on a GPU; its first TSG there stands for it. */
struct gs_holder_facts {
	uint64_t id;
	uint32_t pid;
	uid_t uid;
	const char *comm;
	int gpu;
	uint64_t bytes, idle_since_ns, now_ns;
};
void gs_verdict_holder(const struct gs_limits *l, const struct gs_holder_facts *h,
		       struct gs_findings *ret);

/* A program that a person has suspended. */
struct gs_suspended_facts {
	uint32_t pid;
	uid_t uid;
	const char *comm;
	int gpu;
	uint64_t tsg;
	uint64_t since_ns; /* 0: unknown */
	bool for_a_while;
};
void gs_verdict_suspended(const struct gs_suspended_facts *s, struct gs_findings *ret);

/* A parked process: its GPU memory was taken out. */
struct gs_parked_facts {
	uint32_t pid;
	uid_t uid;
	const char *comm;
	bool lost, waits, by_root, by_itself, by_policy;
	uint64_t bytes, since_ns;
	uint32_t guest; /* pid of the program that needs the memory; 0: none */
	/* "agent", "probe": the way in which a call would be noticed; NULL: none */
	const char *sign;
	bool blind;  /* a call should bring it back, but no way works to notice a call */
	int waiters; /* threads that seem to wait; below 0: not known */
};
void gs_verdict_parked(const struct gs_parked_facts *p, struct gs_findings *ret);

/* A report of the driver (an Xid), or a lost GPU. */
struct gs_xid_facts {
	uint32_t number; /* 0: a lost GPU */
	bool reset;      /* the GPU is lost, or needs a reset */
	int gpu;         /* -1: unknown */
	uint64_t tsg;    /* 0: unknown */
	uint32_t pid;    /* 0: unknown */
	uid_t uid;
	const char *comm;
	const char *had;   /* what gpusched had done to the TSG; "": nothing */
	unsigned int rpcs; /* time-outs of the firmware in a row, for Xid 119 */
	bool ended_policy;
	uint64_t since_ns;
};
void gs_verdict_xid(const struct gs_xid_facts *x, struct gs_findings *ret);

/* A call that the driver failed. */
struct gs_failed_call_facts {
	uint64_t tsg;
	uint32_t pid;
	uid_t uid;
	const char *comm;
	int gpu;
	const char *call, *status;
	uint64_t since_ns;
};
void gs_verdict_failed_call(const struct gs_failed_call_facts *c, struct gs_findings *ret);

/* A program in quarantine. */
struct gs_quarantine_facts {
	const char *program;
	uid_t uid;
	uint32_t xid;
	unsigned int times;
	uint64_t since_ns, left_ns;
};
void gs_verdict_quarantine(const struct gs_quarantine_facts *q, struct gs_findings *ret);

/* A budget of a user or a cgroup. */
struct gs_budget_facts {
	const char *of, *name; /* such as "user" and "alice" */
	const char *per;       /* day, week, month */
	const char *until;     /* when the next period begins, as text */
	bool stop; /* true: until then its programs may not run; false: they give way to others */
	uint64_t used_ns, all_ns;
};
void gs_verdict_budget(const struct gs_budget_facts *b, struct gs_findings *ret);

/* A process that gpusched no longer parks by itself: it was wanted back at once, twice. */
struct gs_in_vain_facts {
	uint64_t tsg;
	uint32_t pid;
	uid_t uid;
	const char *comm;
	uint64_t since_ns;
};
void gs_verdict_in_vain(const struct gs_in_vain_facts *v, struct gs_findings *ret);

#endif /* GPUSCHED_FIGURES_VERDICT_H */
