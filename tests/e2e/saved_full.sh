#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 90
# needs: root bpf fuse
# /run is full: the file of people's settings keeps the earlier ones. New settings are in force, and
# are saved once there is room.
. "$(dirname "$0")/lib.sh"
enter_sim
run=$GPUSCHED_SIM/run
mount -t tmpfs -o size=1m,mode=755 none "$run"
saved() {
	jq -r "$1" "$run/saved.json"
}
slices() {
	saved '[.tsgs[].timeslice_us] | unique | join(" ")'
}
start_daemon || exit 1
load be --seconds 600
check "a program runs" wait_tsgs "pid:$LOAD_PID" 4
exits 0 "root sets a slice" "$gpusched" set "pid:$LOAD_PID" timeslice=333us
is "$(slices)" 333 "the slice is saved"
head -c 2000000 /dev/zero >"$run/fill" 2>/dev/null
exits 0 "root sets another slice while /run is full" "$gpusched" set "pid:$LOAD_PID" timeslice=444us
is "$(sim_slice "$LOAD_PID")" 444 "the new slice is in force"
is "$(slices)" 333 "the file still has the earlier slice"
cp "$build/policies/none.bpf.o" "$scratch/mine.bpf.o"
exits 0 "a policy starts from a path while /run is full" "$gpusched" policy start "$scratch/mine.bpf.o"
check "each failure is counted" wait_for 5 eval '[ "$("$gpusched" stats --json | jq .service.saved_failed)" -ge 3 ]'
is "$(grep -c "a restart will not know what was set last" "$scratch/daemon.log")" 1 "the log says once that settings cannot be saved"
like "$(grep "will not know" "$scratch/daemon.log")" "saved.json cannot be written: No space left.*make room" \
	"the log says why, and what to do"
rm "$run/fill"
check "the slice is saved within 5 s of room" wait_for 5 eval '[ "$(slices)" = 444 ]'
like "$(saved .policy.name)" "^$run/policy-.*\.bpf\.o$" "the policy is saved as it was loaded"
check "the log says that it is saved" grep -q "what was set last is saved now" "$scratch/daemon.log"
echo nonsense >"$scratch/mine.bpf.o"
kill_daemon
wait_for 10 restored
start_daemon || not_ok "the daemon starts again"
check "the slice is set again" wait_for 10 slice_is "$LOAD_PID" 444
is "$(policy_now)" none "the policy runs again"
stop_daemon
umount "$run"
done_testing
