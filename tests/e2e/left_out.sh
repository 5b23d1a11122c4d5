#!/bin/bash
# SPDX-License-Identifier: MIT
# quick: yes
# timeout: 90
# needs: root bpf fuse
# Bad lines of the configuration: a start leaves them out and says so; a reload refuses.
. "$(dirname "$0")/lib.sh"
enter_sim
bad="[Classes]
Class=gold weight=many
Rule=exe=python3 -> lc
AllowClass=lc user=there_is_no_such_user
Rule=comm=gsload -> be
[Daemon]
Nonsense=1"
config "$bad"
exits 0 "without a daemon, commands leave such lines out, too" "$gpusched" list
load be --seconds 600
be=$LOAD_PID
finding() { # its text
	"$gpusched" status --json | jq -r '.findings[] | select(.finding == "lines-left-out") | .text'
}

start_daemon && ok "the daemon starts with mistakes in its configuration" || not_ok "the daemon starts"
check "a rule without a mistake acts" wait_for 10 eval '[ "$(list_json "pid:$be" ".[0].class")" = be ]'
for line in 2 3 4 7; do
	check "the log names line $line" grep -q "gpusched.conf:$line: .*the line is left out" "$scratch/daemon.log"
done
is "$(grep -c "is left out" "$scratch/daemon.log")" 4 "no other line is left out"
like "$(finding)" "4 lines of the configuration are left out: .*gpusched.conf:7 and others" "status says so"
exits 5 "so does its exit status" "$gpusched" status
like "$("$gpusched" doctor 2>&1)" "gpusched.conf:7: unknown key 'Nonsense'" "doctor has the reason"
config "$bad
DryRun=no"
kill -HUP "$DAEMON_PID"
check "a reload refuses such lines" wait_for 10 grep -q "the old configuration stays in force" "$scratch/daemon.log"
config "[Classes]
Rule=comm=gsload -> be"
kill -HUP "$DAEMON_PID"
check "a reload without mistakes ends the finding" wait_for 10 eval '[ -z "$(finding)" ]'
like "$("$gpusched" doctor 2>&1)" "gpusched.conf has no mistake" "doctor says that all is well"
stop_daemon

config "[Policy]
Policy=lcbe
[Daemon]
DryRun=perhaps"
start_daemon && ok "the daemon starts with a DryRun= that cannot be read" || not_ok "the daemon starts"
wait_tsgs "pid:$be" 4
is "$("$gpusched" stats --json | jq .dry_run)" true "it makes no call"
done_testing
