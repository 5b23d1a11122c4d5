#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 180
# needs: root bpf fuse
# A user's processes make as many driver objects as they can, but no TSG. The table must still have room
# for others.
. "$(dirname "$0")/lib.sh"
enter_sim
start_daemon || exit 1
mkfifo "$scratch/words"
exec 9<>"$scratch/words"
full() {
	"$gpusched" stats --json | jq .taps.table_full
}
for i in $(seq 17); do
	setpriv --reuid 65534 --regid 65534 --clear-groups "$helper" hoard devices 1000 <&9 9<&- >"$scratch/hoard.$i" 2>&1 &
	at_end+=($!)
done
check "17 processes have as many devices as they may" wait_for 60 eval \
	'[ "$(cat "$scratch"/hoard.* | grep -c ^ready)" = 17 ]'
is "$(list_json all length)" 0 "not one has a TSG"
ge "$("$gpusched" stats --json | jq .taps.evicted)" 1 "what is not used made room, and is counted"
is "$(full)" 0 "the table is not full"
load be --seconds 600
check "another user's program is listed" wait_tsgs "pid:$LOAD_PID" 4
is "$(list_json "pid:$LOAD_PID" '[.[].gpu] | unique | @json')" "[0]" "the program is listed with its GPU"
done_testing
