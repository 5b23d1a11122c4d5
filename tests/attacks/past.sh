#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 300
# needs: root bpf fuse
# A program fills its quota of the table, and of the taps' other maps, before its CUDA starts.
# Others lose nothing by that, the program's work is shown as its own, and root can suspend it.
. "$(dirname "$0")/lib.sh"
enter_sim
config '[Policy]
Policy = rr
PolicyOption = quantum_ms=200
[Classes]
Class = be suspend_limit_ms=2000
Rule = arg=be -> be'
start_daemon || exit 1
chmod 711 "$scratch"
victim; first=$VICTIM
victim; second=$VICTIM

# hoarding WHAT N: a be of the attacker's; $BE
hoarding() {
	# shellcheck disable=SC2086 # two words
	HOARD=$1 HOARD_N=$2 LD_PRELOAD=$build/tests/e2e/hoarder.so "${as_attacker[@]}" "$gsload" be --seconds 0 \
		--warmup 0 $steady >"$scratch/hoarder" 2>&1 &
	BE=$!
	at_end+=("$BE")
	wait_for 60 eval '[ "$(sim_work '$BE')" -gt 0 ]' || not_ok "$1: it works" "$(cat "$scratch/hoarder")"
	[ "${HOARD_AFTER:-}" ] || grep -q "hoarded $2 $1" "$scratch/hoarder" || not_ok "$1: it has $2" "$(cat "$scratch/hoarder")"
}
works() { # PID: its TSG with work, as gpusched lists it
	list_json "pid:$1" '[.[] | select(.kind == "compute" and .channels == 8)] | max_by(.id) | '"$2"
}
roots() { # work of its two
	echo $(($(sim_work $first) + $(sim_work $second)))
}
part() { # PID SECONDS: root's two of all that they and that one do in so long, in permille; not less on a busy machine
	local two its
	two=$(roots) its=$(sim_work "$1")
	sleep "$2"
	two=$(($(roots) - two)) its=$(($(sim_work "$1") - its))
	echo $((two * 1000 / (two + its + 1)))
}
did_of() { # PID SECONDS
	local from
	from=$(sim_work "$1")
	sleep "$2"
	echo $(($(sim_work "$1") - from))
}
# keep_part PERCENT NAME: checks that others keep this percentage of their part beside a program
# that hoards nothing. It looks again on a busy machine, where calls that wait for a processor use
# up the budget for calls.
keep_part() {
	local got=0 now i
	for ((i = 0; i < 5 && got < $1; i++)); do
		now=$(($(part $BE 3) * 100 / fair))
		[ $now -le $got ] || got=$now
	done
	ge $got "$1" "$2"
}
hoarding none 0
sleep 2
fair=$(part $BE 5)
ge "$fair" 300 "root's two work beside one that hoards nothing, in permille of all work"
end_load $BE KILL
while read -r what n; do
	hoarding "$what" "$n"
	check "$what: what it works in is listed" wait_for 20 eval '[ "$(works $BE .class)" = be ]'
	check "$what: the policy's slice is its" wait_for 20 eval '[ "$(works $BE .is.timeslice_us)" = 1 ]'
	is "$(works $BE .past_share)" 0 "$what: it is within its share"
	keep_part 40 "$what: root's two work, in percent of their part beside one that hoards nothing"
	check "$what: root suspends it" "$gpusched" suspend "pid:$BE"
	from=$(sim_work $BE)
	sleep 1
	is "$(($(sim_work $BE) - from))" 0 "$what: then it does nothing"
	end_load $BE KILL
done <<EOT
tsgs 1100
devices 1100
own 1100
files 400
channels 8192
EOT

# ---- more than its share that is used: nothing makes room
hoarding used 1100
check "used: it is told at its process" wait_for 20 eval \
	'[ "$(list_json "pid:'$BE'" "map(.past_share) | unique | @json")" != "[0]" ]'
like "$(list_json "pid:$BE" '.[0].reason')" "past its share" "used: with the reason"
check "used: the log names the user" grep -q "process $BE .* of user $attacker_uid has all of its share" "$scratch/daemon.log"
sleep 3
keep_part 50 "used: root's two have what the driver gives them beside it"
end_load $BE KILL

# ---- more channels than its share: a TSG that is not whole is never called suspended
hoarding channels 10000
partial() { # FILTER: of the TSGs that have more channels than the table; what it works in was made last
	list_json "pid:$BE" "[.[] | select(.kind == \"compute\" and .channels >= 8 and .channels < 128)] | sort_by(.id) | .[:-1] | $1"
}
check "partial: it is told at its process" wait_for 20 eval '[ "$(partial "map(.past_share) | max")" -ge 8 ]'
exits 4 "partial: root suspends those that can be" "$gpusched" suspend "pid:$BE"
like "$out" "more channels than its share" "partial: the others are named, with the reason"
is "$(partial 'map(.suspended_by) | unique | @json')" "[null]" "partial: none of these is called suspended"
is "$(works $BE .suspended_by)" person "partial: what it works in is"
end_load $BE KILL

# ---- it goes past its share while it works
goes_past() { # POLICY
	local before after part look
	HOARD_AFTER=6 hoarding used 1100
	before=$(did_of $BE 3)
	check "$1: it is told at its process" wait_for 30 eval '[ "$(works $BE .past_share)" -ge 1 ]'
	sleep 4
	for look in 1 2 3 4; do # on a busy machine root's two may rest, and leave it the GPU
		after=$(sim_work $BE)
		part=$(part $BE 4)
		after=$((($(sim_work $BE) - after) * 100 * 3 / (before * 4)))
		[ "$after" -gt 25 ] || break
	done
	le "$after" 25 "$1: past its share it has the last turn, in percent of before"
	ge "$((part * 100 / fair))" 50 "$1: root's two work on"
	end_load $BE KILL
}
goes_past rr
check "auto takes over" "$gpusched" policy start auto
goes_past auto
done_testing
