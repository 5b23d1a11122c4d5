#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 240
# needs: root bpf fuse
# The pinned table of an older version is converted, with settings and suspensions. That of a newer
# version is left alone. From an incomplete one, the settings that it has are restored.
. "$(dirname "$0")/lib.sh"
enter_sim
table=$GPUSCHED_SIM/bpf/gpusched

entries() { # MAP
	bpftool map dump pinned "$table/$1" -j 2>/dev/null | jq length
}

# What has to be the same before and after, of the processes of this test.
kept() {
	"$gpusched" list --json | jq -sc 'flatten | sort_by(.id) | map(select(.pid as $p | $pids | index($p))
		| {id, pid, gpu, engine, kind, class, asked, manual, is, suspend_by, suspend_until_ns})' \
		--argjson pids "[$set,$stopped,$lc]"
}

as_made() {
	wait_for 30 eval '[ "$(sim_state "[.tsgs[] | select(.engine == 1 and .timeslice_us == 2048)] | length")" = '"$1"' ]'
}

empty() {
	for map in gs_tsgs gs_chans gs_makers gs_chantsg gs_devices gs_clients gs_files gs_procs; do
		[ "$(entries $map)" = 0 ] || return 1
	done
}

check "the taps are on" "$gpusched" observe on
load be --seconds 600 --iterations-per-us 27.78 # gives the rate, since gsload cannot measure it while it is suspended
set=$LOAD_PID
load be --seconds 600 --iterations-per-us 27.78
stopped=$LOAD_PID
load lc --seconds 600 --iterations-per-us 27.78
lc=$LOAD_PID
check "three programs" as_made 3
check "one is set" "$gpusched" set "pid:$set" timeslice=500
check "one is suspended" "$gpusched" suspend "pid:$stopped"
check "one has a class" "$gpusched" class set "pid:$lc" lc
kept >"$scratch/before"
places=$(entries gs_devices)/$(entries gs_clients)/$(entries gs_files)/$(entries gs_chantsg)

# ---- by a command ------------------------------------------------------------------------------

check "as version 1 left it" "$helper" oldtable "$table"
is "$(bpftool map show pinned "$table/gs_tsgs" -j | jq .bytes_value)" 360 "a record of version 1 is shorter"
exits 1 "list does not take it over" "$gpusched" list
like "$out" "older gpusched.*version 1.*observe on" "list says what takes the table over"
like "$("$gpusched" observe status)" "older gpusched" "observe status says so"
check "observe on takes it over" "$gpusched" observe on
is "$("$gpusched" observe status --json | jq -c '[.complete, .version]')" '[true,2]' "it is of this version"
is "$(kept)" "$(cat "$scratch/before")" "settings, suspensions and classes are kept"
is "$(entries gs_devices)/$(entries gs_clients)/$(entries gs_files)/$(entries gs_chantsg)" "$places" \
	"devices, clients, files and channels as well"
is "$(ls "$GPUSCHED_SIM/bpf" | grep -c tmp)" 0 "nothing else is left"
load be --seconds 600 --iterations-per-us 27.78
later=$LOAD_PID
check "the taps see a new program" wait_tsgs "pid:$later" 4
ge "$(list_json "pid:$later" '[.[].id] | min')" "$(($(jq '[.[].id] | max' "$scratch/before") + 1))" \
	"its ids are new"
end_load "$later"

# ---- by the daemon -----------------------------------------------------------------------------

check "version 1 again" "$helper" oldtable "$table"
start_daemon
is "$(kept)" "$(cat "$scratch/before")" "the daemon takes it over, settings are kept"
stop_daemon
check "resume" "$gpusched" resume "pid:$stopped"
is "$(sim_disabled "$stopped")" 0 "its channels are enabled"

# ---- the thread that made each TSG is kept; the taps' BPF programs are replaced -----------------

places=$(entries gs_devices)/$(entries gs_clients)/$(entries gs_files)/$(entries gs_chantsg)
threads() { list_json all 'map({id, tid}) | sort_by(.id) | @json'; }
load be --seconds 600 --iterations-per-us 27.78
later=$LOAD_PID
check "a program whose maker is known" wait_tsgs "pid:$later" 4
threads=$(threads)
check "suspend" "$gpusched" suspend "pid:$stopped"
check "version 1 again" "$helper" oldtable "$table"
before=$(bpftool prog show pinned "$table/change_proc" | head -1)
start_daemon
is "$(kept)" "$(cat "$scratch/before")" "the daemon takes it over, settings are kept"
is "$(threads)" "$threads" "it is kept which thread made which TSG"
end_load "$later"
check "devices, clients, files and channels as well" wait_for 10 eval \
	'[ "$(entries gs_devices)/$(entries gs_clients)/$(entries gs_files)/$(entries gs_chantsg)" = "$places" ]'
check "its programs are new" [ "$before" != "$(bpftool prog show pinned "$table/change_proc" | head -1)" ]
stop_daemon
check "resume" "$gpusched" resume "pid:$stopped"

# ---- a policy that was running ---------------------------------------------------------------------

config '[Policy]
Policy = rr
[Classes]
Rule = comm=gsload -> be'
start_daemon
check "the policy acts" wait_for 30 eval '! restored'
guardian=$(pgrep -P "$DAEMON_PID" -x gpusched-guard)
kill -9 "$guardian"
kill_daemon
check "daemon and guardian die" eval '! restored'
check "version 1 again" "$helper" oldtable "$table"
printf '[Classes]\nRule = comm=gsload -> be\n' >"$GPUSCHED_CONFIG"
rm -f "$GPUSCHED_SIM/run/saved.json" # else what people had set is set again
start_daemon
check "its changes are put back" wait_for 10 restored
is "$(list_json all '[.[] | .want | select(.) | .[] | values] | length')" 0 "its wishes are gone"
stop_daemon

# ---- a newer one, a broken one ---------------------------------------------------------------------

check "suspend" "$gpusched" suspend "pid:$stopped"
"$helper" version "$table" 3
for verb in list "observe on" "observe off" restore; do
	# shellcheck disable=SC2086
	exits 1 "newer: $verb is refused" "$gpusched" $verb
	like "$out" "newer gpusched.*version 3" "newer: $verb says why"
done
ge "$(sim_disabled "$stopped")" 4 "newer: nothing has changed"
"$helper" version "$table" 2

check "version 1 again" "$helper" oldtable "$table"
rm "$table/gs_devices"
check "a table that can't be copied" "$gpusched" observe on
check "is put back first" restored
is "$("$gpusched" observe status --json | jq -c '[.complete, .version, .tsgs]')" '[true,2,0]' "then it is new"
start_daemon
check "a daemon adopts what there is" wait_tsgs all 12
stop_daemon

check "suspend" "$gpusched" suspend "pid:$stopped"
rm "$table/gs_gate_slot"
check "incomplete: restore" "$gpusched" restore
check "incomplete: acts on what is there" restored
"$gpusched" observe off
check "incomplete: observe off" eval '[ ! -e "$table" ]'
start_daemon
stop_daemon
check "suspend" "$gpusched" suspend "pid:$stopped"
rm "$table/gs_slot"
rm -f "$GPUSCHED_SIM/run/saved.json"
start_daemon
check "incomplete: a start puts back first" restored
stop_daemon
rm "$table/gs_tsgs"
exits 1 "without records: restore" "$gpusched" restore
like "$out" "no records" "without records: says so"
check "without records: observe off" "$gpusched" observe off

# ---- the end -------------------------------------------------------------------------------------

check "on" "$gpusched" observe on
start_daemon
check "all are adopted" wait_tsgs all 12
stop_daemon
check "version 1 again" "$helper" oldtable "$table"
start_daemon
for pid in $set $stopped $lc; do
	end_load "$pid" KILL
done
check "all entries go with the programs" wait_for 30 empty
stop_daemon
done_testing
