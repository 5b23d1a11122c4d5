#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 180
# needs: root bpf fuse
# `suspend --for` ends by itself, whatever dies or starts in between. A policy's suspension ends
# too.
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
check "suspended while the command waits" wait_for 25 suspended
kill $waits
check "its interruption resumes it" wait_for 10 runs
wait $waits
is "$?" 0 "the resume is the end of the suspension"

# ---- the command that waits is killed; the next one repairs
"$gpusched" suspend pid:$be --for 2s >/dev/null 2>&1 &
waits=$!
check "without a daemon it is suspended" wait_for 5 suspended
kill -9 $waits
wait $waits 2>/dev/null
sleep 2.5
check "nobody resumes it when the command was killed" suspended
check "the next command is of something else" "$gpusched" set pid:$be interleave=medium
check "the earlier suspension is resumed" wait_for 5 runs
"$gpusched" set pid:$be clear >/dev/null

# ---- ... or a daemon that starts
"$gpusched" suspend pid:$be --for 8s >/dev/null 2>&1 &
waits=$!
check "suspended again" wait_for 5 suspended
kill -9 $waits
wait $waits 2>/dev/null
start_daemon
check "a daemon that starts in between leaves it suspended" suspended
check "the new daemon ends the suspension in time" wait_for 15 runs

# ---- with a daemon; its end and its death interrupt it, and the next one keeps its end
"$gpusched" suspend pid:$be --for 2s >/dev/null
check "a daemon suspends it" suspended
check "the daemon ends the suspension in time" wait_for 10 runs
"$gpusched" suspend pid:$be --for 15s >/dev/null
check "suspended for long" suspended
stop_daemon
check "the daemon's end resumes it" wait_for 5 runs
start_daemon
check "the next one suspends it again" wait_for 5 suspended
kill_daemon
check "the daemon's death resumes it" wait_for 5 runs
start_daemon
check "a new daemon suspends it again" wait_for 5 suspended
check "until its end" wait_for 30 runs

# ---- a policy's suspension has its class's limit
"$gpusched" policy start "$top/tests/policy/suspends_all.bpf.c" >/dev/null
check "a policy suspends it" wait_for 10 suspended
check "not for longer than the limit" wait_for 20 runs
ge "$("$gpusched" stats --json | jq .engine.released_suspend)" 1 "the limit's end is counted"
done_testing
