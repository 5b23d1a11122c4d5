#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 120
# needs: root bpf fuse
# A class given to a process that works already is in force at once; children inherit it.
. "$(dirname "$0")/lib.sh"
enter_sim
config '[Policy]
Policy=lcbe'
start_daemon
load be --seconds 600
be=$LOAD_PID
check "a program without a class works" wait_tsgs pid:$be 4
wait_for 5 slice_is $be 2048
is "$(sim_slice $be)" 2048 "it has its own slice"
facts() { # PID: class and source of its compute TSG, and the policy's wish
	list_json "pid:$1" 'map(select(.kind == "compute")) | .[0] | "\(.class) \(.class_source) \(.want.timeslice_us)"'
}
check "class set" "$gpusched" class set pid:$be be
is "$(facts $be)" "be command 1" "its TSGs have the class and the policy's wish when the verb returns"
is "$(sim_slice $be)" 1 "the GPU has the slice"
check "class set to another" "$gpusched" class set pid:$be lc
is "$(facts $be)" "lc command 1000000" "the policy decides anew"
is "$(sim_slice $be)" 1000000 "at once"
check "class clear" "$gpusched" class clear pid:$be
is "$(sim_slice $be)" 2048 "gives its own slice back at once"
is "$(list_json pid:$be '.[0].class_source == "command"')" false "no command is the class's source any more"
end_load $be

# ---- run: the program is a child of a child
cat >"$scratch/parent" <<SH
#!/bin/bash
(bash -c '"$gsload" be --seconds 600 & echo \$! >"$scratch/pid"; wait') &
wait
SH
"$gpusched" run --class be -- bash "$scratch/parent" >/dev/null 2>&1 &
at_end+=($!)
wait_for 10 test -s "$scratch/pid"
child=$(cat "$scratch/pid")
at_end+=("$child")
check "a grandchild of run works" wait_tsgs pid:$child 4
wait_for 5 slice_is $child 1
is "$(facts $child)" "be command 1" "it has the class, by command"
is "$("$gpusched" class get pid:$child --json | jq -r '.. | .source? // empty' | head -1)" command "class get says so too"
kill $child

# ---- without a daemon
stop_daemon
load be --seconds 600
be=$LOAD_PID
check "without a daemon" wait_tsgs pid:$be 4
check "class set" "$gpusched" class set pid:$be be
like "$(facts $be)" "^be command" "its TSGs have it"
done_testing
