#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 90
# needs: root fuse
# asan: yes
# An ordinary user without daemon, root, BPF or the right to trace steers programs through their agents.
. "$(dirname "$0")/lib.sh"
enter_sim
. "$(dirname "$0")/helper/agent_lib.sh"
agent_begin

exits 3 "without any agent, list says what is missing" as $user "$gpusched" list
agent_load be --class be -- "$gsload" be --seconds 300
be=$agent_pid
agent_load other -- "$gsload" lc --seconds 300
other=$agent_pid
check "four TSGs are found by their descriptors" wait_for 20 mine_has $be
wait_for 20 mine_has $other
wait_for 5 slice_is $be 2048
is "$(mine '.[0] | [.known_by, .class, .class_source, .uid, .kind] | @csv' pid:$be)" \
	'"agent","be","told",4711,"compute"' "the list says from whom it is known"
is "$(mine '.[0].asked.timeslice_us' pid:$be)" 2048 "what the program asked for"
was=$(mine '.[0].launches' pid:$be)
check "launches are counted" wait_for 10 eval '[ "$(mine ".[0].launches" pid:$be)" -gt "$was" ]'

check "a slice is set from another terminal" as $user "$gpusched" set pid:$be timeslice=500us
check "the RM has it" slice_is $be 500
check "the other program is left alone" slice_is $other 2048
is "$(mine '.[0] | [.is.timeslice_us, .manual.timeslice_us, .asked.timeslice_us] | @csv' pid:$be)" "500,500,2048" "the list knows the setting"
like "$(as $user "$gpusched" set pid:$be interleave=high 2>&1)" "INSUFFICIENT_PERMISSIONS" "what RM refuses a user is told by its name"
check "suspend" as $user "$gpusched" suspend class:be
is "$(sim_disabled $be)" 20 "its channels are disabled"
like "$(as $user "$gpusched" list)" "suspended \(person\)" "the list says so"
check "resume" as $user "$gpusched" resume pid:$be
is "$(sim_disabled $be)" 0 "its channels are enabled again"
check "suspend for a while" as $user "$gpusched" suspend pid:$be --for 300ms
is "$(sim_disabled $be)" 0 "resumes by itself"
check "preempt" as $user "$gpusched" preempt pid:$be
check "clear" as $user "$gpusched" set pid:$be clear
check "the program has its own slice again" slice_is $be 2048
is "$(mine '.[0].manual.timeslice_us' pid:$be)" null "nobody's wish is left"

exits 3 "what an agent cannot do names the daemon" as $user "$gpusched" policy stop
like "$out" "gpuschedd" "in one line"
exits 1 "a target that is nobody's" as $user "$gpusched" set pid:1 timeslice=500us
exits 3 "another user sees none of it" as 4712 env XDG_RUNTIME_DIR="$XDG_RUNTIME_DIR" "$gpusched" list
check "root may ask an agent" env XDG_RUNTIME_DIR=/nowhere "$gpusched" list pid:$be

# beside a daemon: verbs go through it, and it borrows
# a daemon that is sanitized anyhow does not start with the library preloaded as well
LD_PRELOAD= start_daemon || not_ok "a daemon starts"
check "beside a daemon the program is known to it" wait_tsgs pid:$be 4
is "$(mine '.[0].known_by' pid:$be)" scan "from the driver, not from the agent"
check "its user sets it there" as $user "$gpusched" set pid:$be timeslice=700us
check "the daemon borrows" slice_is $be 700
exits 3 "a class that is the daemon's to give is not told past it" as $user "$gpusched" run --agent --class lc -- true
stop_daemon
check "the daemon's end puts back what it set" wait_for 10 slice_is $be 2048
check "then the agents answer again" mine_has $be

# launch functions by dlsym, and by cuGetProcAddress as CUDA 11.8, 12 and 13 have it
mkfifo "$scratch/in"
exec 7<>"$scratch/in"
agent_load entries -- "$guest" entries <&7
wait_for 10 grep -q calls "$scratch/entries.out"
is "$(grep calls "$scratch/entries.out")" "calls 160" "eight launch functions are called by four ways each"
wait_for 10 mine_has $agent_pid
is "$(mine '.[0].launches' pid:$agent_pid)" 160 "each call is counted once"
echo >&7
"${as_user[@]}" "$build/tests/e2e/linked" >"$scratch/linked.out" 2>&1 <&7 &
linked=$!
at_end+=("$linked")
wait_for 10 grep -q calls "$scratch/linked.out"
wait_for 10 mine_has $linked
is "$(mine '.[0] | [.known_by, .launches] | @csv' pid:$linked)" '"agent",6' "a program that is linked with agent and libcuda counts, too"
echo >&7
export CUDA_INJECTION64_PATH=/usr/lib/libprofiler.so
agent_load profiled -- "$guest" entries <&7
wait_for 10 mine_has $agent_pid
is "$(mine '.[0] | .launches, .reason' pid:$agent_pid)" \
	"null"$'\n'"launches are not counted: a profiler is there (CUDA_INJECTION64_PATH)" "beside a profiler none is, and the list says why"
echo >&7
unset CUDA_INJECTION64_PATH

# a crash leaves a socket, which the next list removes
kill -9 $other
wait $other 2>/dev/null
mine_has $be
check "a dead program's socket goes" test ! -e "$XDG_RUNTIME_DIR/gpusched/agent-$other"
end_load $be
check "a program's end takes its socket along" wait_for 5 test ! -e "$XDG_RUNTIME_DIR/gpusched/agent-$be"
agent_end
done_testing
