#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 240
# needs: root bpf fuse
# asan: yes
# Every verb on a program of the simulated GPU, with a daemon: what it prints and what the RM has.
. "$(dirname "$0")/lib.sh"
enter_sim
start_daemon || not_ok "a daemon starts"

"$gpusched" monitor --json --count 12 >"$scratch/events" 2>&1 &
monitor=$!
at_end+=($monitor)
check "monitor watches" wait_for 10 watchers 1
load be --seconds 600
be=$LOAD_PID
check "the program is listed" wait_tsgs pid:$be 4
wait_for 5 slice_is $be 2048

# ---- list and monitor --------------------------------------------------------------------------------

"$gpusched" list pid:$be --json >"$scratch/list"
check "list --json: one object per TSG and line" \
	test "$(wc -l <"$scratch/list")" = "$(jq -s length "$scratch/list")"
check "each object has every key that others rely on" jq -es 'all(.[]; . as $o |
	all("id", "gpu", "pid", "comm", "kind", "engine", "class", "asked", "is", "want", "known_by";
	. as $k | $o | has($k)))' "$scratch/list"
is "$(jq -s 'map(.kind) | sort | join(" ")' -r "$scratch/list")" "compute copy copy copy" \
	"a context has one compute TSG and three copy TSGs"
is "$(jq -rs 'map(select(.kind == "compute"))[0] | "\(.engine) \(.asked.timeslice_us) \(.known_by) \(.comm)"' \
	"$scratch/list")" "GR0 2048 tap gsload" "the compute TSG has its engine, slice, source and program's name"
like "$("$gpusched" list --wide pid:$be)" "ID +GPU +PID +USER +NAME .* $be +$(id -un) .* GR0 " \
	"the table has the program, its user and its engine"
check "monitor ends after --count" wait_for 10 gone $monitor
is "$(jq -s 'length' "$scratch/events")" 13 "monitor prints 12 events and a summary"
is "$(jq -rs '.[-1] | "\(.event) \(.events)"' "$scratch/events")" "summary 12" "the summary counts the events"
check "events have time, name, and the program's pid" \
	jq -es "[.[:-1][] | select(.time_ns and .event and .pid == $be)] | length > 5" "$scratch/events"
nobody_watches() { # the daemon notices that a watcher has left when it sends the next event
	"$gpusched" set pid:$be timeslice=299us >/dev/null && "$gpusched" set pid:$be clear >/dev/null && watchers 0
}
check "the daemon sees that monitor has left" wait_for 20 nobody_watches
like "$("$gpusched" monitor --for 300ms)" "(^|"$'\n'")0 events in (0\.[3-9]|[1-9])" "monitor --for ends without events"
check "the daemon sees that the second monitor has left" wait_for 20 nobody_watches
"$gpusched" monitor >"$scratch/interrupted" &
monitor=$!
at_end+=($monitor)
check "a monitor without an end watches" wait_for 10 watchers 1
kill -INT $monitor
wait $monitor
like "$(tail -1 "$scratch/interrupted")" "events in" "SIGINT ends monitor with a summary"

told_of() { # -eq|-ne: monitor has an event of the program, or of another one
	jq -es "[.[] | select(.pid and (.pid $([ $1 = -eq ] && echo '==' || echo '!=') $be))] | length > 0" "$scratch/of"
}
for target in pid:$be 'comm:gs*d' gpu:0 class:be; do
	wait_for 20 nobody_watches || not_ok "nobody watches"
	"$gpusched" monitor "$target" --json >"$scratch/of" 2>&1 &
	monitor=$!
	at_end+=($monitor)
	wait_for 10 watchers 1 || not_ok "monitor $target watches"
	"$gpusched" run --class be -- "$gsload" cal >/dev/null 2>&1
	"$gpusched" set pid:$be timeslice=300us >/dev/null
	"$gpusched" set pid:$be clear >/dev/null
	case $target in
	class:*) wait_for 10 told_of -ne ;;
	*) wait_for 10 told_of -eq ;;
	esac
	sleep 0.5 # for events that it must not print
	kill -INT $monitor
	wait $monitor
	calls=$(jq -rs "[.[] | select(.event == \"call\" and .pid == $be)] | length > 0" "$scratch/of")
	others=$(jq -rs "[.[] | select(.pid and .pid != $be)] | length > 0" "$scratch/of")
	case $target in
	pid:*) is "$calls $others" "true false" "monitor $target prints events of this program alone" ;;
	class:*) is "$calls $others" "false true" "monitor $target prints events of the other program alone" ;;
	comm:*) is "$others" "true" "monitor $target prints events of every program of that name" ;;
	*) is "$calls $others" "true true" "monitor $target prints events of both programs" ;;
	esac
done

# ---- set, suspend, resume, preempt, restore -----------------------------------------------------------

exits 0 "set takes a process" "$gpusched" set pid:$be timeslice=150us
check "the RM has the slice" slice_is $be 150
id=$(list_json pid:$be 'map(select(.kind == "compute"))[0].id')
exits 0 "set takes a TSG and two settings" "$gpusched" set tsg:$id timeslice_us=120 preempt_mode=cta --json
is "$(jq -r '"\(.matched) \(.changed) \(.failed)"' <<<"$out")" "1 1 0" "set counts what it did"
check "the RM has the slice of the TSG" slice_is $be 120
is "$(list_json tsg:$id '.[0] | "\(.is.preempt_mode) \(.manual.timeslice_us) \(.asked.timeslice_us)"')" \
	"cta 120 2048" "list tells is, manual and asked apart"
exits 0 "set clear succeeds" "$gpusched" set pid:$be clear
check "set clear gives the slice back that its owner asked for" slice_is $be 2048
exits 0 "suspend succeeds" "$gpusched" suspend pid:$be
ge "$(sim_disabled $be)" 1 "the channels of the suspended program are disabled"
like "$("$gpusched" list pid:$be)" "paused by root" "list says who suspended it"
exits 0 "resume succeeds" "$gpusched" resume pid:$be
is "$(sim_disabled $be)" 0 "the channels of the resumed program are enabled"
exits 0 "suspend --for succeeds" "$gpusched" suspend pid:$be --for 500ms
check "the suspension ends after that time" wait_for 5 eval "[ \$(sim_disabled $be) = 0 ]"
exits 0 "preempt succeeds" "$gpusched" preempt tsg:$id
exits 0 "set makes a change to restore" "$gpusched" set pid:$be timeslice=99us
exits 0 "restore succeeds" "$gpusched" restore --json
check "restore --json counts what it did" jq -e '.changed >= 1 and .failed == 0' <<<"$out"
check "restore gives the slice back that its owner asked for" slice_is $be 2048

# ---- classes ---------------------------------------------------------------------------------------------

exits 0 "class set succeeds" "$gpusched" class set pid:$be be
is "$(list_json pid:$be '.[0].class')" be "list shows the class"
is "$("$gpusched" class get pid:$be --json | jq -r '"\(.class) \(.source)"')" "be command" "class get has class and source"
like "$("$gpusched" class explain pid:$be)" "class +be" "class explain has the class"
exits 0 "class set takes a weight" "$gpusched" class set pid:$be be --weight 300
is "$(list_json pid:$be '.[0].weight')" 300 "its TSGs have the weight"
exits 0 "run takes a weight" "$gpusched" run --class be --weight 7 -- true
exits 0 "class set succeeds without a weight" "$gpusched" class set pid:$be be
is "$(list_json pid:$be '.[0].weight')" 100 "its TSGs have the class's weight again"
exits 0 "class clear succeeds" "$gpusched" class clear pid:$be
is "$(list_json pid:$be '.[0].class // "none"')" none "its TSGs have no class any more"
is "$("$gpusched" class list --json | jq -r .name | head -3 | paste -sd ' ')" "lc be normal" "class list has the built-in classes"
is "$("$gpusched" run --class lc -- sh -c "sh -c '$gpusched class get pid:\$\$ --json'" | jq -r .class)" lc \
	"run --class holds for descendants"

# ---- policies, observe, stats ---------------------------------------------------------------------------

exits 0 "policy start takes an option" "$gpusched" policy start lcbe -o be_slice_us=30 --json
is "$("$gpusched" policy get --json | jq -r '.running | "\(.name) \(.options[] | select(.name == "be_slice_us").value)"')" \
	"lcbe 30" "policy get has the policy and its option"
is "$("$gpusched" policy get --json | jq -r .running.host)" stock "policy get has the host, stock"
exits 0 "the program gets the class be" "$gpusched" class set pid:$be be
check "the slice is that of the option" slice_is $be 30
exits 0 "policy start without an option succeeds" "$gpusched" policy start lcbe
check "the slice is the policy's default" slice_is $be 1
exits 0 "policy stop succeeds" "$gpusched" policy stop
check "policy stop gives the slice back that its owner asked for" slice_is $be 2048
is "$("$gpusched" policy get --json | jq -r '"\(.running) \(.last_exit.kind)"')" "null stopped" \
	"policy get says how the policy ended"
is "$("$gpusched" observe status --json | jq -r '.on')" true "observe status says that the taps are on"
exits 1 "observe off is refused while a daemon needs the taps" "$gpusched" observe off
check "stats --json counts calls and ioctls" bash -c "$gpusched stats --json | jq -e '.engine.calls > 5 and .taps.ioctls > 50'"
check "doctor finds daemon and guardian" bash -c "$gpusched doctor --json |
	jq -e '.ok and ([.checks[] | select(.name == \"daemon\" or .name == \"guardian\") | .ok] == [true, true])'"

# ---- bad input ----------------------------------------------------------------------------------------------

told() { # CODE ARGUMENTS...: the command fails with that code and one line
	local want=$1
	shift
	exits "$want" "exit status $want: $*" "$gpusched" "$@"
	is "$(wc -l <<<"$out") ${out:0:10}" "1 gpusched: " "the error is one line: gpusched ${*:1:2}"
}
told 1 list pid:4000000
told 1 set pid:4000000 timeslice=20us
told 1 suspend tsg:123456
told 2 list nonsense:1
told 2 list pid:x
told 1 set gpu:99 timeslice=20us
told 2 monitor nonsense:1 --for 100ms
told 1 monitor pid:4000000 --for 100ms
told 2 class set pid:$be no-such-class
told 2 class set pid:$be
told 2 policy start no_such_policy
told 2 policy start lcbe -o no_such_option=1
told 2 policy start lcbe -o be_slice_us=x
told 2 policy start lcbe --host nowhere
told 3 policy start lcbe --host hooked
told 3 policy start lcbe --host module
like "$out" "a simulated GPU has no kernel module" "the error says why a simulated GPU has no module host"
told 1 policy stop
end_load $be KILL
check "a dead program is gone from the list" wait_for 30 eval "! $gpusched list pid:$be"
told 1 set pid:$be timeslice=20us
"$gpusched" monitor >"$scratch/left" 2>&1 &
monitor=$!
at_end+=($monitor)
wait_for 10 watchers 1
stop_daemon
check "monitor ends with the daemon" wait_for 5 gone $monitor
like "$(tail -1 "$scratch/left")" "the daemon ended" "monitor says why it ends"
done_testing
