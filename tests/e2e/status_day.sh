#!/bin/bash
# SPDX-License-Identifier: MIT
# With a history of a day and 2,000 processes, status and history are right, and answer within a
# second.
# timeout: 90
# needs: root bpf fuse
. "$(dirname "$0")/lib.sh"
enter_sim --dilate 2
fixed="--iterations-per-us 27.777 --seconds 100 --warmup 0"

# timed COMMAND...: $ms: how long it took, in ms; $out: its output
timed() {
	local from TIMEFORMAT="# $2: %R s, of that %U and %S s of its own CPU time"
	from=$(date +%s%N)
	time out=$("$@" 2>&1)
	ms=$((($(date +%s%N) - from) / 1000000))
}

load be $fixed
lc=$LOAD_PID
load be $fixed
start_daemon
check "two programs are listed" eval 'wait_tsgs pid:$lc 1 && wait_tsgs pid:$LOAD_PID 1'
started() {
	python3 -c 'import sqlite3, sys
db = sqlite3.connect(sys.argv[1], timeout=20)
print(db.execute("SELECT start FROM process WHERE pid = ?", sys.argv[2:]).fetchone()[0])' \
		"$GPUSCHED_SIM/state/history.db" $lc 2>/dev/null
}
known() { "$gpusched" history --since 1h >/dev/null && [ -n "$(started)" ]; }
check "the history has both programs" wait_for 20 known
start=$(started)
stop_daemon
rm "$GPUSCHED_SIM"/state/history.db*
like "$("$helper" day "$GPUSCHED_SIM/state" $lc "$start")" "^17[0-9]{4} records|^2[0-9]{5} records" "a day of records is written"
start_daemon
"$gpusched" class set pid:$lc lc >/dev/null
own() { jq -c ".gpus[0].tsgs | map(select(.pid == $lc))[0].$1"; }
waits() { [ "$("$gpusched" status --json | own wait_share_pct)" != null ]; }
check "status has the LC's waits" wait_for 20 waits

for _ in 1 2 3; do
	timed "$gpusched" status --json
done
le "$ms" 1000 "status answers within a second"
is "$(own calm_wait_pct <<<"$out" | cut -d. -f1)" 10 "status has the LC's calm minutes, not those of an earlier process with its pid"
ge "$(own held_pct <<<"$out" | cut -d. -f1)" 25 "status has the LC's share of now"
like "$(jq -r '.findings[].text' <<<"$out")" "process $lc .* waits .* % of its time" "status finds that the LC waits more than in its calm minutes"

timed "$gpusched" history --since 25h --by process --json
le "$ms" 1000 "history answers within a second"
of() { jq -s "flatten | map(select(.pid == $1)) | $2" <<<"$out"; }
ge "$(jq -s 'flatten | length' <<<"$out")" 2000 "history has all 2,000 processes"
is "$(of 5 'map(select(.comm == "training"))[0].gpu_time_ms')" 1440 "history has the time of a process that ran all day"
is "$(of 1500 'map(select(.comm == "training"))[0].gpu_time_ms')" 60 "history has the time of a process that ran an hour"
is "$(jq -s "flatten | map(select(.pid == $lc and .ended_s != null and .gpu_time_ms == 36000)) | length" <<<"$out")" 1 \
	"history has the earlier process with the LC's pid"
done_testing
