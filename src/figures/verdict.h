/* SPDX-License-Identifier: MIT */
/*
 * verdict.h - from figures to findings: what is wrong, how bad it is, since when, and what helps
 *
 * Pure: no clock, no I/O. The one place that says so: `status`, `top`, `advise`, events and metrics
 * print its findings. The limits come from the configuration.
 */
#ifndef GPUSCHED_FIGURES_VERDICT_H
#define GPUSCHED_FIGURES_VERDICT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "figures/rates.h"

struct gs_config;

/* wrong: somebody should act; note: worth to know; unknown: nobody can tell whether all is well. */
enum gs_level { GS_LEVEL_WRONG, GS_LEVEL_NOTE, GS_LEVEL_UNKNOWN, GS_LEVELS };
const char *gs_level_name(enum gs_level level);

/* Symbol, name, level, words. */
#define GS_FINDINGS(X) \
	X(NO_DAEMON, "no-daemon", WRONG, "no daemon runs") \
	X(POLICY_DIED, "policy-died", WRONG, "the policy ended by itself, and none runs") \
	X(LOG_UNREAD, "log-unread", WRONG, "a GPU's context-switch log cannot be read") \
	X(LOST_TIME, "lost-time", WRONG, "a GPU loses too much of its time in switches") \
	X(STARVED, "starved", WRONG, "a program waits for the GPU and hardly gets it") \
	X(LC_WAITS, "lc-waits", WRONG, "a service is harmed: it waits too long for the GPU") \
	X(STUCK, "calls-stuck", WRONG, "calls to the driver do not return") \
	X(GAVE_UP, "calls-given-up", WRONG, "changes were given up after calls failed") \
	X(LOG_LOST, "log-lost", WRONG, "records of a GPU's log were lost") \
	X(TABLE_FULL, "table-full", WRONG, "the table of TSGs is full") \
	X(PARK_LOST, "park-lost", WRONG, "a parked program is lost: its restore met no memory") \
	X(DRY_RUN, "dry-run", NOTE, "the daemon makes no call: DryRun=yes") \
	X(CLASS_IDLE, "class-idle", NOTE, "a class has programs, and nothing acts on it") \
	X(MEMORY_IDLE, "memory-idle", NOTE, "a program is idle and holds much memory of a GPU") \
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
const char *gs_finding_name(enum gs_finding_kind kind);
enum gs_level gs_finding_level(enum gs_finding_kind kind);

struct gs_finding {
	enum gs_finding_kind kind;
	double amount_pct; /* how bad; NAN: not a matter of more or less */
	uint64_t since_ns; /* it has been so since then, or longer; 0: not known */
	int gpu;           /* -1: about none */
	uint64_t tsg;      /* 0: about none */
	uint32_t pid;
	uid_t uid; /* ... its owner */
	char text[320], remedy[320];
};

struct gs_findings {
	struct gs_finding *all;
	size_t n, room;
};
void gs_findings_done(struct gs_findings *f);
/* The worst first. */
void gs_findings_sort(struct gs_findings *f);
json_t *gs_finding_json(const struct gs_finding *f);

struct gs_limits {
	double lost_pct;    /* of a GPU's time in switches */
	double starved_pct; /* of the GPU, for a program that waits */
	double calm_factor; /* a service may wait so many times as much as in its calm minutes */
	double calm_margin_pct; /* ... and so many points more */
	/* where these are not known: of the time, and of what it holds or waits */
	double waited_pct, wait_share_pct;
	/* a process that has been idle for so long, and holds more, is worth to know */
	uint64_t idle_ns, idle_bytes;
};
struct gs_limits gs_limits_of(const struct gs_config *config);

/* A service that waits like this is harmed. All in %; NAN: not known. */
bool gs_is_harmed(const struct gs_limits *l, double waited, double wait_share, double calm);
bool gs_is_lossy(const struct gs_limits *l, double lost);
/* It holds so much memory, and has not worked since then; 0: it has, or nobody knows. */
bool gs_is_hoarding(const struct gs_limits *l, uint64_t bytes, uint64_t idle_since_ns,
		    uint64_t now_ns);

/* ---- what is judged -------------------------------------------------------------------------- */

/* Counters that mean trouble when they rise. */
struct gs_trouble_counts {
	uint64_t stuck, gave_up, log_lost, table_full;
};

struct gs_state_facts {
	bool daemon, dry_run;
	const char *start_daemon; /* the command that starts one */
	const char *policy;       /* NULL: none runs */
	const char *died;         /* the policy that ended by itself, of which nobody took note */
	const char *died_why;
	uint64_t died_ns;
	struct gs_trouble_counts rose; /* in the window */
};
void gs_judge_state(const struct gs_state_facts *s, struct gs_findings *ret);

/* A class that somebody gave to programs. */
struct gs_class_facts {
	const char *name;
	size_t tsgs;
	const char *policy; /* NULL: none runs */
	bool ignored;       /* by it, which says on which classes it acts */
	const char *acts_on;
};
void gs_judge_class(const struct gs_class_facts *c, struct gs_findings *ret);

struct gs_gpu_facts {
	int gpu;
	bool read;          /* a daemon reads its log, or would */
	bool log;           /* it can be read */
	const char *reason; /* why not; NULL: nobody tried */
	bool mig;
	struct gs_gpu_rates window, lately; /* of ten seconds, of one or two */
};
void gs_judge_gpu(const struct gs_limits *l, const struct gs_gpu_facts *g, struct gs_findings *ret);

struct gs_tsg_facts {
	uint64_t id;
	uint32_t pid;
	uid_t uid;
	const char *comm;
	int gpu;
	bool lc, waiting, suspended;
	bool counted;       /* its launches are */
	const char *policy; /* NULL: none runs */
	double calm_pct;
	struct gs_tsg_rates window;
};
void gs_judge_tsg(const struct gs_limits *l, const struct gs_tsg_facts *t, struct gs_findings *ret);

/* A process, by the first of its TSGs on that GPU. */
struct gs_holder_facts {
	uint64_t id;
	uint32_t pid;
	uid_t uid;
	const char *comm;
	int gpu;
	uint64_t bytes, idle_since_ns, now_ns;
};
void gs_judge_holder(const struct gs_limits *l, const struct gs_holder_facts *h,
		     struct gs_findings *ret);

/* A process with memory that was taken out. */
struct gs_parked_facts {
	uint32_t pid;
	uid_t uid;
	const char *comm;
	bool lost, waits, by_root, by_itself;
	uint64_t bytes, since_ns;
	uint32_t guest; /* the program that needs its memory; 0: none */
	bool on_use;    /* a launch brings it back */
	bool blind;     /* ... would, but nobody sees its launches */
};
void gs_judge_parked(const struct gs_parked_facts *p, struct gs_findings *ret);

/* A budget of a user or a cgroup. */
struct gs_budget_facts {
	const char *of, *name; /* "user", "alice" */
	const char *per;       /* day, week, month */
	const char *until;     /* when it begins again, in words */
	bool stop;             /* its programs run not at all meanwhile */
	uint64_t used_ns, all_ns;
};
void gs_judge_budget(const struct gs_budget_facts *b, struct gs_findings *ret);

/* A process that is idle at times, and is not parked by itself any more. */
struct gs_in_vain_facts {
	uint64_t tsg;
	uint32_t pid;
	uid_t uid;
	const char *comm;
	uint64_t since_ns;
};
void gs_judge_in_vain(const struct gs_in_vain_facts *v, struct gs_findings *ret);

#endif /* GPUSCHED_FIGURES_VERDICT_H */
