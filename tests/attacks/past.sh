#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 300
# needs: root bpf fuse
# A program fills its quota of the table, and of the taps' other maps, before its CUDA starts. Others
# must not lose GPU time by that, list must show the program's work as its own, and root must be able to
# suspend the program.
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
victim be --kernel-us 1000; first=$VICTIM # as the hoarders, whose work is compared
victim be --kernel-us 1000; second=$VICTIM

# hoarding WHAT N: starts a be of the attacker that makes N objects of a kind; $BE is its PID
hoarding() {
	# shellcheck disable=SC2086 # two words
	HOARD=$1 HOARD_N=$2 LD_PRELOAD=$build/tests/e2e/hoarder.so "${as_attacker[@]}" "$gsload" be --seconds 0 \
		--warmup 0 $steady >"$scratch/hoarder" 2>&1 &
	BE=$!
	at_end+=("$BE")
	wait_for 60 eval '[ "$(sim_work '$BE')" -gt 0 ]' || not_ok "$1: it works" "$(cat "$scratch/hoarder")"
	[ "${HOARD_AFTER:-}" ] || grep -q "hoarded $2 $1" "$scratch/hoarder" || not_ok "$1: it has $2" "$(cat "$scratch/hoarder")"
}
works() { # PID FILTER: applies the filter to the listed TSG in which the process works
	list_json "pid:$1" '[.[] | select(.kind == "compute" and .channels == 8)] | max_by(.id) | '"$2"
}
roots() { # prints the work of root's two programs
	echo $(($(sim_work $first) + $(sim_work $second)))
}
part() { # PID SECONDS: prints the work of root's two programs in permille of their and this program's work
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
# keep_part PERCENT NAME: checks that root's programs get at least PERCENT of the part that they get beside
# a program that hoards nothing. Tries up to five times: on a busy machine, driver calls that wait for a
# processor may use up the budget for calls.
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
	check "$what: it takes turns with the others" wait_for 20 eval '[ "$(works $BE .suspended_by)" = policy ]'
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

# ---- more TSGs than its share, all of them in use, so that none can be dropped from the table
hoarding used 1100
check "used: list shows that the process is past its share" wait_for 20 eval \
	'[ "$(list_json "pid:'$BE'" "map(.past_share) | unique | @json")" != "[0]" ]'
like "$(list_json "pid:$BE" '.[0].reason')" "past its share" "used: list has the reason"
check "used: the log names the user" grep -q "process $BE .* of user $attacker_uid has all of its share" "$scratch/daemon.log"
sleep 3
keep_part 50 "used: root's two have what the driver gives them beside it"
end_load $BE KILL

# ---- more channels than its share: a TSG of which the table lacks channels is never called suspended
hoarding channels 10000
partial() { # FILTER: applies it to the TSGs whose channels the table lacks in part; the last TSG is the one with work
	list_json "pid:$BE" "[.[] | select(.kind == \"compute\" and .channels >= 8 and .channels < 128)] | sort_by(.id) | .[:-1] | $1"
}
check "partial: list shows that the process is past its share" wait_for 20 eval '[ "$(partial "map(.past_share) | max")" -ge 8 ]'
exits 4 "partial: root suspends those that can be" "$gpusched" suspend "pid:$BE"
like "$out" "more channels than its share" "partial: the others are named, with the reason"
is "$(partial 'map(.suspended_by) | unique | @json')" "[null]" "partial: no TSG that is not whole is called suspended"
is "$(works $BE .suspended_by)" person "partial: the TSG with work is called suspended"
end_load $BE KILL

# ---- a program goes past its share while it works
goes_past() { # POLICY
	local before after part look
	HOARD_AFTER=6 hoarding used 1100
	before=$(did_of $BE 3)
	check "$1: list shows that the process is past its share" wait_for 30 eval '[ "$(works $BE .past_share)" -ge 1 ]'
	sleep 4
	for look in 1 2 3 4; do # on a busy machine root's programs may pause, and leave the GPU to the attacker
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
