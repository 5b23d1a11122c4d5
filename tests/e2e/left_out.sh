#!/bin/bash
# SPDX-License-Identifier: MIT
# quick: yes
# timeout: 90
# needs: root bpf fuse
# Bad lines of the configuration: a start leaves them out and says so; a reload refuses.
. "$(dirname "$0")/lib.sh"
enter_sim
bad="Adopt=no
[Classes]
Class=gold weight=many
Rule=exe=python3 -> lc
AllowClass=lc user=there_is_no_such_user
Rule=comm=gsload -> be
[Daemon]
Nonsense=1
LogLevel=info
LogLevel=debug"
config "$bad"
exits 0 "without a daemon, commands leave such lines out, too" "$gpusched" list
load be --seconds 600
be=$LOAD_PID
finding() { # its text
	"$gpusched" status --json | jq -r '.findings[] | select(.finding == "lines-left-out") | .text'
}

start_daemon && ok "the daemon starts with mistakes in its configuration" || not_ok "the daemon starts"
check "a rule without a mistake acts" wait_for 10 eval '[ "$(list_json "pid:$be" ".[0].class")" = be ]'
for line in 1 3 4 5 8 10; do
	check "the log names line $line" grep -q "gpusched.conf:$line: .*the line is left out" "$scratch/daemon.log"
done
is "$(grep -c "is left out" "$scratch/daemon.log")" 6 "no other line is left out"
like "$(finding)" "6 lines of the configuration are left out: .*gpusched.conf:[0-9]+ and others" "status says so"
exits 5 "so does its exit status" "$gpusched" status
like "$("$gpusched" doctor 2>&1)" "gpusched.conf:1: Adopt= is in no section: write .Daemon. above it" "doctor has the reason"
config "$bad
DryRun=no"
kill -HUP "$DAEMON_PID"
check "a reload refuses such lines" wait_for 10 grep -q "the old configuration stays in force" "$scratch/daemon.log"
config "[Classes]
Rule=comm=gsload -> be"
kill -HUP "$DAEMON_PID"
check "a reload without mistakes ends the finding" wait_for 10 eval '[ -z "$(finding)" ]'
like "$("$gpusched" doctor 2>&1)" "gpusched.conf has no mistake" "doctor says that all is well"
mkdir "$GPUSCHED_CONFIG.d"
printf '[Classes]\nDefaultClass=be\n' >"$GPUSCHED_CONFIG.d/10-a.conf"
printf '[Classes]\nDefaultClass=lc\n' >"$GPUSCHED_CONFIG.d/20-b.conf"
exits 0 "another file may replace a value" "$gpuschedd" --check-config
like "$out" "20-b.conf:2: DefaultClass= replaces that of .*10-a.conf:2" "--check-config says that it does"
kill -HUP "$DAEMON_PID"
check "so does the log after a reload" wait_for 10 grep -q "20-b.conf:2: DefaultClass= replaces that of" "$scratch/daemon.log"
rm -r "$GPUSCHED_CONFIG.d"
stop_daemon
for lines in 'Policy=lcbe|1: Policy= is in no section' '[Policy]
Policy=lcbe
Policy=rr|3: Policy= is in line 2 already'; do
	config "${lines%|*}"
	exits 1 "--check-config refuses '${lines##*|}'" "$gpuschedd" --check-config
	like "$out" "^gpuschedd: [^ ]*gpusched.conf:${lines##*|}[^"$'\n'"]*$" "it says so in one line"
done

config "[Policy]
Policy=lcbe
[Daemon]
DryRun=perhaps"
start_daemon && ok "the daemon starts with a DryRun= that cannot be read" || not_ok "the daemon starts"
wait_tsgs "pid:$be" 4
is "$("$gpusched" stats --json | jq .dry_run)" true "it makes no call"
done_testing
