// SPDX-License-Identifier: MIT
#include "cli/table.h"
#include "cli/demo.h"
#include "cli/park.h"
#include "cli/shell.h"
#include "cli/verbs_look.h"
#include "cli/verbs_act.h"

#include "basic/cleanup.h"

#define END \
	{ \
		NULL \
	}

static const struct cli_opt doctor_opts[] = {
	{ "gpu", 0, NULL, "exit code 3 unless a GPU can be used" },
	{ "kubernetes", 0, NULL, "also what a pod has to be given; exit code 3 unless it has all" },
	END,
};

static const struct cli_opt list_opts[] = {
	{ "all", 'a', NULL, "a row for each TSG, copy engines' too" },
	CLI_SCREEN_OPTS(cli_screen_of_list),
	{ "watch", 0, NULL, "again every second, until SIGINT" },
	END,
};

static const struct cli_opt gpus_opts[] = {
	{ "wide", 0, NULL, "with the minor number of its device file, its PCI id and its UUID" },
	END,
};

static const struct cli_opt monitor_opts[] = {
	{ "for", 't', "TIME", "end after TIME (500ms, 1h30m)" },
	{ "count", 'n', "N", "end after N events" },
	{ "verbose", 'v', NULL, "with clock time, CPU, thread, the GPU's own ids, channels" },
	END,
};

static const struct cli_opt status_opts[] = {
	{ "for", 't', "TIME", "watch for TIME from now on instead of the last ten seconds" },
	{ "all", 'a', NULL, "all programs, not just services and the first ones" },
	CLI_SCREEN_OPTS(cli_screen_of_status),
	END,
};

static const struct cli_opt stats_opts[] = {
	{ "by", 'b', "WHOM", "sums by process, class, cgroup or gpu instead of counters",
	  cli_history_stats_by },
	CLI_SCREEN_OPTS(cli_history_stats_columns),
	END,
};

static const struct cli_opt history_opts[] = {
	{ "since", 's', "T",
	  "from T on: 90m, 7d (ago), 07:00, yesterday, \"2026-11-22 07:00\" (24h)" },
	{ "until", 'u', "T", "until T (now)" },
	{ "by", 'b', "WHOM",
	  "sums by process, user, cgroup, class, gpu, partition, pod, namespace or job (process)",
	  cli_history_by },
	{ "changes", 0, NULL, "who changed what, instead of sums" },
	{ "csv", 0, NULL, "comma-separated values, with a heading" },
	CLI_SCREEN_OPTS(cli_screen_of_history),
	END,
};

static const struct cli_opt advise_opts[] = {
	{ "for", 't', "TIME", "how long to watch (10s)" },
	{ "why", 0, NULL, "add a row for each program: its kind, its losses" },
	END,
};

static const struct cli_opt suspend_opts[] = {
	{ "for", 't', "TIME", "resume by itself after TIME (500ms, 1h30m)" },
	END,
};

static const struct cli_opt park_opts[] = {
	{ "for", 't', "TIME", "bring it back by itself after TIME (10m, 8h)" },
	{ "force", 0, NULL,
	  "also a rank of several, or a program older than the taps (may lose it)" },
	{ "quiet", 'q', NULL, "do not tell the risk" },
	END,
};

static const struct cli_opt restore_opts[] = {
	{ "keep", 0, NULL, "the daemon's next start sets again what people had set" },
	{ "classes", 0, NULL, "also take back the classes that commands have given" },
	END,
};

static const struct cli_opt run_opts[] = {
	{ "class", 'c', "CLASS", "class of CMD and all its descendants" },
	{ "weight", 'w', "WEIGHT", "weight within the class, 1 to 10000" },
	{ "limit", 0, "PERCENT", "at most this part of a GPU's time, even while others rest" },
	{ "request", 0, "PERCENT", "at least this part, while it has work; from root" },
	{ "pool", 0, "=NAME", "in one MPS server with the other programs of this pool (pool)" },
	{ "share", 0, "=NAME", "in one MPS server with programs of the classes lc and be (share)" },
	{ "means", 0, "auto|slices", "auto: slices, hold, share or pool, by what is known of CMD" },
	{ "sm", 0, "PERCENT", "with --share: at most this part of the GPU's SMs" },
	{ "agent", 0, NULL, "with an agent in it: needs no daemon and no root for your own" },
	{ "no-agent", 0, NULL, "an lc without the agent that it has by itself where that fits" },
	{ "if-possible", 0, NULL, "start CMD without a class or pool that it cannot get" },
	{ "hint", 0, "auto", "with --agent: switch ahead when requests arrive on sockets" },
	{ "needs", 0, "SIZE", "of a GPU's memory, such as 40G, is free before CMD starts" },
	{ "park-others", 0, "CLASS", "with --needs: park programs of CLASS until it is" },
	END,
};

static const struct cli_opt class_set_opts[] = {
	{ "weight", 'w', "WEIGHT", "weight within the class, 1 to 10000" },
	{ "limit", 0, "PERCENT", "at most this part of a GPU's time, even while others rest" },
	{ "request", 0, "PERCENT", "at least this part, while it has work; from root" },
	END,
};

static const struct cli_opt policy_start_opts[] = {
	{ "option", 'o', "KEY=VALUE", "set an option of the policy; may be repeated" },
	{ "host", 0, "HOST", "where its calls go: stock, module (gpusched.ko), or hooked" },
	{ "no-replace", 0, NULL, "fail if another policy runs" },
	{ "permanent", 0, NULL, "start it with the daemon from now on, from a copy" },
	END,
};

static const struct cli_opt policy_stop_opts[] = {
	{ "permanent", 0, NULL, "the permanent one does not start with the daemon any more" },
	END,
};

static const struct cli_opt policy_build_opts[] = {
	{ "output", 'O', "FILE", "write the object to FILE instead of beside the source" },
	END,
};

static const struct cli_opt shell_opts[] = {
	{ "gpus", 0, "N", "number of simulated GPUs (1)" },
	{ "branch", 0, "BRANCH", "driver branch: %s (580)" },
	{ "mig", 0, "N",
	  "N MIG instances of each GPU, 2 to 7; 2x3: of three compute instances each" },
	{ "dilate", 0, "F", "simulated time runs F times slower than real time (1)" },
	{ "seed", 0, "N", "seed of every random choice (1)" },
	{ "params", 0, "FILE", "parameters of the model instead of the built-in H200's" },
	{ "fault", 0, "FAULT", "CONTROL[=STATUS][:applied][:N]: this control fails, N times" },
	{ "hang", 0, "CONTROL", "CONTROL never returns" },
	END,
};

static const struct cli_opt sim_run_opts[] = {
	{ "policy", 0, "POLICY", "run under POLICY instead of the scenario's own" },
	{ "option", 'o', "KEY=VALUE", "set an option of the policy; may be repeated" },
	{ "host", 0, "HOST", "where the policy runs: native, or sim (in the kernel; root)" },
	{ "facts", 0, "stock|all",
	  "what the policy is told: what the stock host knows, or all that the model knows" },
	{ "seed", 0, "N", "seed of every random choice" },
	{ "params", 0, "FILE", "parameters of the model instead of the scenario's" },
	{ "timeline", 0, "FILE", "write a gnuplot timeline of one scenario to FILE" },
	END,
};

static const struct cli_opt demo_opts[] = {
	{ "dilate", 0, "F", "simulated time runs F times slower than real time (8)" },
	{ "seconds", 0, "S", "seconds of each measurement (2; GPU 10; model 30)" },
	{ "dry-run", 0, NULL, "the daemon decides but makes no call: nothing may change" },
	{ "refuse-set-timeslice", 0, NULL, "the simulated RM refuses SET_TIMESLICE" },
	{ "gpu", 0, NULL, "measure on the real GPU instead of the simulated one" },
	{ "model", 0, NULL, "only the model in virtual time: no privilege needed" },
	{ "params", 0, "FILE", "parameters of the model instead of the built-in H200's" },
	END,
};

static const struct cli_opt bench_opts[] = {
	{ "list", 0, NULL, "list loads and schemes, and what is not here" },
	{ "gpu", 0, "real|path|sim",
	  "the GPU, the simulated one with the whole path, or the model in virtual time (real)" },
	{ "gpus", 0, "N", "on N GPUs side by side, each with a block of its own (1)" },
	{ "load", 0, "NAME,...",
	  "only these loads: names, your own traces (FILE.csv), clients (FILE.json)" },
	{ "held-out", 0, NULL,
	  "the held-out loads instead, and only whether they are valid: prints no figure" },
	{ "scheme", 0, "NAME,...", "only these schemes, on every chosen load" },
	{ "policy", 0, "POLICY,...", "these policies too: names, or files of your own" },
	{ "quick", 0, NULL, "few and short blocks" },
	{ "blocks", 0, "N", "so many blocks of every load, and no more" },
	{ "seconds", 0, "S", "length of a cell in the GPU's time (real 5; path 1; sim 30)" },
	{ "warmup", 0, "S", "its time before, which does not count (real 3; path 0.5; sim 4)" },
	{ "minutes", 0, "N", "end after N minutes; --resume goes on" },
	{ "out", 0, "DIR", "raw data, table and pictures go there" },
	{ "resume", 0, NULL, "go on with what DIR has" },
	{ "dilate", 0, "F", "path: simulated time runs F times slower than real time (8)" },
	{ "params", 0, "FILE",
	  "path, sim: parameters of the model instead of the built-in H200's" },
	END,
};

static const struct cli_opt qualify_opts[] = {
	{ "output", 'o', "DIR", "gpu.conf and result.json go there" },
	{ "gpu", 0, "GPU", "which one: index, UUID or PCI id (the first)" },
	{ "yes", 'y', NULL, "do not ask" },
	{ "force", 0, NULL, "go on beside others' TSGs" },
	{ "quick", 0, NULL, "shorter, and no latencies" },
	END,
};

static const struct cli_opt top_opts[] = {
	{ "batch", 0, NULL, "print it instead, without a terminal" },
	{ "count", 'n', "N", "how many times (1; with --batch)" },
	{ "delay", 'd', "S", "seconds between two looks (1)" },
	{ "wide", 0, NULL, "all columns, and one row per TSG" },
	{ "process", 'p', NULL, "with --wide: one row per process" },
	{ "sort", 0, "KEY", "by used, waited, turns or pid (used)", cli_top_sorts },
	END,
};

static const struct cli_opt trace_record_opts[] = {
	{ "output", 'o', "FILE", "where to; - is standard output" },
	{ "for", 't', "TIME", "end after TIME (30s, 1m30s)" },
	END,
};

static const struct cli_opt trace_export_opts[] = {
	{ "format", 'f', "json|summary",
	  "trace events as JSON, or sums by process (summary, the default)" },
	END,
};

static const struct cli_opt trace_plot_opts[] = {
	{ "output", 'o', "FILE",
	  "the picture: FILE.svg, FILE.png, or - for SVG on standard output" },
	{ "from", 0, "TIME", "begin of the stretch, counted from that of the recording (0)" },
	{ "for", 't', "TIME", "its length (100ms)" },
	END,
};

static const struct cli_opt help_opts[] = {
	{ "man", 0, NULL, "print the verbs as scdoc, for the manual page" },
	{ "completion", 0, NULL, "print the completion for bash" },
	END,
};

static const struct cli_cmd commands[] = {
	{ "doctor", NULL, "", "say what works here and what to do about the rest",
	  "Exit code 0: gpusched can be used here, on a GPU, on the simulated one or through the "
	  "daemon; 3: it cannot.",
	  cli_doctor, doctor_opts, CLI_JSON, 0, 0 },
	{ "list", NULL, "[TARGET]", "list who uses the GPUs: owner, class, time slice, state",
	  "One row per process (--wide, --all and --json: per TSG). SLICE is the longest turn that "
	  "it may have while others wait, in brackets the one that it asked for itself; \"-\" is "
	  "unknown. --wide has what a policy wants, and the names that the driver uses.",
	  cli_list, list_opts, CLI_JSON | CLI_TARGET, 0, 1 },
	{ "monitor", NULL, "[TARGET]", "print events as they happen, and a summary at the end",
	  "Ends on SIGINT, after --for TIME or after --count N events.", cli_monitor, monitor_opts,
	  CLI_JSON | CLI_TARGET, 0, 1 },
	{ "top", NULL, "", "watch who has the GPUs; keys to set classes, suspend, resume",
	  "With --batch or --json it prints: one screen or one object per look.", cli_top, top_opts,
	  CLI_JSON, 0, 0 },
	{ "status", NULL, "", "is all well? who uses the GPUs, who waits, what to do",
	  "Of the last ten seconds, as the daemon has them. How long a program waits that gives "
	  "the GPU up by itself is known while launches are counted ('gpusched observe launches "
	  "on'). Exit code 5: something is wrong. Times of other users' programs are root's to "
	  "see.",
	  cli_status, status_opts, CLI_JSON, 0, 0 },
	{ "advise", NULL, "", "what would help the programs, and what to type",
	  "Watches the GPUs' logs. Says nothing of a program that it has not seen beside others. "
	  "Changes nothing but the counting of launches, for as long as it watches.",
	  cli_advise, advise_opts, CLI_JSON, 0, 0 },
	{ "stats", NULL, "", "print counters: taps, engine, driver calls, service; or sums",
	  "With --by: what was done since the daemon's start, of those that run (process) or in "
	  "all.",
	  cli_stats, stats_opts, CLI_JSON, 0, 0 },
	{ "budget", NULL, "",
	  "GPU time that you may have, what of it is used, when it begins again",
	  "Budgets are those of the configuration, by user and cgroup. Root sees all of them.",
	  cli_budget, NULL, CLI_JSON, 0, 0 },
	{ "gpus", NULL, "", "list the GPUs, and what switches cost them",
	  "SWITCH_BY and SAVE_BY: calibrated (from the GPU's own log), measured (of this product "
	  "and driver), or unknown. Costs are those of CILP mode.",
	  cli_gpus, gpus_opts, CLI_JSON, 0, 0 },
	{ "history", NULL, "[TARGET]", "who had the GPUs, from the daemon's records on disk",
	  "TARGET is pid:N, comm:NAME, user:NAME, uid:N, class:NAME, cgroup:PATH, gpu:N, "
	  "namespace:NAME, pod:NAMESPACE/NAME or job:ID; tsg:N: "
	  "all that happened to that "
	  "TSG. Whole minutes: T is rounded down to one. Other users' processes are root's to see; "
	  "sums by class and GPU are everybody's.",
	  cli_history, history_opts, CLI_JSON, 0, 1 },
	{ "set", NULL, "TARGET KEY=VALUE... | TARGET clear",
	  "set timeslice, interleave, mode, limit, request",
	  "Keys: timeslice=TIME (1us to 100s; timeslice_us=N), interleave=low|medium|high, "
	  "preempt_mode=wfi|cta|cilp. They override the policy until \"clear\". limit=PERCENT "
	  "and, from root, request=PERCENT of a GPU's time are for each program as a whole, until "
	  "limit=none, request=none.",
	  cli_set, NULL, CLI_JSON | CLI_TARGET, 2, CLI_ANY },
	{ "preempt", NULL, "TARGET", "take the GPU from a TSG now, once", NULL, cli_set_preempt,
	  NULL, CLI_JSON | CLI_TARGET, 1, 1 },
	{ "suspend", NULL, "TARGET", "keep a TSG off the GPU until resume",
	  "Lasts until resume, restore or --for TIME; list shows it.", cli_set_suspend,
	  suspend_opts, CLI_JSON | CLI_TARGET, 1, 1 },
	{ "resume", NULL, "TARGET", "let a suspended TSG run again", NULL, cli_set_resume, NULL,
	  CLI_JSON | CLI_TARGET, 1, 1 },
	{ "park", NULL, "TARGET", "take a program's GPU memory out; it stands still until unpark",
	  "By libcuda's checkpoint calls (driver 570 or newer): its memory goes to the host's. "
	  "Lasts "
	  "until unpark, restore or --for TIME.",
	  cli_park, park_opts, CLI_JSON | CLI_TARGET, 1, 1 },
	{ "unpark", NULL, "TARGET", "bring a parked program's memory back, and let it run",
	  "If its GPU has room for it and a margin; else it waits, and says so.", cli_unpark, NULL,
	  CLI_JSON | CLI_TARGET, 1, 1 },
	{ "parked", NULL, "", "list the parked programs", NULL, cli_parked, NULL, CLI_JSON, 0, 0 },
	{ "restore", NULL, "", "put every TSG back to what its owner asked",
	  "Stops the policy. Works without a daemon, from the pinned table alone.", cli_set_restore,
	  restore_opts, CLI_JSON, 0, 0 },
	{ "run", NULL,
	  "[--class CLASS] [--weight W] [--means auto|--pool|--share|--agent [--hint=auto]] -- CMD "
	  "[ARG...]",
	  "run a command in a class, with all its descendants",
	  "The class is in force before CMD starts. --pool and --share go through NVIDIA MPS; what "
	  "that gives up is said at the start. Exit code: that of CMD; 126 or "
	  "127 when it cannot be executed, as in a shell.",
	  cli_run, run_opts, CLI_COMMAND, 1, CLI_ANY },
	{ "class", "get", "[TARGET]", "show the class of processes", NULL, cli_class_get, NULL,
	  CLI_JSON | CLI_TARGET, 0, 1 },
	{ "class", "set", "TARGET CLASS", "give processes and their descendants a class",
	  "Raising needs root or AllowClass= in the configuration; owners may take back "
	  "what they have lowered.",
	  cli_class_set, class_set_opts, CLI_JSON | CLI_TARGET, 2, 2 },
	{ "class", "clear", "TARGET", "take back what class set or run gave", NULL, cli_class_clear,
	  NULL, CLI_JSON | CLI_TARGET, 1, 1 },
	{ "class", "list", "", "list the classes", NULL, cli_class_list, NULL, CLI_JSON, 0, 0 },
	{ "class", "explain", "pid:N", "say why a process has its class", NULL, cli_class_explain,
	  NULL, CLI_JSON, 1, 1 },
	{ "policy", "get", "", "show the running policy and how the last one ended", NULL,
	  cli_policy_get, NULL, CLI_JSON, 0, 0 },
	{ "policy", "list", "", "list the policies that are installed", NULL, cli_policy_list, NULL,
	  CLI_JSON, 0, 0 },
	{ "policy", "show", "NAME|FILE", "show a policy's options and callbacks", NULL,
	  cli_policy_show, NULL, CLI_JSON, 1, 1 },
	{ "policy", "start", "NAME [-o KEY=VALUE]...", "start a policy, or replace the running one",
	  "NAME is one that policy list shows, or the path of an object. Needs the daemon. "
	  "Exactly one policy acts at any time; if the new one is refused the old one goes on.",
	  cli_policy_start, policy_start_opts, CLI_JSON, 1, 1 },
	{ "policy", "stop", "", "stop the running policy: the driver's own behaviour", NULL,
	  cli_policy_stop, policy_stop_opts, CLI_JSON, 0, 0 },
	{ "policy", "map", "[MAP [KEY [VALUE]]]", "look into the running policy's maps, or write",
	  "Without MAP: which there are. KEY and VALUE are numbers, or FIELD=NUMBER,... for "
	  "structures. Needs root, not the daemon.",
	  cli_policy_map, NULL, CLI_JSON, 0, 3 },
	{ "policy", "check", "NAME|FILE...", "verify policies without attaching anything",
	  "FILE is an object or a source (FILE.bpf.c), which is built first.", cli_policy_check,
	  NULL, CLI_JSON, 1, CLI_ANY },
	{ "policy", "new", "NAME", "write a commented skeleton NAME.bpf.c here", NULL,
	  cli_policy_new, NULL, CLI_JSON, 1, 1 },
	{ "policy", "build", "FILE.bpf.c", "compile a policy", NULL, cli_policy_build,
	  policy_build_opts, CLI_JSON, 1, 1 },
	{ "observe", "on", "", "turn the taps on; they stay on without a daemon", NULL,
	  cli_observe_on, NULL, CLI_JSON, 0, 0 },
	{ "observe", "off", "", "turn the taps off and forget the table", NULL, cli_observe_off,
	  NULL, CLI_JSON, 0, 0 },
	{ "observe", "status", "", "say whether the taps are on, and their counters", NULL,
	  cli_observe_status, NULL, CLI_JSON, 0, 0 },
	{ "observe", "launches", "[on|off]", "count launches per TSG, or say whether that is done",
	  "Lasts until off or the daemon's end. A policy that needs launches turns it on by "
	  "itself.",
	  cli_observe_launches, NULL, CLI_JSON, 0, 1 },
	{ "trace", "record", "-o FILE [-t TIME]", "record who has the GPU, turn by turn",
	  "A file in Perfetto's format, for ui.perfetto.dev. Needs the daemon. Other users' turns "
	  "are root's, and those whom AllowTrace= names. Ends on SIGINT, too.",
	  cli_trace_record, trace_record_opts, 0, 0, 0 },
	{ "trace", "export", "FILE [--format json|summary]",
	  "sums of a recording, or all of it as JSON",
	  "DROPPED is of the whole recording: when it is not 0, times may be too small.",
	  cli_trace_export, trace_export_opts, CLI_JSON, 1, 1 },
	{ "trace", "plot", "FILE -o FILE.svg|FILE.png", "draw a stretch of a recording, by gnuplot",
	  NULL, cli_trace_plot, trace_plot_opts, 0, 1, 1 },
	{ "sim", "shell", "[--gpus N] [--branch B] [--dilate F] [-- CMD [ARG...]]",
	  "run a command, or a shell, on simulated GPUs",
	  "In a private mount namespace with simulated /dev/nvidia* and libcuda. Exit code: that "
	  "of CMD.",
	  cli_sim_shell, shell_opts, CLI_COMMAND, 0, CLI_ANY },
	{ "sim", "run", "SCENARIO|all [--policy P] [--seed N]", "run scenarios in virtual time",
	  "Exit code 1 when an expectation of a scenario is not met.", cli_sim_run, sim_run_opts,
	  CLI_JSON, 1, 1 },
	{ "sim", "list", "", "list the scenarios", NULL, cli_sim_list, NULL, CLI_JSON, 0, 0 },
	{ "demo", NULL, "", "measure before and after: latency and throughput",
	  "An LC and a BE program share a simulated GPU: alone, by default, and under gpusched. "
	  "Where root, BPF or FUSE is missing the model in virtual time answers instead.",
	  cli_demo, demo_opts, CLI_JSON, 0, 0 },
	{ "bench", NULL, "", "measure loads under schemes: default, MPS, gpusched",
	  "Real programs beside each other, in interleaved blocks. Exit code 4: the time was over, "
	  "or a cell failed. See gpusched-bench(8).",
	  cli_bench, bench_opts, CLI_JSON, 0, 0 },
	{ "qualify", NULL, "-o DIR", "what works on this GPU, and what switches cost it",
	  "For a GPU that nobody has tried: at most 3 minutes, with loads of its own. Exit code 4: "
	  "not all was measured. See gpusched-qualify(8).",
	  cli_qualify, qualify_opts, CLI_JSON, 0, 0 },
	{ "shell", NULL, "", "a prompt in which every verb works",
	  "With history and completion (Tab). 'help' explains, 'quit' ends. Without a terminal it "
	  "reads commands line by line.",
	  cli_shell, NULL, 0, 0, 0 },
	{ "help", NULL, "[NOUN [VERB]]", "explain a verb", NULL, cli_help_cmd, help_opts, 0, 0, 2 },
};
const struct cli_table cli_table = { commands, GS_COUNT(commands) };
