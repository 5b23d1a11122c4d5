#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 240
# needs: root bpf fuse
# A user asks for a list of thousands of TSGs again and again, on as many connections as a user may have.
. "$(dirname "$0")/lib.sh"
enter_sim
config '[Policy]
Policy = lcbe
[Classes]
Rule = comm=gsload -> be'
start_daemon || exit 1
attack_many "$(size 4 16)" tsgs 1000
wait_for 60 eval '[ "$(list_json all length)" -ge '$(size 4000 16000)' ]' || not_ok "they are listed"
no_attack_yet
watch_loop
"${as_attacker[@]}" "$helper" ask "$GPUSCHED_SIM/run/api" 48 list '{}' >"$scratch/answers" 2>&1 &
asker=$!
at_end+=($asker)
sleep 0.5
new_slice
le $MS $ALLOWED "a program that starts meanwhile has the policy's slice, in ms"
sleep "$(size 5 25)"
pings "beside a list without an end"
set_obeyed "beside it" $VICTIM 400
loop_turned "lists"
kill $asker
wait $asker
ge "$(cat "$scratch/answers")" 1 "lists were given"
le "$(awk '/VmHWM/ { print $2 }' "/proc/$DAEMON_PID/status")" 1000000 "the daemon's memory, in kB"
kill_restores "lists" $VICTIM
done_testing
