#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 90
# needs: root bpf fuse
# asan: release
# The RM does not answer when it is asked for a TSG's number on the GPU: `list --wide` leaves the
# number out, and the daemon's end does not wait for the answer.
. "$(dirname "$0")/lib.sh"
enter_sim --hang 0xa06c0106
start_daemon || not_ok "a daemon starts"
load be --seconds 600 --warmup 0 --iterations-per-us 27.78
check "a program works" wait_tsgs "pid:$LOAD_PID" 4
for time in "" "once more: "; do
	from=$SECONDS
	is "$("$gpusched" list "pid:$LOAD_PID" --all --wide --json | jq -cs 'flatten | map(.hw_tsg) | unique')" "[null]" \
		"${time}list --wide answers without the number"
	le $((SECONDS - from)) 8 "${time}list --wide answers in time, in s"
done
ge "$("$gpusched" stats --json | jq .service.ids_left)" 8 "the answers that did not come in time are counted"
from=$SECONDS
stop_daemon
le $((SECONDS - from)) 10 "the daemon ends, in s"
is "$(grep -c Sanitizer "$scratch/daemon.log")" 0 "the sanitizers report nothing"
done_testing
