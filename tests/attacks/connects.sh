#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 120
# needs: root bpf fuse
# Six users connect without a pause, far more often than they may. Root must still be answered.
. "$(dirname "$0")/lib.sh"
enter_sim
chmod 711 "$scratch"
start_daemon || exit 1
victim
watch_loop
storm=()
for uid in $(seq 60001 60006); do
	setpriv --reuid $uid --regid $uid --clear-groups "$helper" ask "$GPUSCHED_SIM/run/api" 200 ping '{}' \
		>"$scratch/answers.$uid" 2>&1 &
	storm+=($!)
done
at_end+=("${storm[@]}")
refused() {
	curl -sf --max-time 5 --unix-socket "$GPUSCHED_SIM/run/api" http://gpusched/metrics |
		sed -n 's/^gpusched_connections_refused_total //p'
}
check "connections are refused" wait_for 20 eval '[ "$(refused)" -ge 1000 ]'
worst=0
for ((i = 0; i < $(size 10 50); i++)); do
	took curl -sf -o /dev/null --max-time 30 --unix-socket "$GPUSCHED_SIM/run/api" -d '{}' http://gpusched/v1/ping
	worst=$((MS > worst ? MS : worst))
done
le $worst 1500 "the longest of many pings of root, in ms"
set_obeyed "in the storm" $VICTIM 400
kill "${storm[@]}"
wait "${storm[@]}"
ge "$(cat "$scratch"/answers.* | sort -n | head -1)" 1 "no account is left without an answer"
loop_turned "a storm of connects"
kill_restores "a storm of connects" $VICTIM
done_testing
