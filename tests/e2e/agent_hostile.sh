#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 240
# needs: root fuse
# asan: yes
# Agents and their memory page withstand bad messages, hostile peers and folders of others.
. "$(dirname "$0")/lib.sh"
enter_sim
. "$(dirname "$0")/helper/agent_lib.sh"
agent_begin

mkfifo "$scratch/in"
chmod 666 "$scratch/in"
exec 7<>"$scratch/in"
agent_load wait -- "$guest" wait <&7
pid=$agent_pid
wait_for 10 mine_has $pid
check "an agent answers" mine_has $pid
is "$(as $user "$guest" assault $pid)" "proper 0" "the agent answers after 300 bad messages and 40 connections"
check "the program of that agent goes on" mine_has $pid
is "$(sim_disabled $pid)" 0 "the channels of that program are enabled"

# Operations in the page are those of enum gs_rm_op: 1 SET_TIMESLICE, 4 PREEMPT, 7 SCHEDULE.
like "$(as $user "$guest" page $pid 1 0 600)" "cannot be shrunk 1.answered 1, error 0" "a request through the page is answered"
check "the agent makes the request" slice_is $pid 600
like "$(as $user "$guest" page $pid 1 1 700)" "answered 1, error 0" "a request is answered after a user filled the page with ones"
check "the agent makes that request, too" slice_is $pid 700
like "$(as $user "$guest" page $pid 7 0 0)" "answered 1, error -22" "an operation that is not on the agent's list is refused"
like "$(as $user "$guest" page $pid 4000000000 0 0)" "answered 1, error -22" "an unknown operation is refused"
like "$(as $user "$guest" page $pid 1 77 600)" "error -22" "a request for a TSG that does not exist is refused"
like "$(as $user "$guest" page $pid 1 0 0)" "error -34" "a slice out of range is refused"
like "$(as 4712 env XDG_RUNTIME_DIR="$XDG_RUNTIME_DIR" "$guest" page $pid 1 0 800)" "no page" "another user gets no page"
chmod 755 "$XDG_RUNTIME_DIR" "$XDG_RUNTIME_DIR/gpusched"
chmod 777 "$XDG_RUNTIME_DIR/gpusched/agent-$pid"
exits 3 "a folder that others may enter is not trusted" as $user "$gpusched" list
chmod 700 "$XDG_RUNTIME_DIR/gpusched"
check "the refused requests changed no slice" slice_is $pid 700

# The program itself decides whether it gives way when it is asked to.
as $user "$gpusched" preempt pid:$pid >/dev/null
echo >&7
check "the program ends" wait_for 10 gone $pid
wait $pid 2>/dev/null
is "$(tail -n 1 "$scratch/wait.out")" "asked 1, gave way 0, asked 0" "a program that was asked gives way, and is then not asked any more"

# A signal makes the agent act at once, in the program's own thread.
export GPUSCHED_AGENT_SIGNAL=3
agent_load signal -- "$guest" wait <&7
pid=$agent_pid
wait_for 10 mine_has $pid
like "$(as $user "$guest" page $pid 1 0 650 3)" "answered 1, error 0" "a request by signal is answered"
check "the signal handler makes the request" slice_is $pid 650
like "$(as $user "$guest" page $pid 5 0 0 3)" "answered 1, error -22" "the signal handler suspends nothing"
unset GPUSCHED_AGENT_SIGNAL
echo >&7
wait_for 10 gone $pid

# a set-user-id program: it loads the agent by path, since ld.so ignores LD_PRELOAD there
cp "$guest" "$scratch/suid"
cp "$agent_so" "$scratch/agent.so"
chown 4712 "$scratch/suid"
chmod 4755 "$scratch/suid"
if findmnt -no OPTIONS -T "$scratch" | grep -qw nosuid; then
	skip_optional "a set-user-id program" "the folder is mounted nosuid"
else
	is "$(setpriv --reuid $user --regid $user --clear-groups "$scratch/suid" secure "$scratch/agent.so")" \
		"off: a set-user-id program, threads 1" "in a set-user-id program the agent does nothing"
fi
is "$(setpriv --reuid $user --regid $user --clear-groups "$guest" secure "$scratch/agent.so")" \
	"no hint yet, threads 3" "in any other program the agent acts"

# another user's folder in place of the agents' folder
agent_end
mkdir -m 777 "$XDG_RUNTIME_DIR"
ln -s /tmp "$XDG_RUNTIME_DIR/gpusched"
as $user timeout 10 env LD_PRELOAD="$agent_preload" "$guest" quick >"$scratch/out"
is $? 12 "where the folder is a link, the program runs"
is "$(find /tmp -maxdepth 1 -name 'agent-*' -newer "$scratch/in" | wc -l)" 0 "nothing is made through the link"
agent_end
done_testing
