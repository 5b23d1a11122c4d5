#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 90
# needs: root fuse
# asan: release
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
	'"agent","be","told",4711,"compute"' "the list says that an agent reported the program"
is "$(mine '.[0].asked.timeslice_us' pid:$be)" 2048 "the list has the slice that the program asked for"
was=$(mine '.[0].launches' pid:$be)
check "launches are counted" wait_for 10 eval '[ "$(mine ".[0].launches" pid:$be)" -gt "$was" ]'

check "a slice is set from another terminal" as $user "$gpusched" set pid:$be timeslice=500us
check "the RM has the new slice" slice_is $be 500
check "the other program is left alone" slice_is $other 2048
is "$(mine '.[0] | [.is.timeslice_us, .manual.timeslice_us, .asked.timeslice_us] | @csv' pid:$be)" "500,500,2048" "the list knows the setting"
like "$(as $user "$gpusched" set pid:$be interleave=high 2>&1)" "INSUFFICIENT_PERMISSIONS" "the error names the RM's refusal"
check "a user suspends by class" as $user "$gpusched" suspend class:be
is "$(sim_disabled $be)" 20 "the channels of the suspended program are disabled"
like "$(as $user "$gpusched" list)" "paused by a person" "the list says that a person suspended it"
check "a user resumes the program" as $user "$gpusched" resume pid:$be
is "$(sim_disabled $be)" 0 "the channels of the resumed program are enabled again"
check "a user suspends the program for 300 ms" as $user "$gpusched" suspend pid:$be --for 300ms
is "$(sim_disabled $be)" 0 "after that time the program is resumed"
check "a user preempts the program" as $user "$gpusched" preempt pid:$be
check "a user clears the settings" as $user "$gpusched" set pid:$be clear
check "the program has its own slice again" slice_is $be 2048
is "$(mine '.[0].manual.timeslice_us' pid:$be)" null "no setting by a person is left"

exits 3 "a verb that agents cannot do fails" as $user "$gpusched" policy stop
like "$out" "gpuschedd" "the error names the daemon"
exits 1 "a target without an agent is not found" as $user "$gpusched" set pid:1 timeslice=500us
exits 3 "another user sees none of these programs" as 4712 env XDG_RUNTIME_DIR="$XDG_RUNTIME_DIR" "$gpusched" list
check "root may ask an agent" env XDG_RUNTIME_DIR=/nowhere "$gpusched" list pid:$be

# Beside a daemon: verbs go through the daemon, which borrows the program's descriptor.
# A sanitized daemon does not start with the sanitizer's library preloaded as well.
LD_PRELOAD= start_daemon || not_ok "a daemon starts"
check "a daemon knows the program with an agent" wait_tsgs pid:$be 4
is "$(mine '.[0].known_by' pid:$be)" scan "the daemon knows it from the driver, not from the agent"
check "its user sets its slice through the daemon" as $user "$gpusched" set pid:$be timeslice=700us
check "the RM has the slice that the daemon set" slice_is $be 700
exits 3 "run --agent does not give a class that the daemon must give" as $user "$gpusched" run --agent --class lc -- true
stop_daemon
check "the daemon's end puts back what it set" wait_for 10 slice_is $be 2048
check "without the daemon the agents answer again" mine_has $be

# The guest finds launch functions by dlsym, and by cuGetProcAddress as in CUDA 11.8, 12 and 13.
mkfifo "$scratch/in"
exec 7<>"$scratch/in"
agent_load entries -- "$guest" entries <&7
wait_for 10 grep -q calls "$scratch/entries.out"
is "$(grep calls "$scratch/entries.out")" "calls 160" "eight launch functions are called in several ways, 160 times in all"
wait_for 10 mine_has $agent_pid
is "$(mine '.[0].launches' pid:$agent_pid)" 160 "each of these calls is counted once"
echo >&7
"${as_user[@]}" "$build/tests/e2e/linked" >"$scratch/linked.out" 2>&1 <&7 &
linked=$!
at_end+=("$linked")
wait_for 10 grep -q calls "$scratch/linked.out"
wait_for 10 mine_has $linked
is "$(mine '.[0] | [.known_by, .launches] | @csv' pid:$linked)" '"agent",6' "launches of a program that is linked with agent and libcuda are counted, too"
echo >&7
export CUDA_INJECTION64_PATH=/usr/lib/libprofiler.so
agent_load profiled -- "$guest" entries <&7
wait_for 10 mine_has $agent_pid
is "$(mine '.[0] | .launches, .reason' pid:$agent_pid)" \
	"null"$'\n'"launches are not counted: a profiler is there (CUDA_INJECTION64_PATH)" "beside a profiler no launch is counted, and the list says why"
echo >&7
unset CUDA_INJECTION64_PATH

# a crash leaves a socket, which the next list removes
kill -9 $other
wait $other 2>/dev/null
mine_has $be
check "the socket of a killed program is removed" test ! -e "$XDG_RUNTIME_DIR/gpusched/agent-$other"
end_load $be
check "a program removes its socket when it ends" wait_for 5 test ! -e "$XDG_RUNTIME_DIR/gpusched/agent-$be"
agent_end
done_testing
