#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 240
# needs: root bpf fuse
# ParkIdle= parks the programs of a class that have been idle for that long. It leaves alone
# programs that work or are of other classes, and any program that was twice brought back at once.
. "$(dirname "$0")/lib.sh"
enter_sim
config '[Classes]
Rule = uid=4321 -> be
Rule = arg=lc -> be
[Memory]
ParkIdle = be 2s
UnparkOnUse = be'
before_daemon=(env GPUSCHED_UPROBES=single) # no probes here: park_probes.sh tests them
start_daemon || not_ok "a daemon starts"

is_parked() { # PID
	[ "$(parked "$1" .state)" = parked ]
}

quiet="--iterations-per-us 27.777 --count 1 --warmup 0 --seconds 0 --linger 300"
user() { # NAME: a program of class be that does nothing
	setpriv --reuid 4321 --regid 4321 --clear-groups "$gsload" be $quiet --allocate-mib 3000 >"$scratch/$1" 2>&1 &
	declare -g "$1=$!"
	at_end+=($!)
	wait_tsgs "pid:$!" 4 || not_ok "$1 is listed"
}

"$gpusched" run --agent -- "$gsload" lc --iterations-per-us 27.777 --seconds 0 --warmup 0 --arrivals periodic \
	--period-us 20000000 --allocate-mib 100 >"$scratch/wants" 2>&1 & # it is idle for 20 s between requests
wants=$!
at_end+=($!)
wait_tsgs "pid:$wants" 4 || not_ok "a program with an agent is listed"
load lc --seconds 0 --warmup 0 --allocate-mib 500
busy=$LOAD_PID
load be $quiet --allocate-mib 1000
other=$LOAD_PID
user idle
check "an idle program is parked" wait_for 30 is_parked "$idle"
is "$(cuda_state "$idle") $(parked "$idle" '"\(.by_itself) \(.until_ns)"')" "2 true null" "parked says that gpusched parked it by itself"
like "$(status_lines)" "process $idle \(gsload\) is parked by gpusched, since it was idle: 2.9 GiB" "status says that gpusched parked it, since it was idle"
like "$("$gpusched" parked)" "parked +2.9 gpusched" "parked names gpusched"
ge "$("$gpusched" stats --json | jq .service.parked_idle)" 1 "a counter has the parked program"
is "$(cuda_state "$busy")$(cuda_state "$other")" 00 "a working program is not parked, nor is one of another class"

check "a program with an agent is parked, too" wait_for 60 is_parked "$wants"
is "$(parked "$wants" .back_on) $(parked "$idle" .back_on)" "use word" "a launch brings back the program with an agent, but not the one without"
like "$("$gpusched" parked)" "$wants .* gpusched .* use" "the table says what will bring it back"
like "$(status_lines)" "process $wants .*GiB, until it works again" "status says that it comes back when it works again"
like "$(status_lines)" "process $idle .*GiB, until somebody says so: it has no agent" "status says that a program without an agent comes back only by a command"
"$gpusched" monitor --json >"$scratch/events" &
at_end+=($!)
check "its user may bring back a program that gpusched parked by itself" as 4321 "$gpusched" unpark "pid:$idle"
is "$(cuda_state "$idle")" 0 "the program that was brought back runs"
check "the program is parked once more" wait_for 30 is_parked "$idle"
check "the program is brought back at once again" "$gpusched" unpark "pid:$idle"
like "$(status_lines)" "note: process $idle \(gsload\) is not parked by itself any more" "status says that it is not parked by itself any more"
is "$(curl -sf --unix-socket "$GPUSCHED_SIM/run/api" http://gpusched/metrics | grep -c 'findings{finding="park-in-vain",level="note"} 1')" 1 "metrics count this finding"
wait_tsgs "pid:$idle" 4 || not_ok "it has TSGs"
user later
check "another idle program is parked" wait_for 30 is_parked "$later"
is "$(cuda_state "$idle")" 0 "the program that was twice brought back is not"
check "the finding is an event" wait_for 10 eval '[ "$(jq "select(.finding == \"park-in-vain\") | .pid" "$scratch/events" 2>/dev/null)" = '"$idle"' ]'
check "the program with an agent launches, and comes back by itself" wait_for 60 eval '[ "$("$gpusched" stats --json | jq .service.unparked_on_use)" -ge 1 ]'
check "root parks that program by a command" "$gpusched" park "pid:$idle" --quiet
is "$(parked "$idle" .by_itself)" false "parked says that it was not parked by itself"
check "the next daemon knows that the other was parked by itself" eval 'kill_daemon; start_daemon && [ "$(parked '"$later"' .by_itself)" = true ]'
stop_daemon

config '[Memory]
ParkIdle = nobody 5m'
like "$("$gpuschedd" 2>&1)" "gpusched.conf:2: ParkIdle: there is no class 'nobody'" "ParkIdle= refuses an unknown class"
config '[Memory]
UnparkOnUse = nobody'
like "$("$gpuschedd" 2>&1)" "gpusched.conf:2: UnparkOnUse: there is no class 'nobody'" "UnparkOnUse= refuses an unknown class"
config '[Memory]
ParkIdle = be 5m till=6'
like "$("$gpuschedd" 2>&1)" "'till=6': only for=TIME may follow" "ParkIdle= refuses an unknown word"
done_testing
