#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 60
# needs: root bpf fuse
# The daemon's heartbeat goes on while a policy takes long to build and to verify.
. "$(dirname "$0")/lib.sh"
enter_sim
mkdir "$scratch/bin"
for cc in clang-14 clang; do
	real=$(command -v $cc) || continue
	printf '#!/bin/sh\nsleep 2\nexec %s "$@"\n' "$real" >"$scratch/bin/$cc"
	chmod 755 "$scratch/bin/$cc"
done
PATH=$scratch/bin:$PATH start_daemon
cfg=$(find "$GPUSCHED_SIM/bpf" -name gs_cfg)

age_ms() { # of the heartbeat in the table
	bpftool -j map dump pinned "$cfg" | python3 -c '
import json, sys, time
v = json.load(sys.stdin)[0]["formatted"]["value"]
print((time.monotonic_ns() - v["heartbeat_ns"]) // 1000000)'
}

oldest() { # until process $1 has ended
	local most=0 now
	while kill -0 "$1" 2>/dev/null; do
		now=$(age_ms)
		[ "$now" -gt $most ] && most=$now
		sleep 0.1
	done
	echo $most
}

le "$(age_ms)" 1000 "an idle daemon's heart beats"
from=$SECONDS
"$gpusched" policy start "$top/tests/policy/flips.bpf.c" >/dev/null 2>"$scratch/err" &
start=$!
most=$(oldest $start)
wait $start
is "$?" 0 "a policy that takes long to build starts: $(cat "$scratch/err")"
ge $((SECONDS - from)) 2 "it took its time"
le "$most" 1000 "and the heart beat meanwhile"
done_testing
