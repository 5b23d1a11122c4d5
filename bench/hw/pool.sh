#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Measures what pools and shared servers gain, and what happens to the other programs in a pool when one is killed or
# accesses a bad address, the server dies, or the daemon is killed and starts again. Under 7 minutes. STEPS="restart"
# runs only the last.
#
#   bench/hw/pool.sh OUTDIR
#
# As root, on an otherwise idle machine with a GPU and nvidia-cuda-mps-control. OUTDIR gets pool.md (tables), pool.json,
# and raw-pool/. The script leaves no MPS server behind, even when it is interrupted.
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
begin 420 raw-pool "$@"
bad_access=$top/build/bad_access
[ -x "$top/bundle/bad_access" ] && bad_access=$top/bundle/bad_access
PATH=$PATH:/usr/local/nvidia/bin
command -v nvidia-cuda-mps-control >/dev/null || {
	say "no nvidia-cuda-mps-control on this machine: skipped"
	exit 0
}
export GPUSCHED_POOL_IDLE=3s
unset XDG_RUNTIME_DIR CUDA_MPS_PIPE_DIRECTORY CUDA_MPS_LOG_DIRECTORY
said=$raw/said.log # messages of `gpusched run`
: >"$said"

# in_pool OPTIONS...: sets $words to a prefix for a program, `gpusched run OPTIONS --`, whose messages go to $said
in_pool() {
	words=(bash -c 'log=$1; shift; exec "$@" 2>>"$log"' run "$said" "$gpusched" run "$@" --)
}
in_pool --pool --class be
pool=("${words[@]}")
in_pool --share --class be
share_be=("${words[@]}")
in_pool --share --class lc
share_lc=("${words[@]}")
in_pool --class lc
only_lc=("${words[@]}")
in_pool --class be
only_be=("${words[@]}")

servers() { ours nvidia-cuda-mps-server | xargs; }
controls() { ours nvidia-cuda-mps-control | xargs; }
supervisors() { # prints the PID of each server's gpusched-pool, which is three parents above the server
	local p i
	for p in $(servers); do
		for i in 1 2 3; do p=$(ps -o ppid= -p "$p" | xargs); done
		[ "$(cat "/proc/$p/comm" 2>/dev/null)" = gpusched-pool ] && echo "$p"
	done
}
all_gone() { [ -z "$(servers)$(controls)" ]; }

pool_end() {
	local p
	for p in "${pids[@]}"; do kill "$p" 2>/dev/null; done
	# wait until there is no server left, not even an idle one
	for p in $(supervisors); do kill "$p"; done
	wait_for 30 all_gone && return
	for p in $(servers) $(controls); do kill -9 "$p"; done
	note left_behind true
}
trap '[ "$BASHPID" != $$ ] || { pool_end; at_end; }' EXIT

prepare() {
	calibrate || return 1
	nvidia-cuda-mps-control --help >"$raw/control.help" 2>&1 </dev/null &
	sleep 2
	kill $! 2>/dev/null
	daemon_start
}

# ---- what pools and shared servers gain -----------------------------------------------------------

beside() {
	daemon_start || return 1
	measure alone 0 4 "${closed[@]}"
	measure default_3be 3 5 "${closed[@]}"
	measure default_8be 8 5 "${closed[@]}"
	gs policy start lcbe || return 1
	as_lc=("${only_lc[@]}")
	as_be=("${pool[@]}")
	measure pool_3be 3 6 "${closed[@]}"
	measure pool_8be 8 6 "${closed[@]}"
	as_be=() as_lc=()
	gs stats --json >"$raw/pool.stats.json"
	gs list --json >"$raw/pool.list.json"
}

launch_bound=(--arrivals closed --period-us 10000 --kernels 100 --kernel-us 10 --gap-us 20)
share() {
	daemon_start || return 1
	measure lb_alone 0 4 "${launch_bound[@]}"
	measure lb_default 1 5 "${launch_bound[@]}"
	gs policy start lcbe || return 1
	as_be=("${only_be[@]}") as_lc=("${only_lc[@]}")
	measure lb_lcbe 1 5 "${launch_bound[@]}"
	as_be=("${share_be[@]}") as_lc=("${share_lc[@]}")
	measure lb_share 1 6 "${launch_bound[@]}"
	measure share_closed 1 5 "${closed[@]}"
	as_be=() as_lc=()
}

# ---- what goes wrong ------------------------------------------------------------------------------

child_of() { pgrep -P "$1" | head -1; }

# Runs a small program in the pool. Prints its exit status, and how long it takes.
newcomer() { # NAME
	local from=$EPOCHREALTIME rc
	timeout 60 "${pool[@]}" "$gsload" be --count 10 --warmup 0 --iterations-per-us "$iterations" >"$raw/$1.new.json" 2>&1
	rc=$?
	awk -v rc=$rc -v a="$from" -v b="$EPOCHREALTIME" 'BEGIN { printf "{\"status\":%d,\"seconds\":%.1f}", rc, b - a }'
}

# incident NAME N COMMAND...: starts N BE in the pool, runs COMMAND, and notes which of them are alive 8 s later. $be has
# the PIDs of their `gpusched run`.
incident() {
	local name=$1 n=$2 before dead=0 i after new
	shift 2
	be=()
	as_be=("${pool[@]}")
	for ((i = 0; i < n; i++)); do
		be_start "$name.$i"
		be+=($pid)
	done
	as_be=()
	sleep 1
	before=$(servers)
	echo "--- $name: server $before" >>"$said"
	"$@" >>"$raw/$name.do.log" 2>&1
	sleep 8
	for i in "${be[@]}"; do
		kill -0 "$i" 2>/dev/null || dead=$((dead + 1))
	done
	after=$(servers)
	gs list --json >"$raw/$name.list.json"
	new=$(newcomer "$name")
	for ((i = 0; i < n; i++)); do
		be_end "$name.$i" "${be[$i]}"
	done
	pids=()
	note "incident.$name" "$("$jq" -nc --argjson n "$n" --argjson dead $dead --arg before "$before" --arg after "$after" \
		--argjson new "$new" --argjson suspended "$(gs list --json | "$jq" -s 'flatten | map(select(.is.runnable == false)) | length')" \
		'{programs: $n, ended: $dead, server_before: $before, server_after: $after, new_program: $new, suspended: $suspended}')"
	wait_for 30 all_gone
	note "gone.$name" "$(all_gone && echo true || echo false)"
}

kill_client() { kill -9 "$(child_of "${be[0]}")"; }
kill_run() { kill -9 "${be[0]}"; }
end_run() { kill -TERM "${be[0]}"; }
# starts a further program, and kills its `gpusched run` while the program has much work in flight
kill_busy_run() {
	"${pool[@]}" "$gsload" be --seconds 0 --in-flight 16 --iterations-per-us "$iterations" >/dev/null 2>&1 &
	local run=$!
	sleep 3
	kill -9 "$run"
	wait "$run" 2>/dev/null
}
bad() { timeout 30 "${pool[@]}" "$bad_access" 1 >"$raw/bad_access.json" 2>&1; }
kill_server() { kill -9 "$(servers)"; }
kill_supervisor() { kill -9 $(supervisors); }

incidents() {
	daemon_start || return 1
	gs policy start lcbe
	incident killed_client_of_3 3 kill_client
	incident killed_client_alone 1 kill_client
	incident killed_run 3 kill_run
	incident ended_run 3 end_run
	incident killed_busy_run 2 kill_busy_run
	incident bad_access 2 bad
	incident killed_server 2 kill_server
	incident killed_supervisor 2 kill_supervisor
	cp -r "$run_dir" "$raw/directory" 2>/dev/null
}

# ---- the daemon comes again -----------------------------------------------------------------------

# Notes the LC's latency under `auto`, the number of compute TSGs of class be (expected: 1, the server's, since
# clients have none), and the number of pool handles that the daemon holds.
told() { # NAME
	lc "restart.$1" 4 "${closed[@]}"
	gs list --json >"$raw/restart.$1.list.json"
	gs stats --json >"$raw/restart.$1.stats.json"
	note "restart.$1" "$("$jq" -cs --slurpfile list "$raw/restart.$1.list.json" --slurpfile stats "$raw/restart.$1.stats.json" \
		'map(select(.p99_us)) | last | {p50_us, p99_us, be_tsgs: ([$list | flatten | .[] | select(.class == "be" and .kind == "compute")] | length),
		pool_handles: ($stats | flatten | .[0] | [.. | .pool_handles? // empty] | add)}' "$raw/restart.$1.lc.json")"
}

restart() {
	local i be=()
	daemon_start || return 1
	gs policy start auto || return 1
	as_lc=("${only_lc[@]}") as_be=("${pool[@]}")
	for i in 0 1 2; do
		be_start "restart.$i"
		be+=($pid)
	done
	sleep 2
	told before
	kill -9 "$daemon"
	wait "$daemon" 2>/dev/null
	daemon_start
	wait_for 10 eval 'gs policy get | grep -q auto' || return 1 # the new daemon starts the policy again by itself
	sleep 3
	told after
	for i in 0 1 2; do
		be_end "restart.$i" "${be[$i]}"
	done
	pids=() as_be=() as_lc=()
}

for part in prepare:90 beside:100 share:60 incidents:220 restart:60; do
	case " prepare ${STEPS:-beside share incidents restart} " in
	*" ${part%:*} "*) step "${part%:*}" "${part#*:}" "${part%:*}" ;;
	esac
done
pool_end
at_end
trap - EXIT
"$jq" -s 'map({key, value}) | from_entries' "$raw/notes.jsonl" >"$out/pool.json"
{
	echo "| case | LC p50 us | LC p99 us | BE kernels/s |"
	echo "|---|---|---|---|"
	"$jq" -r 'select(.key | test("^case\\.")) | "| \(.key[5:]) | \(.value.p50_us) | \(.value.p99_us) | \(.value.be_per_s // "-") |"' "$raw/notes.jsonl"
	echo
	echo "| in a pool | programs | ended within 8 s | server before | after | a new program: status, s | suspended then | server gone when idle |"
	echo "|---|---|---|---|---|---|---|---|"
	"$jq" -rs '(map(select(.key | startswith("gone."))) | map({key: .key[5:], value}) | from_entries) as $gone |
		.[] | select(.key | startswith("incident.")) | .key[9:] as $k | .value |
		"| \($k) | \(.programs) | \(.ended) | \(.server_before) | \(.server_after) | \(.new_program.status), \(.new_program.seconds) | \(.suspended) | \($gone[$k]) |"' "$raw/notes.jsonl"
	echo
	echo "| the daemon is killed beside 3 BE in a pool | LC p50 us | LC p99 us | compute TSGs of BE | clients' handles |"
	echo "|---|---|---|---|---|"
	"$jq" -r 'select(.key | startswith("restart.")) | "| \(.key[8:]) | \(.value.p50_us) | \(.value.p99_us) | \(.value.be_tsgs) | \(.value.pool_handles // "-") |"' "$raw/notes.jsonl"
} | tee "$out/pool.md"
