#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 300
# asan: release
# Every committed scenario passes in gpusched sim: its checks hold. Also, sim run's options and
# errors.
. "$(dirname "$0")/lib.sh"

dir=$scratch
unset GPUSCHED_SCENARIOS
committed=$top/scenarios
if ldd "$gpusched" | grep -q libasan; then # with sanitizers every eighth scenario: all of them run the same code
	committed=$dir/some
	mkdir "$committed"
	cp $(ls "$top"/scenarios/*.scn | awk 'NR % 8 == 1') "$committed"
fi

GPUSCHED_SCENARIOS=$committed "$gpusched" sim run all --json >"$dir/all" 2>"$dir/err"
check "sim run all passes" test $? = 0
check "no scenario fails" test -z "$(jq -r 'select(.passed == false) | .scenario' "$dir/all" | tee -a /dev/stderr)"
n=$(($(grep -L '^\[row ' "$committed"/*.scn | wc -l) + $(cat "$committed"/*.scn | grep -c '^\[row ')))
check "the last line counts all $n" test "$(tail -1 "$dir/all")" = "{\"passed\":$n,\"failed\":0}"
check "there is one object for each scenario" test "$(jq -r 'select(.scenario) | .scenario' "$dir/all" | sort -u | wc -l)" = "$n"
# Compares the account with the model's own record: times to 1 % and 5 ms, counts to 1 % of the
# turns. Turns that the account itself calls unsure are left out; $unsure is their part.
# docs/account.md says how inexact the account is about these, and about programs that rest half of the time, for
# which counts and times of waits are compared to 20 %. Beside blocks that stay in CTA mode it knows no waits at all.
off() { # CONDITION: the processes that meet it
	jq -r 'select(.scenario) | .scenario as $s | (if $s | test("half-idle") then 0.2 else 0.01 end) as $off | .processes[] |
		select(.account and ($s | test("-cta$") | not)) | .model as $m |
		.account as $a | .account_of_log as $l | (.model.turns * $off + 1) as $few | 5e6 as $moment |
		($l.unsure / ([.model.turns, 1] | max)) as $unsure |
		select('"$1"') | "\($s) \(.name) \($m) \($a) \($l)"' "$dir/all"
}
is "$(off '($a.held_ns - $m.held_ns | fabs) > $m.held_ns / 100')" "" \
	"the account has each process's time on the GPU within 1 %"
is "$(off '($a.turns - $m.turns | fabs) > $m.turns / 100')" "" "the account has each process's turns"
is "$(off '$l.slice_ended > $m.slice_ended + $few or $l.slice_ended + $l.unsure < $m.slice_ended - $few')" "" \
	"the account knows which turns the slice ended, or says that it is unsure"
is "$(off '$l.waits > $m.cut_waits + $few or $l.waits + $l.unsure < $m.cut_waits - $few')" "" \
	"the account knows how often a process waited after such turns"
# if the slice ended few turns, the account may be unsure about all of them; if none, it may take one that ended by itself
is "$(off '($m.cut_waits > 0 or $l.wait_ns > $m.wait_ns) and ($l.wait_ns - $m.cut_wait_ns | fabs) > $m.cut_wait_ns *
	($off + ([$l.unsure / ([$m.cut_waits, 1] | max), 1] | min)) + $moment')" "" \
	"the account knows how long each process waited"
is "$(off '($l.contended_ns - $m.contended_told_ns | fabs) >
	$m.contended_told_ns * ($off + $unsure) + $l.contended_off_ns + $moment')" "" \
	"the account has the contended time, within the error that it states"
is "$(off '$a.waits > $m.waits or $a.wait_ns > $m.wait_ns * (1 + $off) + $moment')" "" \
	"the account with launches counts no wait that did not happen"
is "$(off '$a.contended_ns - $a.contended_off_ns > $m.contended_ns * (1 + $off) + $moment')" "" \
	"the account with launches counts no contention that did not happen"
for figure in held_ns slice_ended waits contended_ns; do
	ge "$(jq -r "select(.scenario) | .processes[].account_of_log.$figure | select(. > 0)" "$dir/all" | wc -l)" "$n" \
		"$figure is compared for at least $n processes"
done
check "there are at least 25 scenarios" test "$n" -ge 25
check "sim list names the same scenarios" test "$(GPUSCHED_SCENARIOS=$committed "$gpusched" sim list --json | jq -r .name | sort | sha1sum)" = \
	"$(jq -r 'select(.scenario) | .scenario' "$dir/all" | sort | sha1sum)"

"$gpusched" sim run rr-3be --json >"$dir/a"
"$gpusched" sim run rr-3be --json >"$dir/b"
"$gpusched" sim run rr-3be --json --seed 9 >"$dir/c"
check "the same seed gives the same result" cmp "$dir/a" "$dir/b"
check "another seed gives another result" sh -c "! cmp -s $dir/a $dir/c"

exits 2 "a seed that JSON does not hold is refused" "$gpusched" sim run a-alone --seed 9223372036854775808

sed 's/^lc.p99_us <= .*/lc.p99_us <= 1/' "$top/scenarios/auto-half-idle-lc.scn" >"$dir/broken.scn"
"$gpusched" sim run "$dir/broken.scn" --json >"$dir/out"
check "sim run exits with 1 if a check of the scenario fails" test $? = 1
check "sim run says which check failed" test "$(jq -r 'select(.scenario) | .checks[] | select(.ok | not) | .check' "$dir/out")" = \
	"lc.p99_us <= 1"
check "sim run prints a policy's messages" sh -c "$gpusched sim run admit-load --json 2>&1 >/dev/null |
	grep -q '^gpusched: policy admit at [0-9.]* s: lc takes more than max_lc_load'"
check "prio says why the lower level runs by ageing alone" sh -c "$gpusched sim run prio-ageing 2>&1 |
	grep -q '^gpusched: policy prio at [0-9.]* s: not lc, or its requests are not told: keeps others off; TSG 1'"
check "prio says nothing of it where requests are told" sh -c "! $gpusched sim run prio-told-short 2>&1 | grep -q 'not told'"
check "edf reports an overload with its sum, from facts that a real host knows" sh -c "$gpusched sim run edf-overload 2>&1 |
	grep -q 'overload: deadlines may be missed; percent in all 9[0-9]'"
check "edf reports no overload for a load that fits" sh -c "! $gpusched sim run edf-burst 2>&1 | grep -q overload:"
exits 1 "admit-load fails without the cap on load" "$gpusched" sim run admit-load -o max_lc_load=0
exits 1 "admit-load-pauses fails with a short window" "$gpusched" sim run admit-load-pauses -o load_ms=100
exits 0 "admit-load holds by GPU time too, which the stock host does not know" "$gpusched" sim run admit-load --facts all
exits 0 "admit-load-pauses holds with samples, which are always of a second" "$gpusched" sim run admit-load-pauses --facts stock -o load_ms=100
like "$out" "policy admit reads gpu_time_ns, which the stock host does not know: 0 here" "sim run says which fact is unknown"
exits 0 "sim run takes --facts all" "$gpusched" sim run fair-1-3 --facts all
like "$out" "policy fair, told all that the model knows" "sim run says that the policy has all facts"
is "$(for name in admit-load-pauses admit-light rr-3be; do "$gpusched" sim run $name --json; done |
	jq -c 'select(.scenario) | [.facts, .unknown_facts]' | tr '\n' ' ')" \
	'["all","gpu_time_ns"] ["stock","gpu_time_ns"] ["stock",null] ' "JSON has the facts and the unknown ones"
exits 2 "an unknown word for --facts is refused" "$gpusched" sim run admit-load --facts some
mkdir "$dir/two"
cp "$dir/broken.scn" "$top/scenarios/a-alone.scn" "$dir/two"
out=$(GPUSCHED_SCENARIOS=$dir/two "$gpusched" sim run all --json)
check "sim run all exits with 1 if one of two scenarios fails" test $? = 1
check "the failure is counted" test "$(tail -1 <<<"$out")" = '{"passed":1,"failed":1}'

"$gpusched" sim run rr-3be --policy lcbe -o be_slice_multi_us=400 --json >"$dir/out"
check "--policy replaces the scenario's" test "$(jq -r 'select(.scenario) | .policy' "$dir/out")" = lcbe
check "-o sets an option of that policy" test "$(jq '.processes[1].timeslice_us' <(head -1 "$dir/out"))" = 400
check "a timeline is written" "$gpusched" sim run rr-3be --timeline "$dir/t.gp"
check "the timeline has turns" test "$(grep -cE '^[0-9.]+ [0-3] [0-9.]+ 0$' "$dir/t.gp")" -gt 20

rows() { # of the last run: a line for each scenario
	jq -r 'select(.scenario) | "\(.scenario) \(.passed)"' "$dir/rows" | sort | xargs
}
"$gpusched" sim run half-idle-beside --json >"$dir/rows"
is "$? $(rows)" "0 auto-half-idle-beside true rr-half-idle-beside true" "sim run FILE runs all its rows"
cp "$dir/rows" "$dir/both"
"$gpusched" sim run rr-half-idle-beside --json >"$dir/rows"
is "$? $(rows)" "0 rr-half-idle-beside true" "sim run ROW runs that one"
check "the result is the same" cmp "$dir/rows" <(tail -1 "$dir/both")
"$gpusched" sim run "$top/scenarios/half-idle-beside.scn" -o no=1 --json >"$dir/rows" 2>/dev/null
is "$? $(rows)" "2 auto-half-idle-beside false rr-half-idle-beside false" "a mistake is told of each row"
exits 2 "a timeline of several rows is refused" "$gpusched" sim run half-idle-beside --timeline "$dir/t.gp"
like "$out" "takes one scenario, not half-idle-beside" "the error names them"
exits 2 "a row that is not there is refused" "$gpusched" sim run half-idle-beside-3

mkdir "$dir/mine"
printf '%s\n' '#include <gpusched/policy.bpf.h>' 'GPUSCHED_POLICY(mine, 0, 100, 0);' >"$dir/mine/mine.bpf.c"
printf '%s\n' '[scenario]' 'duration_s = 2' 'policy = ./mine.bpf.c' '[process be]' 'kind = be' 'kernel_us = 1000' \
	>"$dir/mine/mine.scn"
exits 0 "a scenario may name a policy in its own folder" "$gpusched" sim run "$dir/mine/mine.scn"
exits 2 "-o is refused without a policy" "$gpusched" sim run "$dir/mine/mine.scn" --policy none -o nosuch=1
like "$out" "option nosuch=1, but no policy" "the error says that there is no policy"
exits 2 "--policy is refused with an empty name" "$gpusched" sim run "$dir/mine/mine.scn" --policy ""
exits 1 "sim run refuses a folder" "$gpusched" sim run "$dir/"
like "$out" "$dir/: Is a directory" "sim run says that it is a folder"
mkfifo "$dir/pipe.scn"
head -c 2M /dev/zero >"$dir/large.scn"
exits 1 "sim run refuses a FIFO" timeout 20 "$gpusched" sim run "$dir/pipe.scn"
like "$out" "pipe.scn: not a regular file" "sim run says that it is a FIFO"
exits 1 "sim run refuses a device" timeout 20 "$gpusched" sim run /dev/zero
exits 1 "sim run refuses a file of 2 MiB" timeout 20 "$gpusched" sim run "$dir/large.scn"
like "$out" "too large" "sim run says that it is too large"
sed "s|^duration_s.*|&\nmodel = $dir/pipe.scn|" "$dir/mine/mine.scn" >"$dir/piped.scn"
exits 1 "sim run refuses a FIFO as the model" timeout 20 "$gpusched" sim run "$dir/piped.scn"
like "$out" "piped.scn:3: .*pipe.scn: not a regular file" "the error has the line of the scenario"
printf '%s\n' '[scenario]' 'duration_s = 86400' '[process be]' 'kind = be' 'count = 8' 'kernel_us = 100' >"$dir/day.scn"
timeout 12 "$gpusched" sim run "$dir/day.scn" >/dev/null 2>"$dir/lines" &
lines=$!
timeout 10 script -qec "timeout 5 '$gpusched' sim run '$dir/day.scn'" /dev/null </dev/null >"$dir/line" 2>&1
like "$(tr '\r' '\n' <"$dir/line")" "day: [0-9]+ of 86400 s simulated, .* after [2-9] s" "a long run shows its progress on a terminal"
wait $lines
like "$(cat "$dir/lines")" "^gpusched: sim: day: [0-9]+ of 86400 s simulated, [0-9]+ %, after 1[0-2] s$" \
	"a long run writes a line of progress to a file after 10 s"
cp "$dir/mine/mine.scn" "$dir/mine/"$'\xff.scn'
exits 1 "sim run --json refuses a name that is no UTF-8" "$gpusched" sim run "$dir/mine/"$'\xff.scn' --json
like "$out" "UTF-8" "the error names UTF-8"
sed -i 's/^kernel_us.*/kernel_us = 1 ms/' "$dir/mine/mine.scn"
"$gpusched" sim run "$dir/mine/mine.scn" --json >"$dir/out" 2>"$dir/err"
is "$(jq -c '[.scenario, .passed, (.error | endswith("mine.scn:6: [process be] kernel_us = 1 ms: '"'1 ms'"' is not a number"))]' \
	"$dir/out")" '["mine",false,true]' "JSON has an object for a broken scenario, too"
is "$("$gpusched" sim run "$dir/mine/mine.scn" 2>/dev/null)" "" "without --json a broken scenario prints no result"

started=$(date +%s)
check "a scenario of 1,000 TSGs for 60 simulated seconds passes" "$gpusched" sim run thousand-tsgs
check "this scenario takes less than 10 s" test $(($(date +%s) - started)) -lt 10
done_testing
