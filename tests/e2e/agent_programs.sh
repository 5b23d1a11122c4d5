#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 300
# needs: root fuse
# asan: release
# Programs do and print the same with an agent as without. LOADS=N: loads of the agent (100).
. "$(dirname "$0")/lib.sh"
enter_sim
. "$(dirname "$0")/helper/agent_lib.sh"
agent_begin

# outcome FILE COMMAND...: notes its output and how it ended
outcome() {
	local to=$scratch/$1 got=0
	shift
	as $user timeout 20 "$@" >"$to" 2>&1 </dev/null || got=$?
	sed -i '/agent_lib.sh: line /d' "$to" # bash's line for a program that a signal ended
	echo "exit $got" >>"$to"
}

for mode in fork exec threads main-first crash masks close-all dlopen quick; do
	outcome without "$guest" $mode
	outcome with env LD_PRELOAD="$agent_preload" "$guest" $mode
	is "$(cat "$scratch/with")" "$(cat "$scratch/without")" "$mode: with a preloaded agent the program does the same"
	outcome with env CUDA_INJECTION64_PATH="$agent_so" "$guest" $mode
	is "$(cat "$scratch/with")" "$(cat "$scratch/without")" "$mode: with an agent that libcuda loads the program does the same"
	outcome with env LD_PRELOAD="$agent_preload" GPUSCHED_AGENT_CLASS=lc GPUSCHED_AGENT_HINT=auto GPUSCHED_AGENT_SIGNAL=3 "$guest" $mode
	is "$(cat "$scratch/with")" "$(cat "$scratch/without")" "$mode: with hints and a signal the program does the same"
done
like "$(cat "$scratch/without")" "exit 12" "$mode: the program ends with its own exit status"

# programs that have nothing to do with a GPU
for run in "ls /" "sh -c 'exit 41'" "bash -c 'echo a | cat; kill -9 \$\$'" "cat /proc/self/status"; do
	outcome without bash -c "$run"
	outcome with env LD_PRELOAD="$agent_preload" bash -c "$run"
	filter='/^(Pid|PPid|Tgid|Ngid|NSpid|NStgid|NSpgid|NSsid|Vm|Rss|State|Mems|.*ctxt|Cpus|.*Sig)/d'
	is "$(sed -E "$filter" "$scratch/with")" "$(sed -E "$filter" "$scratch/without")" "$run: a command without a GPU does the same with an agent"
done
outcome with env LD_PRELOAD="$agent_preload" cat /proc/self/status
like "$(cat "$scratch/with")" "Threads:.1" "without CUDA the agent has no thread"

n=${LOADS:-100} bad=0
for ((i = 0; i < n; i++)); do
	as $user env LD_PRELOAD="$agent_preload" "$guest" quick >"$scratch/quick" 2>&1
	[ $? = 12 ] && [ "$(cat "$scratch/quick")" = "cuda 0 0" ] || bad=$((bad + 1))
done
is $bad 0 "the agent is loaded and unloaded $n times without harm"
is "$(find "$XDG_RUNTIME_DIR/gpusched" -name 'agent-*' | wc -l | awk -v n=$n '{ print ($1 <= n + 100) }')" 1 "at most $n + 100 sockets are left by programs that end with _exit()"
as $user "$gpusched" list >/dev/null 2>&1
is "$(find "$XDG_RUNTIME_DIR/gpusched" -name 'agent-*' | wc -l)" 0 "the next list removes these sockets"
agent_end
done_testing
