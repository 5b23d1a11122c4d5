#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 120
# needs: root bpf fuse
# A TSG is freed while the daemon adopts it: after the daemon has read it, and before it has a
# record that a tap could end. Meanwhile the simulated RM withholds its answer about channels.
. "$(dirname "$0")/lib.sh"
enter_sim --hang 0xa06f0113
mkfifo "$scratch/words" "$scratch/stay"
exec 9<>"$scratch/words" 8<>"$scratch/stay"
"$helper" drop 1 <"$scratch/words" >"$scratch/drops" 2>&1 & # the lower pid: it is adopted first
drops=$!
at_end+=($drops)
"$helper" tsgs 1 <"$scratch/stay" >"$scratch/stays" 2>&1 &
stays=$!
at_end+=($stays)
check "two programs have a TSG each" wait_for 10 eval '[ "$(sim_tsgs '$stays')" = 1 ] && [ "$(sim_tsgs '$drops')" = 1 ]'
"$gpuschedd" --foreground >"$scratch/daemon.log" 2>&1 &
DAEMON_PID=$!
hangs() { # the daemon stays in one ioctl() for 0.3 s
	local call
	call=$(grep "^16 " "/proc/$DAEMON_PID/syscall") && sleep 0.3 && [ "$call" = "$(cat "/proc/$DAEMON_PID/syscall")" ]
}
check "adoption waits for RM" wait_for 20 hangs
echo >&9
check "one program frees its TSG meanwhile" wait_for 10 grep -q ready "$scratch/drops"
goes_on() { # a signal ends a withheld call, and the next one may be withheld, too
	! daemon_ready && kill -STOP $DAEMON_PID && kill -CONT $DAEMON_PID
	daemon_ready
}
check "adoption goes on" wait_for 20 goes_on
check "the other one is adopted" wait_tsgs pid:$stays 1
is "$(list_json pid:$drops length)" 0 "the freed TSG has no record"
stop_daemon
done_testing
