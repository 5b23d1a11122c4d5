#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 120
# needs: root bpf fuse
# libgpreempt in two processes of a user, with a daemon: one process claims the GPU, the other gives
# way; and what ends claims and suspensions.
. "$(dirname "$0")/lib.sh"
enter_sim --dilate 4
. "$(dirname "$0")/helper/agent_lib.sh"
. "$(dirname "$0")/helper/queues_lib.sh"
agent_begin
LD_PRELOAD= start_daemon || not_ok "a daemon starts"

beside() { # SCHEME SECONDS: makes requests for that long, with a training in the background
	queues "$1.training" "$1" training warmup=0.5 seconds=3.5 &
	local training=$!
	wait_for 10 eval '[ "$(sim_state "[.tsgs[] | select(.engine == 1)] | length")" -ge 1 ]'
	sleep 1
	queues "$1" "$1" requests warmup=0.5 seconds="$2"
	wait $training
}

beside none 1.2
beside gpreempt 1.2
is "$(of gpreempt .control)" daemon "TSGs are called through the daemon"
ge "$(of gpreempt .n)" 5 "at least 5 requests are done"
le "$(of gpreempt '.p50_us + 1000')" "$(of none .p50_us)" "a high request takes at least 1 ms less (of some 5) under priorities"
ge "$(of gpreempt.training .training.held)" 1 "the other process holds its submissions back"
ge "$(of gpreempt.training .training_per_s)" 5 "the other process's work goes on in between"
is "$(of gpreempt.training .training.uncontrolled)" 0 "every queue of the other process is controlled"
check "nothing is suspended or changed" wait_for 10 restored

# a claim ends with its process
python claims 'infer = gpu.kernel(HIGH, open("'"$top"'/docs/examples/work.ptx").read(), "work")
gpu.preempt(LOW)
gpu.submit(infer, (1024, 1, 1), (256, 1, 1), [c_uint32(400000000)]); print("ready"); sys.stdin.readline()'
claimer=$python_pid
python waits '
launch(1); gpu.wait(LOW); print("ready"); sys.stdin.readline()
while True: launch(); gpu.wait(LOW); print("step", flush=True)'
check "during another process's claim a submission passes" grep -q ready "$scratch/waits.out"
echo >&"$python_in"
sleep 1.5
slice_within() { # LEAST MOST: the slice depends on the costs of a switch, as the daemon knows them
	local us
	us=$(sim_slice $python_pid)
	[ "$us" -ge "$1" ] && [ "$us" -le "$2" ]
}
check "two processes with low queues do not switch all the time" wait_for 5 slice_within 600 1000
le "$(grep -c step "$scratch/waits.out")" 50 "a process submits hardly anything during another's claim"
kill -STOP $claimer
check "once the claimer is stopped, work goes on" wait_for 10 eval '[ "$(grep -c step "$scratch/waits.out")" -ge 150 ]'
kill -9 $claimer
check "the process that is left has a short slice" wait_for 5 slice_within 15 25
kill -9 $python_pid
wait_for 10 eval '[ "$(sim_state ".tsgs | length")" = 0 ]'

# a suspension ends with the process that asked for it
python stops 'launch(4); gpu.preempt(LOW); print("ready"); sys.stdin.readline()'
check "a queue is suspended" suspended $python_pid
kill -STOP $python_pid
check "the daemon resumes what a stopped process has suspended" wait_for 10 nothing_suspended
kill -9 $python_pid
python dies 'launch(4); gpu.preempt(LOW); print("ready"); sys.stdin.readline()'
check "a queue is suspended" suspended $python_pid
kill -9 $python_pid
check "SIGKILL leaves nothing suspended" wait_for 10 eval 'nothing_suspended && [ "$(sim_tsgs $python_pid)" = 0 ]'
python lasts 'launch(4); gpu.preempt(LOW); print("ready"); sys.stdin.readline(); gpu.resume(LOW); sys.stdin.readline()'
sleep 1.2
check "while its process lives a suspension is renewed" suspended $python_pid
kill_daemon
start_daemon
echo >&"$python_in"
check "the next daemon resumes it when the process asks" wait_for 20 nothing_suspended
kill -9 $python_pid

# the example of two processes
as $user /usr/bin/python3 "$top/docs/examples/two_processes.py" train "$top/docs/examples/work.ptx" >"$scratch/train.out" 2>&1 &
trainer=$!
at_end+=("$trainer")
sleep 1
timeout 60 "${as_user[@]}" /usr/bin/python3 "$top/docs/examples/two_processes.py" infer "$top/docs/examples/work.ptx" >"$scratch/infer.out" 2>&1
is "$(grep -c "^request" "$scratch/infer.out")" 50 "the example makes 50 requests"
end_load $trainer
stop_daemon
check "at the end nothing is suspended" nothing_suspended
agent_end
done_testing
