#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 120
# needs: root bpf fuse
# asan: release
# A call to the driver that does not return delays only the client that caused it.
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
curl -s --max-time 0.5 --unix-socket "$GPUSCHED_SIM/run/api" -d "{\"target\":\"pid:$be\"}" http://gpusched/v1/preempt >/dev/null 2>&1 # this client gives up early
le "$(ms_of "$gpusched" list)" 2000 "list is answered meanwhile, in ms"
le "$(ms_of "$gpusched" policy start lcbe)" 3500 "policy start is answered meanwhile, in ms"
le "$(ms_of "$gpusched" class get all)" 2000 "class get is answered meanwhile, in ms"
check "the client of the stuck call still waits" kill -0 $stuck
wait $stuck
is "$?" 1 "the client of the stuck call fails"
le $((SECONDS - from)) 9 "it fails after about five seconds, in s"
like "$(cat "$scratch/out")" "not done within 5 s" "the error says that it was not done within 5 s"
"$gpusched" preempt pid:$be >"$scratch/out" 2>&1 &
stuck=$!
sleep 0.7
from=$SECONDS
stop_daemon
le $((SECONDS - from)) 8 "the daemon ends while a client waits, in s"
wait $stuck
is "$?" 1 "the waiting client fails"
is "$(grep -c Sanitizer "$scratch/daemon.log")" 0 "the sanitizers report nothing"
done_testing
