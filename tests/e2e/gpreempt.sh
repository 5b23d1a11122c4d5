#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 120
# needs: root fuse
# libgpreempt in one process of an ordinary user, without a daemon: priorities, suspensions, and
# what ends a suspension.
. "$(dirname "$0")/lib.sh"
enter_sim --dilate 4
. "$(dirname "$0")/helper/agent_lib.sh"
. "$(dirname "$0")/helper/queues_lib.sh"
agent_begin

queues none none seconds=1.5 warmup=0.5
queues gpreempt gpreempt seconds=1.5 warmup=0.5
is "$(of gpreempt .control)" agent "TSGs are called by the agent in the process"
is "$(of gpreempt .alone)" "" "priorities reach across processes"
ge "$(of gpreempt .n)" 5 "at least 5 requests are done"
le "$(of gpreempt '.p50_us + 1000')" "$(of none .p50_us)" "a high request takes at least 1 ms less (of some 5) under priorities"
ge "$(of gpreempt .training_per_s)" 5 "the training goes on"
is "$(of gpreempt '[.training, .requests | .uncontrolled, .refused] | add')" 0 "every queue is controlled, and no call is refused"

# requests longer than suspend_us: the low queue is suspended for them
queues long gpreempt seconds=1.5 warmup=0.5 request_us=20000 period_us=50000
ge "$(of long .training.suspended)" 1 "beside long requests the low queue is suspended"
ge "$(of long .training.suspended_us)" 2000 "it is suspended for at least 2 ms in all"
ge "$(of long .training.inversions)" 1 "an inversion is counted"
is "$(of long .requests.suspended)" 0 "the high queue is never suspended"

# explicit calls, from Python
python hand '
launch(4); gpu.preempt(LOW)
print("ready", gpu.control); sys.stdin.readline()
gpu.resume(LOW); gpu.wait(LOW); gpu.set_priority(LOW, NORMAL)
s = gpu.stats(LOW); print("done", s["done"], s["suspended"]); sys.stdin.readline()
gpu.submit(lambda stream: print("stream", stream != 0), priority=LOW)
try: gpu.submit(lambda stream: 1 / 0, priority=LOW)
except ZeroDivisionError: print("raised")
try: gpu.queue(7)
except OSError as e: print("refused", e)
if not os.fork():
    try: launch()
    except OSError as e: print("child", e.errno); os._exit(0)
os.wait(); launch(); gpu.wait(LOW); print("parent", gpu.stats(LOW)["done"])
gpu.close(); print("closed"); sys.stdin.readline()'
check "a low queue has a short slice" wait_for 5 slice_is $python_pid 20
is "$(sim_disabled $python_pid)" 8 "gpreempt_preempt() suspends the queue's TSG"
like "$(as $user "$gpusched" list pid:$python_pid)" "paused by a person" "its user's list says that it is suspended"
echo >&"$python_in"
check "gpreempt_resume() lets it run" wait_for 10 grep -qx "done 4 [1-9]" "$scratch/hand.out"
check "another priority gives the queue another slice" wait_for 5 slice_is $python_pid 800
check "nothing is suspended" nothing_suspended
echo >&"$python_in"
wait_for 20 grep -q closed "$scratch/hand.out"
is "$(grep -v "ready\|done" "$scratch/hand.out" | sort | paste -sd' ')" \
	"child 10 closed parent 6 raised refused [Errno 22] there is no priority 7: 0 is low, 2 high stream True" \
	"a function's work, its exception, a wrong priority and a child of fork() have the right results"
is "$(sim_tsgs $python_pid)" 0 "after the end there is no context"
echo >&"$python_in"

# a suspension ends with its process, or with the library's monitoring thread
python dies 'launch(4); gpu.preempt(LOW); print("ready"); sys.stdin.readline()'
check "a queue is suspended" suspended $python_pid
kill -9 $python_pid
check "SIGKILL leaves no TSG" wait_for 10 eval '[ "$(sim_tsgs $python_pid)" = 0 ]'
python exits 'launch(4); gpu.preempt(LOW); print("ready"); sys.stdin.readline(); sys.exit(7)'
check "a queue is suspended" suspended $python_pid
echo >&"$python_in"
check "exit() with a suspended queue ends" wait_for 10 gone $python_pid
wait $python_pid
is $? 7 "the exit status is the program's own"
check "nothing is suspended" nothing_suspended
python stuck 'launch(4); gpu.preempt(LOW); print("ready"); sys.stdin.readline(); print(gpu.stats(LOW))'
thread=$(grep -l gpreempt-look /proc/$python_pid/task/*/comm | cut -d/ -f5)
"$helper" stopthread "$thread" >"$scratch/stopped" &
stopper=$!
at_end+=("$stopper")
wait_for 5 grep -q stopped "$scratch/stopped"
check "a stuck monitoring thread leaves nothing suspended" wait_for 5 nothing_suspended
echo >&"$python_in"
check "the lapsed suspension is counted" wait_for 5 grep -q "'expired': [1-9]" "$scratch/stuck.out"
kill -9 $python_pid $stopper

# Without an agent's folder submissions are held back all the same, and the reason is given.
XDG_RUNTIME_DIR=$scratch/none queues bare gpreempt seconds=0.5 warmup=0.2
like "$(of bare .control)" "^none: .*XDG_RUNTIME_DIR" "a library that cannot reach its TSGs says why"
is "$(of bare .training.uncontrolled)" 1 "the queue that cannot be controlled is counted"
like "$(of bare .alone)" XDG_RUNTIME_DIR "the library says why priorities do not reach other processes"
ge "$(of bare .n)" 1 "the program works all the same"

# the example of one process
check "the example compiles" cc -std=c99 -D_POSIX_C_SOURCE=200809L -Wall -Wextra -Werror -o "$scratch/one" -I"$top/include" \
	"$top/docs/examples/one_process.c" "$build/libgpreempt.so.0" -pthread
as $user "$scratch/one" "$top/docs/examples/work.ptx" >"$scratch/one.out" 2>&1
is "$(grep -c "^request" "$scratch/one.out")" 50 "the example makes 50 requests"
check "at the end nothing is suspended" nothing_suspended
agent_end
done_testing
