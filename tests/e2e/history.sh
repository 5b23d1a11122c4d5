#!/bin/bash
# SPDX-License-Identifier: MIT
# gpusched history: which programs had the GPU, also after they and the daemon have ended; damaged
# files and full disks.
# timeout: 120
# needs: root bpf fuse
. "$(dirname "$0")/lib.sh"
enter_sim --dilate 2
fixed="--iterations-per-us 27.777 --seconds 100 --warmup 0"
db=$GPUSCHED_SIM/state/history.db

rows() { # FILTER ARGUMENTS...
	local filter=$1
	shift
	"$gpusched" history --since 1h "$@" --json | jq -cs "flatten | $filter"
}
of() { # PID KEY: the key's value in the row of that process
	rows "map(select(.pid == $1))[0].$2" --by process
}
own() { # PID: GPU time that it held, by the simulated GPU's own figures, in ms
	sim_state "[.tsgs[] | select(.pid == $1 and .engine == 1) | .held_ns] | add / 1e6"
}

start_daemon
is "$(rows length)" 0 "the history is empty at first"
exits 2 "a word that is no time is refused" "$gpusched" history --since soon
exits 2 "--by refuses an unknown word" "$gpusched" history --by planet
exits 2 "a target by thread is refused" "$gpusched" history tid:1
exits 2 "class and changes exclude each other" "$gpusched" history class:be --changes
for t in 7d 1w 5min 1d12h now @1763892000 2026-01-02T03:04:05Z 2026-01-02T03:04:05+01:00 2026-01-02T03:04; do
	exits 0 "--since takes $t" "$gpusched" history --since $t
done
for t in 5 7x d @x 2026-01-02T03:04:05Q 07:00Z; do
	exits 2 "--since refuses $t" "$gpusched" history --since $t
done
exits 0 "@ is seconds since 1970" "$gpusched" history --since 2026-01-02T03:04:05+01:00 --until @1767319445
exits 2 "an end before the beginning is refused" "$gpusched" history --since 2026-01-02T03:04:05+01:00 --until @1767319444

load be $fixed
be=$LOAD_PID
check "a BE is listed" wait_tsgs "pid:$be" 1
load lc $fixed
lc=$LOAD_PID
check "an LC is listed" wait_tsgs "pid:$lc" 1
tsg=$(list_json "pid:$lc" 'map(select(.kind == "compute"))[0].id')
"$gpusched" class set pid:$lc lc >/dev/null
"$gpusched" policy start lcbe >/dev/null
check "both have held the GPU" wait_for 20 eval '[ "$(of $lc turns)" -gt 20 ] && [ "$(of $be turns)" -gt 20 ]'
before=$(own $be)
sleep 1.1 # answers are brought up to date once a second
ours=$(of $be gpu_time_ms)
ge "$ours" "$(jq -n "$before * 0.98 - 10")" "the BE's GPU time is at least the GPU's own figure, within 2 %"
le "$ours" "$(jq -n "$(own $be) * 1.02 + 10")" "the BE's GPU time is at most the GPU's own figure, within 2 %"
is "$(rows 'map(select(.pid == '$be'))[0] | .used_ms > 0 and .used_ms < .gpu_time_ms * 0.99')" true "the BE's used time is its GPU time without switches"
is "$(of $be figures.used_ms)" '"estimated"' "time used is an estimate"
is "$(of $lc class)" '"lc"' "the LC's row has its class"
is "$(of $lc launches)" null "launches that were not counted are unknown"
is "$(of $lc figures.gpu_time_ms)" '"exact"' "the LC's GPU time is exact"
is "$(of $be figures.wait_p99_us)" '"estimated"' "the BE's waiting is estimated"
is "$(of $lc ended_s)" null "a program that runs has no end"
like "$(of $be policy)" 'lcbe' "the BE's row has its policy"
ge "$(rows '.[0].lost_ms' --by gpu)" 1 "the GPU has lost time"
is "$(rows 'map(.class) | sort' --by class)" '[null,"lc"]' "there are sums by class"
is "$(rows 'map(.uid)' --by user)" '[0]' "there are sums by user"
ge "$(rows '.[0].gpu_time_ms' --by user)" "$(jq -n "$ours * 0.9")" "the user's sum includes the BE's GPU time"

"$gpusched" set pid:$lc timeslice=5ms >/dev/null
events() { "$gpusched" history tsg:$tsg --since 1h --json | jq -cs 'flatten | map(.what)'; }
like "$(events)" '"tsg-new".*"class".*"call"' "a TSG's events are its making, its class and a call"
changes() { "$gpusched" history --changes --since 1h --json | jq -cs 'flatten | map(.what)'; }
is "$(changes)" '["class_set","policy_start","set"]' "--changes lists the verbs that changed something"
is "$("$gpusched" history pid:$lc --since 1h --json | jq -s 'flatten | length')" 1 "a target by process has one row"
is "$(rows length comm:gsl*)" 2 "a target by name has both rows"
is "$(rows length comm:gsload,user:root)" 2 "a target by name and user has both rows"
is "$(rows length uid:65534)" 0 "a target by a user without programs has no row"
is "$(rows length --changes uid:65534)" 0 "a user without changes has no change"
is "$(rows length --changes user:root)" 3 "root has three changes"
is "$(rows 'map(.pid)' class:lc)" "[$lc]" "a target by class has that class's process"
is "$(rows "map(.pid) | contains([$be])" class:none)" true "a target class:none has the process without a class"
is "$(rows length class:lc,comm:other)" 0 "a target whose parts match no process together has no row"
is "$(rows length gpu:0)" 2 "a target by GPU has both rows"
is "$(rows length gpu:1)" 0 "a target by an unused GPU has no row"
is "$(rows length "gpu:$(rows '.[0].gpu_uuid' | jq -r .)")" 2 "a target by the GPU's UUID has both rows"
is "$(rows length cgroup:/)" 2 "a target by the root cgroup has both rows"
is "$(rows length cgroup:/there/is/none)" 0 "a target by an empty cgroup has no row"
is "$(rows '.[0].gpu_time_ms' --by gpu class:lc | jq '. > 0')" true "a class's part of a GPU is known"
is "$(of $lc gpu)" 0 "a row's gpu is a number"
is "$(of $lc gpus)" "[0]" "a row's gpus is an array"
is "$(rows 'map(.held_pct) | add | round')" 100 "the rows' parts add up to 100 %"
like "$("$gpusched" history --since 1h | tail -1)" "^together: [0-9.]+ m?s of GPU time$" "a last line has the total"
is "$("$gpusched" history --since yesterday --json | jq -s 'flatten | length')" 2 "--since takes yesterday"
out=$("$gpusched" history --since 1h --csv)
is "$(head -1 <<<"$out" | cut -d, -f1-3)" by,pid,comm "--csv begins with the names of the columns"
is "$(wc -l <<<"$out")" 3 "each row of CSV has a line"
is "$(grep -cE '\.[0-9]{10}' <<<"$out")" 0 "CSV has no figure with ten decimal places"
out=$(setpriv --reuid 65534 --clear-groups "$gpusched" history --since 1h --json | jq -s 'flatten | length')
is "$out" 0 "a user sees no rows of other users"
like "$(setpriv --reuid 65534 --clear-groups "$gpusched" history --since 1h)" "other users' programs are left out" \
	"the answer says that rows are missing"
is "$("$gpusched" history --since 1h | grep -c 'left out')" 0 "root's answer does not say so"
out=$(setpriv --reuid 65534 --clear-groups "$gpusched" history --since 1h --by class --json | jq -s 'flatten | length')
is "$out" 2 "a user sees sums by class"
for by in process user cgroup class gpu; do
	for whose in pid:$lc comm:gsload uid:0; do
		is "$(setpriv --reuid 65534 --clear-groups "$gpusched" history $whose --since 1h --by $by --json |
			jq -s 'flatten | length')" 0 "a user sees no sum by $by for $whose, another user's"
	done
done
out=$(setpriv --reuid 65534 --clear-groups "$gpusched" history --since 1h --changes --json | jq -s 'flatten | length')
is "$out" 0 "a user sees no changes of other users' programs"
is "$(stat -c %a "$db")" 600 "the history's file is root's alone"
is "$(stat -c %a "$(dirname "$db")")" 700 "the history's folder is root's alone"

end_load $lc
check "the LC's row has its end" wait_for 10 eval '[ "$(of $lc ended_s)" != null ]'
like "$(events)" '"tsg-free"\]$' "the TSG's last event is its end"
held=$(of $lc gpu_time_ms)
kill_daemon
ge "$("$gpusched" history --since 1h --json | jq -s 'flatten | length')" 2 "without a daemon root reads the history"
start_daemon
is "$(of $lc gpu_time_ms)" "$held" "a restart keeps the LC's GPU time"
check "the row of a program that runs goes on" wait_for 10 eval '[ "$(of $be ended_s)" = null ]'

# Suspended time is no waiting. A suspension ends with the resume, or with a restore, which the
# engine does not see as a call of its own.
is "$(of $be suspended_ms)" 0 "a program that runs was never suspended"
waited=$(of $be wait_ms)
"$gpusched" suspend pid:$be >/dev/null
sleep 1.5
ge "$(of $be suspended_ms)" 1000 "the time of a suspension is known while it lasts"
le "$(jq -n "$(of $be wait_ms) - $waited")" 500 "a suspension is no waiting"
"$gpusched" restore >/dev/null
held=$(of $be suspended_ms)
sleep 1.2
is "$(jq -n "$(of $be suspended_ms) - $held < 200")" true "after a restore no suspended time is added"

# ---- what goes wrong -------------------------------------------------------------------------------
lost() { "$gpusched" stats --json | jq -s "flatten[0].history.$1"; }
printf 'this is no database' | dd of="$db" conv=notrunc status=none
rm -f "$db-wal" "$db-shm"
stop_daemon
start_daemon
check "a damaged file is put aside" wait_for 10 eval '[ "$(lost renewed)" = 1 ] && [ -e $db.damaged ]'
check "a new file is begun" wait_for 10 eval '[ "$(of $be ended_s)" = null ]'
stop_daemon
rm -rf "$GPUSCHED_SIM/state"
mkdir -m 700 "$GPUSCHED_SIM/state"
mount -t tmpfs -o size=64k none "$GPUSCHED_SIM/state"
start_daemon
check "a write to a full disk is counted as a failure" wait_for 10 eval '"$gpusched" history >/dev/null 2>&1; [ "$(lost failed)" -gt 0 ]'
check "a full disk does not stop the other verbs" "$gpusched" set pid:$be timeslice=3ms
check "the log says that the history cannot be written" grep -q 'the history cannot be written' "$scratch/daemon.log"
stop_daemon
umount "$GPUSCHED_SIM/state"
config '[Daemon]
History = no'
start_daemon
exits 3 "history exits with 3 if it is turned off" "$gpusched" history
like "$out" 'History=no' "the answer says why"
done_testing
