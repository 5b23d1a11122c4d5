#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 60
# needs: root bpf fuse
# Each command makes one request to the daemon, as the daemon's counter of requests shows.
. "$(dirname "$0")/lib.sh"
enter_sim
start_daemon || exit 1
load be --iterations-per-us 27.777 --seconds 100 --warmup 0
wait_tsgs "pid:$LOAD_PID" 1

# Until the last second is known, status watches for a second, in which another request may come.
check "the last second is known" wait_for 10 eval \
	'"$gpusched" stats --json | jq -e ".gpu_time[0].window_1s != null"'
asked() { # how many requests the daemon has had; by curl, which makes exactly one
	curl -s --unix-socket "$GPUSCHED_SIM/run/api" -d '{}' http://x/v1/stats | jq .service.requests
}
requests_of() { # COMMAND...
	local before after
	before=$(asked)
	"$gpusched" "$@" >/dev/null 2>&1
	after=$(asked)
	echo $((after - before - 1))
}
ge "$(asked)" 1 "the daemon counts its requests"
for words in list gpus stats "stats --by gpu" status "status --all" history "history --changes" "class get all" \
	"class list" "class explain pid:$LOAD_PID" "policy get" "observe status"; do
	# shellcheck disable=SC2086
	is "$(requests_of $words)" 1 "gpusched $words makes one request"
done
is "$(requests_of class set "pid:$LOAD_PID" be)" 1 "gpusched class set makes one request"
is "$(requests_of set "pid:$LOAD_PID" timeslice=1ms)" 1 "gpusched set makes one request"
is "$(requests_of top --batch -n 1)" 2 "gpusched top makes one request for a screen, and one for its turns"
stop_daemon
done_testing
