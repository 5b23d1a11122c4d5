#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 240
# needs: root bpf fuse
# asan: yes
# Every RM operation from outside, the reconciler, restore and the guardian, without the daemon, on
# each driver branch; what counts is what the simulated RM itself says.
. "$(dirname "$0")/lib.sh"

field() { # FILTER: of the only client's TSGs
	sim_state "[.tsgs[] | $1] | unique | join(\",\")"
}

start_client() { # N: TSGs; $client
	rm -f "$scratch/ready" # of the one before
	"$helper" tsgs "$1" <"$scratch/fifo" >"$scratch/ready" &
	client=$!
	at_end+=($client)
	wait_for 20 grep -q ready "$scratch/ready"
}

settings() {
	field '"\(.timeslice_us)/\(.interleave)/\(.preempt_mode)/\(.disabled_channels)"'
}

if [ -n "${GPUSCHED_SIM:-}" ]; then
	mkfifo "$scratch/fifo"
	sleep 100 >"$scratch/fifo" &
	at_end+=($!)
	"$helper" calls on || exit 1
	start_client 1
	own=$(settings)

	check "$BRANCH: every operation is accepted" "$helper" calls ops $client
	is "$(settings)" 333/2/1/0 "$BRANCH: and did what it says"
	check "$BRANCH: the engine changes all" "$helper" calls change $client
	is "$(settings)" 444/0/0/1 "$BRANCH: the RM has it"
	"$helper" calls restore >"$scratch/restored"
	like "$(cat "$scratch/restored")" "changed 1 restored 1 gone 0 failed 0" "$BRANCH: restore"
	is "$(settings)" "$own" "$BRANCH: all is as the owner had asked"

	"$helper" calls die $client >/dev/null 2>&1
	check "$BRANCH: a guardian puts it back" wait_for 5 eval '[ "$(settings)" = "'"$own"'" ]'
	like "$("$helper" calls restore)" "changed 0 " "$BRANCH: nothing is left changed"
	is "$(sim_files $client)" 1 "$BRANCH: no borrowed descriptor is left"

	if [ "$BRANCH" = 580 ]; then
		kill -9 $client
		wait_for 5 eval '[ "$(sim_state ".tsgs | length")" = 0 ]'
		start_client 200
		check "200 TSGs are changed" "$helper" calls change $client
		is "$(settings)" 444/0/0/1 "the RM has it of all"
		"$helper" calls restore >"$scratch/restored"
		like "$(cat "$scratch/restored")" "changed 200 restored 200 " "200 are put back"
		diag "$(cat "$scratch/restored")"
		own_s=$(sed -nE 's/.* us ([0-9]+).*/\1/p' "$scratch/restored" | awk '{ print $1 / 1e6 }')
		is "$(settings)" "$own" "200 are as the owner had asked"
		"$helper" calls die $client >/dev/null 2>&1
		from=$EPOCHREALTIME
		wait_for 30 eval '[ "$(settings)" = "'"$own"'" ]'
		took=$(awk -v a="$from" -v b="$EPOCHREALTIME" 'BEGIN { print b - a }')
		is "$(settings)" "$own" "the guardian puts all 200 back after a SIGKILL"
		le "$took" "$(awk -v o="$own_s" 'BEGIN { print 3 + o }')" "in seconds, beside what that restore took"
	fi
	echo "$tap_n $tap_bad" >"$RESULT"
	exit 0
fi

export RESULT=$scratch/result BRANCH
for BRANCH in 535 550 570 580 595; do
	rm -f "$RESULT"
	out=$("$gpusched" sim shell --branch $BRANCH -- bash "$self" 2>&1)
	bad=$?
	if [ -s "$RESULT" ] && [ "$(cut -d' ' -f2 "$RESULT")" = 0 ]; then
		ok "branch $BRANCH: $(cut -d' ' -f1 "$RESULT") checks"
	else
		not_ok "branch $BRANCH" "exit status $bad: $out"
	fi
done
done_testing
