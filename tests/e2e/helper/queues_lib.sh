# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# queues_lib.sh - runs programs of an ordinary user with libgpreempt; source agent_lib.sh first

queues=$build/queues
iterations=$("$gsload" cal | jq .iterations_per_us)
export LD_LIBRARY_PATH=$build${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} PYTHONPATH=$top/integrations/python

# queues NAME WORDS...: runs bench/hw/queues.c as the user; its line of results in NAME.json
queues() {
	local to=$scratch/$1.json
	shift
	timeout 60 "${as_user[@]}" "$queues" "$@" per_us="$iterations" >"$to" 2>&1
}

# of NAME FILTER: applies the filter to that line
of() {
	tail -n 1 "$scratch/$1.json" | jq -r "$2"
}

# python NAME CODE: runs it as the user in the background, and waits until it prints "ready";
# $python_pid, output in NAME.out, input by $python_in
python() {
	mkfifo "$scratch/$1.in"
	chmod 644 "$scratch/$1.in"
	exec {python_in}<>"$scratch/$1.in"
	"${as_user[@]}" /usr/bin/python3 -u -c "
import os, sys, time
from ctypes import c_uint32
from gpreempt import *
gpu = GPUScheduler()
work = gpu.kernel(LOW, open('$top/docs/examples/work.ptx').read(), 'work')
def launch(n=1, rounds=60000):
    for i in range(n): gpu.submit(work, (1024, 1, 1), (256, 1, 1), [c_uint32(rounds)])
$2" >"$scratch/$1.out" 2>&1 <"$scratch/$1.in" {python_in}>&- &
	python_pid=$!
	at_end+=("$python_pid")
	wait_for 30 grep -q ready "$scratch/$1.out" || diag "$(cat "$scratch/$1.out")"
}

nothing_suspended() {
	[ "$(sim_state '[.tsgs[].disabled_channels] | add // 0')" = 0 ]
}

suspended() { # PID
	[ "$(sim_disabled "$1")" -gt 0 ]
}
