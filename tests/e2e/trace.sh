#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 120
# needs: root bpf fuse
# Recordings: what they hold, sums against the daemon's, who sees whose turns, full disks, slow recorders.
. "$(dirname "$0")/lib.sh"
enter_sim
chmod 711 "$scratch"
config '[Classes]
Rule = comm=gsload uid=4711 -> be
AllowTrace = uid=4713'
fixed="--iterations-per-us 27.777 --seconds 100 --warmup 0"
file=$scratch/one.pftrace

record() { # FILE [OPTIONS]: in the background; $RECORD
	wait_for 20 watchers 0 # an earlier one may not have been missed yet
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
held() { # PID: us, as the daemon has it
	list_json "pid:$1" 'map(select(.kind == "compute")) | first | .gpu_time_ns / 1000 | floor'
}
# between SUM BEFORE AFTER NAME: within 1 % and 3 ms
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
is $? 0 "SIGINT ends the recording well"
be_after=$(held $be) lc_after=$(held $lc)
between "$(summary "$file" $be .gpu_time_us)" "$be_before" "$be_after" "BE's time is the daemon's figure"
between "$(summary "$file" $lc .gpu_time_us)" "$lc_before" "$lc_after" "LC's, too"
ge "$(summary "$file" $lc .turns)" 200 "LC's turns are there"
ge "$(summary "$file" $be .wait_p99_us)" 200 "BE waited for LC"
is "$(summary "$file" $lc '[.comm, .uid, .class, .dropped]' | jq -c .)" '["gsload",4711,"be",0]' "the summary says who LC is"
like "$("$gpusched" trace export "$file")" "GPU_TIME_US.*gsload" "people get a table"

# ---- the format ------------------------------------------------------------------------------------
check "protoc reads it without a schema" eval 'protoc --decode_raw <"$file" >"$scratch/raw"'
check "protoc reads it with our schema" eval 'protoc --proto_path="$top/src/trace" --decode=gpusched.Trace trace.proto <"$file" >"$scratch/text"'
is "$(grep -cE '^ *[0-9]+: ' "$scratch/text")" 0 "our schema names every field"
for what in 'name: "slice over"' 'name: "drained"' 'string_value: "inferred"' 'name: "GPU 0: who has it"' \
	'name: "call set-timeslice"' 'name: "GPU 0: lost in switches"' 'process_name: "gsload"'; do
	check "it has $what" grep -qF "$what" "$scratch/text"
done
"$gpusched" trace export "$file" --format json >"$scratch/json"
is "$(jq '[.traceEvents[] | select(.cat == "turn" and .pid == '$lc')] | length >= 200' "$scratch/json")" true \
	"as JSON it has LC's turns"
check "a stretch becomes a picture" "$gpusched" trace plot "$file" -o "$scratch/one.svg" --from 1s --for 50ms
check "the picture has both programs" eval 'grep -q "gsload $be" "$scratch/one.svg" && grep -q "gsload $lc" "$scratch/one.svg"'
check "a name that ends in .png is a PNG" "$gpusched" trace plot "$file" -o "$scratch/one.png" --from 1s --for 50ms
is "$(head -c 8 "$scratch/one.png" | od -An -tx1 | tr -d ' ')" 89504e470d0a1a0a "the file begins as a PNG does"
like "$("$gpusched" trace plot - -o - --from 1s --for 50ms <"$file" | head -c 60)" "<.xml" "- is standard input and output"
exits 2 "another kind of picture is refused" "$gpusched" trace plot "$file" -o "$scratch/one.jpg"
is "$("$gpusched" trace export - <"$file" | md5sum)" "$("$gpusched" trace export "$file" | md5sum)" "export reads standard input"
exits 1 "a stretch without turns is told" "$gpusched" trace plot "$file" -o "$scratch/two.svg" --from 1h
like "$out" "no turn" "as such"
head -c 5000 "$file" >"$scratch/cut"
exits 1 "so is a file that is cut off" "$gpusched" trace export "$scratch/cut"
like "$out" "cut off" "the error says what the file is"
exits 1 "a file that is no recording is refused, too" "$gpusched" trace export "$top/README.md"

# ---- who sees whose --------------------------------------------------------------------------------
for uid in 4711 4712 4713; do
	as $uid "$gpusched" trace record -o - -t 1 >"$scratch/of.$uid" 2>"$scratch/err.$uid"
done
is "$(summary "$scratch/of.4711" $lc '.gpu_time_us > 0')" true "a user records its own program"
is "$(summary "$scratch/of.4711" $be '[.gpu_time_us, .turns, .wait_p99_us]' | jq -c .)" "[null,null,null]" \
	"the recording has of root's program only that it is there"
is "$(summary "$scratch/of.4712" $lc .gpu_time_us)" null "another user sees neither"
is "$(protoc --decode_raw <"$scratch/of.4712" | grep -c '"turn"\|"engine"')" 0 "no turn is in its file"
is "$(summary "$scratch/of.4713" $be '.gpu_time_us > 0')" true "whom AllowTrace= names does"
end_load $lc

# ---- what does not fit -----------------------------------------------------------------------------
mkdir "$scratch/small"
mount -t tmpfs -o size=64k none "$scratch/small"
dd if=/dev/zero of="$scratch/small/filler" bs=1k count=56 2>/dev/null
load lc $fixed
exits 1 "a full disk ends it" "$gpusched" trace record -o "$scratch/small/f" -t 20
like "$out" "No space left.*can be read" "the full disk is told"
check "what fitted can be read" "$gpusched" trace export "$scratch/small/f"
umount "$scratch/small"

record "$scratch/slow.pftrace"
kill -STOP $RECORD
storm() { # events until a stopped recorder has missed some
	"$helper" tsgs 900 </dev/null >/dev/null 2>&1
	curl -sf --unix-socket "$GPUSCHED_SIM/run/api" http://gpusched/metrics |
		grep -qE '^gpusched_trace_lines_missed_total [1-9]'
}
check "a recorder that stops reading misses lines" wait_for 30 storm
kill -CONT $RECORD
sleep 0.5
stop_record
is $? 0 "it ends well all the same"
like "$(cat "$scratch/record.out")" "lines are missing" "it says so"
ge "$(summary "$scratch/slow.pftrace" $be .dropped)" 1 "the summary says so, too"
check "the daemon lives" daemon_ready
done_testing
