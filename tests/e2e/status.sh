#!/bin/bash
# SPDX-License-Identifier: MIT
# gpusched status says that nothing is wrong, or what is wrong and what to do.
# timeout: 180
# needs: root bpf fuse
. "$(dirname "$0")/lib.sh"
enter_sim --dilate 2
config '[Classes]
Class=batch weight=50'
fixed="--iterations-per-us 27.777 --seconds 100 --warmup 0"

exits 5 "without a daemon status exits with 5" "$gpusched" status --for 100ms
like "$out" 'wrong: no daemon runs' "status says that no daemon runs"
load be $fixed
wait_tsgs "pid:$LOAD_PID" 1
exits 5 "without a daemon status exits with 5 beside a program, too" "$gpusched" status --for 100ms
like "$out" 'no policy: no daemon reads its log' "status says why there are no figures"
is "$(grep -c wrong: <<<"$out")" 1 "status has one finding for the one cause"
end_load $LOAD_PID
start_daemon
exits 0 "status finds nothing wrong with an idle GPU" "$gpusched" status --for 100ms
like "$out" 'nothing is wrong' "status says that nothing is wrong"
is "$("$gpusched" status --json | jq -c '[.ok, .window_ms]')" '[true,0]' "status answers at once if there is nothing to measure"
exits 2 "a word that is no time is refused" "$gpusched" status --for soon

load be $fixed
be=$LOAD_PID
wait_tsgs "pid:$be" 1
load lc $fixed
lc=$LOAD_PID
wait_tsgs "pid:$lc" 1
"$gpusched" class set pid:$lc lc >/dev/null
unseen() { status_lines >"$scratch/status" && grep -q "^not known: process $lc .* how long its requests wait" "$scratch/status"; }
check "status says that the waits of a service whose turns drain are not known" wait_for 10 unseen
like "$(cat "$scratch/status")" "do: .*observe launches on" "status says how to make them known"
like "$(tail -1 "$scratch/status")" "^nothing is wrong as far as is known$" "the last line says: as far as is known"
"$gpusched" class clear pid:$lc >/dev/null
exits 0 "status finds nothing wrong with an LC of whole turns beside a BE" "$gpusched" status
like "$out" 'used 9[0-9] %, switching [0-9.]+ %' "the GPU is used nearly all the time"
status=$("$gpusched" status --json)
is "$(jq .ok <<<"$status")" true "status --json says so, too"
ge "$(jq '.gpus[0].tsgs[] | select(.comm == "gsload" and .pid == '$be') | .held_pct' <<<"$status")" 80 "the BE holds at least 80 %"
le "$(jq '.gpus[0].tsgs[] | select(.pid == '$lc') | .held_pct' <<<"$status")" 10 "the LC holds at most 10 %"
end_load $lc

# ---- suspended by a person
check "a person suspends the BE" "$gpusched" suspend "pid:$be"
like "$(status_lines)" "note: process $be .*suspend" "status says that a person keeps it off the GPU"
exits 0 "status exits as if nothing were wrong" "$gpusched" status
is "$("$gpusched" status --json | jq -r '[.findings[].finding] | index("suspended") != null')" true "status --json has the finding"
"$gpusched" resume "pid:$be" >/dev/null
is "$("$gpusched" status --json | jq -r '[.findings[].finding] | index("suspended")')" null "the finding ends with the suspension"

ge "$(jq .window_ms <<<"$status")" 1000 "the figures are of at least one second, which had passed before"
is "$(jq '.gpus[0].tsgs | map(.pid == '$be') | .[0]' <<<"$status")" true "the program that holds most comes first"
idle=()
for _ in 1 2 3 4 5; do
	load be --iterations-per-us 27.777 --count 1 --warmup 0 --seconds 0 --linger 100
	idle+=($LOAD_PID)
	wait_tsgs "pid:$LOAD_PID" 1
done
check "of six programs status leaves one out" wait_for 10 eval '"$gpusched" status | grep -q "1 more used"'
le "$("$gpusched" status | wc -l)" 10 "status prints at most ten lines"
"$gpusched" class set "pid:${idle[4]}" lc >/dev/null
"$gpusched" class set "pid:${idle[3]}" lc >/dev/null
rows() { "$gpusched" status "$@" | grep -cE "^ *($be|${idle[0]}|${idle[1]}|${idle[2]}|${idle[3]}|${idle[4]}) "; }
lc_rows() { "$gpusched" status | grep -cE "^ *(${idle[3]}|${idle[4]}) .* lc "; }
check "both services are shown, though others hold more" wait_for 10 eval '[ "$(lc_rows)" = 2 ]'
is "$(rows)" 5 "five rows are shown in all"
is "$(rows --all)" 6 "--all shows all six programs"

for pid in "${idle[@]}"; do
	end_load $pid
done
sums() { # BY FILTER
	"$gpusched" stats --by "$1" --json | jq -cs "flatten | $2"
}
ge "$(sums process 'map(select(.pid == '$be'))[0].gpu_time_ms')" 500 "stats has the BE's sums"
ge "$(sums class 'map(.gpu_time_ms) | add')" 500 "stats has sums by class"
ge "$(sums cgroup 'map(.turns) | add')" 50 "stats has sums by cgroup"
ge "$(sums gpu '.[0].lost_ms')" 1 "stats has sums by GPU"
is "$(sums process 'map(.figures.gpu_time_ms) | unique')" '["exact"]' "the sums say that they are exact"
exits 2 "stats --by refuses an unknown word" "$gpusched" stats --by planet
is "$(setpriv --reuid 65534 --clear-groups "$gpusched" stats --by process --json |
	jq -cs 'flatten | map(.gpu_time_ms) | unique')" '[null]' "a user sees no times of other users"

"$gpusched" class set pid:$be lc >/dev/null
like "$(status_lines)" "class lc has no effect without a policy" "status says that a class has no effect without a policy"
"$gpusched" class set pid:$be be >/dev/null
"$gpusched" policy start lcbe >/dev/null
is "$(status_lines | grep -c "has no effect")" 0 "status does not say so while a policy runs"
"$gpusched" class set pid:$be batch >/dev/null
exits 0 "a class on which the policy does not act is not wrong" "$gpusched" status
like "$(status_lines)" "note: policy lcbe does not act on class batch.*do: .*[(]lc be[)]: 'sudo gpusched class set class:batch be'" "status notes that class"
"$gpusched" policy start fair >/dev/null
is "$(status_lines | grep -c "does not act on")" 0 "status has no such note for a policy that ignores classes"
"$gpusched" policy start lcbe >/dev/null
"$gpusched" class set pid:$be be >/dev/null
# before the load, which may lose time without a class, too
"$gpusched" monitor --json --for 120s >"$scratch/events" 2>&1 &
at_end+=($!)
check "a client watches" wait_for 10 watchers 1
load lc $fixed --arrivals closed --period-us 200 --kernels 96 --kernel-us 4 --gap-us 14
lc=$LOAD_PID
wait_tsgs "pid:$lc" 1
sleep 5 # so that the mean of the last ten seconds mixes the time before and after the class
"$gpusched" class set pid:$lc lc >/dev/null
since() { awk -v a="$began" -v b="$EPOCHREALTIME" 'BEGIN { printf "%d", (b - a) * 1000 }'; }
began=$EPOCHREALTIME
check "status finds time lost with a launch-bound LC beside short slices" wait_for 20 eval \
	'status_lines >"$scratch/status"; grep -q "wrong: GPU 0 loses" "$scratch/status"'
ms=$(since)
check "the finding is an event" wait_for 20 grep -q '"finding":"lost-time"' "$scratch/events"
diag "status: after $ms ms, event: $(since) ms at most: $(grep -A 1 wrong: "$scratch/status")"
le $ms 8000 "the finding takes a second or two on a quiet machine"
remedy=$("$gpusched" status --json | jq -r '.findings[] | select(.finding == "lost-time").do')
like "$remedy" "'sudo gpusched set class:be,gpu:0 timeslice=2ms'" "the finding says what to do"
ge "$("$gpusched" top --batch | sed -n 's/.*switching \([0-9]*\),.*/\1/p' | head -1)" 10 "top has the lost share"
ge "$("$gpusched" status --json | jq '.gpus[0].lost_pct')" 10 "status --json has the lost share"
remedy=${remedy#*sudo gpusched}
# shellcheck disable=SC2086
"$gpusched" ${remedy%\'} >/dev/null
check "the finding is gone after the command that it proposes" wait_for 20 "$gpusched" status

# ---- a service that waits more than in its calm minutes -------------------------------------------

share() { "$gpusched" status --json | jq "[.gpus[0].tsgs[] | select(.pid == $lc)][0].wait_share_pct // 0 | floor"; }
# Writes ten minutes into the history, an hour ago, in which it waited PERCENT of its time.
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
load be $fixed # its turns are ended by its slice, so that its waits are known
lc=$LOAD_PID
wait_tsgs "pid:$lc" 1
"$gpusched" class set pid:$lc lc >/dev/null
check "a service waits beside slices of 2 ms" wait_for 30 eval '[ "$(share)" -ge 30 ]'
check "without calm minutes in its history that is not wrong" wait_for 20 "$gpusched" status
check "calm minutes are written into the history" was_calm 2
check "status then exits with 5: the service waits more than in those" wait_for 20 eval \
	'status_lines >"$scratch/status"; grep -q "wrong: process $lc .* of class lc waits" "$scratch/status"'
like "$(cat "$scratch/status")" "in its calm minutes 2 %" "the finding has the figure of the calm minutes"
check "minutes with as much waiting are written into the history" was_calm 60
check "status then finds nothing wrong" wait_for 20 "$gpusched" status

window() { "$gpusched" list "pid:$1" --json | jq -s "map(.window_10s.$2 // 0) | add"; }
check "list has the rates of the last ten seconds" wait_for 20 eval \
	'[ "$(window $be held_pct | cut -d. -f1)" -ge 20 ] && [ "$(window $lc turns_per_s | cut -d. -f1)" -ge 2 ]'
gpu=$("$gpusched" stats --json | jq -c '.gpu_time[0]')
ge "$(jq '.window_10s.held_pct | floor' <<<"$gpu")" 50 "stats has the GPU's share of the last ten seconds"
ge "$(jq '.window_1s.switches_per_s | floor' <<<"$gpu")" 10 "stats has the GPU's switches of the last second"
is "$("$gpusched" status --json | jq '[.. | objects | has("ago") or has("lately")] | any')" false \
	"no answer has raw sums that the reader would have to subtract"
done_testing
