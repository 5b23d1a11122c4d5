#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 240
# needs: root bpf fuse
# asan: yes
# A TSG's hardware ids and the thread that made it, in `list --wide`, `monitor --verbose` and tid:N.
. "$(dirname "$0")/lib.sh"
enter_sim
chmod 711 "$scratch"

wide() { # TARGET FILTER
	"$gpusched" list "$1" --all --wide --json | jq -cs "flatten | $2"
}
# each TSG's handle, number on the GPU and channels, as the simulated RM has them
rm_has() { # PID
	sim_state -c "[.tsgs[] | select(.pid == $1) | [.handle, .grp_id, ([.channel_list[] | [.handle, .cid]] | sort)]] | sort"
}
we_say() { # PID: the same as gpusched lists it
	wide "pid:$1" '[.[] | [.tsg, .hw_tsg, ([.channel_list[] | [.channel, .context_id]] | sort)]] | sort'
}
agrees() { [ "$(we_say "$1")" = "$(rm_has "$1")" ]; }

# ---- without a daemon ------------------------------------------------------------------------------

check "the taps are on" "$gpusched" observe on
load be --seconds 600 --warmup 0 --iterations-per-us 27.78
be=$LOAD_PID
check "a program is listed" wait_tsgs "pid:$be" 4
check "without a daemon list --wide has the RM's ids" wait_for 10 agrees $be
is "$(rm_has $be | jq 'map(.[2] | length)' -c)" "$(we_say $be | jq 'map(.[2] | length)' -c)" "all channels are listed"
ge "$(wide "pid:$be" 'map(.channel_list | length) | add')" 12 "at least 12 channels are listed"

# ---- with a daemon --------------------------------------------------------------------------------

start_daemon || exit 1
mkfifo "$scratch/fifo"
exec 9<>"$scratch/fifo"
"$helper" threads 3 <"$scratch/fifo" >"$scratch/threads" 2>&1 &
many=$!
at_end+=($many)
check "three threads have made a TSG each" wait_tsgs "pid:$many" 3
check "list --wide has the RM's ids" wait_for 10 agrees $many
check "it has them of a program from before the daemon, too" wait_for 10 agrees $be
is "$(wide "pid:$many" '[.[] | "thread \(.tid) \(.tsg)"] | sort')" \
	"$(grep thread "$scratch/threads" | sort | jq -Rcs 'split("\n") | map(select(. != ""))')" \
	"each TSG has the thread that made it"
is "$(wide "pid:$be" "map(.tid == $be) | unique")" "[true]" "the TSGs of gsload are made by its only thread"
is "$(wide "pid:$be" 'map(.runlist == .gpu * 256 + (if .engine == "GR0" then 1 else (.engine[2:] | tonumber) + 9 end)) | unique')" \
	"[true]" "the runlist's number follows from GPU and engine"
is "$("$gpusched" list "pid:$many" --json | jq -cs 'flatten | map([has("tid"), has("hw_tsg"), has("channel_list")]) | unique')" \
	"[[true,false,false]]" "only --wide has hardware ids"
like "$("$gpusched" list "pid:$many" --wide --all)" "TID +RUNLIST +HW_TSG +HCLIENT +HTSG +CHANNELS" "the table has columns for them"
row=$(wide "pid:$many" '.[0] | "\(.tid) +\(.runlist) +\(.hw_tsg) +\(.client) +\(.tsg) +\(.channel_list[0].context_id)"' | jq -r .)
like "$("$gpusched" list "pid:$many" --wide --all)" "$row" "the table has the same figures"

# ---- tid: ------------------------------------------------------------------------------------------

tid=$(awk '/thread/ { print $2; exit }' "$scratch/threads")
handle=$(awk '/thread/ { print $3; exit }' "$scratch/threads")
is "$(wide "tid:$tid" 'map(.tsg)')" "[\"$handle\"]" "tid: finds the TSG that this thread has made"
check "set takes tid:" "$gpusched" set "tid:$tid" timeslice=777us
is "$(wide "pid:$many" 'map(select(.is.timeslice_us == 777) | .tsg)')" "[\"$handle\"]" "no other TSG is set"
is "$("$gpusched" list "pid:$many,tid:$tid" --all --json | jq -s 'flatten | length')" 1 "pid: together with tid: selects that TSG alone"
exits 1 "tid: of a thread without a TSG finds nothing" "$gpusched" list tid:1
exits 1 "set of such a tid: fails" "$gpusched" set tid:1 timeslice=700us
exits 2 "tid: takes only a number" "$gpusched" list tid:x
check "class set takes tid:" "$gpusched" class set "tid:$tid" be
is "$(wide "tid:$tid" '.[0].class')" '"be"' "its process has that class"
"$gpusched" monitor "tid:$tid" --for 60s --count 1 --json >"$scratch/filtered" 2>&1 &
filtered=$!
check "monitor tid: watches" wait_for 30 watchers 1
"$gpusched" set "pid:$many" timeslice=500us >/dev/null
wait $filtered
is "$(jq -cs 'map(select(.tsg) | .tsg)' "$scratch/filtered")" "[\"$handle\"]" "monitor tid: prints events of that TSG alone"

# ---- monitor --verbose -----------------------------------------------------------------------------

"$gpusched" monitor --verbose --for 90s --json >"$scratch/events" 2>&1 &
watching=$!
"$gpusched" monitor -v --for 90s >"$scratch/lines" 2>&1 &
lines=$!
check "two clients watch" wait_for 60 watchers 2
before=$(date +%s)
load be --seconds 600 --warmup 0 --iterations-per-us 27.78
new=$LOAD_PID
of() { jq -cs "map(select(.pid == $new)) | $1" "$scratch/events"; }
check "a program's start is an event" wait_for 20 eval '[ "$(of "map(select(.event == \"timeslice\")) | length")" -ge 1 ]'
check "set makes a call" "$gpusched" set "pid:$new" timeslice=900us
check "the call is an event" wait_for 10 eval '[ "$(of "map(select(.event == \"call\")) | length")" -ge 1 ]'
check "the table of events has the call, too" wait_for 10 grep -qE " call .* $new " "$scratch/lines"
kill -INT $watching $lines
wait $watching $lines
is "$(of "map(select(.event == \"tsg-new\" or .event == \"schedule\") | [.tid == $new, .cpu < $(nproc --all)]) | unique")" \
	"[[true,true]]" "events have the thread and its CPU"
is "$(of 'map(select(.event == "tsg-new") | .timeslice_us) | unique')" "[1024]" \
	"a new TSG has the driver's timeslice"
is "$(of 'map(select(.tsg and (.event == "timeslice" or .event == "schedule"))) | group_by(.tsg) |
	map(reduce .[] as $e ({ us: 1024, ok: true };
		if $e.event == "timeslice" then .us = $e.timeslice_us else .ok = (.ok and $e.timeslice_us == .us) end) |
	.ok) | unique')" "[true]" "each schedule shows the timeslice that the TSG has by then"
like "$(grep -m1 -E " schedule .* $new " "$scratch/lines")" " (1024|2048) " "the table of events has it, too"
is "$(of 'map(select(.event == "call") | [has("tid"), has("cpu")]) | unique')" "[[false,false]]" \
	"a call by the daemon has no thread of the program"
is "$(of "map(.time_unix_ns / 1e9 >= $before - 2 and .time_unix_ns / 1e9 <= $before + 60) | unique")" "[true]" \
	"events have the right time of day"
is "$(of 'map(select(.event == "timeslice")) | first | [.tsg, .hw_tsg]')" \
	"$(rm_has $new | jq -c ".[] | select(.[0] == $(of 'map(select(.event == "timeslice")) | first | .tsg')) | .[:2]")" \
	"events have the RM's number of the TSG"
ge "$(of 'map(select(.event == "timeslice")) | first | .channel_list | length')" 8 "events have the channels"
like "$(head -1 "$scratch/lines")" "CLOCK +EVENT +CPU +PID +TID .*RUNLIST +HW_TSG +CHANNELS" "the table of events has columns"
like "$(grep -m1 " $new " "$scratch/lines")" "^[0-9:]{8}\.[0-9]{6} " "the table of events has the time of day"

# ---- which users see them -------------------------------------------------------------------------

is "$(setpriv --reuid 4712 --regid 4712 --clear-groups "$gpusched" list "pid:$new" --all --wide --json |
	jq -cs "flatten | map([.tid == $new, .hw_tsg, .channel_list]) | unique")" "[[true,null,null]]" \
	"another user sees the thread, as in ps, and no hardware ids"
stop_daemon
check "the taps are removed" "$gpusched" observe off
start_daemon || exit 1
check "a program from before the taps is listed" wait_tsgs "pid:$new" 4
is "$(wide "pid:$new" 'map([.tid, .hw_tsg != null]) | unique')" "[[null,true]]" \
	"its thread is unknown, and its number comes from the RM"
done_testing
