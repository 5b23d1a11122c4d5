#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 120
# needs: root bpf fuse
# Recordings of turns: their content, their sums against the daemon's, which users see which turns,
# full disks, and slow recorders.
. "$(dirname "$0")/lib.sh"
enter_sim
chmod 711 "$scratch"
config '[Classes]
Rule = comm=gsload uid=4711 -> be
AllowTrace = uid=4713'
fixed="--iterations-per-us 27.777 --seconds 100 --warmup 0"
file=$scratch/one.pftrace

record() { # FILE [OPTIONS]: records in the background; $RECORD
	wait_for 20 watchers 0 # the daemon may not have noticed yet that an earlier recorder left
	"$gpusched" trace record -o "$@" >"$scratch/record.out" 2>&1 &
	RECORD=$!
	at_end+=($RECORD)
	wait_for 10 watchers 1
}
stop_record() {
	kill -INT "$RECORD"
	wait "$RECORD"
}
summary() { # FILE PID FILTER
	"$gpusched" trace export "$1" --json | jq -s "map(select(.pid == $2)) | .[0] | $3"
}
held() { # PID: the daemon's figure of its GPU time, us
	list_json "pid:$1" 'map(select(.kind == "compute")) | first | .gpu_time_ns / 1000 | floor'
}
# between SUM BEFORE AFTER NAME: SUM lies between the others, within 1 % and 3 ms
between() {
	local out
	out=$(awk -v s="$1" -v b="$2" -v a="$3" 'BEGIN { print (s >= b * 0.99 - 3000 && s <= a * 1.01 + 3000) ? "yes" : "no" }')
	is "$out $1" "yes $1" "$4 ($2 <= $1 <= $3)"
}

exits 3 "without a daemon there is nothing to record" "$gpusched" trace record -o "$file" -t 1
start_daemon || exit 1

# ---- sums ------------------------------------------------------------------------------------------
record "$file"
load be $fixed
be=$LOAD_PID
setpriv --reuid 4711 --regid 4711 --clear-groups "$gsload" lc $fixed >"$scratch/lc.out" 2>&1 &
lc=$!
at_end+=($lc)
check "two programs take turns" wait_for 20 eval \
	'[ "$(list_json pid:$lc "map(select(.kind == \"compute\")) | first | .turns.turns")" -gt 200 ]'
"$gpusched" set "pid:$be" timeslice=1ms >/dev/null
sleep 0.5
be_before=$(held $be) lc_before=$(held $lc)
stop_record
is $? 0 "SIGINT ends the recording with success"
be_after=$(held $be) lc_after=$(held $lc)
between "$(summary "$file" $be .gpu_time_us)" "$be_before" "$be_after" "the BE's time is the daemon's figure"
between "$(summary "$file" $lc .gpu_time_us)" "$lc_before" "$lc_after" "the LC's time is the daemon's figure"
ge "$(summary "$file" $lc .turns)" 200 "the recording has the LC's turns"
ge "$(summary "$file" $be .wait_p99_us)" 200 "the recording has the BE's waits"
is "$(summary "$file" $lc '[.comm, .uid, .class, .dropped]' | jq -c .)" '["gsload",4711,"be",0]' "the summary has the LC's name, user and class"
like "$("$gpusched" trace export "$file")" "GPU_TIME_US.*gsload" "export prints a table"

# ---- the format ------------------------------------------------------------------------------------
check "protoc reads the recording without a schema" eval 'protoc --decode_raw <"$file" >"$scratch/raw"'
check "protoc reads the recording with gpusched's schema" eval 'protoc --proto_path="$top/src/trace" --decode=gpusched.Trace trace.proto <"$file" >"$scratch/text"'
is "$(grep -cE '^ *[0-9]+: ' "$scratch/text")" 0 "gpusched's schema names every field"
for what in 'name: "slice over"' 'name: "drained"' 'string_value: "inferred"' 'name: "GPU 0: who has it"' \
	'name: "call set-timeslice"' 'name: "GPU 0: lost in switches"' 'process_name: "gsload"'; do
	check "the recording has $what" grep -qF "$what" "$scratch/text"
done
"$gpusched" trace export "$file" --format json >"$scratch/json"
is "$(jq '[.traceEvents[] | select(.cat == "turn" and .pid == '$lc')] | length >= 200' "$scratch/json")" true \
	"the export as JSON has the LC's turns"
check "plot makes a picture of a part" "$gpusched" trace plot "$file" -o "$scratch/one.svg" --from 1s --for 50ms
check "the picture has both programs" eval 'grep -q "gsload $be" "$scratch/one.svg" && grep -q "gsload $lc" "$scratch/one.svg"'
check "plot makes a PNG if the name ends in .png" "$gpusched" trace plot "$file" -o "$scratch/one.png" --from 1s --for 50ms
is "$(head -c 8 "$scratch/one.png" | od -An -tx1 | tr -d ' ')" 89504e470d0a1a0a "the file begins as a PNG does"
like "$("$gpusched" trace plot - -o - --from 1s --for 50ms <"$file" | head -c 60)" "<.xml" "plot takes - for standard input and output"
exits 2 "another kind of picture is refused" "$gpusched" trace plot "$file" -o "$scratch/one.jpg"
is "$("$gpusched" trace export - <"$file" | md5sum)" "$("$gpusched" trace export "$file" | md5sum)" "export reads standard input"
exits 1 "plot fails for a part without turns" "$gpusched" trace plot "$file" -o "$scratch/two.svg" --from 1h
like "$out" "no turn" "the error says that there is no turn"
head -c 5000 "$file" >"$scratch/cut"
exits 1 "export fails for a truncated file" "$gpusched" trace export "$scratch/cut"
like "$out" "cut off" "the error says that the file is cut off"
exits 1 "a file that is no recording is refused, too" "$gpusched" trace export "$top/README.md"

# ---- which users see which turns ------------------------------------------------------------------
for uid in 4711 4712 4713; do
	as $uid "$gpusched" trace record -o - -t 1 >"$scratch/of.$uid" 2>"$scratch/err.$uid"
done
is "$(summary "$scratch/of.4711" $lc '.gpu_time_us > 0')" true "a user records its own program"
is "$(summary "$scratch/of.4711" $be '[.gpu_time_us, .turns, .wait_p99_us]' | jq -c .)" "[null,null,null]" \
	"the recording has no figures of root's program"
is "$(summary "$scratch/of.4712" $lc .gpu_time_us)" null "another user's recording has no figures of it"
is "$(protoc --decode_raw <"$scratch/of.4712" | grep -c '"turn"\|"engine"')" 0 "another user's recording has no turns"
is "$(summary "$scratch/of.4713" $be '.gpu_time_us > 0')" true "a user whom AllowTrace= names records root's program"
end_load $lc

# ---- full disks and slow recorders ----------------------------------------------------------------
mkdir "$scratch/small"
mount -t tmpfs -o size=64k none "$scratch/small"
dd if=/dev/zero of="$scratch/small/filler" bs=1k count=56 2>/dev/null
load lc $fixed
exits 1 "a full disk ends the recording with an error" "$gpusched" trace record -o "$scratch/small/f" -t 20
like "$out" "No space left.*can be read" "the error says that the disk is full"
check "the part that was written can be read" "$gpusched" trace export "$scratch/small/f"
umount "$scratch/small"

record "$scratch/slow.pftrace"
kill -STOP $RECORD
storm() { # makes events; succeeds once a stopped recorder has missed some
	"$helper" tsgs 900 </dev/null >/dev/null 2>&1
	curl -sf --unix-socket "$GPUSCHED_SIM/run/api" http://gpusched/metrics |
		grep -qE '^gpusched_trace_lines_missed_total [1-9]'
}
check "a recorder that stops reading misses lines" wait_for 30 storm
kill -CONT $RECORD
sleep 0.5
stop_record
is $? 0 "a recording with missing lines ends with success"
like "$(cat "$scratch/record.out")" "lines are missing" "record says that lines are missing"
ge "$(summary "$scratch/slow.pftrace" $be .dropped)" 1 "the summary says that lines are missing"
check "the daemon answers" daemon_ready
done_testing
