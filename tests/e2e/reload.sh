#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 120
# needs: root bpf fuse
# asan: yes
# SIGHUP: the configuration is read again, and what has changed is in force; a broken one changes nothing.
. "$(dirname "$0")/lib.sh"
enter_sim
load be --seconds 600
be=$LOAD_PID
wait_for 10 eval "[ \"\$(sim_tsgs $be)\" -ge 4 ]"
config '[Policy]
Policy=none'
start_daemon || not_ok "a daemon starts"
pid=$DAEMON_PID
again() { # TEXT: the new configuration; until it has been read
	local n
	n=$(grep -c "configuration was read again" "$scratch/daemon.log")
	config "$1"
	kill -HUP "$pid"
	wait_for 10 eval '[ "$(grep -c "configuration was read again" "$scratch/daemon.log")" -gt '"$n"' ]'
}
class_now() { list_json pid:$be '.[0].class'; }
policy_is() { [ "$(policy_now)" = "$1" ]; }

is "$(class_now) $(policy_now)" "null none" "no rule, and a policy that does nothing"
check "SIGHUP" again '[Policy]
Policy=none
[Classes]
Class=mine weight=300
Rule=comm=gsload -> mine'
is "$(class_now) $(list_json pid:$be '.[0].weight')" "mine 300" "a new class and its rule are in force for who was there"
check "SIGHUP again" again '[Policy]
Policy=none
[Classes]
Class=other
Class=mine weight=400
Rule=comm=gsload -> mine'
is "$(class_now) $(list_json pid:$be '.[0].weight')" "mine 400" "another order and weight, too"
is "$("$gpusched" class list --json | jq -rs 'flatten | map(.name) | join(" ")')" "lc be normal other mine" "class list shows them"

check "a class gets a deadline and a limit" again '[Policy]
Policy=none
[Classes]
Class=mine weight=400 deadline_us=5000 limit=30
Rule=comm=gsload -> mine'
limits_are() { [ "$(compute $be '"\(.deadline_us) \(.limit_pct)"')" = "$1" ]; }
check "so have its TSGs that are there" wait_for 10 limits_are "5000 30"
check "it loses both" again '[Policy]
Policy=none
[Classes]
Class=mine weight=400
Rule=comm=gsload -> mine'
check "so have they" wait_for 10 limits_are "null null"

config '[Policy]
Policy=lcbe
[Classes]
Rule=comm=gsload -> nonsense'
kill -HUP "$pid"
check "a broken one" wait_for 10 grep -q "old configuration stays in force: .*gpusched.conf:4: " "$scratch/daemon.log"
is "$(grep -c 'stays in force' "$scratch/daemon.log")" 1 "is told in one line, with its place"
is "$(class_now) $(policy_now)" "mine none" "a bad line changes nothing"
exits 1 "--check-config, which systemctl reload runs first, fails" "$gpuschedd" --check-config

"$gpusched" set pid:$be timeslice=300us >/dev/null
check "another policy" again '[Policy]
Policy=lcbe
[Classes]
Rule=comm=gsload -> be
[Daemon]
CountLaunches=yes trusted
SwitchCost=500us'
check "replaces the one that ran" wait_for 20 policy_is lcbe
is "$(class_now)" be "the new rules are in force"
is "$(sim_slice $be)" 300 "a person's setting stays"
check "launches are counted" wait_for 20 eval '[ "$("$gpusched" observe launches --json | jq -c "[.on, .configured]")" = "[true,true]" ]'
check "a policy that is not there" again '[Policy]
Policy=there_is_none'
check "is told" wait_for 10 grep -q "policy there_is_none does not start" "$scratch/daemon.log"
is "$(policy_now)" lcbe "the policy that ran goes on"
check "a key of the start alone" again '[Policy]
Policy=there_is_none
[Daemon]
HistoryDays=7'
check "is told, too" grep -q "HistoryDays= takes effect at the next start" "$scratch/daemon.log"
is "$(grep -c "Account= takes effect" "$scratch/daemon.log")" 0 "a key that did not change is not named"
check "a dry run from now on" again 'DryRun=yes
[Policy]
Policy=there_is_none
[Daemon]
HistoryDays=7'
check "a reload with DryRun says that calls are made until the next start" \
	grep -q "DryRun= takes effect at the next start: until then calls are made" "$scratch/daemon.log"
is "$("$gpusched" status --json | jq .dry_run)" false "status says that this is no dry run"
check "no policy any more" again ''
is "$(policy_now) $("$gpusched" observe launches --json | jq -c .on)" "null false" "ends it, and counting launches"
is "$DAEMON_PID $(curl -s --unix-socket "$GPUSCHED_SIM/run/api" -d '{}' http://gpusched/v1/ping | jq .pid)" "$pid $pid" "it was one daemon all the time"

# ---- the sample
exits 0 "the sample configuration is one" "$gpuschedd" --check-config --config "$top/integrations/gpusched.conf"
sed 's/^#\([A-Z][A-Za-z]*=\)/\1/' "$top/integrations/gpusched.conf" >"$scratch/all.conf"
exits 0 "also with every line of it" "$gpuschedd" --check-config --config "$scratch/all.conf"
is "$("$gpuschedd" --help-config | sed -n 's/^\([A-Z][A-Za-z]*\)=.*/\1/p' | sort)" \
	"$(sed -n 's/^#*\([A-Z][A-Za-z]*\)=.*/\1/p' "$top/integrations/gpusched.conf" | sort -u)" "the sample has every key"
is "$(sed -n '/^[A-Za-z]/p' "$top/integrations/gpusched.conf")" "Policy=auto" "none of its lines is in force but the policy"
done_testing
