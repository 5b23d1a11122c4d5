#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 120
# needs: root bpf fuse
# Eight users with as many watchers as each may have leave places to a ninth, and to root.
. "$(dirname "$0")/lib.sh"
enter_sim
chmod 711 "$scratch"
start_daemon || exit 1
api=$GPUSCHED_SIM/run/api
all=(0 8 16 24 32 40 48 54 57) # the seventh has half of the 12 that are left, the eighth of 6
for i in 1 2 3 4 5 6 7 8; do
	as $((4710 + i)) "$helper" crowd "$api" 8 unread /v1/watch >"$scratch/crowd.$i" 2>&1 &
	at_end+=($!)
	wait_for 10 watchers "${all[i]}" || not_ok "user $i has its share"
done
as 4719 "$gpusched" monitor --json >"$scratch/ninth" 2>&1 &
at_end+=($!)
check "a ninth user can watch" wait_for 10 watchers 58
as 4711 timeout 20 "$gpusched" monitor >"$scratch/more" 2>&1
like "$(cat "$scratch/more")" "too many watch" "a user with eight is refused more"
for i in 1 2 3 4; do
	"$gpusched" monitor --json >"$scratch/root.$i" 2>&1 &
	at_end+=($!)
done
check "root can watch" wait_for 10 watchers 62
is "$(cat "$scratch"/root.* | grep -c "too many")" 0 "root is not refused"
done_testing
