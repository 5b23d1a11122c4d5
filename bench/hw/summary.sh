#!/bin/bash
# SPDX-License-Identifier: MIT
# summary.sh RAWDIR OUTDIR - write what bench/hw/run.sh measured as summary.json and a Markdown table
set -u
raw=$1
out=$2
. "$(dirname "$0")/lib.sh"

# Time from a TSG's creation to the policy's slice, from the monitor's events for compute TSGs.
reaction=$("$jq" -cs -f "$(dirname "$0")/../reaction.jq" "$raw/policy.monitor.jsonl" 2>/dev/null)

"$jq" -s --argjson reaction "${reaction:-null}" '
	reduce .[] as $n ({}; . + {($n.key): $n.value}) | . + {reaction: $reaction}' \
	"$raw/notes.jsonl" >"$out/summary.json"

"$jq" -r '
def num: if . == null then "-" elif type == "number" then (. * 10 | round / 10 | tostring) else tostring end;
def row($case): .["case." + $case] as $c | if $c == null then empty else
	"| \($case) | \($c.p50_us | num) | \($c.p99_us | num) | \($c.be_per_s | num) | \($c.arrivals) |" end;
"# \(.gpu // "GPU"), driver \(.driver // "-"), kernel \(.kernel // "-"), gpusched \(.built // "-")",
"",
"| case | LC p50 us | LC p99 us | BE kernels/s | arrivals |",
"|---|---|---|---|---|",
(row("gpusched"), row("gpusched_nvcc_be")),
"",
"One request is one kernel of 100 us; a BE launches kernels of 1 ms that fill the GPU.",
"closed: an exponential gap follows each completion.",
"",
"| check | result | bar |",
"|---|---|---|",
"| LC p99 beside one BE: the middle run, all | \(.["case.gpusched"].p99_us | num) us, \(.["case.gpusched"].p99_all_us | tostring) | 350 us |",
"| BE alone, kernels/s: default, under the policy | \(.["be_alone.default"] | num), \(.["be_alone.gpusched"] | num) | 99.5 % |",
"| TSGs seen per process (nvcc program, gsload be, gsload lc) | \(.discovery.tsgs_per_process | tostring) | 4 each |",
"| adopted TSGs of two programs, s from the daemon'"'"'s start | \(.adoption.tsgs | num), \(.adoption_s | num) | 8, 1 |",
"| controls from outside: exit codes | \([to_entries[] | select(.key | startswith("control.")) | "\(.key[8:]) \(.value.exit)"] | join(", ")) | 0 |",
"| kernels in a second: running, suspended, resumed | \(.control_progress.running_per_s | num), \(.control_progress.suspended_per_s | num), \(.control_progress.resumed_per_s | num) | suspended 0 |",
"| SIGKILL of the daemon: slice before, as the driver says after | \(.kill_daemon.before_us | num), \(.kill_daemon.driver_says_us | num) us after \(.kill_daemon_s | num) s | 2048 us |",
"| SIGKILL of a suspended program: GPU memory before, used, after | \(.kill_suspended.before_mib | num), \(.kill_suspended.used_mib | num), \(.kill_suspended.after_mib | num) MiB | as before |",
"| \(.many_processes.started | num) processes: daemon'"'"'s descriptors before, after; RSS KiB | \(.many_processes.fds_before | num), \(.many_processes.fds_after | num); \(.many_processes.rss_kb_before | num), \(.many_processes.rss_kb_after | num) | no growth |",
"| TSG made to policy in force (median, max of n) | \(.reaction.from_creation.median_us | num), \(.reaction.from_creation.max_us | num) us of \(.reaction.from_creation.n | num) | 5 ms |",
"| the same from CUDA'"'"'s own timeslice | \(.reaction.from_own_timeslice.median_us | num), \(.reaction.from_own_timeslice.max_us | num) us | - |",
"| TSGs that had the policy'"'"'s slice before their owner put them on the runlist | \(.reaction.before_first_work.n | num) of \(.reaction.before_first_work.of | num) | - |",
"| daemon idle: CPU, memory | \(.idle.cpu_percent | num) %, \(.idle.rss_kb | num) KiB | 0.1 %, 20 MiB |",
"| taps: \((.tapcost // {}) | tostring) | | +1 us an ioctl, +0.1 us another call |",
([to_entries[] | select(.key | startswith("failed.") or startswith("skipped.")) | .key] |
	if length > 0 then "", "Not done: " + join(", ") else empty end)
' "$out/summary.json" >"$out/summary.md"
