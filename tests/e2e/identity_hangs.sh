#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 90
# needs: root bpf fuse
# asan: yes
# RM does not answer the question for a TSG's number on the GPU: `list --wide` leaves it out, and
# the daemon's end does not wait.
. "$(dirname "$0")/lib.sh"
enter_sim --hang 0xa06c0106
start_daemon || not_ok "a daemon starts"
load be --seconds 600 --warmup 0 --iterations-per-us 27.78
check "a program works" wait_tsgs "pid:$LOAD_PID" 4
for time in "" "once more: "; do
	from=$SECONDS
	is "$("$gpusched" list "pid:$LOAD_PID" --all --wide --json | jq -cs 'flatten | map(.hw_tsg) | unique')" "[null]" \
		"${time}the number is not known"
	le $((SECONDS - from)) 8 "${time}but all else is told, after s"
done
ge "$("$gpusched" stats --json | jq .service.ids_left)" 8 "the late answer is counted"
from=$SECONDS
stop_daemon
le $((SECONDS - from)) 10 "the daemon ends, in s"
is "$(grep -c Sanitizer "$scratch/daemon.log")" 0 "nothing was used after its end"
done_testing
