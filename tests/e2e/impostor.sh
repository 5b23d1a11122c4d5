#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 120
# needs: root bpf fuse
# A user's own FUSE file system poses as the driver: here a second simulator, whose device files the
# first simulator's daemon does not know. The daemon must ignore it, and make no call into it.
. "$(dirname "$0")/lib.sh"
enter_sim
start_daemon || not_ok "a daemon starts"
load be --seconds 600
mine=$LOAD_PID
check "the daemon sees the program of its own simulator" wait_tsgs pid:$mine 4

# The inner shell has another GPUSCHED_SIM. It leaves its results in files in $scratch.
env -u GPUSCHED_SIM "$gpusched" sim shell -- bash -c '
	"$1" be --seconds 600 >/dev/null 2>&1 &
	echo $! >"$2/inner.pid"
	until [ "$(jq "[.tsgs[] | select(.timeslice_us == 2048)] | length" "$GPUSCHED_SIM/dev/state.json")" = 1 ]; do sleep 0.05; done
	sleep 1
	cp "$GPUSCHED_SIM/dev/state.json" "$2/inner.new" && mv "$2/inner.new" "$2/inner.json"
	while [ ! -e "$2/asked" ]; do sleep 0.05; done
	cp "$GPUSCHED_SIM/dev/state.json" "$2/inner2.new" && mv "$2/inner2.new" "$2/inner2.json"
	kill %1; wait' - "$gsload" "$scratch" >"$scratch/inner.out" 2>&1 &
inner=$!
at_end+=($inner)
wait_for 60 test -s "$scratch/inner.json" || not_ok "the impostor runs: $(cat "$scratch/inner.out")"
pid=$(cat "$scratch/inner.pid")
is "$(jq "[.tsgs[]] | length > 0" "$scratch/inner.json")" true "the program behind the impostor has TSGs in the impostor"
is "$("$gpusched" list --json | jq -s "flatten | [.[] | select(.pid == $pid)] | length")" 0 "the daemon does not list these TSGs"
exits 1 "set does not find these TSGs" "$gpusched" set pid:$pid timeslice=100us
"$gpusched" set all timeslice=100us >/dev/null
touch "$scratch/asked"
wait_for 10 test -s "$scratch/inner2.json"
is "$(jq '[.controls["0xa06c0103"].calls // 0, (.controls["0xa06c0104"].calls // 0), (.controls["0x2080110b"].calls // 0)] | join(" ")' "$scratch/inner.json")" \
	"$(jq '[.controls["0xa06c0103"].calls // 0, (.controls["0xa06c0104"].calls // 0), (.controls["0x2080110b"].calls // 0)] | join(" ")' "$scratch/inner2.json")" \
	"no call went into the impostor"
check "the program of the daemon's own simulator was set" slice_is $mine 100
wait $inner 2>/dev/null
stop_daemon
done_testing
