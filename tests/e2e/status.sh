#!/bin/bash
# SPDX-License-Identifier: MIT
# gpusched status: it says when all is well, and what is wrong.
# timeout: 180
# needs: root bpf fuse
. "$(dirname "$0")/lib.sh"
enter_sim --dilate 2
config '[Classes]
Class=batch weight=50'
fixed="--iterations-per-us 27.777 --seconds 100 --warmup 0"

exits 5 "without a daemon something is wrong" "$gpusched" status --for 100ms
like "$out" 'wrong: no daemon runs' "status says so"
load be $fixed
wait_tsgs "pid:$LOAD_PID" 1
exits 5 "beside a program" "$gpusched" status --for 100ms
like "$out" 'no policy: no daemon reads its log' "it does not say that nothing was seen"
is "$(grep -c wrong: <<<"$out")" 1 "status tells the one cause once"
end_load $LOAD_PID
start_daemon
exits 0 "an idle GPU is all right" "$gpusched" status --for 100ms
like "$out" 'nothing is wrong' "status says that nothing is wrong"
is "$("$gpusched" status --json | jq -c '[.ok, .window_ms]')" '[true,0]' "at once: there is nothing to wait for"
exits 2 "a time must be a time" "$gpusched" status --for soon

load be $fixed
be=$LOAD_PID
wait_tsgs "pid:$be" 1
load lc $fixed
lc=$LOAD_PID
wait_tsgs "pid:$lc" 1
"$gpusched" class set pid:$lc lc >/dev/null
unseen() { "$gpusched" status >"$scratch/status" && grep -q "^not known: process $lc .* how long its requests wait" "$scratch/status"; }
check "of a service whose turns drain status says that its waits are not known" wait_for 10 unseen
like "$(cat "$scratch/status")" "do: .*observe launches on" "status says how to know"
like "$(tail -1 "$scratch/status")" "^nothing is wrong as far as is known$" "its last line does not say more than it knows"
"$gpusched" class clear pid:$lc >/dev/null
exits 0 "an LC that comes in whole turns beside a BE is all right" "$gpusched" status
like "$out" 'held 9[0-9] %, lost in switches [0-9] %' "the GPU is held nearly all the time"
status=$("$gpusched" status --json)
is "$(jq .ok <<<"$status")" true "the same as JSON"
ge "$(jq '.gpus[0].tsgs[] | select(.comm == "gsload" and .pid == '$be') | .held_pct' <<<"$status")" 80 "BE holds most of it"
le "$(jq '.gpus[0].tsgs[] | select(.pid == '$lc') | .held_pct' <<<"$status")" 10 "LC little"
end_load $lc

ge "$(jq .window_ms <<<"$status")" 1000 "it is of more than a second, and comes at once"
is "$(jq '.gpus[0].tsgs | map(.pid == '$be') | .[0]' <<<"$status")" true "who holds most is first"
idle=()
for _ in 1 2 3 4 5; do
	load be --iterations-per-us 27.777 --count 1 --warmup 0 --seconds 0 --linger 100
	idle+=($LOAD_PID)
	wait_tsgs "pid:$LOAD_PID" 1
done
check "six programs" wait_for 10 eval '"$gpusched" status | grep -q "1 more held"'
le "$("$gpusched" status | wc -l)" 10 "a person reads ten lines"
"$gpusched" class set "pid:${idle[4]}" lc >/dev/null
"$gpusched" class set "pid:${idle[3]}" lc >/dev/null
rows() { "$gpusched" status "$@" | grep -cE "^ *($be|${idle[0]}|${idle[1]}|${idle[2]}|${idle[3]}|${idle[4]}) "; }
lc_rows() { "$gpusched" status | grep -cE "^ *(${idle[3]}|${idle[4]}) .* lc "; }
check "services show, however many others wait before them" wait_for 10 eval '[ "$(lc_rows)" = 2 ]'
is "$(rows)" 5 "others have what room is left"
is "$(rows --all)" 6 "--all shows everybody"

for pid in "${idle[@]}"; do
	end_load $pid
done
sums() { # BY FILTER
	"$gpusched" stats --by "$1" --json | jq -cs "flatten | $2"
}
ge "$(sums process 'map(select(.pid == '$be'))[0].gpu_time_ms')" 500 "stats: BE's sums"
ge "$(sums class 'map(.gpu_time_ms) | add')" 500 "sums by class"
ge "$(sums cgroup 'map(.turns) | add')" 50 "status has sums by cgroup"
ge "$(sums gpu '.[0].lost_ms')" 1 "status has sums by GPU"
is "$(sums process 'map(.figures.gpu_time_ms) | unique')" '["exact"]' "the sums say how they came about"
exits 2 "there are no sums by anything else" "$gpusched" stats --by planet
is "$(setpriv --reuid 65534 --clear-groups "$gpusched" stats --by process --json |
	jq -cs 'flatten | map(.gpu_time_ms) | unique')" '[null]' "others' times are not for a user's eyes"

"$gpusched" class set pid:$be lc >/dev/null
like "$("$gpusched" status)" "class lc has no effect without a policy" "a class that nobody heeds is told of"
"$gpusched" class set pid:$be be >/dev/null
"$gpusched" policy start lcbe >/dev/null
is "$("$gpusched" status | grep -c "has no effect")" 0 "not beside a policy"
"$gpusched" class set pid:$be batch >/dev/null
exits 0 "a class that the policy does not act on is not wrong" "$gpusched" status
like "$out" "note: policy lcbe does not act on class batch, of 1 TSG.*do: .*lc be" "status tells of that class"
"$gpusched" policy start fair >/dev/null
is "$("$gpusched" status | grep -c "does not act on")" 0 "a policy that goes by no class acts on all"
"$gpusched" policy start lcbe >/dev/null
"$gpusched" class set pid:$be be >/dev/null
load lc $fixed --arrivals closed --period-us 200 --kernels 96 --kernel-us 4 --gap-us 14
lc=$LOAD_PID
wait_tsgs "pid:$lc" 1
"$gpusched" monitor --json --for 60s >"$scratch/events" 2>&1 &
at_end+=($!)
check "somebody watches" wait_for 10 watchers 1
sleep 5 # of which the ten seconds before have much: their mean is no answer yet
"$gpusched" class set pid:$lc lc >/dev/null
since() { awk -v a="$began" -v b="$EPOCHREALTIME" 'BEGIN { printf "%d", (b - a) * 1000 }'; }
began=$EPOCHREALTIME
check "a launch-bound LC beside short slices is told of" wait_for 20 eval \
	'"$gpusched" status >"$scratch/status"; [ $? = 5 ] && grep -q "wrong: GPU 0 loses" "$scratch/status"'
ms=$(since)
check "in an event" wait_for 20 grep -q '"what":"lost-time"' "$scratch/events"
diag "status: after $ms ms, event: $(since) ms at most: $(grep -A 1 wrong: "$scratch/status")"
le $ms 8000 "the finding takes a second or two on a quiet machine"
like "$(cat "$scratch/status")" "do: .*gpusched run --share.*gpusched set class:be" "the finding says what to do"
ge "$("$gpusched" top --batch | sed -n 's/.*lost \([0-9]*\) .*/\1/p' | head -1)" 10 "top has what is lost"
ge "$("$gpusched" status --json | jq '.gpus[0].lost_pct')" 10 "status --json has what is lost"
"$gpusched" set class:be timeslice=2ms >/dev/null
check "the finding is gone after what it says to do" wait_for 20 "$gpusched" status

# ---- is a service harmed now? ----------------------------------------------------------------------

share() { "$gpusched" status --json | jq "[.gpus[0].tsgs[] | select(.pid == $lc)][0].wait_share_pct // 0 | floor"; }
# Ten minutes of an hour ago, in each of which it waited for PERCENT of its time.
was_calm() { # PERCENT
	python3 - "$GPUSCHED_SIM/state/history.db" $lc "$1" <<'EOF'
import sqlite3, sys, time
db = sqlite3.connect(sys.argv[1], timeout=20)
pid, pct = int(sys.argv[2]), int(sys.argv[3])
series = db.execute("SELECT s.id FROM series s JOIN process p ON p.id = s.process WHERE p.pid = ?", (pid,)).fetchone()[0]
first = int(time.time()) // 60 - 60
for n in range(11):
    db.execute("INSERT OR REPLACE INTO point(series, minute, held_ns, wait_ns) VALUES(?, ?, ?, ?)",
               (series, first + n, n * (100 - pct) * 10**6, n * pct * 10**6))
db.commit()
EOF
}
end_load $lc
"$gpusched" policy stop >/dev/null
load be $fixed # whose turns end by its slice: then it is known to wait
lc=$LOAD_PID
wait_tsgs "pid:$lc" 1
"$gpusched" class set pid:$lc lc >/dev/null
check "a service waits beside slices of 2 ms" wait_for 30 eval '[ "$(share)" -ge 30 ]'
check "without calm minutes nothing is said of that" wait_for 20 "$gpusched" status
check "it has had calm minutes" was_calm 2
check "now it is harmed: exit 5" wait_for 20 eval \
	'"$gpusched" status >"$scratch/status"; [ $? = 5 ] && grep -q "wrong: process $lc .* of class lc waits" "$scratch/status"'
like "$(cat "$scratch/status")" "in its calm minutes 2 %" "the finding has the figure that it is compared with"
check "it has always waited like that" was_calm 60
check "then it is not" wait_for 20 "$gpusched" status

window() { "$gpusched" list "pid:$1" --json | jq -s "map(.window_10s.$2 // 0) | add"; }
check "list has the rates of the last ten seconds" wait_for 20 eval \
	'[ "$(window $be held_pct | cut -d. -f1)" -ge 20 ] && [ "$(window $lc turns_per_s | cut -d. -f1)" -ge 2 ]'
gpu=$("$gpusched" stats --json | jq -c '.gpu_time[0]')
ge "$(jq '.window_10s.held_pct | floor' <<<"$gpu")" 50 "stats has those of the GPU"
ge "$(jq '.window_1s.switches_per_s | floor' <<<"$gpu")" 10 "stats has those of its last second"
is "$("$gpusched" status --json | jq '[.. | objects | has("ago") or has("lately")] | any')" false \
	"no answer leaves the subtraction to its reader"
done_testing
