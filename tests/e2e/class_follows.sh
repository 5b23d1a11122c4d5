#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 120
# needs: root bpf fuse
# A class that is given to a working process is in force at once. Its children inherit the class.
. "$(dirname "$0")/lib.sh"
enter_sim
config '[Policy]
Policy=lcbe'
start_daemon
load be --seconds 600
be=$LOAD_PID
check "a program without a class works" wait_tsgs pid:$be 4
wait_for 5 slice_is $be 2048
is "$(sim_slice $be)" 2048 "a program without a class has its own slice"
facts() { # PID: class and source of its compute TSG, and the slice that the policy wants
	list_json "pid:$1" 'map(select(.kind == "compute")) | .[0] | "\(.class) \(.class_source) \(.want.timeslice_us)"'
}
check "class set succeeds on a working program" "$gpusched" class set pid:$be be
is "$(facts $be)" "be command 1" "its TSGs have the class and the policy's wish when the verb returns"
is "$(sim_slice $be)" 1 "the GPU has the slice when the verb returns"
check "a second class set gives another class" "$gpusched" class set pid:$be lc
is "$(facts $be)" "lc command 1000000" "the policy decides anew"
is "$(sim_slice $be)" 1000000 "the GPU has the new slice at once"
check "class clear succeeds" "$gpusched" class clear pid:$be
is "$(sim_slice $be)" 2048 "class clear gives the program its own slice back at once"
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
is "$(facts $child)" "be command 1" "the grandchild has the class, by command"
is "$("$gpusched" class get pid:$child --json | jq -r '.. | .source? // empty' | head -1)" command "class get says that the class is by command"
kill $child

# ---- exe= by a link that is moved, as by an upgrade
ln -s "$gsload" "$scratch/served"
config "[Classes]
Rule=exe=$scratch/served -> be"
kill -HUP "$DAEMON_PID"
load be --seconds 600
served=$LOAD_PID
class_is() { # CLASS
	[ "$(list_json "pid:$served" '.[0].class // ""')" = "$1" ]
}
check "a rule matches by a link" wait_for 10 class_is be
like "$("$gpusched" class explain "pid:$served" | tr -s ' \n' ' ')" "exe=$scratch/served -> be \($(realpath "$gsload")\)" \
	"class explain has the link and the file where it leads"
ln -sfn /bin/true "$scratch/served"
check "the rule follows the link when it is moved" wait_for 40 class_is ""
ln -sfn "$gsload" "$scratch/served"
check "... and back" wait_for 40 class_is be
end_load $served

# ---- without a daemon
stop_daemon
load be --seconds 600
be=$LOAD_PID
check "a program runs without a daemon" wait_tsgs pid:$be 4
check "class set succeeds without a daemon" "$gpusched" class set pid:$be be
like "$(facts $be)" "^be command" "without a daemon its TSGs have the class"
done_testing
