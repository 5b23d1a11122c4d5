#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Runs six minutes of turmoil on a GPU, under `auto`: programs start, end and are killed, classes and
# policies change, programs in pools and pool servers are killed. A service and a training run all
# the time. At the end it prints whether a program is suspended or a server is left, and how much the
# daemon has grown.
#
#   bench/hw/churn.sh OUTDIR
#
# As root, on an otherwise idle machine with a GPU and nvidia-cuda-mps-control. OUTDIR gets
# churn.json, log.txt and raw-churn/. Exit status 1: a check failed. SECONDS_OF_IT=N: the length (360).
# It also runs in `gpusched sim shell`, on a simulated GPU, with the stand-ins for MPS in PATH.
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
. "$top/tests/turmoil.sh"
begin 400 raw-churn "$@"
PATH=$PATH:/usr/local/nvidia/bin
command -v nvidia-cuda-mps-control >/dev/null || { say "no nvidia-cuda-mps-control on this machine"; exit 3; }
export GPUSCHED_POOL_IDLE=3s GPUSCHED_CONFIG=$raw/conf
unset XDG_RUNTIME_DIR CUDA_MPS_PIPE_DIRECTORY CUDA_MPS_LOG_DIRECTORY
printf '[Policy]\nPolicy=auto\n' >"$GPUSCHED_CONFIG"
RANDOM=${SEED:-1}
exec 2>"$raw/stderr"

list_json() { # TARGET FILTER
	gs list "$1" --json | "$jq" -rs "flatten | $2"
}
gone() { ! kill -0 "$1" 2>/dev/null; }
gpu_time() { # PID
	list_json "pid:$1" '[.[].gpu_time_ns // 0] | add // 0'
}
works() { # PID
	local before
	before=$(gpu_time "$1")
	wait_for 20 eval "[ \"\$(gpu_time $1)\" -gt $before ]"
}
of_pools() { { ours nvidia-cuda-mps-server; ours nvidia-cuda-mps-control; pgrep -x gpusched-pool; } | xargs; }
gpu_mib() { nvidia-smi --query-gpu=memory.used --format=csv,noheader,nounits 2>/dev/null | head -1; }
state() { # what the daemon holds, as JSON
	"$jq" -nc --argjson fds "$(ls "/proc/$daemon/fd" | wc -l)" --argjson threads "$(ls "/proc/$daemon/task" | wc -l)" \
		--argjson rss_kib "$(awk '/^VmRSS/ { print $2 }' "/proc/$daemon/status")" \
		--argjson pins "$(find /sys/fs/bpf/gpusched "${GPUSCHED_SIM:-/nowhere}/bpf" 2>/dev/null | wc -l)" \
		--argjson mounts "$(wc -l </proc/self/mounts)" --arg gpu_mib "$(gpu_mib)" \
		'{fds: $fds, threads: $threads, rss_kib: $rss_kib, pins: $pins, mounts: $mounts, gpu_mib: ($gpu_mib | tonumber? // null)}'
}
finish() {
	local p
	end_programs
	for p in "${at_end[@]}"; do kill -9 "$p" 2>/dev/null; done
	for p in $(of_pools); do kill "$p"; done
	at_end
}
trap '[ "$BASHPID" != $$ ] || finish' EXIT

begin_all() {
	calibrate && daemon_start || return 1
	program --class lc -- "$gsload" lc --seconds 0
	service=$program
	program --class be -- "$gsload" be --seconds 0
	training=$program
	wait_for 30 only_ours && works "$service" && works "$training"
}
begin_all || { say "a service and a training do not work"; exit 1; }
each_step
act pool
# If no server is ever seen here, no_server_left below proves nothing.
pools_seen=$(wait_for 20 eval '[ -n "$(ours nvidia-cuda-mps-server)" ]' && echo true || echo false)
end_programs
wait_for 40 only_ours || say "a first round is not over"
before=$(state)
say "before: $before"

some_steps "${SECONDS_OF_IT:-360}"
say "done: $(steps_done)"
end_programs
act pool
pools_still=$(wait_for 20 eval '[ -n "$(server)" ]' && echo true || echo false) # a pool still starts after all the kills
end_programs
only=$(wait_for 40 only_ours && echo true || echo false)
pools_gone=$(wait_for 40 eval '[ -z "$(of_pools)" ]' && echo true || echo false)
gs policy stop >/dev/null
unchanged() { [ "$(list_json all '[.[] | select(.changed or .is.runnable == false)] | length')" = 0 ]; }
restored=$(wait_for 10 unchanged && echo true || echo false)
service_works=$(works "$service" && echo true || echo false)
training_works=$(works "$training" && echo true || echo false)
gs policy start auto >/dev/null # the state before the turmoil
sleep 2
after=$(state)
kill "$service" "$training"
table_empty=$(wait_for 20 eval '[ "$(list_json all length)" = 0 ]' && echo true || echo false)
lives=$(kill -0 "$daemon" && echo true || echo false)
gs stats --json >"$raw/stats.json"
"$jq" -n --argjson before "$before" --argjson after "$after" --arg steps "$(steps_done)" --argjson seconds "$steps_took_s" \
	--argjson only "$only" --argjson pools_seen "$pools_seen" --argjson pools_still "$pools_still" --argjson pools_gone "$pools_gone" --argjson restored "$restored" --argjson table_empty "$table_empty" \
	--argjson service "$service_works" --argjson training "$training_works" --argjson lives "$lives" --arg gpu_mib "$(gpu_mib)" '
	{seconds: $seconds, steps: $steps, only_those_that_live_on: $only, servers_were_seen: $pools_seen, one_more_pool_is_one_unit: $pools_still, no_server_left: $pools_gone,
	nothing_suspended_or_changed: $restored, service_works: $service, training_works: $training,
	table_empty_at_the_end: $table_empty, daemon_lives: $lives, before: $before, after: $after,
	gpu_mib_at_the_end: ($gpu_mib | tonumber? // null)} |
	. + {holds: ($only and $pools_seen and $pools_still and $pools_gone and $restored and $service and $training and $table_empty and $lives and
		$after.fds <= $before.fds + 4 and $after.rss_kib <= $before.rss_kib + 8192 and
		$after.threads <= $before.threads and $after.pins <= $before.pins and $after.mounts == $before.mounts)}' |
	tee "$out/churn.json"
"$jq" -es 'length == 1 and .[0].holds' "$out/churn.json" >/dev/null
