#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 180
# needs: root bpf fuse
# A suspension by `suspend --for` ends at its time, whichever command or daemon dies or starts in
# between. A policy's suspension ends at the class's limit.
. "$(dirname "$0")/lib.sh"
enter_sim
load be --seconds 600
be=$LOAD_PID
wait_for 10 eval "[ \"\$(sim_tsgs $be)\" -ge 4 ]"
suspended() { [ "$(sim_disabled $be)" -gt 0 ]; }
runs() { [ "$(sim_disabled $be)" = 0 ]; }

# ---- without a daemon the command waits; a signal at any time ends it in order
"$gpusched" suspend pid:$be --for 30s >/dev/null 2>&1 &
waits=$!
check "without a daemon the program is suspended while the command waits" wait_for 25 suspended
kill $waits
check "SIGTERM to the command resumes the program" wait_for 10 runs
wait $waits
is "$?" 0 "the interrupted command exits with 0"

# ---- the command that waits is killed; the next one repairs
"$gpusched" suspend pid:$be --for 2s >/dev/null 2>&1 &
waits=$!
check "the next command suspends it again" wait_for 5 suspended
kill -9 $waits
wait $waits 2>/dev/null
sleep 2.5
check "the program stays suspended when the command was killed" suspended
check "the next command sets something else" "$gpusched" set pid:$be interleave=medium
check "the next command also ends the overdue suspension" wait_for 5 runs
"$gpusched" set pid:$be clear >/dev/null

# ---- the command that waits is killed; a daemon that starts repairs
"$gpusched" suspend pid:$be --for 8s >/dev/null 2>&1 &
waits=$!
check "a longer suspend --for suspends the program" wait_for 5 suspended
kill -9 $waits
wait $waits 2>/dev/null
start_daemon
check "a daemon that starts in between leaves it suspended" suspended
check "the new daemon ends the suspension in time" wait_for 15 runs

# ---- a daemon's end or death resumes the program; the next one suspends it until its time
"$gpusched" suspend pid:$be --for 2s >/dev/null
check "a daemon suspends the program" suspended
check "the daemon ends the suspension in time" wait_for 10 runs
"$gpusched" suspend pid:$be --for 15s >/dev/null
check "a daemon suspends the program for 15 s" suspended
stop_daemon
check "the daemon's end resumes the program" wait_for 5 runs
start_daemon
check "the next daemon suspends it again" wait_for 5 suspended
kill_daemon
check "the daemon's death resumes the program" wait_for 5 runs
start_daemon
check "a new daemon suspends it again" wait_for 5 suspended
check "the suspension ends at its time" wait_for 30 runs

# ---- a policy's suspension has its class's limit
"$gpusched" policy start "$top/tests/policy/suspends_all.bpf.c" >/dev/null
check "a policy suspends the program" wait_for 10 suspended
check "the limit ends the policy's suspension" wait_for 20 runs
ge "$("$gpusched" stats --json | jq .engine.released_suspend)" 1 "the suspension that the limit ended is counted"
done_testing
