#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 180
# needs: root bpf fuse
# A process has tens of thousands of other descriptors before the one that the daemon must borrow for
# its calls.
. "$(dirname "$0")/lib.sh"
enter_sim
start_daemon || exit 1
victim
attack_many "$(size 2 4)" dups "$(size 19800 1000000)"
attackers=("${ATTACKERS[@]}")
for a in "${attackers[@]}"; do
	check "an attacker is listed" wait_tsgs "pid:$a" 1
	"$gpusched" set "pid:$a" timeslice=900us >/dev/null
	check "the attacker has a slice that is not its own" wait_for 10 slice_is "$a" 900
	printf m >&9
done
check "they move their files" wait_for 10 eval '[ "$(cat "$scratch"/attack.* | grep -c moved)" = '"${#attackers[@]}"' ]'
watch_loop
"${as_attacker[@]}" timeout 60 "$gpusched" set "pid:${attackers[0]}" timeslice=1000us >/dev/null 2>&1 &
sleep 0.1
set_obeyed "beside a file that is dear to find" $VICTIM 600
pings "beside it"
loop_turned "many descriptors"
kill_restores "many descriptors" $VICTIM
done_testing
