#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 90
# needs: root bpf fuse
# Class, weight and settings follow a parked program to its new TSGs, even after a daemon's restart.
. "$(dirname "$0")/lib.sh"
enter_sim
park_setup
start_daemon || not_ok "a daemon starts"
hold one 500 setpriv --reuid 4321 --regid 4321 --clear-groups

of_one() { # FILTER: applies the filter to its compute TSG
	list_json "pid:$one" "[.[] | select(.kind == \"compute\")] | .[0] | $1"
}
is_so() { # it has the class, weight and settings that were given
	[ "$(of_one '"\(.class) \(.weight) \(.manual.timeslice_us) \(.manual.interleave)"')" = "be 300 700 low" ] &&
		[ "$(sim_slice "$one")" = 700 ]
}
round() { # parks the program and brings it back
	"$gpusched" park "pid:$one" --quiet && "$gpusched" unpark "pid:$one" && wait_tsgs "pid:$one" 4
}

check "root gives the program a class and a weight" "$gpusched" class set "pid:$one" be --weight 300
check "root sets a slice" "$gpusched" set "pid:$one" timeslice=700us
check "its user sets a runlist interleave" as 4321 "$gpusched" set "pid:$one" interleave=low
check "class, weight and settings are in force" wait_for 10 is_so
before=$(of_one .id)
check "the program is parked and comes back" round
check "its compute TSG is a new one" [ "$(of_one .id)" != "$before" ]
check "class, weight and settings have followed" wait_for 10 is_so
check "the program is suspended" "$gpusched" suspend "pid:$one"
check "the suspended program is parked and comes back" round
check "the suspension has not followed, the rest has" wait_for 10 is_so
is "$(sim_disabled "$one")" 0 "none of its channels is disabled"
check "the program is parked" "$gpusched" park "pid:$one" --quiet
wait_tsgs "pid:$one" 0
check "its TSGs have ended" wait_for 10 eval '[ "$(list_json "pid:$one" length)" = 0 ]'
sleep 1
kill_daemon
start_daemon || not_ok "a daemon starts again"
check "the next daemon brings the program back" "$gpusched" unpark "pid:$one"
wait_tsgs "pid:$one" 4 || not_ok "it has TSGs"
check "class, weight and settings have followed through the daemon's death" wait_for 10 is_so
check "root clears the settings" "$gpusched" set "pid:$one" clear
check "the program is parked and comes back without settings" round
check "the cleared slice has not followed" wait_for 10 eval '[ "$(sim_slice "$one")" != 700 ]'
kept() { jq ".tsgs | length" "$GPUSCHED_SIM/run/saved.json"; }
check "root sets something anew" "$gpusched" set "pid:$one" interleave=low
check "it is kept" wait_for 10 eval '[ "$(kept)" -ge 1 ]'
kill -9 "$one"
check "the daemon keeps nothing about an ended program" wait_for 20 eval '[ "$(kept)" = 0 ]'
stop_daemon
done_testing
