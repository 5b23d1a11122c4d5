#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 120
# needs: root bpf fuse
# Names of users that the name service knows late, or after a while: a start does not wait, and their
# lines count once it answers. Until then no later rule raises what they would have held down.
. "$(dirname "$0")/lib.sh"
enter_sim
export KNOWN=$scratch/known SLOW_S=20
finding() { # its text
	"$gpusched" status --json | jq -r '.findings[] | select(.finding == "lines-left-out") | .text'
}
class_of() { list_json "pid:$1" '.[0].class'; }
with_names() { LD_PRELOAD=$build/tests/e2e/late_names.so "$@"; }

# ---- a name that is not known at the start
load be --seconds 600
be=$LOAD_PID
config "[Classes]
Rule=uid=late -> be
Rule=comm=gsload -> lc
AllowClass=lc user=late
[Budgets]
Budget=user=late gpu_seconds=1000 per=day"
with_names start_daemon && ok "the daemon starts without the name" || not_ok "the daemon starts"
wait_tsgs "pid:$be" 4
for line in 2 4 6; do
	check "the log names line $line" grep -q "gpusched.conf:$line: .*late.*the line is left out" "$scratch/daemon.log"
done
check "it says why" grep -q "does not say who user 'late' is: Connection refused" "$scratch/daemon.log"
check "the later rule gives no more than the rule that waits" wait_for 10 eval '[ "$(class_of "$be")" = be ]'
like "$("$gpusched" class explain "pid:$be")" "rule 1 waits for its user" "class explain says so"
like "$(finding)" "3 lines .*gpusched.conf:2 and others; 3 of them until a user or group is known, and a budget counts nothing" \
	"status has the lines, and the budget"
like "$(with_names "$gpusched" doctor 2>&1)" "gpusched.conf:2: .*'late'" "doctor names the first"
exits 3 "the user has no right yet" as 4321 "$gpusched" run --class lc -- true
touch "$KNOWN"
check "the lines count once the name is known" wait_for 70 grep -q "gpusched.conf:2: the name is known now" "$scratch/daemon.log"
sleep 5
is "$(grep -c "the name is known now" "$scratch/daemon.log")" 3 "the log says it once for each line"
is "$(finding)" "" "the finding is over"
like "$(with_names "$gpusched" doctor 2>&1)" "gpusched.conf has no mistake" "doctor says that all is well"
check "the later rule raises whom the first does not name" wait_for 10 eval '[ "$(class_of "$be")" = lc ]'
exits 0 "the user has the right" as 4321 "$gpusched" run --class lc -- true
like "$("$gpusched" budget --json | jq -cs "flatten | map(.uid)")" 4321 "the budget counts"

# ---- a target's user, whom only a name service knows
setpriv --reuid 4321 --regid 4321 --clear-groups "$gsload" be --seconds 600 >/dev/null 2>&1 &
theirs=$!
at_end+=("$theirs")
wait_tsgs "pid:$theirs" 4
pids() { # TARGET
	with_names "$gpusched" list "$1" --json | jq -cs 'flatten | map(.pid) | unique'
}
is "$(pids user:late)" "[$theirs]" "the command finds a user whom the daemon does not know"
is "$(pids "comm:gsload,user:late")" "[$theirs]" "also beside another part"
is "$(pids user:root)" "[$be]" "a user of /etc/passwd is found as before"
exits 1 "a user whom nobody knows is told" "$gpusched" list user:late
like "$out" "there is no user 'late' in /etc/passwd" "... with the reason"
end_load "$theirs"
stop_daemon

# ---- a name service that takes 20 s
config "[Classes]
Rule=uid=slow -> be
Rule=comm=gsload -> lc"
began=$SECONDS
with_names start_daemon && ok "the daemon starts" || not_ok "the daemon starts"
"$gpusched" list --json >/dev/null
le $((SECONDS - began)) 10 "it answers while the name is asked for, in s"
like "$(finding)" "1 line of the configuration is left out: .*gpusched.conf:2" "the line is left out so long"
check "nobody is raised" wait_for 10 eval '[ "$(class_of "$be")" = be ]'
le "$("$gpusched" stats --json | jq .service.longest_turn_us)" 1000000 "no turn of the loop waits for the name, in us"
check "then it is in force" wait_for 40 eval '[ "$(class_of "$be")" = lc ]'
stop_daemon
done_testing
