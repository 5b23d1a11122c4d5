#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 240
# needs: root bpf fuse
# asan: release
# One process makes thousands of entries in the taps' maps. Entries that are evicted or past the
# quota are counted. A program that starts meanwhile is seen with its GPU, and can be steered.
. "$(dirname "$0")/lib.sh"
enter_sim
config '[Policy]
Policy = lcbe
[Classes]
Rule = comm=gsload -> be'
start_daemon || not_ok "a daemon starts"
mkfifo "$scratch/fifo"
exec 9<>"$scratch/fifo"

counter() { # NAME
	"$gpusched" stats --json | jq ".taps.$1 // 0"
}
entries() { # MAP
	bpftool map dump pinned "$GPUSCHED_SIM/bpf/gpusched/$1" -j | jq length
}

# only 4,000 TSGs: the simulated RM is slow with many, and storm.sh tests a flood of them
while read -r what n counted; do
	before=$(counter "$counted")
	"$helper" hoard "$what" "$n" <"$scratch/fifo" >"$scratch/hoard" 2>&1 &
	hoarder=$!
	at_end+=($hoarder)
	load be --seconds 600
	check "$what: a program that starts meanwhile is listed" wait_tsgs "pid:$LOAD_PID" 4
	check "$what: the hoarder is done" wait_for 30 grep -q ready "$scratch/hoard"
	grep -q ^ready "$scratch/hoard" || diag "$(cat "$scratch/hoard")"
	end_load "$LOAD_PID" KILL
	ge "$(counter "$counted")" "$((before + 1000))" "$what: entries that were evicted or past the quota are counted"
	load be --seconds 600
	check "$what: a program that starts afterwards is listed" wait_tsgs "pid:$LOAD_PID" 4
	check "$what: that program has its GPU and class" wait_for 10 eval \
		'[ "$(list_json "pid:$LOAD_PID" "[.[] | [.gpu, .class] | join(\" \")] | unique | join(\",\")")" = "0 be" ]'
	check "$what: suspend of that program succeeds" "$gpusched" suspend "pid:$LOAD_PID"
	ge "$(sim_disabled "$LOAD_PID")" 4 "$what: all its channels are disabled"
	check "$what: resume of that program succeeds" "$gpusched" resume "pid:$LOAD_PID"
	is "$(sim_disabled "$LOAD_PID")" 0 "$what: no channel of it is disabled any more"
	end_load "$LOAD_PID" KILL
	kill -9 $hoarder
	wait $hoarder 2>/dev/null
	check "$what: the hoarder's entries are removed after its end" wait_for 60 eval \
		'[ "$(entries gs_tsgs)$(entries gs_devices)$(entries gs_clients)$(entries gs_files)$(entries gs_chantsg)$(entries gs_procs)" = 000000 ]'
done <<'EOF'
devices 10000 evicted
clients 10000 evicted
files 10000 evicted
channels 10000 channel_limit
tsgs 4000 proc_limit
EOF
check "the daemon answers" daemon_ready
stop_daemon
done_testing
