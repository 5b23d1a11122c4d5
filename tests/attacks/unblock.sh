#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 120
# needs: root bpf fuse
# A program gets an agent's page, and with it a descriptor that wakes the daemon. It takes O_NONBLOCK
# from that descriptor, writes to it, and reads it empty again. The daemon's loop must never wait for
# what a user may take away.
. "$(dirname "$0")/lib.sh"
enter_sim
config '[Policy]
Policy = lcbe
[Classes]
Rule = comm=gsload -> be'
start_daemon || not_ok "a daemon starts"
victim
check "the victim has the policy's slice" wait_for 20 slice_is $VICTIM 1
watch_loop
attack unblock "$GPUSCHED_SIM/run/agents" "$(size 10000 40000)"
program=$ATTACKER
wait_for 60 eval "! kill -0 $program" || not_ok "the attack ends"
pings "a descriptor without O_NONBLOCK"
is "$(sim_slice $VICTIM)" 1 "a descriptor without O_NONBLOCK: the policy still acts"
loop_turned "a descriptor without O_NONBLOCK"
kill_restores "a descriptor without O_NONBLOCK" $VICTIM
done_testing
