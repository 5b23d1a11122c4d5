#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 120
# needs: root bpf fuse
# asan: yes
# What identifies a TSG to the hardware, and who made it: `list --wide`, `monitor --verbose`, tid:N.
. "$(dirname "$0")/lib.sh"
enter_sim
chmod 711 "$scratch"

wide() { # TARGET FILTER
	"$gpusched" list "$1" --all --wide --json | jq -cs "flatten | $2"
}
# handle, the GPU's number and channels of each TSG, as the simulated RM has them
rm_has() { # PID
	sim_state -c "[.tsgs[] | select(.pid == $1) | [.handle, .grp_id, ([.channel_list[] | [.handle, .cid]] | sort)]] | sort"
}
we_say() { # PID [WHO]
	wide "pid:$1" '[.[] | [.tsg, .hw_tsg, ([.channel_list[] | [.channel, .context_id]] | sort)]] | sort'
}
agrees() { [ "$(we_say "$1")" = "$(rm_has "$1")" ]; }

# ---- without a daemon ------------------------------------------------------------------------------

check "the taps are on" "$gpusched" observe on
load be --seconds 600 --warmup 0 --iterations-per-us 27.78
be=$LOAD_PID
check "a program is there" wait_tsgs "pid:$be" 4
check "without a daemon RM is asked all the same" wait_for 10 agrees $be
is "$(rm_has $be | jq 'map(.[2] | length)' -c)" "$(we_say $be | jq 'map(.[2] | length)' -c)" "all channels are told"
ge "$(wide "pid:$be" 'map(.channel_list | length) | add')" 12 "there are some"

# ---- with one --------------------------------------------------------------------------------------

start_daemon || exit 1
mkfifo "$scratch/fifo"
exec 9<>"$scratch/fifo"
"$helper" threads 3 <"$scratch/fifo" >"$scratch/threads" 2>&1 &
many=$!
at_end+=($many)
check "three threads have made a TSG each" wait_tsgs "pid:$many" 3
check "the GPU's ids are RM's" wait_for 10 agrees $many
check "of a program from before the daemon, too" wait_for 10 agrees $be
is "$(wide "pid:$many" '[.[] | "thread \(.tid) \(.tsg)"] | sort')" \
	"$(grep thread "$scratch/threads" | sort | jq -Rcs 'split("\n") | map(select(. != ""))')" \
	"the threads are those of the program"
is "$(wide "pid:$be" "map(.tid == $be) | unique")" "[true]" "gsload has one"
is "$(wide "pid:$be" 'map(.runlist == .gpu * 256 + (if .engine == "GR0" then 1 else (.engine[2:] | tonumber) + 9 end)) | unique')" \
	"[true]" "the runlist is of GPU and engine"
is "$("$gpusched" list "pid:$many" --json | jq -cs 'flatten | map([has("tid"), has("hw_tsg"), has("channel_list")]) | unique')" \
	"[[true,false,false]]" "RM is asked for --wide alone"
like "$("$gpusched" list "pid:$many" --wide --all)" "TID +RUNLIST +HW_TSG +HCLIENT +HTSG +CHANNELS" "people see them as well"
row=$(wide "pid:$many" '.[0] | "\(.tid) +\(.runlist) +\(.hw_tsg) +\(.client) +\(.tsg) +\(.channel_list[0].context_id)"' | jq -r .)
like "$("$gpusched" list "pid:$many" --wide --all)" "$row" "people see the same figures"

# ---- tid: ------------------------------------------------------------------------------------------

tid=$(awk '/thread/ { print $2; exit }' "$scratch/threads")
handle=$(awk '/thread/ { print $3; exit }' "$scratch/threads")
is "$(wide "tid:$tid" 'map(.tsg)')" "[\"$handle\"]" "tid: finds the TSG that this thread has made"
check "it is set by that" "$gpusched" set "tid:$tid" timeslice=777us
is "$(wide "pid:$many" 'map(select(.is.timeslice_us == 777) | .tsg)')" "[\"$handle\"]" "no other one is set"
is "$("$gpusched" list "pid:$many,tid:$tid" --all --json | jq -s 'flatten | length')" 1 "pid: beside it selects no other one, too"
exits 1 "tid: of a thread that made none" "$gpusched" list tid:1
exits 1 "nor can it be set" "$gpusched" set tid:1 timeslice=700us
exits 2 "tid: wants a number" "$gpusched" list tid:x
check "a class by tid:" "$gpusched" class set "tid:$tid" be
is "$(wide "tid:$tid" '.[0].class')" '"be"' "its process has the class then"
"$gpusched" monitor "tid:$tid" --for 20s --count 1 --json >"$scratch/filtered" 2>&1 &
filtered=$!
check "it is watched" wait_for 10 watchers 1
"$gpusched" set "pid:$many" timeslice=500us >/dev/null
wait $filtered
is "$(jq -cs 'map(select(.tsg) | .tsg)' "$scratch/filtered")" "[\"$handle\"]" "tid: chooses events as well"

# ---- monitor --verbose -----------------------------------------------------------------------------

"$gpusched" monitor --verbose --for 40s --json >"$scratch/events" 2>&1 &
watching=$!
"$gpusched" monitor -v --for 40s >"$scratch/lines" 2>&1 &
lines=$!
check "two watch" wait_for 10 watchers 2
before=$(date +%s)
load be --seconds 600 --warmup 0 --iterations-per-us 27.78
new=$LOAD_PID
of() { jq -cs "map(select(.pid == $new)) | $1" "$scratch/events"; }
check "a program's start is told" wait_for 20 eval '[ "$(of "map(select(.event == \"timeslice\")) | length")" -ge 1 ]'
check "a call of ours too" "$gpusched" set "pid:$new" timeslice=900us
check "the call is told" wait_for 10 eval '[ "$(of "map(select(.event == \"call\")) | length")" -ge 1 ]'
check "the same to people" wait_for 10 grep -qE " call .* $new " "$scratch/lines"
kill -INT $watching $lines
wait $watching $lines
is "$(of "map(select(.event == \"tsg-new\" or .event == \"schedule\") | [.tid == $new, .cpu < $(nproc --all)]) | unique")" \
	"[[true,true]]" "people see the thread and the CPU that it ran on"
is "$(of 'map(select(.event == "call") | [has("tid"), has("cpu")]) | unique')" "[[false,false]]" \
	"a call of ours is no thread's of the program"
is "$(of "map(.time_unix_ns / 1e9 >= $before - 2 and .time_unix_ns / 1e9 <= $before + 60) | unique")" "[true]" \
	"the clock's time is right"
is "$(of 'map(select(.event == "timeslice")) | first | [.tsg, .hw_tsg]')" \
	"$(rm_has $new | jq -c ".[] | select(.[0] == $(of 'map(select(.event == "timeslice")) | first | .tsg')) | .[:2]")" \
	"the TSG's number is RM's"
ge "$(of 'map(select(.event == "timeslice")) | first | .channel_list | length')" 8 "its channels are told"
like "$(head -1 "$scratch/lines")" "CLOCK +EVENT +CPU +PID +TID .*RUNLIST +HW_TSG +CHANNELS" "people get columns"
like "$(grep -m1 " $new " "$scratch/lines")" "^[0-9:]{8}\.[0-9]{6} " "people see the time of day"

# ---- whose they are --------------------------------------------------------------------------------

is "$(setpriv --reuid 4712 --regid 4712 --clear-groups "$gpusched" list "pid:$new" --all --wide --json |
	jq -cs "flatten | map([.tid == $new, .hw_tsg, .channel_list]) | unique")" "[[true,null,null]]" \
	"another user sees the thread, as in ps, and no hardware ids"
stop_daemon
check "without taps" "$gpusched" observe off
start_daemon || exit 1
check "what was there before the taps" wait_tsgs "pid:$new" 4
is "$(wide "pid:$new" 'map([.tid, .hw_tsg != null]) | unique')" "[[null,true]]" \
	"nobody saw its thread, but RM tells its number"
done_testing
