#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 300
# needs: root fuse
# asan: yes
# Programs do and print the same with an agent as without. LOADS=1000: how often one is loaded (100).
. "$(dirname "$0")/lib.sh"
enter_sim
. "$(dirname "$0")/helper/agent_lib.sh"
agent_begin

# outcome FILE COMMAND...: notes its output and how it ended
outcome() {
	local to=$scratch/$1 got=0
	shift
	as $user timeout 20 "$@" >"$to" 2>&1 </dev/null || got=$?
	sed -i '/agent_lib.sh: line /d' "$to" # what bash says of a signal
	echo "exit $got" >>"$to"
}

for mode in fork exec threads main-first crash masks close-all dlopen quick; do
	outcome without "$guest" $mode
	outcome with env LD_PRELOAD="$agent_preload" "$guest" $mode
	is "$(cat "$scratch/with")" "$(cat "$scratch/without")" "$mode: the same"
	outcome with env CUDA_INJECTION64_PATH="$agent_so" "$guest" $mode
	is "$(cat "$scratch/with")" "$(cat "$scratch/without")" "$mode: the same, loaded by libcuda"
	outcome with env LD_PRELOAD="$agent_preload" GPUSCHED_AGENT_CLASS=lc GPUSCHED_AGENT_HINT=auto GPUSCHED_AGENT_SIGNAL=3 "$guest" $mode
	is "$(cat "$scratch/with")" "$(cat "$scratch/without")" "$mode: the same with hints and a signal"
done
like "$(cat "$scratch/without")" "exit 12" "$mode: the program ends as it was made to"

# programs that have nothing to do with a GPU
for run in "ls /" "sh -c 'exit 41'" "bash -c 'echo a | cat; kill -9 \$\$'" "cat /proc/self/status"; do
	outcome without bash -c "$run"
	outcome with env LD_PRELOAD="$agent_preload" bash -c "$run"
	filter='/^(Pid|PPid|Tgid|Ngid|NSpid|NStgid|NSpgid|NSsid|Vm|Rss|State|Mems|.*ctxt|Cpus|.*Sig)/d'
	is "$(sed -E "$filter" "$scratch/with")" "$(sed -E "$filter" "$scratch/without")" "$run: the same"
done
outcome with env LD_PRELOAD="$agent_preload" cat /proc/self/status
like "$(cat "$scratch/with")" "Threads:.1" "without CUDA there is no thread of the agent"

n=${LOADS:-100} bad=0
for ((i = 0; i < n; i++)); do
	as $user env LD_PRELOAD="$agent_preload" "$guest" quick >"$scratch/quick" 2>&1
	[ $? = 12 ] && [ "$(cat "$scratch/quick")" = "cuda 0 0" ] || bad=$((bad + 1))
done
is $bad 0 "$n loads and ends"
is "$(find "$XDG_RUNTIME_DIR/gpusched" -name 'agent-*' | wc -l | awk -v n=$n '{ print ($1 <= n + 100) }')" 1 "sockets of those that end by _exit() stay"
as $user "$gpusched" list >/dev/null 2>&1
is "$(find "$XDG_RUNTIME_DIR/gpusched" -name 'agent-*' | wc -l)" 0 "until the next list"
agent_end
done_testing
