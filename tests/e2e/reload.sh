#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 240
# needs: root bpf fuse
# asan: yes
# On SIGHUP the daemon reads its configuration again, and changes are in force. A broken
# configuration changes nothing.
. "$(dirname "$0")/lib.sh"
enter_sim
load be --seconds 600
be=$LOAD_PID
wait_for 10 eval "[ \"\$(sim_tsgs $be)\" -ge 4 ]"
config '[Policy]
Policy=none'
start_daemon || not_ok "a daemon starts"
pid=$DAEMON_PID
again() { # TEXT: writes the new configuration, and waits until the daemon has read it
	local n
	n=$(grep -c "configuration was read again" "$scratch/daemon.log")
	config "$1"
	kill -HUP "$pid"
	wait_for 10 eval '[ "$(grep -c "configuration was read again" "$scratch/daemon.log")" -gt '"$n"' ]'
}
class_now() { list_json pid:$be '.[0].class'; }
policy_is() { [ "$(policy_now)" = "$1" ]; }

is "$(class_now) $(policy_now)" "null none" "at first the program has no class, and policy none runs"
check "the daemon reads a new class and rule" again '[Policy]
Policy=none
[Classes]
Class=mine weight=300
Rule=comm=gsload -> mine'
is "$(class_now) $(list_json pid:$be '.[0].weight')" "mine 300" "the new class and rule are in force for a program that ran before"
check "the daemon reads another order and weight" again '[Policy]
Policy=none
[Classes]
Class=other
Class=mine weight=400
Rule=comm=gsload -> mine'
is "$(class_now) $(list_json pid:$be '.[0].weight')" "mine 400" "the new weight is in force though the class's number has changed"
is "$("$gpusched" class list --json | jq -rs 'flatten | map(.name) | join(" ")')" "lc be normal other mine" "class list shows the new classes"

check "a class gets a deadline and a limit" again '[Policy]
Policy=none
[Classes]
Class=mine weight=400 deadline_us=5000 limit=30
Rule=comm=gsload -> mine'
limits_are() { [ "$(compute $be '"\(.deadline_us) \(.limit_pct)"')" = "$1" ]; }
check "its TSGs have the new deadline and limit" wait_for 10 limits_are "5000 30"
check "the class loses both" again '[Policy]
Policy=none
[Classes]
Class=mine weight=400
Rule=comm=gsload -> mine'
check "its TSGs lose both" wait_for 10 limits_are "null null"

config '[Policy]
Policy=lcbe
[Classes]
Rule=comm=gsload -> nonsense'
kill -HUP "$pid"
check "the log says that the old configuration stays, and where the error is" wait_for 10 grep -q "old configuration stays in force: .*gpusched.conf:4: " "$scratch/daemon.log"
is "$(grep -c 'stays in force' "$scratch/daemon.log")" 1 "the log says so once"
is "$(class_now) $(policy_now)" "mine none" "a broken configuration changes nothing"
exits 1 "--check-config, which systemctl reload runs first, fails" "$gpuschedd" --check-config

"$gpusched" set pid:$be timeslice=300us >/dev/null
check "the daemon reads another policy" again '[Policy]
Policy=lcbe
[Classes]
Rule=comm=gsload -> be
[Daemon]
CountLaunches=yes trusted
SwitchCost=500us'
check "the other policy replaces the one that ran" wait_for 20 policy_is lcbe
is "$(class_now)" be "the new rules are in force"
is "$(sim_slice $be)" 300 "a person's setting stays"
check "launches are counted" wait_for 20 eval '[ "$("$gpusched" observe launches --json | jq -c "[.on, .configured]")" = "[true,true]" ]'
check "the daemon reads the name of an unknown policy" again '[Policy]
Policy=there_is_none'
check "the log says that the unknown policy does not start" wait_for 10 grep -q "policy there_is_none does not start" "$scratch/daemon.log"
is "$(policy_now)" lcbe "the policy that ran goes on"
check "the daemon reads a key that is in force only from its start" again '[Policy]
Policy=there_is_none
[Daemon]
HistoryDays=7'
check "the log says that the key takes effect at the next start" grep -q "HistoryDays= takes effect at the next start" "$scratch/daemon.log"
is "$(grep -c "Account= takes effect" "$scratch/daemon.log")" 0 "a key that did not change is not named"
check "the daemon reads DryRun=yes" again '[Daemon]
DryRun=yes
[Policy]
Policy=there_is_none
[Daemon]
HistoryDays=7'
check "a reload with DryRun says that calls are made until the next start" \
	grep -q "DryRun= takes effect at the next start: until then calls are made" "$scratch/daemon.log"
is "$("$gpusched" status --json | jq .dry_run)" false "status says that this is no dry run"
check "the daemon reads an empty configuration" again ''
is "$(policy_now) $("$gpusched" observe launches --json | jq -c .on)" "null false" "an empty configuration ends the policy and the counting"
is "$DAEMON_PID $(curl -s --unix-socket "$GPUSCHED_SIM/run/api" -d '{}' http://gpusched/v1/ping | jq .pid)" "$pid $pid" "the same daemon ran all the time"

# ---- the sample configuration
exits 0 "the sample configuration is valid" "$gpuschedd" --check-config --config "$top/integrations/gpusched.conf"
sed 's/^#\([A-Z][A-Za-z]*=\)/\1/' "$top/integrations/gpusched.conf" >"$scratch/all.conf"
exits 0 "the sample is valid with all its lines in force" "$gpuschedd" --check-config --config "$scratch/all.conf"
is "$("$gpuschedd" --help-config | sed -n 's/^\([A-Z][A-Za-z]*\)=.*/\1/p' | sort)" \
	"$(sed -n 's/^#*\([A-Z][A-Za-z]*\)=.*/\1/p' "$top/integrations/gpusched.conf" | sort -u)" "the sample has every key"
is "$(sed -n '/^[A-Za-z]/p' "$top/integrations/gpusched.conf")" "Policy=auto" "only the policy's line is in force in the sample"
done_testing
