#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 240
# needs: root bpf fuse
# Time lost in switches is a finding's event; which users see events of findings.
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
load be $fixed
be=$LOAD_PID
load lc $fixed --period-us 5000
lc=$LOAD_PID
check "two programs run" wait_for 20 eval 'wait_tsgs pid:$be 4 && wait_tsgs pid:$lc 4'
"$gpusched" class set "pid:$be" be >/dev/null
"$gpusched" class set "pid:$lc" lc >/dev/null
monitor_as 0 root
monitor_as 65534 other
check "both monitors watch" wait_for 10 watchers 2
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
like "$(finding root '.text + " " + .do')" "GPU 0 loses .*set class:be,gpu:0 timeslice" \
	"the event has the words of status, and what to do"
check "another user gets the event about the GPU" wait_for 5 eval '[ "$(finding other .gpu)" = 0 ]'
diag "$(jq -c 'select(.event == "finding") | [.finding, .state, .pid]' "$scratch/root")"
of_programs() { # NAME: how many such events are about a program
	jq -cs 'map(select(.event == "finding" and .pid)) | length' "$scratch/$1"
}
check "a finding about a program is an event, too" wait_for 20 eval '[ "$(of_programs root)" -ge 1 ]'
is "$(of_programs other)" 0 "another user gets no event about a program"
done_testing
