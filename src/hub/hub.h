/* SPDX-License-Identifier: MIT */
/*
 * hub.h - declares what all parts of a running instance share
 *
 * These are the machine, the table with its writers, the loop, and the observers. Each other part
 * (a folder in src/) keeps the rest in its own struct, which points to this one. For the loop's
 * thread.
 */
#ifndef GPUSCHED_HUB_HUB_H
#define GPUSCHED_HUB_HUB_H

#include <systemd/sd-event.h>

#include "account/account.h"
#include "basic/completion.h"
#include "basic/json_sheet.h"
#include "basic/slices.h"
#include "classify/classify.h"
#include "config/config.h"
#include "engine/engine.h"
#include "hub/observers.h"
#include "hub/pace.h"
#include "hub/processes.h"
#include "launch/launch.h"
#include "policy/policy.h"
#include "process/process.h"
#include "rm/setting.h"
#include "table/table.h"

/* Counters of the service itself: symbol, name, help text. */
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
	  "TSGs from before the taps that were not adopted: too many of their user, or in " \
	  "all, waited") \
	X(POOL_HANDLES, "pool_handles", \
	  "records removed: the MPS server's TSG was known under another handle already") \
	X(ADOPTION_LEFT, "adoption_left", \
	  "open files from before the taps that were not read: their user has too many") \
	X(OVERTAKEN, "overtaken", \
	  "times that another process restored all settings because this daemon did not " \
	  "answer") \
	X(MODULE_LOST, "module_lost", \
	  "times that gpusched.ko restored all settings because this daemon did not " \
	  "answer") \
	X(FACTS_LEFT, "facts_left", \
	  "times that the running policy could not be given a TSG's facts") \
	X(SAVED_LEFT, "saved_left", "settings not saved for a restart: there are too many") \
	X(SAVED_FAILED, "saved_failed", \
	  "times that settings could not be saved because /run was full: they are saved " \
	  "later") \
	X(KICKS, "policy_kicks", "rounds that policies asked for by gpusched_kick()") \
	X(KICKS_LEFT, "policy_kicks_left", \
	  "times that gpusched_kick() was refused: its TSG or user had reached a limit") \
	X(AGENT_WAKES_LEFT, "agent_wakes_left", \
	  "programs ignored for up to a second: they had reported 200 requests within one") \
	X(PROCESSES_LEFT, "processes_left", \
	  "times that a process was not kept track of: too many of its user, or in all; its " \
	  "TSGs have class and budget, and some figures are not known") \
	X(COUNTED_LEFT, "counted_left", \
	  "times that a program's requests were not looked for in its counted launches: " \
	  "too many programs' are") \
	X(LANES_LEFT, "lanes_left", \
	  "times that a user got no own thread for calls on its sockets: another user's thread " \
	  "made them, or the loop closed the socket") \
	X(REQUESTS, "requests", "requests answered") \
	X(REQUESTS_FAILED, "requests_failed", "requests answered with an error") \
	X(REFUSED, "refused", "requests refused for lack of permission") \
	X(AUDIT_LEFT, "audit_left", \
	  "users' requests that were not noted: more than 10 a minute of one user") \
	X(IDS_LEFT, "ids_left", \
	  "times that 'list --wide' did not know a TSG's number on its GPU: RM did not " \
	  "answer, or not in time") \
	X(AGENTS_LEFT, "agents_left", \
	  "times that an agent was given no page: it asks too often, or its user has too " \
	  "many") \
	X(CGROUPS_LEFT, "cgroups_left", \
	  "TSGs that sums by cgroup count in none: there are too many cgroups") \
	X(MEMORY_READS, "memory_reads", \
	  "times that the driver was asked for a GPU which process holds its memory") \
	X(MEMORY_READ_NS, "memory_read_ns", "how long these calls took") \
	X(MEMORY_LEFT, "memory_unknown", "calls of memory_reads that gave no answer") \
	X(ALERTS, "alerts", "findings that began: events, and lines of the journal") \
	X(ALERTS_OVER, "alerts_over", "findings of these that are over") \
	X(ALERTS_LEFT, "alerts_left", \
	  "findings not reported: their user has 16 already, or there are 256") \
	X(ALERT_UNITS, "alert_units", "units started for alerts: Unit= of [Alerts]") \
	X(ALERT_UNITS_LEFT, "alert_units_left", \
	  "alerts for which no unit was started: more than 10 a minute, or 10 wait") \
	X(ALERT_UNITS_FAILED, "alert_units_failed", \
	  "alerts for which no unit could be started: see the log") \
	X(PODS_LEFT, "pod_entries_left", \
	  "entries of pod folders that were refused: incomplete, too large, of unknown " \
	  "form, or writable by others than root") \
	X(POD_WORDS_LEFT, "pod_words_left", \
	  "pods whose annotations were not applied: unknown, above their ceiling, or too " \
	  "many") \
	X(PARKED, "parked", "processes whose GPU memory was taken out") \
	X(PARKED_IDLE, "parked_idle", "idle programs whose parking began: ParkIdle=") \
	X(PARK_IDLE_LEFT, "park_idle_left", "idle programs that could not be parked") \
	X(PARKED_WISHED, "parked_wished", \
	  "programs whose parking began because a policy wished it: gpusched_park()") \
	X(UNPARKED_ON_USE, "unparked_on_use", \
	  "parked processes brought back because they had work: UnparkOnUse=") \
	X(PARK_PROBES, "park_probes", \
	  "parked processes in whose libcuda probes were set, to see when they have work") \
	X(PARK_PROBES_LEFT, "park_probes_left", \
	  "parked processes without such probes: not allowed, or not possible") \
	X(UNPARKED, "unparked", "processes whose GPU memory was put back") \
	X(PARK_FAILED, "park_failed", "parkings and unparkings that failed") \
	X(PARK_WAITS, "park_waits", "times that an unparking found too little memory") \
	X(PARK_UNSURE, "park_unsure", \
	  "unparkings that relied on RM's figure of free memory, since RM refused a " \
	  "placeholder") \
	X(PARK_GATE_LEFT, "park_gate_left", \
	  "times that new programs were let in while memory was being put back: they had " \
	  "waited at the gate for 30 s") \
	X(PARK_LOST, "park_lost", "processes lost because a restore met no memory") \
	X(PARK_HELPERS, "park_helpers_lost", \
	  "times that the process that parks died or hung, and another one took its place") \
	X(PARK_ASIDE, "park_aside", \
	  "copies of parked memory that took too long: their helper was left to them") \
	X(PARK_SAVE_FAILED, "park_save_failed", \
	  "times that the list of parked processes could not be saved for a restart") \
	X(PROGRAMS_LEFT, "programs_left", \
	  "times that --means auto forgot or ignored a program: too many of one user, or " \
	  "in all") \
	X(PROGRAMS_UNSAVED, "programs_unsaved", \
	  "times that the database of programs could not be read or written: see the log") \
	X(COSTS_LEFT, "costs_left", \
	  "times that saved costs of switches were refused: the file is incomplete, of " \
	  "another version, or writable by others; see the log") \
	X(COSTS_ANEW, "costs_anew", \
	  "GPUs whose saved costs of switches were dropped: the driver or the VBIOS has " \
	  "changed") \
	X(COSTS_UNSAVED, "costs_unsaved", \
	  "times that costs of switches could not be saved for a restart") \
	X(REQUESTS_OVER, "requests_over", "requests of GPU time that did not fit on their GPU") \
	X(BUDGETS_LEFT, "budgets_left", \
	  "times that GPU time was charged to no account: there are 4096 already") \
	X(XIDS, "xids", \
	  "errors (Xids) and lost GPUs that the driver reported in the kernel's log") \
	X(XIDS_LEFT, "xids_left", \
	  "times that such a report was not counted by GPU, or put no program into quarantine: " \
	  "too many") \
	X(QUARANTINES, "quarantines", \
	  "times that a program went into quarantine, or stayed longer") \
	X(KLOG_LOST, "kernel_log_lost", \
	  "records of the kernel's log that were lost before they were read") \
	X(KLOG_UNREAD, "kernel_log_unread", \
	  "times that the kernel's log could not be read: errors of the driver are not seen") \
	X(HISTORY_LEFT, "history_left", \
	  "events of TSGs that the history leaves out: too many in a minute")

enum gs_service_counter {
#define X(sym, name, text) GS_SVC_##sym,
	GS_SERVICE_COUNTERS(X)
#undef X
		GS_SVC_MAX
};

struct gs_lanes;
struct gs_limited_user;

struct gs_hub_opts {
	bool dry_run;
	bool daemon;     /* long-lived: guardian, heartbeat, adoption at start, policy of the
			   configuration */
	bool read_only;  /* for list and stats: takes no lock, reads no events, makes no calls */
	sd_event *event; /* NULL: the instance makes its own loop */
};

/* Pause between looks that beats make once a second: some beats come a little early. */
#define GS_BEATS_SECOND_NS (NS_PER_S - NS_PER_S / 8)

#define GS_ASKED 64
struct gs_asked {
	pid_t pid; /* 0: the entry is unused */
	int code;
	struct gs_class_answer answer;
};

struct gs_hub {
	const struct gs_config *config;
	/* as in struct gs_declared: lines that were left out, since their name is not known */
	struct gs_texts waiting;
	size_t waiting_budgets;
	struct gs_hub_opts opts;

	/* the machine */
	unsigned int branch;
	char driver[64]; /* its whole version */
	bool watch_only; /* the driver's branch is not known; opts.dry_run is true, too */
	struct gs_gpu *gpus;
	size_t ngpus;

	/* the table, and its writers */
	struct gs_table *table;
	struct gs_classes *classes;
	struct gs_engine *engine;
	struct gs_policy *policy;     /* NULL: none runs */
	struct gs_account *account;   /* NULL: the GPUs' switch logs are not read */
	struct gs_launches *launches; /* NULL: launches are not counted */
	uint32_t epoch;               /* the table's epoch, see gpusched_cfg */

	/* owned by loop.c; event is NULL if the instance is read-only or not open yet */
	sd_event *event;
	sd_event_source *beat, *look, *reads, *round;
	_Atomic uint64_t *shown; /* basic/beat.h; NULL: nobody sees the heartbeat */
	bool beat_soon;          /* the next beat plans the one after it in 250 ms, not in 500 */
	bool rests;              /* the next beat is planned as that of a loop at rest */
	uint64_t at_beat;        /* number of requests and events up to the last beat */
	sd_event_source *results, *due; /* the engine's sources: calls are back, something is due */
	struct gs_slices slices;
	struct gs_completions waits;
	bool has_readers; /* false: this process reads /proc itself, without helper processes */
	struct gs_pace pace;

	struct gs_observers observers;
	struct gs_processes processes;
	struct gs_lanes *lanes;          /* threads that make calls on users' sockets */
	struct gs_limited_user *limited; /* users whose work a limit has cut */
	/* a client watches events, so the service also makes the events that only people need */
	bool watched;
	uint64_t counters[GS_SVC_MAX];
	/* classes by pid, kept while one request is answered */
	struct gs_asked asked[GS_ASKED];
};

int gs_hub_new(const struct gs_config *config, const struct gs_hub_opts *opts, struct gs_hub **ret);
/* Call this after all other parts, the engine, the policy and the account have ended. */
void gs_hub_free(struct gs_hub *hub);

static inline void gs_count(struct gs_hub *hub, enum gs_service_counter c)
{
	hub->counters[c]++;
}

#endif /* GPUSCHED_HUB_HUB_H */
