/* SPDX-License-Identifier: MIT */
/*
 * config.h - reads gpusched.conf and its drop-in directory
 *
 * /etc/gpusched/gpusched.conf is read first, then every .conf file of
 * /etc/gpusched/gpusched.conf.d. A value of a later file replaces that of an earlier one. One table
 * declares every key; parser, manual page and `--help` follow from it. For tests, $GPUSCHED_CONFIG
 * names another file, and NAME.d has its drop-ins.
 */
#ifndef GPUSCHED_CONFIG_CONFIG_H
#define GPUSCHED_CONFIG_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "basic/error.h"
#include "config/budget_rule.h"
#include "process/pod_names.h"

/*
 * One line per key: section, key, type, field, default as text, help text. Types: NAME is a word,
 * PATH a full path or "", TEXTS a list (every line adds an entry, an empty value clears the list).
 * US is a time (20us, 2ms; a bare number is in us), MS a longer time that is kept in ms. COST is
 * like US, or auto. LAUNCHES is yes, no or trusted, or two of these words. NUMBER is from 1 to
 * 100000.
 */
#define GS_CONFIG_KEYS(X) \
	X("Policy", "Policy", NAME, policy, "", \
	  "policy that starts with the daemon: a name or a path; empty: none") \
	X("Policy", "PolicyOption", TEXTS, policy_options, "", "option of that policy, key=value") \
	X("Policy", "PolicyHost", NAME, policy_host, "", \
	  "where that policy's calls go: stock, module or hooked, as policy start --host; empty: " \
	  "stock") \
	X("Policy", "HoldLimit", MS, hold_limit_ms, "600s", \
	  "longest that a policy lets a TSG wait for admission; then it is admitted and counted") \
	X("Policy", "Gate", BOOL, gate, "yes", \
	  "hold and deny before the driver sees the call, where the kernel has BPF LSM; no: a " \
	  "hold suspends") \
	X("Classes", "Class", TEXTS, classes, "", \
	  "a class: NAME [weight=N] [request=PERCENT] [limit=PERCENT] [suspend_limit_ms=N] " \
	  "[starve_limit_ms=N] [deadline_us=N] [slo=TIME] [means=auto]") \
	X("Classes", "DefaultClass", NAME, default_class, "", \
	  "class of processes that nothing else classifies; empty: none, they are left alone") \
	X("Classes", "Rule", TEXTS, rules, "", \
	  "MATCHER=VALUE... -> CLASS; matchers comm exe cgroup uid arg; the first that matches") \
	X("Classes", "AllowClass", TEXTS, allow, "", \
	  "lets users raise their own processes to a class: CLASS uid=N|user=NAME|group=NAME") \
	X("Classes", "IfPossible", BOOL, if_possible, "no", \
	  "gpusched run starts its program without a class or pool that it cannot get, as with " \
	  "--if-possible") \
	X("Classes", "AllowShare", BOOL, allow_share, "no", \
	  "gpusched run --means auto may start programs in their user's shared server or pool: a " \
	  "fault of one ends all in it") \
	X("Classes", "AllowTrace", TEXTS, allow_trace, "", \
	  "who sees how long others' programs had the GPU: uid=N|user=NAME|group=NAME") \
	X("Daemon", "SwitchCost", COST, switch_cost_us, "auto", \
	  "what a context switch costs: at most one TSG of a runlist gets a slice below it; " \
	  "auto: " \
	  "as each GPU's log says") \
	X("Daemon", "Adopt", BOOL, adopt, "yes", \
	  "find TSGs of processes that were running before the taps were on") \
	X("Daemon", "CountLaunches", LAUNCHES, launches, "no", \
	  "yes: count launches whether or not a policy wants it, about 0.7 us a launch; trusted: " \
	  "no " \
	  "user would stop every fork() by the probes (gpusched-observe(8)); or both words") \
	X("Daemon", "Account", BOOL, account, "yes", \
	  "read the GPUs' context-switch logs: who had the GPU, and how long") \
	X("Daemon", "History", BOOL, history, "yes", \
	  "keep who used the GPUs, in the state directory") \
	X("Daemon", "HistoryDays", NUMBER, history_days, "90", "how long") \
	X("Daemon", "HistorySize", NUMBER, history_mib, "1024", \
	  "largest size of its file, in MiB; then the oldest goes") \
	X("Daemon", "DryRun", BOOL, dry_run, "no", "decide, log and count, but make no RM call") \
	X("Daemon", "UnknownDriver", BOOL, unknown_driver, "no", \
	  "make RM calls with a driver whose branch is not known, too") \
	X("Daemon", "LogLevel", NAME, log_level, "info", "err, warning, notice, info or debug") \
	X("Kubernetes", "PodLogs", PATH, pod_logs, "/var/log/pods", \
	  "the kubelet's podLogsDir: its folders name pods; empty: they are not looked at") \
	X("Kubernetes", "ContainerLogs", PATH, container_logs, "/var/log/containers", \
	  "the kubelet's links that name containers; empty: none") \
	X("Kubernetes", "Fractions", PATH, fractions, "/var/run/gpu-fractioning/map", \
	  "where NVIDIA's GPU fractioning says which pod has which fraction; empty: none") \
	X("Kubernetes", "Claims", PATH, claims, "/var/lib/kubelet/plugins/gpu.nvidia.com", \
	  "where NVIDIA's DRA driver has its checkpoint.json; empty: none") \
	X("Kubernetes", "Bundles", PATH, bundles, GS_POD_BUNDLES, \
	  "where the container runtime has ID/config.json, with the words of HAMi and Run:ai; by " \
	  "default those of k3s, RKE2, MicroK8s and k0s, too; empty: none") \
	X("Kubernetes", "PodCeiling", TEXTS, pod_ceilings, "", \
	  "the most that pods of a namespace get by words of their own: NAMESPACE CLASS " \
	  "[weight=N] " \
	  "[request=PERCENT] [timeslice=TIME]; without one: class be") \
	X("Kubernetes", "EndedPods", MS, ended_pods_ms, "600s", \
	  "how long the series of a pod that has ended stay in /metrics") \
	X("Status", "IdleLimit", MS, idle_limit_ms, "1800s", \
	  "a program that has not worked for so long is told of, if it holds ...") \
	X("Status", "IdleMemory", NUMBER, idle_memory_mib, "2048", \
	  "... more MiB of a GPU's memory than this") \
	X("Budgets", "Budget", TEXTS, budgets, "", \
	  "GPU time: user=NAME|uid=N|user=*|cgroup=PATTERN gpu_seconds=N per=day|week|month " \
	  "[over=wait|stop]") \
	X("Alerts", "Unit", NAME, alert_unit, "", \
	  "template of the unit that systemd starts when something begins to be wrong, such as " \
	  "gpusched-alert@.service; empty: none") \
	X("Alerts", "Notes", BOOL, alert_notes, "no", \
	  "start it for notes, and for what is not known, as well") \
	X("Memory", "AllowPark", BOOL, allow_park, "yes", \
	  "users may park their own programs; no: root alone parks") \
	X("Memory", "ParkMemory", NUMBER, park_memory, "50", \
	  "per cent of the host's memory that parked programs may have, all together") \
	X("Memory", "ParkIdle", TEXTS, park_idle, "", \
	  "programs of a class that have not worked for so long are parked: CLASS TIME " \
	  "[for=TIME]") \
	X("Memory", "UnparkOnUse", TEXTS, unpark_on_use, "", \
	  "parked programs of a class come back when they want to work again: CLASS")

#define X(...) +1
enum { GS_CONFIG_NKEYS = 0 GS_CONFIG_KEYS(X) };
#undef X

/* Bits of CountLaunches=. */
#define GS_LAUNCHES_ALWAYS (1u << 0)
#define GS_LAUNCHES_TRUSTED (1u << 1)

/* The entries of a list. @at: where each one was read ("FILE:LINE"). */
struct gs_texts {
	char **text, **at;
	size_t n;
};

/* Adds an entry. -EINVAL: there are 1024. */
int gs_config_add_text(struct gs_texts *t, const char *text, const char *at, struct gs_error *err);
void gs_config_clear_texts(struct gs_texts *t);

struct gs_config {
	char policy[64]; /* started with the daemon; "": none */
	struct gs_texts policy_options;
	char policy_host[64];
	uint32_t hold_limit_ms;
	bool gate;
	char default_class[32];
	struct gs_texts rules, allow, allow_trace, classes, budgets, park_idle, unpark_on_use;
	struct gs_texts pod_ceilings;
	bool if_possible, allow_share;
	uint32_t switch_cost_us;
	bool adopt;
	uint32_t launches; /* GS_LAUNCHES_... bits */
	bool account;
	bool history;
	uint32_t history_days, history_mib;
	bool dry_run;
	bool unknown_driver;
	char log_level[16];
	char pod_logs[256], container_logs[256], fractions[256], claims[256], bundles[256];
	uint32_t ended_pods_ms;
	uint32_t idle_limit_ms, idle_memory_mib;
	char alert_unit[96];
	bool alert_notes;
	bool allow_park;
	uint32_t park_memory;          /* % of the host's memory */
	char *set_at[GS_CONFIG_NKEYS]; /* "FILE:LINE" of each single value; NULL: the default */
	/*
	 * A person should know of these lines, which act: single values that replace an earlier
	 * file's, and names that are cut. Each has its text for a person, and its place.
	 */
	struct gs_texts notes;
	/*
	 * Lines that were left out: why, and where they are. Only gs_config_load_start() does so.
	 * It asks no name service: a line with a name is not among them.
	 */
	struct gs_texts left_out;
	bool lenient; /* a bad line is left out */
};

/*
 * Reads defaults, then the files. A missing main file is no error. -EINVAL with file, line and
 * reason.
 */
int gs_config_load(struct gs_config **ret, struct gs_error *err);
/* Reads @path instead of the usual file; it must exist. NULL: reads the usual files. */
int gs_config_load_file(const char *path, struct gs_config **ret, struct gs_error *err);
/*
 * Does as gs_config_load_file() at the start of a daemon, or of a command without one: a bad line is
 * left out, and @left_out names it. A bad DryRun= counts as yes. A file that cannot be read is an
 * error.
 */
int gs_config_load_start(const char *path, struct gs_config **ret, struct gs_error *err);
/*
 * The value of IfPossible=. If the configuration has a mistake: the value from the lines before it.
 */
bool gs_config_if_possible(void);
int gs_config_new(struct gs_config **ret);
int gs_config_copy(const struct gs_config *c, struct gs_config **ret);
/*
 * Reads @f, one file, into @c; @name is for messages. -EINVAL also for a key in no section, and for
 * a second line of a key that is no list. Such a line may replace one of a file that was read
 * before: @notes names it.
 */
int gs_config_parse(struct gs_config *c, FILE *f, const char *name, struct gs_error *err);
void gs_config_free(struct gs_config *c);
/* Adds a PolicyOption= "key=value" from the command line. */
int gs_config_add_option(struct gs_config *c, const char *text, struct gs_error *err);

/* Where the single value of @key was read, "FILE:LINE"; "default" if it was not. */
const char *gs_config_at(const struct gs_config *c, const char *key);

/* The LOG_* level of the key LogLevel=. */
int gs_config_log_level(const struct gs_config *c);

/* Takes @lines[@i] of @c out, for the reason @why, at a start. Takes none if @lines is NULL. */
int gs_config_leave_out(struct gs_config *c, struct gs_texts *lines, size_t i, const char *at,
			const char *why);
/* Takes out the lines that gs_config_classes() and gs_config_budgets() would refuse. */
int gs_config_prune(struct gs_config *c, struct gs_error *err);

struct gs_classes;
/* The classes and budgets that a configuration declares. */
struct gs_declared {
	struct gs_classes *classes;
	struct gs_budget_rules budgets;
	/*
	 * Lines that wait for the id of a user or group: why, and where they are. Those of Budget=
	 * are the last @waiting_budgets.
	 */
	struct gs_texts waiting;
	size_t waiting_budgets;
};
/*
 * Makes the classes, rules and allowances that @c declares, and its budgets. Errors name file and
 * line. Only with GS_NAMING_STRICT is a name that is not known an error.
 */
int gs_config_declare(const struct gs_config *c, enum gs_naming naming, struct gs_declared *ret,
		      struct gs_error *err);
void gs_config_declared_done(struct gs_declared *d);

/* Prints the table of keys for people: one paragraph per key. */
void gs_config_help(FILE *out);

#endif /* GPUSCHED_CONFIG_CONFIG_H */
