/* SPDX-License-Identifier: MIT */
/*
 * internal.h - what the files of the service share
 */
#ifndef GPUSCHED_SERVICE_INTERNAL_H
#define GPUSCHED_SERVICE_INTERNAL_H

#include <pthread.h>
#include <systemd/sd-event.h>

#include "account/account.h"
#include "basic/completion.h"
#include "basic/sheet.h"
#include "basic/slices.h"
#include "classify/classify.h"
#include "engine/engine.h"
#include "launch/launch.h"
#include "table/table.h"
#include "policy/policy.h"
#include "service/audit.h"
#include "service/ledger.h"
#include "service/pools.h"
#include "service/saved.h"
#include "service/service.h"
#include "service/target.h"
#include "service/verb.h"
#include "process/process.h"
#include "rm/setting.h"

/* What the service itself counts: symbol, name, words. */
#define GS_SERVICE_COUNTERS(X) \
	X(EVENTS, "events", "events of the taps handled") \
	X(SWEEPS, "sweeps", "sweeps over the holders of open files") \
	X(SWEPT, "swept", "TSGs ended by a sweep") \
	X(LOSSES, "losses", "times that all TSGs were looked at because events had been lost") \
	X(LAUNCH_LIBS_LEFT, "launch_libs_left", \
	  "times that a process was found with a libcuda whose launches are not counted: see the " \
	  "log") \
	X(READS_LEFT, "reads_left", \
	  "times that a process's program or libraries were not read: that takes longer than 3 " \
	  "s, " \
	  "or did so for its user in the last 30 s; it is tried again") \
	X(ORPHANS_LEFT, "orphans_left", \
	  "TSGs not adopted: too many others of their user, or of all users, waited for that") \
	X(ADOPTION_LEFT, "adoption_left", \
	  "open files from before the taps not looked at to the end: their user has too many") \
	X(OVERTAKEN, "overtaken", \
	  "times that somebody had to put everything back in place of this daemon") \
	X(FACTS_LEFT, "facts_left", "times that facts of TSGs did not get to the running policy") \
	X(SAVED_LEFT, "saved_left", \
	  "settings that a restart will not know of: there are too many") \
	X(KICKS, "policy_kicks", "rounds that policies asked for by gpusched_kick()") \
	X(KICKS_LEFT, "policy_kicks_left", \
	  "times that gpusched_kick() asked in vain: past the limits of its TSG or user") \
	X(REQUESTS, "requests", "requests answered") \
	X(REQUESTS_FAILED, "requests_failed", "requests answered with an error") \
	X(REFUSED, "refused", "requests refused for lack of permission") \
	X(AUDIT_LEFT, "audit_left", \
	  "users' requests that were not noted: more than 10 a minute of one user") \
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

struct gs_adoption;
struct gs_adopting_trip;
/* TSGs that no tap saw made. */
#define GS_MAX_ORPHANS 256
struct gs_adopting {
	struct gs_adoption *rest;      /* of the start's; NULL: it is over */
	struct gs_adopting_trip *trip; /* NULL: no errand is under way */
	sd_event_source *due;
	/* clients that a tap saw a TSG of used which the table does not have */
	struct gs_orphan {
		pid_t pid;
		uid_t uid;
		struct gpusched_key key;
	} orphans[GS_MAX_ORPHANS];
	size_t n;
	uid_t last;       /* whose was adopted last */
	uint64_t next_ns; /* no orphan before */
};

struct gs_watch;
struct gs_tracing;
struct gs_oddities;
struct gs_starting;
struct gs_request;
struct gs_hwid;

struct gs_call_stats {
	uint64_t count, failed, ns, max_ns;
};

/* The sweep that is under way: an errand looks, the loop tells of ends. */
struct gs_sweep_errand;
struct gs_sweeping {
	struct gs_sweep_errand *errand; /* NULL: none is */
	bool again;                     /* another was asked for meanwhile */
	uint64_t not_before_ns;         /* the next */
};

struct gs_looked_pid {
	pid_t pid;
	bool known; /* its class */
	uint32_t class_id, weight;
};
/* A look at records that is under way. */
struct gs_looking {
	struct gs_sliced sliced;
	struct gs_looked_for {
		bool all, lost; /* lost: since events were */
		bool anew;      /* all are new to the policy */
		struct gs_looked_pid *pids;
		size_t n;
	} round, next;             /* next: asked for meanwhile */
	struct gpusched_tsg *recs; /* those that were asked for, by process */
	size_t n, at;
	struct gpusched_event met; /* the last one's process */
};

#define GS_ASKED 64
struct gs_asked {
	pid_t pid; /* 0: none */
	int code;
	struct gs_class_answer answer;
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
	struct gs_policy_exit last_exit;
	struct gs_starting *starting;            /* NULL: nothing is being started */
	struct gs_launches *launches;            /* NULL: not counted */
	struct gs_errand *launching;             /* a library is being probed; NULL: none is */
	bool launching_ends;                     /* no other one will be */
	bool launches_asked;                     /* a person wants them counted */
	uint64_t launched[GPUSCHED_MAX_CLASSES]; /* by class, while counting was on before */
	int lock_fd;
	sd_event *event; /* NULL: read-only, or not open yet */
	sd_event_source *beat, *sweep, *look, *happened;
	sd_event_source *reads, *events, *results, *due, *ticks, *guardian_ended;
	sd_event_source *round;
	struct gs_slices slices;
	struct gs_sweeping sweeping;
	struct gs_looking looking;
	struct gs_waits waits;
	struct gs_account *account; /* NULL: nobody reads the GPUs' logs */
	sd_event_source *sight;
	unsigned int sight_skips;       /* looks before launches are read again */
	struct gs_tracing *tracing;     /* NULL: nobody records */
	struct gs_oddities *oddities;   /* NULL: nobody watches */
	struct gs_ledger *ledger;       /* NULL: not a daemon */
	struct gs_errand *question;     /* to the history, that is being answered; NULL: none */
	struct gs_errand *asking;       /* for the GPU's ids of TSGs; NULL: none is */
	struct gs_hwid *hwids;          /* by id of the TSG */
	struct gs_guardian *guardian;   /* NULL: none */
	struct gs_restoring *restoring; /* NULL: nothing is being put back */
	bool has_readers;               /* false: this process reads by itself */
	bool self_added;
	bool draining;             /* throws away events from before this instance */
	uint32_t epoch;            /* of the table, see gpusched_cfg */
	uint64_t events_lost;      /* by the taps, as far as it was made up for */
	uint32_t overruled_logged; /* 1 << enum gs_overrule: said of the running policy */
	uint64_t losses_next_ns;   /* not again before */
	uint64_t table_full;       /* what the taps had no room for, as far as it was told */
	uint64_t full_next_ns;     /* not told again before */
	struct gs_adopting adopting;
	struct gs_pools pools;
	struct gs_watch *watches;
	bool emitting; /* events to the watches */
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
	struct gs_owner owners[GS_ASKED];
	struct gs_hidepid hidepid;
	uint64_t hidepid_ns; /* when it was looked up; 0: never */
};

static inline void gs_count(struct gs_service *s, enum gs_service_counter c)
{
	s->counters[c]++;
}

/* ---- service.c ------------------------------------------------------------------------------- */
/* One listens on the socket, whether it answers or not. */
bool gs_service_has_daemon(void);

/* ---- loop.c ---------------------------------------------------------------------------------- */
/* What a completion may wait for. */
#define GS_ON_ENGINE (1u << 0) /* calls came back */
#define GS_ON_ERRAND (1u << 1) /* one has ended */
#define GS_ON_LOOKED (1u << 2) /* at records */

int gs_loop_new(struct gs_service *s, struct gs_error *err);
void gs_loop_free(struct gs_service *s);
/* The next sweep is due in @ns, if that is sooner than what is planned. */
void gs_loop_sweep_in(struct gs_service *s, uint64_t ns);
/* Work in slices; @again: before what else there is of the same user. */
void gs_loop_slice(struct gs_service *s, struct gs_sliced *w, bool again);
/* Runs the loop until @c is over. For start, end and library, where nobody else waits. */
void gs_loop_finish(struct gs_service *s, struct gs_completion *c);
/* Begins it before. */
void gs_loop_wait(struct gs_service *s, struct gs_completion *c);
/* The same until the engine is idle, for @ms at most. */
void gs_loop_settle(struct gs_service *s, unsigned int ms);

/* ---- errand.c: what takes long, in a thread of its own ---------------------------------------- */
struct gs_errand {
	void (*work)(struct gs_errand *e); /* in the thread */
	void (*end)(struct gs_errand *e);  /* in the loop, afterwards */
	void (*free)(struct gs_errand *e);
	struct gs_service *s;
	unsigned int refs; /* the caller's, and the thread's */
	bool over;
	pthread_t thread;
	int fd;
	sd_event_source *source;
};
/* On failure the caller frees it. */
int gs_errand_begin(struct gs_errand *e, struct gs_service *s);
void gs_errand_unref(struct gs_errand *e);
/* Runs the loop until it is over. */
void gs_errand_wait(struct gs_errand *e);

/* ---- restoring.c: everything back to what the owners asked, while the loop goes on ------------ */
struct gs_restoring {
	struct gs_errand errand;
	int code;
	struct gs_restored done;
	struct gs_error err;
};
/* Joins the one that is under way. *ret is the caller's reference. */
int gs_restoring_begin(struct gs_service *s, struct gs_restoring **ret, struct gs_error *err);
/* The verb: stops the policy first. */
int gs_restoring_answer(struct gs_request *rq);
void gs_restored_fill(json_t *o, const struct gs_restored *done);

/* ---- events.c -------------------------------------------------------------------------------- */
void gs_on_event(const struct gpusched_event *ev, void *user);
void gs_on_call(const struct gs_engine_call *call, void *user);
void gs_on_wish(const struct gpusched_tsg *rec, void *user);
void gs_on_overruled(const struct gpusched_tsg *rec, uint32_t why, void *user);
/* An event about a record, for watchers. */
void gs_record_tell(struct gs_service *s, const struct gpusched_tsg *rec, uint32_t type,
		    uint32_t arg);
/* GPU index and class of one record, in the table; runs task_init when the class changed. */
void gs_record_settle(struct gs_service *s, struct gpusched_tsg *rec);
/* @answer: the class of its process; NULL: not known. */
void gs_record_settle_as(struct gs_service *s, struct gpusched_tsg *rec,
			 const struct gs_class_answer *answer);
void gs_record_poke(struct gs_service *s, const struct gpusched_tsg *rec, uint32_t what);
/*
 * The class of @pid, and whether it is an MPS server: the taps give both to its TSGs. @ret may be
 * NULL.
 */
int gs_process_note(struct gs_service *s, pid_t pid, struct gs_class_answer *ret);
/* A process may have been moved since its TSG was made: policies see where it is. */
void gs_record_cgroup(struct gs_service *s, struct gpusched_tsg *rec);

/* ---- looking.c: records settled anew ---------------------------------------------------------- */
/* All records: before there is a loop; in slices. */
void gs_records_settle(struct gs_service *s);
void gs_records_look(struct gs_service *s);
/* The class of @pid anew, and soon after that of its records, and its name there. */
void gs_process_reclassify(struct gs_service *s, pid_t pid);
bool gs_looking_is_over(const struct gs_service *s);
void gs_looking_free(struct gs_service *s);
/* Makes up for events that found the ring full; costs one read of a counter when none did. */
void gs_losses_check(struct gs_service *s);

/* ---- adopting.c: TSGs that no tap saw made ---------------------------------------------------- */
/* Before there is a loop; what is left of it, when there is one. */
void gs_adopting_begin(struct gs_service *s);
void gs_adopting_go_on(struct gs_service *s);
void gs_orphan_seen(struct gs_service *s, const struct gpusched_event *ev);
void gs_adopting_end(struct gs_service *s);

/* ---- sweeping.c: ends records without holders; tells policy, engine and watchers -------------- */
#define GS_SWEEP_SOON_NS (5 * NS_PER_MS) /* after an exit: several end together */
#define GS_SWEEP_MIN_NS NS_PER_S
void gs_service_sweep(struct gs_service *s);
void gs_sweeping_end(struct gs_service *s);

/* ---- records.c: the table with GPU and class filled in --------------------------------------- */
/* All as they are now, by id; one of them completed, if it is meant. */
int gs_records_read(struct gs_service *s, struct gpusched_tsg **ret, size_t *ret_n,
		    struct gs_error *err);
bool gs_record_matches(struct gs_service *s, const struct gs_view *view,
		       const struct gs_target *target, struct gpusched_tsg *inout_rec);
/* Those that a request means, chosen in its slices. -EINPROGRESS: there are more. */
struct gs_selection {
	struct gs_target target;
	struct gpusched_tsg *recs;
	size_t n;        /* of those that were looked at */
	size_t at, read; /* private */
};
int gs_selection_step(struct gs_request *rq, struct gs_selection *l);
void gs_selection_free(struct gs_selection *l);
/* gs_classify(), for records of one gs_records_read(): a process has many TSGs. */
int gs_record_classify(struct gs_service *s, pid_t pid, struct gs_class_answer *ret);
/* NULL when unknown. */
const struct gs_gpu *gs_record_gpu(const struct gs_service *s, const struct gpusched_tsg *rec);
/* Worth a look at its executable: gs_proc_is_mps(). */
bool gs_record_calls_itself_mps(const struct gpusched_tsg *rec);
/*
 * What the hardware has: `is` holds what we told it and what the owner set since; a setting that we
 * never changed, or put back, is as the owner asked.
 */
struct gpusched_settings gs_record_is(const struct gpusched_tsg *rec);
/* Why a target matched nothing that the caller may know of; returns -ENOENT. */
int gs_target_nothing(const struct gs_view *view, const struct gs_target *t, struct gs_error *err);

/* ---- policy.c -------------------------------------------------------------------------------- */
/*
 * What became of a policy's preparation: @code, *exit and *err as gs_policy_prepare() left them.
 * Puts @p (NULL: it failed) in place. Takes @p and @exit's dump; returns what the request is told.
 */
int gs_service_policy_put(struct gs_service *s, const char *name, struct gs_policy *p,
			  struct gs_policy_exit *exit, int code, struct gs_error *err);
/* Of the running policy; the counters have those of the ones before. */
uint64_t gs_service_kicks(const struct gs_service *s, uint64_t *ret_left);
void gs_service_policy_stop(struct gs_service *s, enum gs_policy_exit_kind kind,
			    const char *message);
/* It acts again after somebody put everything back: all TSGs are new to it. */
void gs_service_policy_anew(struct gs_service *s);
/* The policy that is being started is called off; false: there is none. */
bool gs_service_policy_cancel(struct gs_service *s, const char *message);

/* ---- starting.c: what takes long of a start; one at a time ------------------------------------ */
/*
 * Policy @name, and counting launches if it or anybody wants that; NULL: that alone. -EBUSY while
 * another start is under way. *ret is the caller's reference.
 */
int gs_starting_begin(struct gs_service *s, const char *name, const char *const *options, size_t n,
		      struct gs_starting **ret, struct gs_error *err);
void gs_starting_unref(struct gs_starting *t);
/* A person chose that policy: a restart starts it again; @permanent: so does every other start. */
void gs_starting_chosen(struct gs_starting *t, bool permanent);
/* Begins and waits for the end: for an instance that serves nobody yet. */
int gs_starting_now(struct gs_service *s, const char *name, const char *const *options, size_t n,
		    struct gs_error *err);
/* The policy that is being started; NULL: none. */
const char *gs_starting_policy(const struct gs_service *s);
/* What is under way will be thrown away when it is ready. */
void gs_starting_cancel(struct gs_service *s);
/* Cancels whatever is under way and waits for the thread. */
void gs_starting_end(struct gs_service *s);

/* ---- launches.c: counted while a policy, a person or the configuration wants it -------------- */
bool gs_service_launches_wanted(const struct gs_service *s);
/* The configuration says that no user would stop fork() by the probes. */
bool gs_service_launches_trusted(const struct gs_service *s);
/* Why no probe may be set here now; null: they may. */
json_t *gs_service_launches_refused(const struct gs_service *s);
/* When nobody wants it any more counting ends, and probes go where they may. */
void gs_service_launches_update(struct gs_service *s);
void gs_service_launches_event(struct gs_service *s, const struct gpusched_event *ev);
/* After each look at a process: what is to be probed is, by one errand after the other. */
void gs_service_launches_go_on(struct gs_service *s);
/* Waits for the one that is under way. */
void gs_service_launches_end(struct gs_service *s);

/* ---- full.c ----------------------------------------------------------------------------------- */
/* Says whose TSGs fill a table that is full; costs one read of a counter when it is not. */
void gs_full_check(struct gs_service *s);

/* ---- sight.c: who has the GPU ----------------------------------------------------------------- */
int gs_sight_start(struct gs_service *s, struct gs_error *err);
void gs_sight_end(struct gs_service *s);
/* A record is there, or its channels changed. */
void gs_sight_record(struct gs_service *s, const struct gpusched_tsg *rec);
void gs_sight_gone(struct gs_service *s, uint64_t id);
void gs_sight_losses(struct gs_service *s);
void gs_sight_event(struct gs_service *s, const struct gpusched_event *ev);
void gs_sight_call(struct gs_service *s, const struct gs_engine_call *call);
/* What the running policy wants (GPUSCHED_F_*). */
void gs_sight_policy(struct gs_service *s, uint32_t flags);
/* What the table does not hold of a record: when it last ran. */
void gs_sight_complete(struct gs_service *s, struct gpusched_tsg *rec);
/* Before an answer that tells times: up to now, within limits. */
void gs_sight_flush(struct gs_service *s);
/* GPU time and turns of TSG @id, into its object. */
void gs_sight_json(struct gs_service *s, uint64_t id, json_t *o);
json_t *gs_sight_gpus_json(struct gs_service *s);

/* ---- takeover.c: a table that is not as this version makes it; the instance's lock is held ----- */

/* As gs_taps_on(); takes an older table over, and starts anew where that or pins are missing. */
int gs_taps_ready(struct gs_error *err);
/* Of an incomplete or older table, too. @lives: its heartbeat is a daemon's. -ENODATA: no records. */
int gs_restore_remains(bool lives, struct gs_restored *ret, struct gs_error *err);

/* ---- watch.c --------------------------------------------------------------------------------- */
bool gs_watched(const struct gs_service *s);
/* Takes @event, which is about a process of user @owner; GS_NOBODY: about none. */
#define GS_NOBODY ((uid_t)-1)
void gs_watch_emit(struct gs_service *s, json_t *event, uid_t owner);
/* Some of them record: each gets what @make gives for its eyes; NULL: nothing. */
bool gs_watch_traces(const struct gs_service *s);
void gs_watch_trace(struct gs_service *s,
		    json_t *(*make)(struct gs_service *s, const struct gs_view *view,
				    const void *what),
		    const void *what);
void gs_watch_free_all(struct gs_service *s);

/* ---- oddities.c: what is odd on the GPUs, while somebody watches ------------------------------- */
void gs_oddities_begin(struct gs_service *s);
void gs_oddities_end(struct gs_service *s);

/* ---- trace.c: what those who record are told beside the events -------------------------------- */
/* -ENOTSUP: nobody reads the GPUs' logs. */
int gs_trace_begin(struct gs_service *s);
void gs_trace_end(struct gs_service *s);
/* What there is, to one that begins. */
void gs_trace_tell_all(struct gs_service *s, const struct gs_view *v, gs_watch_fn fn, void *user);
void gs_trace_record(struct gs_service *s, const struct gpusched_tsg *rec);
void gs_trace_gone(struct gs_service *s, uint64_t id);
void gs_trace_turn(struct gs_service *s, const struct gs_turn *turn);
/* Tells the turns that have come together. */
void gs_trace_flush(struct gs_service *s);

/* ---- JSON ------------------------------------------------------------------------------------ */
json_t *gs_tsg_json(struct gs_service *s, const struct gpusched_tsg *rec);
/* Into it: the GPU's id, and the channels one by one. */
void gs_tsg_json_wide(struct gs_service *s, const struct gpusched_tsg *rec, json_t *o);
json_t *gs_settings_json(const struct gpusched_settings *set);
json_t *gs_event_json(struct gs_service *s, const struct gpusched_event *ev);
json_t *gs_call_json(struct gs_service *s, const struct gs_engine_call *call);
json_t *gs_stats_json(struct gs_service *s, struct gs_error *err);
const char *gs_engine_name(uint16_t engine, char buffer[12]);
const char *gs_kind_name(uint16_t kind);
const char *gs_source_name(unsigned int source);

/* ---- verbs: one function each ---------------------------------------------------------------- */
/* Answers @rq when @t, whose reference it takes, is done: @fill is called then if it went well. */
int gs_starting_answer(struct gs_request *rq, struct gs_starting *t,
		       void (*fill)(struct gs_request *rq));

int gs_verb_history(struct gs_request *rq);
int gs_verb_list(struct gs_request *rq);
int gs_verb_stats(struct gs_request *rq);
int gs_verb_set(struct gs_request *rq);
int gs_verb_preempt(struct gs_request *rq);
int gs_verb_suspend(struct gs_request *rq);
int gs_verb_resume(struct gs_request *rq);
int gs_verb_restore(struct gs_request *rq);
int gs_verb_class_set(struct gs_request *rq);
int gs_verb_class_clear(struct gs_request *rq);
int gs_verb_class_get(struct gs_request *rq);
int gs_verb_class_list(struct gs_request *rq);
int gs_verb_class_explain(struct gs_request *rq);
int gs_verb_pool_set(struct gs_request *rq);
int gs_verb_pool_end(struct gs_request *rq);
int gs_verb_pool_dir(struct gs_request *rq);
int gs_verb_policy_get(struct gs_request *rq);
int gs_verb_policy_start(struct gs_request *rq);
int gs_verb_policy_stop(struct gs_request *rq);
int gs_verb_observe_status(struct gs_request *rq);
int gs_verb_observe_on(struct gs_request *rq);
int gs_verb_observe_off(struct gs_request *rq);
int gs_verb_observe_launches(struct gs_request *rq);
int gs_verb_ping(struct gs_request *rq);

/* Reads args.target; all where it is not given. */
int gs_request_target(struct gs_request *rq, struct gs_target *ret);

#endif /* GPUSCHED_SERVICE_INTERNAL_H */
