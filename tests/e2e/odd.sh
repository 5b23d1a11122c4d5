#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 240
# needs: root bpf fuse
# Anomalies are events of kind "odd": turns cut short, programs that stop launching. Time lost in
# switches is a finding's event, and no other. Also, which users see them.
. "$(dirname "$0")/lib.sh"
enter_sim --dilate 2
chmod 711 "$scratch"
config ''
trusting
fixed="--iterations-per-us 27.777 --seconds 100 --warmup 0"
start_daemon || exit 1

monitor_as() { # UID NAME
	setpriv --reuid "$1" --clear-groups "$gpusched" monitor --json --for 60s >"$scratch/$2" 2>&1 &
	at_end+=($!)
}
odd() { # NAME WHAT: how many such events that monitor has printed
	jq -cs "map(select(.event == \"odd\" and .what == \"$2\")) | length" "$scratch/$1"
}
told() { # WHAT
	[ "$(odd root "$1")" -ge 1 ]
}
first() { # WHAT FILTER
	jq -s "map(select(.event == \"odd\" and .what == \"$1\")) | .[0] | $2" "$scratch/root"
}

load be $fixed
be=$LOAD_PID
check "launches are counted" "$gpusched" observe launches on
load lc $fixed --period-us 5000
lc=$LOAD_PID
check "two programs run" wait_for 20 eval 'wait_tsgs pid:$be 4 && wait_tsgs pid:$lc 4'
"$gpusched" class set "pid:$be" be >/dev/null
"$gpusched" class set "pid:$lc" lc >/dev/null
monitor_as 0 root
monitor_as 65534 other
check "both monitors watch" wait_for 10 watchers 2
sleep 6 # 3 s of the simulated GPU's time: then the daemon knows what is usual
is "$(jq -cs 'map(select(.event == "odd")) | length' "$scratch/root")" 0 "whole turns cause no such event"

kill -STOP $lc
check "a program that stops launching is an event" wait_for 20 told launches-stopped
is "$(first launches-stopped .pid)" "$lc" "the event has the program"
kill -CONT $lc

"$gpusched" policy start lcbe >/dev/null
load lc $fixed --arrivals closed --period-us 200 --kernels 96 --kernel-us 4 --gap-us 14
bound=$LOAD_PID
wait_tsgs "pid:$bound" 1
"$gpusched" class set "pid:$bound" lc >/dev/null
finding() { # NAME FILTER: the first event of the finding lost-time that monitor has printed
	jq -s "map(select(.event == \"finding\" and .finding == \"lost-time\")) | .[0] // {} | $2" "$scratch/$1"
}
check "time that is lost with short slices is a finding's event" wait_for 20 eval '[ "$(finding root .state)" = "\"begins\"" ]'
ge "$(finding root .amount_pct)" 10 "the event says how much is lost"
is "$(finding root .gpu)" 0 "the event has the GPU"
like "$(finding root '.text + " " + .do')" "GPU 0 loses .*set class:be timeslice" \
	"the event has the words of status, and what to do"
check "turns that are cut short are an event" wait_for 20 told cut-short
is "$(first cut-short .pid)" "$be" "the event about short turns has the BE"
ge "$(first cut-short .turns_per_s)" 50 "the event says how many turns there are"
check "another user gets the event about the GPU" wait_for 5 eval '[ "$(finding other .gpu)" = 0 ]'
is "$(jq -cs 'map(select(.event == "odd" and .pid)) | length' "$scratch/other")" 0 "another user gets no event about a program"
is "$(jq -cs '[.[] | select(.event == "odd") | .what] | unique' "$scratch/root")" '["cut-short","launches-stopped"]' \
	"what is a finding is not odd as well"
done_testing
