#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 120
# needs: root bpf fuse
# A program gets an agent's page from the daemon, and then holds the lock of its own execve(), through
# a FUSE that does not answer. The daemon looks at each agent once a second, and must not wait for the
# lock.
. "$(dirname "$0")/lib.sh"
enter_sim
mount -t tmpfs -o mode=755 none /mnt
mkdir /mnt/0
config '[Policy]
Policy = lcbe
[Classes]
Rule = comm=gsload -> be'
start_daemon || not_ok "a daemon starts"
victim
check "the victim has the policy's slice" wait_for 20 slice_is $VICTIM 1
watch_loop
"$helper" lock /mnt/0 $attacker_uid exec 1 "$GPUSCHED_SIM/run/agents" >"$scratch/out" 2>&1 &
program=$!
at_end+=($program)
check "a process with an agent's page holds the lock of its execve()" wait_for 20 grep -q ready "$scratch/out" ||
	diag "$(cat "$scratch/out")"
at_end+=("$(sed -n 's/^ready //p' "$scratch/out")")
if timeout -s KILL 1 cat "/proc/$program/stat" >/dev/null 2>&1; then
	skip_optional "a held lock" "this kernel executes without it"
	done_testing
fi
sleep 2.5 # the daemon looks at the agent at least twice
pings "a page whose process cannot be read"
set_obeyed "a page whose process cannot be read" $VICTIM 700
loop_turned "a page whose process cannot be read"
kill_restores "a page whose process cannot be read" $VICTIM
done_testing
