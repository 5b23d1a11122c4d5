/* SPDX-License-Identifier: MIT */
/*
 * instance.h - one running instance: what all files of the service know of it
 */
#ifndef GPUSCHED_SERVICE_INSTANCE_H
#define GPUSCHED_SERVICE_INSTANCE_H

#include <systemd/sd-event.h>

#include "account/account.h"
#include "basic/completion.h"
#include "basic/sheet.h"
#include "basic/slices.h"
#include "classify/classify.h"
#include "engine/engine.h"
#include "launch/launch.h"
#include "policy/policy.h"
#include "process/process.h"
#include "rm/setting.h"
#include "service/adopting.h"
#include "service/aliases.h"
#include "service/audit.h"
#include "service/ends.h"
#include "service/host.h"
#include "service/ledger.h"
#include "service/looking.h"
#include "service/observers.h"
#include "service/pools.h"
#include "service/saved.h"
#include "service/service.h"
#include "service/sweeping.h"
#include "service/target.h"
#include "service/verb.h"
#include "table/table.h"

struct gs_agents;
struct gs_errand;
struct gs_guardian;
struct gs_hwid;
struct gs_oddities;
struct gs_restoring;
struct gs_starting;
struct gs_metrics;
struct gs_tracing;
struct gs_unread_user;
struct gs_watch;

/* What the service itself counts: symbol, name, words. */
#define GS_SERVICE_COUNTERS(X) \
	X(EVENTS, "events", "events of the taps handled") \
	X(SWEEPS, "sweeps", "sweeps over the holders of open files") \
	X(SWEPT, "swept", "TSGs ended by a sweep") \
	X(LOSSES, "losses", "times that all TSGs were looked at because events had been lost") \
	X(LAUNCH_LIBS_LEFT, "launch_libs_left", \
	  "times that a process was found with a libcuda whose launches are not counted: see the " \
	  "log") \
	X(LAUNCH_LIBS_AGAIN, "launch_libs_again", \
	  "times that a libcuda, or those of a process, were tried again after a reason that " \
	  "passes") \
	X(READS_LEFT, "reads_left", \
	  "times that a process's program or libraries were not read: that takes longer than 3 " \
	  "s, or did so for its user in the last 30 s; it is tried again, unless too many of its " \
	  "user's wait for that") \
	X(ORPHANS_LEFT, "orphans_left", \
	  "TSGs not adopted: too many others of their user, or of all users, waited for that") \
	X(POOL_HANDLES, "pool_handles", \
	  "records taken out: a client has its MPS server's TSG under another handle") \
	X(ADOPTION_LEFT, "adoption_left", \
	  "open files from before the taps not looked at to the end: their user has too many") \
	X(OVERTAKEN, "overtaken", \
	  "times that somebody had to put everything back in place of this daemon") \
	X(MODULE_LOST, "module_lost", \
	  "times that gpusched.ko put everything back since it had not heard this daemon") \
	X(FACTS_LEFT, "facts_left", "times that facts of TSGs did not get to the running policy") \
	X(SAVED_LEFT, "saved_left", \
	  "settings that a restart will not know of: there are too many") \
	X(KICKS, "policy_kicks", "rounds that policies asked for by gpusched_kick()") \
	X(KICKS_LEFT, "policy_kicks_left", \
	  "times that gpusched_kick() asked in vain: past the limits of its TSG or user") \
	X(REQUESTS, "requests", "requests answered") \
	X(REQUESTS_FAILED, "requests_failed", "requests answered with an error") \
	X(REFUSED, "refused", "requests refused for lack of permission") \
	X(ANSWERS_LEFT, "answers_left", \
	  "answers given up: those that their user has not read yet take up 32 MiB") \
	X(AUDIT_LEFT, "audit_left", \
	  "users' requests that were not noted: more than 10 a minute of one user") \
	X(IDS_LEFT, "ids_left", \
	  "times that 'list --wide' did not know a TSG's number on its GPU: RM did not tell, or " \
	  "not in time") \
	X(AGENTS_LEFT, "agents_left", \
	  "times that an agent in a program was given no page: it asks too often, or its user " \
	  "has " \
	  "too many") \
	X(CGROUPS_LEFT, "cgroups_left", \
	  "times that sums by cgroup had no room for one more: it counts as none") \
	X(HISTORY_LEFT, "history_left", \
	  "events of TSGs that the history leaves out: too many a minute")

enum gs_service_counter {
#define X(sym, name, text) GS_SVC_##sym,
	GS_SERVICE_COUNTERS(X)
#undef X
		GS_SVC_MAX
};

/* Why a call of a process failed last. */
struct gs_failure {
	uint32_t pid;
	int err;
	uint32_t status;
};

struct gs_call_stats {
	uint64_t count, failed, ns, max_ns;
};

#define GS_ASKED 64
struct gs_asked {
	pid_t pid; /* 0: none */
	int code;
	struct gs_class_answer answer;
};

/* Of a process, for a while. */
struct gs_job_asked {
	pid_t pid;
	uint64_t start_ns, ns, job;
};

struct gs_owner {
	pid_t pid;
	uid_t uid;
};

struct gs_service {
	const struct gs_config *config;
	struct gs_service_opts opts;
	struct gs_classes *classes;
	struct gs_gpu *gpus;
	size_t ngpus;
	unsigned int branch;
	struct gs_table *o;
	struct gs_engine *e;
	struct gs_policy *p;
	enum gs_host_word host;   /* of the running policy */
	struct gs_hooked *hooked; /* with which the driver's hooks ask it; NULL: they do not */
	struct gs_policy_exit last_exit;
	struct gs_starting *starting;            /* NULL: nothing is being started */
	struct gs_launches *launches;            /* NULL: not counted */
	struct gs_launches *ending;              /* no more, when its errand is over */
	struct gs_errand *launching;             /* a library is probed, or counting ends */
	bool launching_ends;                     /* no other one will be */
	bool launches_asked;                     /* a person wants them counted */
	uint64_t launched[GPUSCHED_MAX_CLASSES]; /* by class, while counting was on before */
	int lock_fd, table_fd; /* of the instance, and of its table: gs_lock_*() */
	sd_event *event;       /* NULL: read-only, or not open yet */
	sd_event_source *beat, *sweep, *look, *happened;
	sd_event_source *reads, *events, *results, *due, *ticks, *guardian_ended;
	sd_event_source *round, *launch_again;
	struct gs_slices slices;
	struct gs_observers observers;
	struct gs_ends ends;
	struct gs_sweeping sweeping;
	struct gs_looking looking;
	struct gs_waits waits;
	struct gs_account *account; /* NULL: nobody reads the GPUs' logs */
	sd_event_source *sight;
	unsigned int sight_skips;       /* looks before launches are read again */
	struct gs_tracing *tracing;     /* NULL: nobody records */
	struct gs_oddities *oddities;   /* NULL: nobody watches */
	struct gs_ledger *ledger;       /* NULL: not a daemon */
	struct gs_agents *agents;       /* in programs; NULL: not a daemon, or none can come */
	struct gs_errand *question;     /* to the history, that is being answered; NULL: none */
	struct gs_errand *asking;       /* for the GPU's ids of TSGs; NULL: none is */
	struct gs_hwid *hwids;          /* by id of the TSG */
	struct gs_guardian *guardian;   /* NULL: none */
	struct gs_restoring *restoring; /* NULL: nothing is being put back */
	bool has_readers;               /* false: this process reads by itself */
	bool self_added;
	bool draining;                        /* throws away events from before this instance */
	uint32_t epoch;                       /* of the table, see gpusched_cfg */
	uint64_t events_lost;                 /* by the taps, as far as it was made up for */
	struct gs_failure failures[GS_ASKED]; /* by pid */
	uint32_t denied_pid;                  /* of the record that ended last for that reason */
	uint32_t overruled_logged; /* 1 << enum gs_overrule: said of the running policy */
	uint64_t losses_next_ns;   /* not again before */
	uint64_t table_full;       /* what the taps had no room for, as far as it was told */
	uint64_t full_next_ns;     /* not told again before */
	uint64_t past_next_ns;     /* nobody past a share is looked for before */
	uint64_t unseen_until_ns;  /* one that is not in the table may run */
	struct gs_adopting adopting;
	struct gs_pools pools;
	struct gs_metrics *metrics;    /* NULL: nobody has asked for them */
	struct gs_unread_user *unread; /* those who have answers */
	struct gs_aliases aliases;
	struct gs_watch *watches;
	bool emitting; /* events to the watches */
	bool watched;  /* somebody watches: it is worth while to make events for people */
	unsigned int next_token;
	struct gs_audit audit;
	struct gs_saved saved;
	struct gs_past past;
	uint64_t counters[GS_SVC_MAX];
	uint64_t longest_turn_ns; /* of the loop, since this instance began */
	uint64_t longest_turn_cpu_ns;
	struct gs_call_stats calls[GS_RM_OP_MAX];
	/* classes of the last records' processes, by pid, while one request is answered */
	struct gs_asked asked[GS_ASKED];
	/* who ran the processes of the last events, by pid: they may have ended */
	struct gs_job_asked jobs[GS_ASKED];
	struct gs_owner owners[GS_ASKED];
	struct gs_hidepid hidepid;
	uint64_t hidepid_ns; /* when it was looked up; 0: never */
};

static inline void gs_count(struct gs_service *s, enum gs_service_counter c)
{
	s->counters[c]++;
}

/* Who is told of what: observed.c has the table. */
void gs_service_observe(struct gs_service *s);

/* Says whose TSGs fill a table that is full; costs one read of a counter when it is not. */
void gs_full_check(struct gs_service *s);

#endif /* GPUSCHED_SERVICE_INSTANCE_H */
