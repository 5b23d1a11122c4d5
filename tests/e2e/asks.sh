#!/bin/bash
# SPDX-License-Identifier: MIT
# needs: root bpf fuse
# gpusched_find(), gpusched_limit(), gpusched_wall_ns() and gpusched_preempt() of a policy on the stock host.
. "$(dirname "$0")/lib.sh"
enter_sim
exec 2>"$scratch/stderr"
cp "$top/tests/policy/asks.bpf.c" "$scratch"
(cd "$scratch" && "$gpusched" policy build asks.bpf.c >/dev/null) || not_ok "the policy builds"
start_daemon
"$gpusched" run --class be --limit 40 -- "$gsload" be --seconds 0 >/dev/null 2>&1 &
a=$!
"$gpusched" run --class lc --weight 321 -- "$gsload" be --seconds 0 >/dev/null 2>&1 &
b=$!
at_end+=($a $b)
check "two programs run" wait_for 30 eval '[ -n "$(compute $a .id)" ] && [ -n "$(compute $b .id)" ]'
who=$(compute $a .id) whom=$(compute $b .id)
"$gpusched" monitor --json --for 60s >"$scratch/events" 2>/dev/null &
at_end+=($!)
# Root sets the weight: more than the class's 100 is a raise.
"$gpusched" class set "pid:$b" lc --weight 321 >/dev/null
exits 0 "the policy starts" "$gpusched" policy start "$scratch/asks.bpf.o" -o "who=$who" -o "whom=$whom" -o every=50
said() { grep -q "$1" "$scratch/daemon.log"; }
check "the policy finds another TSG's record" wait_for 10 said "found of weight 321"
check "the policy finds no record for an unknown id" said "not found 9999"
check "the policy reads the limit of its own TSG" said "limit 40"
wall_s=$(sed -n 's/.*wall ms \([0-9]*\)[0-9]\{3\}$/\1/p' "$scratch/daemon.log" | tail -n 1)
ge "$wall_s" "$(($(date +%s) - 60))" "the policy has the time of day"
le "$wall_s" "$(date +%s)" "the time of day is not in the future"
check "the policy reads no limit for an unknown id" eval '! said "limit of nobody"'
preempts() { jq -s 'map(select(.event == "call" and .call == "preempt" and .done)) | length' <"$scratch/events"; }
check "the policy preempts the BE several times" wait_for 20 eval '[ "$(preempts)" -ge 4 ]'
is "$(jq -s --argjson id "$who" 'map(select(.event == "call" and .call == "preempt" and .id != $id)) | length' \
	"$scratch/events")" 0 "the policy preempts no other TSG"
exits 0 "the policy stops" "$gpusched" policy stop
n=$(preempts)
sleep 2
is "$(preempts)" "$n" "no preemption comes after the policy's end"

exits 0 "the policy starts once more, and asks that the BE is parked" "$gpusched" policy start "$scratch/asks.bpf.o" -o park=7
check "the BE is parked" wait_for 20 eval '[ "$(parked "$a" .state)" = parked ]'
is "$(parked "$a" '"\(.by_itself) \(.by_policy) \((.until_ns - .since_ns) / 60e9 | round)"')" "true true 7" "the BE is parked for the policy, for 7 minutes"
like "$("$gpusched" parked)" "$a .* policy " "parked says that a policy parked it"
like "$(status_lines)" "process $a \(gsload\) is parked by gpusched, as a policy wished" "status says that a policy parked it"
is "$("$gpusched" stats --json | jq .service.parked_wished)" 1 "a counter has this parking"
n=$(counter refused_park)
check "a person unparks the BE" "$gpusched" unpark "pid:$a"
check "the policy's next parking is refused" wait_for 10 eval '[ "$(counter refused_park)" -gt '"$n"' ]'
like "$(cat "$scratch/daemon.log")" "wishes process $a parked: refused, a policy had it parked in the last 10 minutes" "the log has the reason"
check "list shows the refusal" wait_for 5 eval 'compute "$a" .reason | grep -q "wish to park its program was refused"'
is "$(parked "$a" .state)" "" "the BE runs on"
done_testing
