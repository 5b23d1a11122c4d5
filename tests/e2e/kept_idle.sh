#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 120
# needs: root bpf fuse
# status says that a policy keeps a program off an idle GPU: one with work, suspended or not admitted.
. "$(dirname "$0")/lib.sh"
enter_sim
config '[Classes]
DefaultClass = be
Class = be suspend_limit_ms=600000'
start_daemon
for policy in suspends_all holds_forever; do
	"$gpusched" policy build "$top/tests/policy/$policy.bpf.c" --output "$scratch/$policy.bpf.o" >/dev/null
done
found() { "$gpusched" status --json | jq -e '.findings | any(.finding == "kept-idle")' >/dev/null; }
not_found() { ! found; }
metrics() { curl -sf --max-time 5 --unix-socket "$GPUSCHED_SIM/run/api" http://gpusched/metrics; }
held() { "$gpusched" status --json | jq '.gpus[0] | .held_pct - (.idle_pct // 0) | floor'; }

load be --seconds 0
be=$LOAD_PID
load lc --seconds 0
lc=$LOAD_PID
check "programs hold the GPU" wait_for 15 eval 'held=$(held); [ "${held:-0}" -ge 60 ]'
"$gpusched" suspend "pid:$be" >/dev/null
"$gpusched" suspend "pid:$lc" >/dev/null
sleep 6
check "a person's suspension of all is no such finding" not_found
"$gpusched" resume "pid:$be" >/dev/null
"$gpusched" resume "pid:$lc" >/dev/null
check "nothing is found while the program works" not_found

check "a policy suspends all" "$gpusched" policy start "$scratch/suspends_all.bpf.o"
begun_ns=$(awk '{ printf "%.0f", $1 * 1e9 }' /proc/uptime)
check "status finds the idle GPU" wait_for 5 found
began_ms=$("$gpusched" status --json | jq "(.findings | map(select(.finding == \"kept-idle\"))[0].since_ns - $begun_ns) / 1e6 | floor")
le "$began_ms" 2000 "it began soon after that: 3 s later it is found, so within 5 s"
exits 5 "status says that something is wrong" "$gpusched" status
like "$out" "wrong: GPU 0 is idle, and policy suspends_all suspends process ($be|$lc) " "status names the policy and the program"
check "idle time does not count as held" wait_for 20 eval 'held=$(held); [ "${held:-99}" -le 20 ]' ||
	diag "$("$gpusched" status; "$gpusched" status --json | jq -c '.gpus[] | [.held_pct, .idle_pct, .open_pct]')"
check "alerts and metrics have the finding" wait_for 5 eval 'metrics | grep -q "finding=.kept-idle"'
"$gpusched" policy stop >/dev/null
check "the finding ends with the policy" wait_for 10 not_found

# ---- a program that the policy has never let run
end_load $be
end_load $lc
check "the policy suspends all again" "$gpusched" policy start "$scratch/suspends_all.bpf.o"
load be --seconds 0
check "status finds a program that never ran, too" wait_for 15 found
"$gpusched" policy stop >/dev/null
end_load $LOAD_PID

# ---- a program without work
load be --count 50 --seconds 0 --linger 100
idle=$LOAD_PID
check "a program has ended its work" wait_for 20 eval '[ "$(compute $idle .idle_since_ns)" != null ]'
check "the policy suspends it" "$gpusched" policy start "$scratch/suspends_all.bpf.o"
check "it is suspended" wait_for 10 eval '[ "$(compute $idle .suspended_by)" = policy ]'
sleep 6
check "suspending an idle program is no such finding" not_found
end_load $idle KILL
stop_daemon

# ---- programs that a policy does not admit, with the default settings
config '[Classes]
DefaultClass = be'
start_daemon
check "a policy admits no program" "$gpusched" policy start "$scratch/holds_forever.bpf.o"
load be --seconds 0
held=$LOAD_PID
check "status finds a program that is not admitted" wait_for 10 found
like "$(status_lines)" "wrong: GPU 0 is idle, and policy holds_forever .* process $held " "status names that policy and that program"
done_testing
