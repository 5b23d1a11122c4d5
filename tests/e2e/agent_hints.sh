#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 120
# needs: root fuse
# Hints, given by a program and by the agent itself; their limits; profilers.
. "$(dirname "$0")/lib.sh"
enter_sim --dilate 4
. "$(dirname "$0")/helper/agent_lib.sh"
agent_begin
requests=$build/requests
iterations=$("$gsload" cal | jq .iterations_per_us)

is "$(as $user "$guest" hint)" "0 off: no agent (gpusched run --agent)" "without an agent a hint does nothing"
is "$(as $user "$gpusched" run --agent --class lc -- "$guest" hint)" "0 not yet: no CUDA context" "without a CUDA context a hint does nothing"
is "$(as $user "$guest" lead)" 0 "without an agent the lead is 0"
is "$(as $user "$gpusched" run --agent --class lc -- "$guest" lead)" 184 "without a daemon the lead is that of an H200"

hinted() { # CLASS OPTIONS...: the result that gsload prints
	as $user "$gpusched" run --agent --class "$1" -- "$gsload" lc --hint --iterations-per-us "$iterations" \
		--arrivals closed --period-us 5000 --warmup 0.1 --seconds 0.8 --lead-us 400 "${@:2}"
}
is "$(hinted be | jq -r .hint)" "off: only programs of class lc (gpusched run --agent --class lc)" "class be gets no pre-switch"
is "$(CUDA_INJECTION64_PATH=/usr/lib/libprofiler.so hinted lc | jq -r .hint)" \
	"off: launches are not seen, so nothing would end it in time" "a program with a profiler gets no pre-switch"
seen_by() { # VARIABLE=VALUE [LIBRARY]: the agent's answer in a program that a tool has started
	as $user env "$1" LD_PRELOAD="$agent_preload${2:+:$2}" GPUSCHED_AGENT_CLASS=lc "$guest" hint 2>/dev/null
}
for tool in CUDA_INJECTION64_PATH=/usr/lib/libprofiler.so NSYS_PROFILING_SESSION_ID=1 NV_NSIGHT_INJECTION_TRANSPORT_TYPE=1 NVPROF_ID=x; do
	is "$(seen_by $tool)" "0 off: launches are not seen, so nothing would end it in time" "the agent takes $tool for a profiler's"
done
for tool in libInterceptorInjectionTarget.so libTreeLauncherTargetInjection.so; do
	is "$(seen_by A=b /opt/$tool)" "0 off: launches are not seen, so nothing would end it in time" "the agent takes $tool for a profiler"
done
is "$(seen_by CUDA_INJECTION64_PATH="$agent_so" /opt/libInjection.so)" "0 not yet: no CUDA context" "the agent takes no other tool for a profiler"
is "$(CUDA_LAUNCH_BLOCKING=1 hinted lc | jq -r .hint)" \
	"off: launches wait for their end (CUDA_LAUNCH_BLOCKING)" "a program whose launches wait for their end gets no pre-switch"

"${as_user[@]}" "$gsload" be --seconds 300 --iterations-per-us "$iterations" >/dev/null 2>&1 &
be=$!
at_end+=($be)
wait_for 20 eval '[ "$(sim_slice $be)" = 2048 ]'
sleep 1
agent_load lc --class lc -- "$gsload" lc --hint --iterations-per-us "$iterations" --arrivals closed --period-us 5000 \
	--lead-us 400 --warmup 0.1 --seconds 1.5
wait $agent_pid
lc=$(cat "$scratch/lc.out")
# The state at the last request. On a busy machine long requests may use up the agent's quarter.
like "$(jq -r .hint <<<"$lc")" "^(on|not now: its part .*)\$" "class lc gets pre-switches"
ge "$(jq -r .n <<<"$lc")" 50 "at least 50 of its requests are done"

# Pre-switches may take a quarter of any second at most: these leads of 20 ms would take nearly all.
agent_load greedy --class lc -- "$gsload" lc --hint --iterations-per-us "$iterations" --arrivals closed --period-us 100 \
	--lead-us 5000 --warmup 0 --seconds 300
wait_for 10 mine_has $agent_pid
sleep 3
a=$(mine '.[0].pre_switched_ns' pid:$agent_pid) t=$EPOCHREALTIME
sleep 2
b=$(mine '.[0].pre_switched_ns' pid:$agent_pid)
used=$(awk -v a="$a" -v b="$b" -v t="$t" -v u="$EPOCHREALTIME" 'BEGIN { print (b - a) / 1e9 / (u - t) }')
ge "$used" 0.02 "pre-switches use some of the time"
le "$used" 0.4 "pre-switches stop at about a quarter of each second"
is "$(mine '.[0] | .hints > .pre_switches and .pre_switches > 0' pid:$agent_pid)" true "further hints cause no pre-switch"
end_load $agent_pid
wait $agent_pid 2>/dev/null

# automatic hints for a server that waits with epoll and gives no hints itself
"${as_user[@]}" "$gpusched" run --agent --class lc --hint=auto -- "$requests" serve "$XDG_RUNTIME_DIR/sock" 100 300 "$iterations" 2>"$scratch/serve.out" &
server=$!
at_end+=($server)
wait_for 20 test -S "$XDG_RUNTIME_DIR/sock"
as $user "$requests" ask "$XDG_RUNTIME_DIR/sock" 3 20000 >"$scratch/ask.out"
ge "$(jq .n "$scratch/ask.out")" 30 "requests are answered"
pre=$(mine '.[0].pre_switches' pid:$server)
ge "$pre" 10 "after ten requests that were followed by a launch, the next ones get pre-switches"
le "$pre" "$(mine '.[0].launches' pid:$server)" "there is at most one pre-switch for each launch"
end_load $server

# the Python module, which uses ctypes, in a program without CUDA
is "$(as $user "$gpusched" run --agent -- /usr/bin/python3 -c '
import sys; sys.path.insert(0, sys.argv[1])
import gpusched_hint as h
print(h.coming(), h.yield_asked(), h.state())' "$top/integrations/python")" \
	"False False off: only programs of class lc (gpusched run --agent --class lc)" "the Python module finds the agent"
is "$(as $user /usr/bin/python3 -c '
import sys; sys.path.insert(0, sys.argv[1])
import gpusched_hint as h
h.here(); h.done(); h.deadline(5)
print(h.coming(), h.state())' "$top/integrations/python")" "False off: no agent (gpusched run --agent)" "the Python module works without an agent"
agent_end
done_testing
