#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 300
# asan: yes
# Runs every committed scenario with gpusched sim; a scenario that is not met is a failure.
. "$(dirname "$0")/lib.sh"

dir=$scratch
unset GPUSCHED_SCENARIOS
committed=$top/scenarios
if ldd "$gpusched" | grep -q libasan; then # with sanitizers every eighth: their code is the same
	committed=$dir/some
	mkdir "$committed"
	cp $(ls "$top"/scenarios/*.scn | awk 'NR % 8 == 1') "$committed"
fi

GPUSCHED_SCENARIOS=$committed "$gpusched" sim run all --json >"$dir/all" 2>"$dir/err"
check "sim run all passes" test $? = 0
check "none fails" test -z "$(jq -r 'select(.passed == false) | .scenario' "$dir/all" | tee -a /dev/stderr)"
n=$(find "$committed" -name '*.scn' | wc -l)
check "the last line counts all $n" test "$(tail -1 "$dir/all")" = "{\"passed\":$n,\"failed\":0}"
check "one object per scenario" test "$(jq -r 'select(.scenario) | .scenario' "$dir/all" | sort -u | wc -l)" = "$n"
# Compares the account with the model's own record: times to 1 % and 5 ms, counts to 1 % of the
# turns. Turns that the account calls unsure are left out; $unsure is their part. docs/account.md
# says how far the account is off where the log cannot tell.
off() { # CONDITION: which processes meet it
	jq -r 'select(.scenario) | .scenario as $s | 0.01 as $off | .processes[] |
		select(.account) | .model as $m |
		.account as $a | .account_of_log as $l | (.model.turns / 100 + 1) as $few | 5e6 as $moment |
		($l.unsure / ([.model.turns, 1] | max)) as $unsure |
		select('"$1"') | "\($s) \(.name) \($m) \($a) \($l)"' "$dir/all"
}
is "$(off '($a.held_ns - $m.held_ns | fabs) > $m.held_ns / 100')" "" \
	"the account has each process's time on the GPU within 1 %"
is "$(off '($a.turns - $m.turns | fabs) > $m.turns / 100')" "" "the account has each process's turns"
is "$(off '$l.slice_ended > $m.slice_ended + $few or $l.slice_ended + $l.unsure < $m.slice_ended - $few')" "" \
	"the account has turns that the slice ended, or says that it is not sure"
is "$(off '$l.waits > $m.cut_waits + $few or $l.waits + $l.unsure < $m.cut_waits - $few')" "" \
	"the account has how often it waited after them"
# where few turns were cut, all of these may be among those of which it is not sure
is "$(off '($l.wait_ns - $m.cut_wait_ns | fabs) > $m.cut_wait_ns *
	($off + ([$l.unsure / ([$m.cut_waits, 1] | max), 1] | min)) + $moment')" "" \
	"the account has how long each one waited"
is "$(off '($l.contended_ns - $m.contended_told_ns | fabs) >
	$m.contended_told_ns * ($off + $unsure) + $l.contended_off_ns + $moment')" "" \
	"the account has contended time, as far as it says that this is known"
is "$(off '$a.waits > $m.waits or $a.wait_ns > $m.wait_ns * (1 + $off) + $moment')" "" \
	"the account with launches knows of no wait that was none"
is "$(off '$a.contended_ns - $a.contended_off_ns > $m.contended_ns * (1 + $off) + $moment')" "" \
	"the account with launches knows of no contention that was none"
for figure in held_ns slice_ended waits contended_ns; do
	ge "$(jq -r "select(.scenario) | .processes[].account_of_log.$figure | select(. > 0)" "$dir/all" | wc -l)" "$n" \
		"$figure of more than $n processes"
done
check "at least 25 of them" test "$n" -ge 25
check "sim list names the same" test "$(GPUSCHED_SCENARIOS=$committed "$gpusched" sim list --json | jq -r .name | sort | sha1sum)" = \
	"$(jq -r 'select(.scenario) | .scenario' "$dir/all" | sort | sha1sum)"

"$gpusched" sim run rr-3be --json >"$dir/a"
"$gpusched" sim run rr-3be --json >"$dir/b"
"$gpusched" sim run rr-3be --json --seed 9 >"$dir/c"
check "the same seed gives the same result" cmp "$dir/a" "$dir/b"
check "another seed another" sh -c "! cmp -s $dir/a $dir/c"

exits 2 "a seed that JSON does not hold is refused" "$gpusched" sim run a-alone --seed 9223372036854775808

sed 's/^lc.p99_us <= .*/lc.p99_us <= 1/' "$top/scenarios/rr-3be.scn" >"$dir/broken.scn"
"$gpusched" sim run "$dir/broken.scn" --json >"$dir/out"
check "a promise that is not kept: exit 1" test $? = 1
check "sim run says which promise" test "$(jq -r 'select(.scenario) | .checks[] | select(.ok | not) | .check' "$dir/out")" = \
	"lc.p99_us <= 1"
check "what a policy says is printed" sh -c "$gpusched sim run admit-load --json 2>&1 >/dev/null |
	grep -q '^gpusched: policy admit at [0-9.]* s: lc takes more than max_lc_load'"
check "edf names an overload with its sum, by what a real host tells" sh -c "$gpusched sim run edf-overload 2>&1 |
	grep -q 'overload: deadlines may be missed; percent in all 9[0-9]'"
check "edf names no overload for a load that fits" sh -c "! $gpusched sim run edf-burst 2>&1 | grep -q overload:"
exits 1 "admit-load stands by the cap on load" "$gpusched" sim run admit-load -o max_lc_load=0
exits 1 "admit-load-pauses by its window" "$gpusched" sim run admit-load-pauses -o load_ms=100
exits 1 "admit-load fails by GPU time, which the stock host does not know" "$gpusched" sim run admit-load --facts stock
like "$out" "policy admit reads gpu_time_ns, which the stock host does not know: 0 here" "sim run tells that"
exits 0 "an option tells a policy all" "$gpusched" sim run fair-1-3 --facts all
like "$out" "policy fair, told all that the model knows" "sim run tells of the option, too"
is "$(for name in admit-load admit-light rr-3be; do "$gpusched" sim run $name --json; done |
	jq -c 'select(.scenario) | [.facts, .unknown_facts]' | tr '\n' ' ')" \
	'["all","gpu_time_ns"] ["stock","gpu_time_ns"] ["stock",null] ' "JSON has both"
exits 2 "facts of nobody" "$gpusched" sim run admit-load --facts some
mkdir "$dir/two"
cp "$dir/broken.scn" "$top/scenarios/a-alone.scn" "$dir/two"
out=$(GPUSCHED_SCENARIOS=$dir/two "$gpusched" sim run all --json)
check "one of two fails: exit 1" test $? = 1
check "the failure is counted" test "$(tail -1 <<<"$out")" = '{"passed":1,"failed":1}'

"$gpusched" sim run rr-3be --policy lcbe -o be_slice_multi_us=400 --json >"$dir/out"
check "--policy replaces the scenario's" test "$(jq -r 'select(.scenario) | .policy' "$dir/out")" = lcbe
check "-o reaches it" test "$(jq '.processes[1].timeslice_us' <(head -1 "$dir/out"))" = 400
check "a timeline is written" "$gpusched" sim run rr-3be --timeline "$dir/t.gp"
check "the timeline has turns" test "$(grep -cE '^[0-9.]+ [0-3] [0-9.]+ 0$' "$dir/t.gp")" -gt 20

mkdir "$dir/mine"
printf '%s\n' '#include <gpusched/policy.bpf.h>' 'GPUSCHED_POLICY(mine, 0, 100, 0);' >"$dir/mine/mine.bpf.c"
printf '%s\n' '[scenario]' 'duration_s = 2' 'policy = ./mine.bpf.c' '[process be]' 'kind = be' 'kernel_us = 1000' \
	>"$dir/mine/mine.scn"
exits 0 "a scenario's policy lies beside it" "$gpusched" sim run "$dir/mine/mine.scn"
exits 2 "-o without a policy" "$gpusched" sim run "$dir/mine/mine.scn" --policy none -o nosuch=1
like "$out" "option nosuch=1, but no policy" "is told"
exits 2 "--policy without a name" "$gpusched" sim run "$dir/mine/mine.scn" --policy ""
exits 1 "a folder is no scenario" "$gpusched" sim run "$dir/"
like "$out" "$dir/: Is a directory" "sim run says that it is a folder"
mkfifo "$dir/pipe.scn"
head -c 2M /dev/zero >"$dir/large.scn"
exits 1 "a FIFO is none" timeout 20 "$gpusched" sim run "$dir/pipe.scn"
like "$out" "pipe.scn: not a regular file" "sim run says that it is a FIFO"
exits 1 "nor is a device" timeout 20 "$gpusched" sim run /dev/zero
exits 1 "nor 2 MiB" timeout 20 "$gpusched" sim run "$dir/large.scn"
like "$out" "too large" "sim run says that it is too large"
sed "s|^duration_s.*|&\nmodel = $dir/pipe.scn|" "$dir/mine/mine.scn" >"$dir/piped.scn"
exits 1 "a FIFO is no model" timeout 20 "$gpusched" sim run "$dir/piped.scn"
like "$out" "piped.scn:3: .*pipe.scn: not a regular file" "sim run says so, with the place"
printf '%s\n' '[scenario]' 'duration_s = 86400' '[process be]' 'kind = be' 'count = 8' 'kernel_us = 100' >"$dir/day.scn"
timeout 12 "$gpusched" sim run "$dir/day.scn" >/dev/null 2>"$dir/lines" &
lines=$!
timeout 10 script -qec "timeout 5 '$gpusched' sim run '$dir/day.scn'" /dev/null </dev/null >"$dir/line" 2>&1
like "$(tr '\r' '\n' <"$dir/line")" "day: [0-9]+ of 86400 s simulated, .* after [2-9] s" "a terminal is told how far a long run is"
wait $lines
like "$(cat "$dir/lines")" "^gpusched: sim: day: [0-9]+ of 86400 s simulated, [0-9]+ %, after 1[0-2] s$" \
	"a file gets a line, 10 s later"
cp "$dir/mine/mine.scn" "$dir/mine/"$'\xff.scn'
exits 1 "a name that JSON cannot hold" "$gpusched" sim run "$dir/mine/"$'\xff.scn' --json
like "$out" "UTF-8" "is told"
sed -i 's/^kernel_us.*/kernel_us = 1 ms/' "$dir/mine/mine.scn"
"$gpusched" sim run "$dir/mine/mine.scn" --json >"$dir/out" 2>"$dir/err"
is "$(jq -c '[.scenario, .passed, (.error | endswith("mine.scn:6: [process be] kernel_us = 1 ms: '"'1 ms'"' is not a number"))]' \
	"$dir/out")" '["mine",false,true]' "JSON names a broken scenario as any other"
is "$("$gpusched" sim run "$dir/mine/mine.scn" 2>/dev/null)" "" "one that cannot run neither passed nor failed"

started=$(date +%s)
check "1,000 TSGs for 60 simulated seconds" "$gpusched" sim run thousand-tsgs
check "take less than 10 s" test $(($(date +%s) - started)) -lt 10
done_testing
