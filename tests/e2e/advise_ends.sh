#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 120
# needs: root bpf fuse
# Launches are counted for advise while its request is under way, and no longer, however the request
# ends. A person's setting of the counting stays in force.
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
begin() { # starts an advise that watches for an hour
	"$gpusched" advise --for 1h >"$scratch/advice" 2>&1 &
	advise=$!
	at_end+=($advise)
	check "launches are counted for advise" wait_for 20 are true false 1
}
check "launches are not counted before advise" are false false 0
for signal in INT TERM KILL HUP; do
	begin
	kill -$signal $advise
	check "after SIG$signal they are not counted any more" wait_for 20 are false false 0
	check "advise has ended" wait_for 10 eval '! kill -0 $advise 2>/dev/null'
done

begin
check "a person turns counting on meanwhile" "$gpusched" observe launches on
kill -KILL $advise
check "the lease of the killed advise ends" wait_for 10 are true true 0
sleep 1
check "launches are still counted for the person" are true true 0
check "the person turns counting off" "$gpusched" observe launches off
check "launches are not counted any more" wait_for 10 are false false 0

begin
"$gpusched" advise --for 1h >"$scratch/advice2" 2>&1 &
second=$!
at_end+=($second)
check "two runs of advise have a lease each" wait_for 10 are true false 2
kill -KILL $advise
check "the lease of the other advise stays" wait_for 10 are true false 1
check "a person turns counting off meanwhile" "$gpusched" observe launches off
check "launches are still counted for the other advise" are true false 1
kill -TERM $second
check "launches are not counted once the last advise has ended" wait_for 20 are false false 0

check "an advise ends by itself" "$gpusched" advise --for 200ms
check "launches are not counted after its end" wait_for 20 are false false 0
setpriv --reuid 65534 --clear-groups "$gpusched" advise --for 3s >/dev/null 2>&1 &
at_end+=($!)
users=$!
sleep 1
check "an ordinary user's advise turns nothing on" are false false 0
wait $users # it counts as one of the user's watching requests

# ---- one user's limit of requests that watch
exits 0 "a user asks for the status" setpriv --reuid 65534 --clear-groups "$gpusched" status
watchers=()
refused() {
	local i
	# In an earlier try the ninth may have come before the eighth, which was then refused.
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
exits 0 "root may watch all the same" "$gpusched" status --for 200ms
stop_daemon
done_testing
