#!/bin/bash
# SPDX-License-Identifier: MIT
# gpusched history: who had the GPU, also after programs and the daemon have ended; and a file that
# is damaged.
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
of() { # PID KEY: of its row
	rows "map(select(.pid == $1))[0].$2" --by process
}
own() { # PID: what the simulated GPU says that it held, in ms
	sim_state "[.tsgs[] | select(.pid == $1 and .engine == 1) | .held_ns] | add / 1e6"
}

start_daemon
is "$(rows length)" 0 "at first nothing is known"
exits 2 "a time must be a time" "$gpusched" history --since soon
exits 2 "a sum must be one of those that are kept" "$gpusched" history --by planet
exits 2 "a target is not what a history has" "$gpusched" history tid:1
exits 2 "class and changes exclude each other" "$gpusched" history class:be --changes
for t in 7d 1w 5min 1d12h now @1763892000 2026-01-02T03:04:05Z 2026-01-02T03:04:05+01:00 2026-01-02T03:04; do
	exits 0 "a time may be $t" "$gpusched" history --since $t
done
for t in 5 7x d @x 2026-01-02T03:04:05Q 07:00Z; do
	exits 2 "a time is not $t" "$gpusched" history --since $t
done
exits 0 "@ is seconds since 1970" "$gpusched" history --since 2026-01-02T03:04:05+01:00 --until @1767319445
exits 2 "the end is not before the beginning" "$gpusched" history --since 2026-01-02T03:04:05+01:00 --until @1767319444

load be $fixed
be=$LOAD_PID
check "a BE is there" wait_tsgs "pid:$be" 1
load lc $fixed
lc=$LOAD_PID
check "an LC comes" wait_tsgs "pid:$lc" 1
tsg=$(list_json "pid:$lc" 'map(select(.kind == "compute"))[0].id')
"$gpusched" class set pid:$lc lc >/dev/null
"$gpusched" policy start lcbe >/dev/null
check "both have held the GPU" wait_for 20 eval '[ "$(of $lc turns)" -gt 20 ] && [ "$(of $be turns)" -gt 20 ]'
before=$(own $be)
sleep 1.1 # answers are brought up to date once a second
ours=$(of $be gpu_time_ms)
ge "$ours" "$(jq -n "$before * 0.98 - 10")" "BE's time is the GPU's figure"
le "$ours" "$(jq -n "$(own $be) * 1.02 + 10")" "not more"
is "$(rows 'map(select(.pid == '$be'))[0] | .used_ms > 0 and .used_ms < .gpu_time_ms * 0.99')" true "of it BE used what is left without switches"
is "$(of $be figures.used_ms)" '"estimated"' "time used is an estimate"
is "$(of $lc class)" '"lc"' "LC's class is there"
is "$(of $lc launches)" null "launches nobody counted are unknown"
is "$(of $lc figures.gpu_time_ms)" '"exact"' "its time is exact"
is "$(of $be figures.wait_p99_us)" '"estimated"' "waiting is not"
is "$(of $lc ended_s)" null "it runs"
like "$(of $be policy)" 'lcbe' "under which policy"
ge "$(rows '.[0].lost_ms' --by gpu)" 1 "the GPU has lost time"
is "$(rows 'map(.class) | sort' --by class)" '[null,"lc"]' "sums by class are those of its processes"
is "$(rows 'map(.uid)' --by user)" '[0]' "sums by user are those of its processes"
ge "$(rows '.[0].gpu_time_ms' --by user)" "$(jq -n "$ours * 0.9")" "whose sum is theirs"

"$gpusched" set pid:$lc timeslice=5ms >/dev/null
events() { "$gpusched" history tsg:$tsg --since 1h --json | jq -cs 'flatten | map(.what)'; }
like "$(events)" '"tsg-new".*"class".*"call"' "the life of one TSG"
changes() { "$gpusched" history --changes --since 1h --json | jq -cs 'flatten | map(.what)'; }
is "$(changes)" '["class_set","policy_start","set"]' "who changed what"
is "$("$gpusched" history pid:$lc --since 1h --json | jq -s 'flatten | length')" 1 "of one process"
is "$(rows length comm:gsl*)" 2 "of a name"
is "$(rows length comm:gsload,user:root)" 2 "of a name and a user"
is "$(rows length uid:65534)" 0 "of a user who had none"
is "$(rows length --changes uid:65534)" 0 "who has changed nothing"
is "$(rows length --changes user:root)" 3 "but root has"
is "$(rows 'map(.pid)' class:lc)" "[$lc]" "of a class"
is "$(rows "map(.pid) | contains([$be])" class:none)" true "of no class"
is "$(rows length class:lc,comm:other)" 0 "of a class and a name that none has"
is "$(rows length gpu:0)" 2 "of a GPU"
is "$(rows length gpu:1)" 0 "of a GPU that nobody used"
is "$(rows length "gpu:$(rows '.[0].gpu_uuid' | jq -r .)")" 2 "of a GPU by its UUID"
is "$(rows length cgroup:/)" 2 "of all cgroups"
is "$(rows length cgroup:/there/is/none)" 0 "of a cgroup that nobody was in"
is "$(rows '.[0].gpu_time_ms' --by gpu class:lc | jq '. > 0')" true "a class's part of a GPU"
is "$(of $lc gpu)" 0 "gpu is a number"
is "$(of $lc gpus)" "[0]" "gpus is an array"
is "$(rows 'map(.held_pct) | add | round')" 100 "the parts are all"
like "$("$gpusched" history --since 1h | tail -1)" "^together: held [0-9.]+ s$" "a last line has the total"
is "$("$gpusched" history --since yesterday --json | jq -s 'flatten | length')" 2 "since yesterday's midnight"
out=$("$gpusched" history --since 1h --csv)
is "$(head -1 <<<"$out" | cut -d, -f1-3)" by,pid,comm "as CSV"
is "$(wc -l <<<"$out")" 3 "each row of CSV has a line"
is "$(grep -cE '\.[0-9]{10}' <<<"$out")" 0 "CSV has figures as they were measured, not as doubles are"
out=$(setpriv --reuid 65534 --clear-groups "$gpusched" history --since 1h --json | jq -s 'flatten | length')
is "$out" 0 "others' processes are not for a user's eyes"
like "$(setpriv --reuid 65534 --clear-groups "$gpusched" history --since 1h)" "other users' programs are left out" \
	"the answer says that rows are missing"
is "$("$gpusched" history --since 1h | grep -c 'left out')" 0 "but not to root, who sees all"
out=$(setpriv --reuid 65534 --clear-groups "$gpusched" history --since 1h --by class --json | jq -s 'flatten | length')
is "$out" 2 "sums by class are"
for by in process user cgroup class gpu; do
	for whose in pid:$lc comm:gsload uid:0; do
		is "$(setpriv --reuid 65534 --clear-groups "$gpusched" history $whose --since 1h --by $by --json |
			jq -s 'flatten | length')" 0 "but none of $whose, another user's, by $by"
	done
done
out=$(setpriv --reuid 65534 --clear-groups "$gpusched" history --since 1h --changes --json | jq -s 'flatten | length')
is "$out" 0 "nor what was done to them"
is "$(stat -c %a "$db")" 600 "the file is root's"
is "$(stat -c %a "$(dirname "$db")")" 700 "the folder is root's, too"

end_load $lc
check "it has ended" wait_for 10 eval '[ "$(of $lc ended_s)" != null ]'
like "$(events)" '"tsg-free"\]$' "its TSG has ended"
held=$(of $lc gpu_time_ms)
kill_daemon
ge "$("$gpusched" history --since 1h --json | jq -s 'flatten | length')" 2 "without a daemon root reads it"
start_daemon
is "$(of $lc gpu_time_ms)" "$held" "a restart loses nothing of it"
check "who still runs goes on" wait_for 10 eval '[ "$(of $be ended_s)" = null ]'

# Time suspended is no waiting. A suspension ends with the resume, or with a restore without a call
# of the engine.
is "$(of $be suspended_ms)" 0 "a program that runs was never suspended"
waited=$(of $be wait_ms)
"$gpusched" suspend pid:$be >/dev/null
sleep 1.5
ge "$(of $be suspended_ms)" 1000 "the time of a suspension is known while it lasts"
le "$(jq -n "$(of $be wait_ms) - $waited")" 500 "a suspension is no waiting"
"$gpusched" restore >/dev/null
held=$(of $be suspended_ms)
sleep 1.2
is "$(jq -n "$(of $be suspended_ms) - $held < 200")" true "after a restore no more is added"

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
check "a full disk is counted as a failure" wait_for 10 eval '"$gpusched" history >/dev/null 2>&1; [ "$(lost failed)" -gt 0 ]'
check "the failure stops nothing" "$gpusched" set pid:$be timeslice=3ms
check "the log says it" grep -q 'the history cannot be written' "$scratch/daemon.log"
stop_daemon
umount "$GPUSCHED_SIM/state"
config '[Daemon]
History = no'
start_daemon
exits 3 "without a history it says so" "$gpusched" history
like "$out" 'History=no' "the answer says why"
done_testing
