#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 180
# needs: root bpf fuse
# asan: yes
# Hostile clients: bad pointers, wrong sizes, memory rewritten during the call, forged handles, floods.
. "$(dirname "$0")/lib.sh"
enter_sim
start_daemon || not_ok "a daemon starts"
load be --seconds 600
victim=$LOAD_PID
check "the victim is listed" wait_tsgs pid:$victim 4
wait_for 5 slice_is $victim 2048
check "set the victim's slice" "$gpusched" set pid:$victim timeslice=250us

client=$(list_json pid:$victim 'map(select(.kind == "compute")) | .[0].client')
tsg=$(list_json pid:$victim 'map(select(.kind == "compute")) | .[0].tsg')
forged=$("$helper" forge "$client" "$tsg" </dev/null)
like "$forged" "control 0x23" "the RM refuses a foreign client"
is "$(list_json pid:$victim 'map(select(.kind == "compute")) | .[0] | [.asked.timeslice_us, .is.timeslice_us] | join(" ")')" \
	"2048 250" "forged records do not reach the victim's"
is "$(list_json pid:$victim length)" 4 "nor end its TSGs"

for seed in 1 2 3; do
	check "a hostile client runs to its end (seed $seed)" "$helper" hostile 1500 $seed
done
check "the daemon answers" daemon_ready
is "$(list_json pid:$victim 'map(select(.kind == "compute")) | .[0].is.timeslice_us')" 250 "the victim is as it was"
ge "$("$gpusched" stats --json | jq '[.. | (.bad_read?, .bad_size?, .rm_failed?) // empty] | add // 0')" 1 "what could not be read or was refused is counted"

# More TSGs than one process may have in the table: counted, and the others are still served.
mkfifo "$scratch/fifo"
"$helper" tsgs 6000 <"$scratch/fifo" >"$scratch/flood" 2>&1 &
flood=$!
at_end+=($flood)
exec 9>"$scratch/fifo"
wait_for 30 eval "grep -q ready $scratch/flood || ! kill -0 $flood" || diag "the flood did not end: $(cat "$scratch/flood")"
limited=$("$gpusched" stats --json | jq '[.. | (.proc_limit?, .table_full?) // empty] | add // 0')
listed=$("$gpusched" list pid:$flood --json | jq -s 'flatten | length')
diag "listed $listed, counted as over a limit $limited: $(head -1 "$scratch/flood")"
le "$listed" 6000 "a flood of TSGs is listed within limits"
check "the daemon still answers" daemon_ready
check "the daemon still steers others" "$gpusched" set pid:$victim timeslice=260us
check "the RM has it" slice_is $victim 260
limit=262144
ldd "$gpuschedd" | grep -q libasan && limit=524288 # it keeps what is freed for a while
le "$(rss_kb_of $DAEMON_PID)" $limit "memory of the daemon, KiB"
exec 9>&-
wait_for 10 gone $flood
check "after the flood its records go" wait_for 30 eval "[ \"\$(\"$gpusched\" list --json | jq -s \"flatten | [.[] | select(.pid == $flood)] | length\")\" = 0 ]"
check "restore" "$gpusched" restore
check "everything is as before" restored
stop_daemon
done_testing
