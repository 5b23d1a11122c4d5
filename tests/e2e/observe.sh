#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 120
# needs: root bpf fuse
# The taps without a daemon: turning them on and off, what they see of an unmodified program, and
# pid namespaces.
. "$(dirname "$0")/lib.sh"
enter_sim
pins=$(pins_now)
exits 0 "observe off succeeds when the taps are off" "$gpusched" observe off
exits 0 "observe on succeeds" "$gpusched" observe on
like "$out" ' 0  all [0-9]+ other counters' "counters that are 0 are printed as one line"
exits 0 "observe on succeeds when the taps are on" "$gpusched" observe on
is "$("$gpusched" observe status --json | jq '.gate != (.gate_reason != null)')" true "observe status says that the gate is there, or why it is not"
is "$("$gpusched" doctor --json | jq '.checks[] | select(.name == "gate").ok')" \
	"$("$gpusched" observe status --json | jq .gate)" "doctor says the same about the gate"
load be --seconds 600 --iterations-per-us 27.78 # given, since gsload calibrates only while it runs alone
a=$LOAD_PID
check "an unmodified program's TSGs are listed without a daemon" wait_tsgs pid:$a 4
check "its own timeslice was seen" wait_for 5 eval "[ \"\$(list_json pid:$a 'map(select(.kind == \"compute\")) | .[0].asked.timeslice_us')\" = 2048 ]"
is "$(list_json pid:$a 'map(.kind) | sort | join(",")')" compute,copy,copy,copy "compute and copy engines are told apart"
is "$(list_json pid:$a 'map(.known_by) | unique | join(",")')" tap "its records are marked as made by the taps"

# without a daemon only the command itself can end the suspension
exits 0 "suspend --for succeeds without a daemon" "$gpusched" suspend pid:$a --for 300ms
is "$(sim_disabled $a)" 0 "suspend --for resumes the program before it returns"
"$gpusched" suspend pid:$a --for 60s >"$scratch/suspend" 2>&1 &
b=$!
check "a longer suspend --for suspends the program" wait_for 5 eval "[ \$(sim_disabled $a) -gt 0 ]"
kill -TERM "$b"
check "an interrupted suspend --for resumes it at once" wait_for 5 eval "[ \$(sim_disabled $a) = 0 ]"

# a program in another pid namespace is known by its pid outside
unshare --pid --fork "$gsload" be --seconds 600 --iterations-per-us 27.78 >"$scratch/inner" 2>&1 &
at_end+=($!)
inner() {
	b=$(list_json comm:gsload "map(.pid) | unique | map(select(. != $a)) | .[0] // empty")
	[ -n "$b" ]
}
check "a program in another pid namespace is listed" wait_for 10 inner
inner
is "$(cat "/proc/$b/comm")" gsload "its pid in the list is the one outside"
like "$(awk '/^NSpid/ { print NF }' "/proc/$b/status")" '^[3-9]$' "it has another pid inside"
out=$(unshare --pid --fork "$gpusched" observe status 2>&1)
like "$out" 'another pid namespace' "the table is refused to a gpusched in another pid namespace"

# SIGKILL: the sweep of the next command or daemon ends the program's TSGs
start_daemon || not_ok "a daemon starts"
kill -9 "$b"
check "a killed program's TSGs end" wait_for 30 eval "[ \"\$(list_json pid:$b length)\" = 0 ]"
is "$(list_json pid:$a length)" 4 "the other program's TSGs stay"
kill_daemon
load lc --seconds 600
check "the taps go on when the daemon is killed" wait_tsgs pid:$LOAD_PID 4
exits 0 "restore succeeds" "$gpusched" restore
exits 0 "observe off succeeds when the taps are on" "$gpusched" observe off
is "$(pins_now)" "$pins" "nothing stays pinned"
exits 0 "observe status succeeds when the taps are off" "$gpusched" observe status
like "$out" off "observe status says that the taps are off"

# a command that fails leaves nothing behind
exits 3 "list exits with 3 without a driver" \
	unshare --mount sh -c "umount /dev/nvidiactl && exec '$gpusched' list"
like "$out" 'no NVIDIA driver answers' "the error says what is missing"
is "$(pins_now)" "$pins" "the taps stay off"
done_testing
