#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 240
# needs: root bpf fuse
# asan: yes
# Without a daemon, on each driver branch: every RM operation by a borrowed descriptor, the engine's
# changes, restore and the guardian. The simulated RM's own view decides.
. "$(dirname "$0")/lib.sh"

field() { # FILTER: its different values over all TSGs
	sim_state "[.tsgs[] | $1] | unique | join(\",\")"
}

start_client() { # N: starts a program with N TSGs; $client
	rm -f "$scratch/ready" # left by the last client
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
	is "$(settings)" 333/2/1/0 "$BRANCH: every operation has its effect"
	check "$BRANCH: the engine changes all settings" "$helper" calls change $client
	is "$(settings)" 444/0/0/1 "$BRANCH: the RM has the changed settings"
	"$helper" calls restore >"$scratch/restored"
	like "$(cat "$scratch/restored")" "changed 1 restored 1 gone 0 failed 0" "$BRANCH: restore says that it restored the TSG"
	is "$(settings)" "$own" "$BRANCH: the settings are the owner's again"

	"$helper" calls die $client >/dev/null 2>&1
	check "$BRANCH: the guardian restores after the caller's death" wait_for 5 eval '[ "$(settings)" = "'"$own"'" ]'
	like "$("$helper" calls restore)" "changed 0 " "$BRANCH: nothing is left changed"
	is "$(sim_files $client)" 1 "$BRANCH: no borrowed descriptor is left"

	if [ "$BRANCH" = 580 ]; then
		kill -9 $client
		wait_for 5 eval '[ "$(sim_state ".tsgs | length")" = 0 ]'
		start_client 200
		check "200 TSGs are changed" "$helper" calls change $client
		is "$(settings)" 444/0/0/1 "the RM has the changes of all 200"
		"$helper" calls restore >"$scratch/restored"
		like "$(cat "$scratch/restored")" "changed 200 restored 200 " "restore says that it restored 200"
		diag "$(cat "$scratch/restored")"
		own_s=$(sed -nE 's/.* us ([0-9]+).*/\1/p' "$scratch/restored" | awk '{ print $1 / 1e6 }')
		is "$(settings)" "$own" "all 200 have their owner's settings again"
		"$helper" calls die $client >/dev/null 2>&1
		from=$EPOCHREALTIME
		wait_for 30 eval '[ "$(settings)" = "'"$own"'" ]'
		took=$(awk -v a="$from" -v b="$EPOCHREALTIME" 'BEGIN { print b - a }')
		is "$(settings)" "$own" "the guardian restores all 200 after a SIGKILL"
		le "$took" "$(awk -v o="$own_s" 'BEGIN { print 3 + o }')" "the guardian takes at most 3 s more than that restore, in s"
	fi
	echo "$tap_n $tap_bad" >"$RESULT"
	exit 0
fi

export RESULT=$scratch/result BRANCH
for BRANCH in $(driver_branches); do
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
