#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 120
# needs: root bpf fuse
# asan: yes
# A call that does not return keeps its own client waiting, not the daemon's other clients.
. "$(dirname "$0")/lib.sh"
enter_sim --hang preempt
start_daemon
load be --seconds 600
be=$LOAD_PID
check "a program works" wait_tsgs pid:$be 4
ms_of() { # COMMAND...: how long it took; nothing if it failed
	local from=${EPOCHREALTIME/./}
	"$@" >/dev/null 2>"$scratch/err" && echo $(((${EPOCHREALTIME/./} - from) / 1000))
}
from=$SECONDS
"$gpusched" preempt pid:$be >"$scratch/out" 2>&1 &
stuck=$!
curl -s --max-time 0.5 --unix-socket "$GPUSCHED_SIM/run/api" -d "{\"target\":\"pid:$be\"}" http://gpusched/v1/preempt >/dev/null 2>&1 # gives up early
le "$(ms_of "$gpusched" list)" 2000 "others are answered meanwhile: list"
le "$(ms_of "$gpusched" policy start lcbe)" 3500 "policy start"
le "$(ms_of "$gpusched" class get all)" 2000 "class get"
check "the client of the stuck call still waits" kill -0 $stuck
wait $stuck
is "$?" 1 "the client is told that the call failed"
le $((SECONDS - from)) 9 "after five seconds"
like "$(cat "$scratch/out")" "not done within 5 s" "the answer has the reason"
"$gpusched" preempt pid:$be >"$scratch/out" 2>&1 &
stuck=$!
sleep 0.7
from=$SECONDS
stop_daemon
le $((SECONDS - from)) 8 "the daemon ends while a client waits"
wait $stuck
is "$?" 1 "who is told"
is "$(grep -c Sanitizer "$scratch/daemon.log")" 0 "nothing was used after its end"
done_testing
