#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 120
# needs: root bpf fuse
# Launches are counted for advise while its request is under way, and no longer, however it ends.
# What others ask for meanwhile stays in force.
. "$(dirname "$0")/lib.sh"
enter_sim
config ''
trusting
start_daemon || exit 1
load be --seconds 0
wait_tsgs "pid:$LOAD_PID" 4
set -m # so that SIGINT reaches what runs in the background

launches() { # FILTER
	"$gpusched" observe launches --json | jq -c "$1"
}
are() { # ON ASKED LEASES
	[ "$(launches '[.on, .asked, .leases]')" = "[$1,$2,$3]" ]
}
begin() { # an advise that watches
	"$gpusched" advise --for 1h >"$scratch/advice" 2>&1 &
	advise=$!
	at_end+=($advise)
	check "launches are counted for advise" wait_for 20 are true false 1
}
check "launches are not counted before" are false false 0
for signal in INT TERM KILL HUP; do
	begin
	kill -$signal $advise
	check "after SIG$signal they are not counted any more" wait_for 20 are false false 0
	check "advise has ended" wait_for 10 eval '! kill -0 $advise 2>/dev/null'
done

begin
check "a person turns counting on meanwhile" "$gpusched" observe launches on
kill -KILL $advise
check "its lease ends" wait_for 10 are true true 0
sleep 1
check "the person's wish stays" are true true 0
check "the person turns it off" "$gpusched" observe launches off
check "then it is off" wait_for 10 are false false 0

begin
"$gpusched" advise --for 1h >"$scratch/advice2" 2>&1 &
second=$!
at_end+=($second)
check "each of two has a lease" wait_for 10 are true false 2
kill -KILL $advise
check "the other one's stays" wait_for 10 are true false 1
check "off by a person does not take it" "$gpusched" observe launches off
check "launches are counted for it" are true false 1
kill -TERM $second
check "when the last has gone they are not counted" wait_for 20 are false false 0

check "one that ends by itself leaves nothing" "$gpusched" advise --for 200ms
check "launches are not counted after it" wait_for 20 are false false 0
setpriv --reuid 65534 --clear-groups "$gpusched" advise --for 3s >/dev/null 2>&1 &
at_end+=($!)
users=$!
sleep 1
check "an ordinary user's advise turns nothing on" are false false 0
wait $users # it is one of those that watch

# ---- a user's share of what keeps a connection for long
exits 0 "a user asks" setpriv --reuid 65534 --clear-groups "$gpusched" status
watchers=()
refused() {
	local i
	# An earlier ninth may have come before the eighth, which was refused then.
	for i in 0 1 2 3 4 5 6 7; do
		[ -n "${watchers[i]:-}" ] && kill -0 "${watchers[i]}" 2>/dev/null && continue
		setpriv --reuid 65534 --clear-groups "$gpusched" status --for 1h >/dev/null 2>&1 &
		watchers[i]=$!
		at_end+=($!)
	done
	sleep 1
	timeout 2 setpriv --reuid 65534 --clear-groups "$gpusched" status --for 1h >"$scratch/ninth" 2>&1
	grep -q "8 requests of yours watch already" "$scratch/ninth"
}
check "the ninth request of a user that watches is refused" wait_for 20 refused
exits 0 "root may watch beside them" "$gpusched" status --for 200ms
stop_daemon
done_testing
