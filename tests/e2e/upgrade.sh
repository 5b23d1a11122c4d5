#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 240
# needs: root bpf fuse
# The pinned table of an older version is converted, with settings and suspensions. A table of a
# newer version is left alone. From an incomplete table, the settings that it still has are
# restored.
. "$(dirname "$0")/lib.sh"
enter_sim
table=$GPUSCHED_SIM/bpf/gpusched

entries() { # MAP
	bpftool map dump pinned "$table/$1" -j 2>/dev/null | jq length
}

# The fields of this test's processes that must be the same before and after.
kept() {
	"$gpusched" list --json | jq -sc 'flatten | sort_by(.id) | map(select(.pid as $p | $pids | index($p))
		| {id, pid, gpu, engine, kind, class, asked, manual, is, suspend_by, suspend_until_ns})' \
		--argjson pids "[$set,$stopped,$lc]"
}

as_made() { # N: this many programs have CUDA's slice
	wait_for 30 eval '[ "$(sim_state "[.tsgs[] | select(.engine == 1 and .timeslice_us == 2048)] | length")" = '"$1"' ]'
}

empty() { # no map of the table has an entry
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
check "three programs run" as_made 3
check "root sets the slice of one" "$gpusched" set "pid:$set" timeslice=500
check "root suspends another" "$gpusched" suspend "pid:$stopped"
check "root gives the third a class" "$gpusched" class set "pid:$lc" lc
kept >"$scratch/before"
places=$(entries gs_devices)/$(entries gs_clients)/$(entries gs_files)/$(entries gs_chantsg)

# ---- by a command ------------------------------------------------------------------------------

check "the table is of version 2" "$helper" version "$table" 2
exits 1 "list does not take over an old table" "$gpusched" list
like "$out" "older gpusched.*version 2.*observe on" "list says what takes the table over"
like "$("$gpusched" observe status)" "older gpusched" "observe status says that the table is of an older version"
check "observe on takes over an old table" "$gpusched" observe on
is "$("$gpusched" observe status --json | jq -c '[.complete, .version]')" '[true,3]' "the table is of this version then"
is "$(kept)" "$(cat "$scratch/before")" "settings, suspensions and classes are kept"
is "$(entries gs_devices)/$(entries gs_clients)/$(entries gs_files)/$(entries gs_chantsg)" "$places" \
	"devices, clients, files and channels are kept"
is "$(ls "$GPUSCHED_SIM/bpf" | grep -c tmp)" 0 "no temporary table is left"
load be --seconds 600 --iterations-per-us 27.78
later=$LOAD_PID
check "the taps see a new program" wait_tsgs "pid:$later" 4
ge "$(list_json "pid:$later" '[.[].id] | min')" "$(($(jq '[.[].id] | max' "$scratch/before") + 1))" \
	"the new program's ids are new"
end_load "$later"

# ---- by the daemon -----------------------------------------------------------------------------

check "the table is of version 2 again" "$helper" version "$table" 2
start_daemon
is "$(kept)" "$(cat "$scratch/before")" "the daemon takes over an old table, and keeps the settings"
stop_daemon
check "resume succeeds" "$gpusched" resume "pid:$stopped"
is "$(sim_disabled "$stopped")" 0 "the channels of the resumed program are enabled"

# ---- the thread that made each TSG is kept; the taps' BPF programs are replaced -----------------

places=$(entries gs_devices)/$(entries gs_clients)/$(entries gs_files)/$(entries gs_chantsg)
threads() { list_json all 'map({id, tid}) | sort_by(.id) | @json'; }
load be --seconds 600 --iterations-per-us 27.78
later=$LOAD_PID
check "a program whose making thread is known is listed" wait_tsgs "pid:$later" 4
threads=$(threads)
check "suspend succeeds" "$gpusched" suspend "pid:$stopped"
check "the table is of version 2 again" "$helper" version "$table" 2
before=$(bpftool prog show pinned "$table/change_proc" | head -1)
start_daemon
is "$(kept)" "$(cat "$scratch/before")" "the daemon takes over an old table, and keeps the settings"
is "$(threads)" "$threads" "the thread that made each TSG is kept"
end_load "$later"
check "devices, clients, files and channels are kept, too" wait_for 10 eval \
	'[ "$(entries gs_devices)/$(entries gs_clients)/$(entries gs_files)/$(entries gs_chantsg)" = "$places" ]'
check "the taps' BPF programs are new" [ "$before" != "$(bpftool prog show pinned "$table/change_proc" | head -1)" ]
stop_daemon
check "resume succeeds" "$gpusched" resume "pid:$stopped"

# ---- a policy that was running ---------------------------------------------------------------------

config '[Policy]
Policy = rr
[Classes]
Rule = comm=gsload -> be'
start_daemon
check "the policy has changed settings" wait_for 30 eval '! restored'
guardian=$(pgrep -P "$DAEMON_PID" -x gpusched-guard)
kill -9 "$guardian"
kill_daemon
check "settings stay changed after the death of daemon and guardian" eval '! restored'
check "the table is of version 2 again" "$helper" version "$table" 2
printf '[Classes]\nRule = comm=gsload -> be\n' >"$GPUSCHED_CONFIG"
rm -f "$GPUSCHED_SIM/run/saved.json" # the next daemon would set people's settings again from it
start_daemon
check "the next daemon restores the policy's changes" wait_for 10 restored
is "$(list_json all '[.[] | .want | select(.) | .[] | values] | length')" 0 "the table has no wish of the policy's"
stop_daemon

# ---- a TSG may be off, although its record of version 2 does not say so --------------------------

off_unseen() { # the driver accepts the resume, and does nothing
	check "suspend succeeds" "$gpusched" suspend "pid:$stopped"
	echo resume=0 >"$GPUSCHED_SIM/dev/faults"
	check "resume succeeds" "$gpusched" resume "pid:$stopped"
	echo none >"$GPUSCHED_SIM/dev/faults"
	ge "$(sim_disabled "$stopped")" 4 "the channels are disabled all the same"
	is "$(list_json "pid:$stopped" 'map(select(.changed)) | length')" 0 "no record says so"
	kept >"$scratch/before"
	"$helper" version "$table" 2
}

off_unseen
before=$(sim_state '.controls["0x2080110b"].calls')
start_daemon
check "a daemon enables every TSG of a table of version 2" wait_for 20 restored
ge "$(($(sim_state '.controls["0x2080110b"].calls') - before))" 12 "each TSG gets a call"
is "$(kept)" "$(cat "$scratch/before")" "settings and classes are kept"
load be --seconds 600 --iterations-per-us 27.78
later=$LOAD_PID
check "the taps see a new program" wait_tsgs "pid:$later" 4
end_load "$later"
before=$(sim_state '.controls["0x2080110b"].calls')
stop_daemon
start_daemon
is "$(($(sim_state '.controls["0x2080110b"].calls') - before))" 0 "the next daemon makes no such call"
stop_daemon
off_unseen
check "observe on takes over a table of version 2" "$gpusched" observe on
check "restore succeeds then" "$gpusched" restore
check "restore has enabled its TSGs" restored

# ---- a table of a newer version, and incomplete tables --------------------------------------------

check "suspend succeeds" "$gpusched" suspend "pid:$stopped"
"$helper" version "$table" 4
for verb in list "observe on" "observe off" restore; do
	# shellcheck disable=SC2086
	exits 1 "gpusched $verb refuses a table of a newer version" "$gpusched" $verb
	like "$out" "newer gpusched.*version 4" "gpusched $verb says that the table is newer"
done
ge "$(sim_disabled "$stopped")" 4 "the refused commands changed nothing"
"$helper" version "$table" 3

check "the table is of version 2 again" "$helper" version "$table" 2
rm "$table/gs_devices"
check "observe on succeeds with a table that cannot be copied" "$gpusched" observe on
check "observe on restores from that table first" restored
is "$("$gpusched" observe status --json | jq -c '[.complete, .version, .tsgs]')" '[true,3,0]' "the table is a new one then"
start_daemon
check "a daemon adopts the programs" wait_tsgs all 12
stop_daemon

check "suspend succeeds" "$gpusched" suspend "pid:$stopped"
rm "$table/gs_gate_slot"
check "restore works with an incomplete table" "$gpusched" restore
check "restore has restored from the incomplete table" restored
"$gpusched" observe off
check "observe off removes an incomplete table" eval '[ ! -e "$table" ]'
start_daemon
stop_daemon
check "suspend succeeds" "$gpusched" suspend "pid:$stopped"
rm "$table/gs_slot"
rm -f "$GPUSCHED_SIM/run/saved.json"
start_daemon
check "a daemon restores from an incomplete table first" restored
stop_daemon
rm "$table/gs_tsgs"
exits 1 "restore fails with a table without records" "$gpusched" restore
like "$out" "no records" "the error says that there are no records"
check "observe off works with a table without records" "$gpusched" observe off

# ---- the end -------------------------------------------------------------------------------------

check "observe on makes a new table" "$gpusched" observe on
start_daemon
check "a daemon adopts all programs" wait_tsgs all 12
stop_daemon
check "the table is of version 2 again" "$helper" version "$table" 2
check "observe on takes it over" "$gpusched" observe on # of a daemon that does so the older taps keep an entry
start_daemon
for pid in $set $stopped $lc; do
	end_load "$pid" KILL
done
check "no entry is left after the programs' end" wait_for 30 empty
stop_daemon
done_testing
