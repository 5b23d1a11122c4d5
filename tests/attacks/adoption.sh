#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 120
# needs: root bpf fuse
# A process has more open files than adoption looks at. The daemon still adopts the programs of other
# users, before and after that process. A process that holds the lock of its execve() is adopted once
# the lock is free.
. "$(dirname "$0")/lib.sh"
enter_sim
config '[Policy]
Policy = lcbe
[Classes]
Rule = comm=gsload -> be'
victim
first=$VICTIM
attack hoard files "$(size 5000 19000)"
victim
mount -t tmpfs -o mode=755 none /mnt
mkdir /mnt/0
words_open
"$helper" lock /mnt/0 4711 exec 1 9<&- >"$scratch/lock" 2>&1 &
locked=$!
at_end+=($locked)
check "another holds its lock" wait_for 30 grep -q ^ready "$scratch/lock"
server=$(sed -n 's/^ready //p' "$scratch/lock")
at_end+=($server)
took start_daemon || not_ok "the daemon starts"
le $MS 25000 "the daemon is ready, in ms"
took wait_for 30 eval '[ "$(list_json pid:$first length)" -ge 1 ] && [ "$(list_json pid:$VICTIM length)" -ge 1 ]'
le $MS 3000 "who was there before the hoard and after it is adopted, in ms"
is "$(sim_slice $first) $(sim_slice $VICTIM)" "800 800" "the adopted program has the policy's slice"
kill -USR1 "$server"
check "who held its lock at the start is adopted later" wait_for 20 eval '[ "$(list_json pid:$locked length)" -ge 1 ]'
read -r turn < <("$gpusched" stats --json | jq .service.longest_turn_us)
le "$turn" 1000000 "every turn of the loop was short, in us"
kill_restores "a hoard" $first $VICTIM
done_testing
