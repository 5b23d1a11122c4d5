#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 180
# needs: root bpf fuse
# A user's processes without a single TSG fill the table: counted, and told with whose they are.
. "$(dirname "$0")/lib.sh"
enter_sim
start_daemon || exit 1
mkfifo "$scratch/words"
exec 9<>"$scratch/words"
full() {
	"$gpusched" stats --json | jq .taps.table_full
}
for i in $(seq 17); do
	setpriv --reuid 65534 --regid 65534 --clear-groups "$helper" hoard devices 1100 <&9 9<&- >"$scratch/hoard.$i" 2>&1 &
	at_end+=($!)
done
check "17 processes have as many devices as they may" wait_for 60 eval \
	'[ "$(cat "$scratch"/hoard.* | grep -c ^ready)" = 17 ]'
is "$(list_json all length)" 0 "not one has a TSG"
ge "$(full)" 1 "what had no room is counted"
check "and told, by user" wait_for 5 grep -qE \
	"the table is full: [0-9]+ .*user 65534 has most of it: [0-9]{5} entries in 17 processes" "$scratch/daemon.log"
before=$(full)
load be --seconds 600
check "so is what comes now" wait_for 10 eval '[ "$(full)" -gt '"$before"' ]'
le "$(grep -c 'the table is full' "$scratch/daemon.log")" 4 "the log is not filled with that"
done_testing
