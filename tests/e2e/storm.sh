#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 180
# needs: root bpf fuse
# asan: yes
# Taps and daemon withstand hostile clients: bad pointers, wrong sizes, memory that is rewritten
# during a call, forged handles, floods of TSGs.
. "$(dirname "$0")/lib.sh"
enter_sim
start_daemon || not_ok "a daemon starts"
load be --seconds 600
victim=$LOAD_PID
check "the victim is listed" wait_tsgs pid:$victim 4
wait_for 5 slice_is $victim 2048
check "root sets the victim's slice" "$gpusched" set pid:$victim timeslice=250us

client=$(list_json pid:$victim 'map(select(.kind == "compute")) | .[0].client')
tsg=$(list_json pid:$victim 'map(select(.kind == "compute")) | .[0].tsg')
forged=$("$helper" forge "$client" "$tsg" </dev/null)
like "$forged" "control 0x23" "the RM refuses a foreign client"
is "$(list_json pid:$victim 'map(select(.kind == "compute")) | .[0] | [.asked.timeslice_us, .is.timeslice_us] | join(" ")')" \
	"2048 250" "forged calls do not change the victim's record"
is "$(list_json pid:$victim length)" 4 "forged calls do not end the victim's TSGs"

for seed in 1 2 3; do
	check "a hostile client runs to its end (seed $seed)" "$helper" hostile 1500 $seed
done
check "the daemon answers" daemon_ready
is "$(list_json pid:$victim 'map(select(.kind == "compute")) | .[0].is.timeslice_us')" 250 "the victim's slice is unchanged"
ge "$("$gpusched" stats --json | jq '[.. | (.bad_read?, .bad_size?, .rm_failed?) // empty] | add // 0')" 1 "calls that could not be read or were refused are counted"

# A process makes more TSGs than it may have in the table: they are counted, and others are still
# served.
mkfifo "$scratch/fifo"
"$helper" tsgs 6000 <"$scratch/fifo" >"$scratch/flood" 2>&1 &
flood=$!
at_end+=($flood)
exec 9>"$scratch/fifo"
wait_for 30 eval "grep -q ready $scratch/flood || ! kill -0 $flood" || diag "the flood did not end: $(cat "$scratch/flood")"
limited=$("$gpusched" stats --json | jq '[.. | (.proc_limit?, .table_full?) // empty] | add // 0')
listed=$("$gpusched" list pid:$flood --json | jq -s 'flatten | length')
diag "listed $listed, counted as over a limit $limited: $(head -1 "$scratch/flood")"
le "$listed" 6000 "at most 6,000 of the flood's TSGs are listed"
check "the daemon still answers" daemon_ready
check "the daemon still steers others" "$gpusched" set pid:$victim timeslice=260us
check "the RM has the victim's new slice" slice_is $victim 260
limit=262144
ldd "$gpuschedd" | grep -q libasan && limit=524288 # the sanitizer keeps freed memory for a while
le "$(rss_kb_of $DAEMON_PID)" $limit "the daemon's memory stays small, KiB"
exec 9>&-
wait_for 10 gone $flood
check "the flood's records are removed after its end" wait_for 30 eval "[ \"\$(\"$gpusched\" list --json | jq -s \"flatten | [.[] | select(.pid == $flood)] | length\")\" = 0 ]"
check "restore succeeds" "$gpusched" restore
check "restore puts everything back" restored
stop_daemon
done_testing
