#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 240
# needs: root bpf fuse
# Processes have as many descriptors as they may have. The sweep must not look at all of them at once.
. "$(dirname "$0")/lib.sh"
enter_sim
config '[Policy]
Policy = lcbe
[Classes]
Rule = comm=gsload -> be'
start_daemon || exit 1
no_attack_yet
attack_many "$(size 60 150)" dups 19800
watch_loop
"${as_attacker[@]}" "$helper" churn "$(size 150 400)" 2 >/dev/null & # each end of a process starts a sweep
churn=$!
at_end+=($churn)
sleep 2
pings "beside sweeps"
new_slice
le $MS $ALLOWED "a program that starts meanwhile has the policy's slice, in ms"
wait $churn
loop_turned "sweeps"
kill_restores "many with many descriptors" $VICTIM
done_testing
