#!/bin/bash
# SPDX-License-Identifier: MIT
# list, status, stats, metrics and the history show how much of a GPU's memory each process holds.
# timeout: 150
# needs: root bpf fuse
. "$(dirname "$0")/lib.sh"
enter_sim --gpus 2
config '[Status]
IdleLimit=3s
IdleMemory=3000'
idle="--iterations-per-us 27.777 --count 1 --warmup 0 --seconds 0 --linger 200"
mib() { list_json "pid:$1" '[.[].memory_bytes | if . then . / 1048576 | floor else . end] | unique | map(tostring) | join(",")'; }
gpu_mib() { "$gpusched" stats --json | jq ".gpu_time[$1].memory.$2 | if . then . / 1048576 | floor else . end"; }
controls() { sim_state '.controls["0x2080018e"].calls // 0'; }
service() { "$gpusched" stats --json | jq ".service.$1"; }
note_of() { status_lines | grep "^note: process $1 "; }

load be $idle --allocate-mib 4096
big=$LOAD_PID
wait_tsgs "pid:$big" 1
is "$(mib $big)" null "without a daemon nobody knows what a process holds"
is "$("$gpusched" status --json | jq -c '.gpus[0].memory | [.used_bytes, .reason]')" '[null,"no daemon asks for it"]' \
	"status --json says why nothing is known"
is "$(controls)" 0 "without a daemon the driver is not asked"
start_daemon
load be $idle --allocate-mib 1000
small=$LOAD_PID
wait_tsgs "pid:$small" 1
check "list has what the first process holds" wait_for 20 eval '[ "$(mib $big)" = 4096 ]'
check "list has what the second process holds" wait_for 20 eval '[ "$(mib $small)" = 1000 ]'
like "$("$gpusched" list "pid:$big")" "MEMORY.* 4 GiB " "the table has a column for memory"
is "$(gpu_mib 0 used_bytes)" 5096 "the GPU's used memory is their sum"
is "$(gpu_mib 0 held_bytes)" 5096 "processes hold all of the used memory"
is "$("$gpusched" stats --json | jq '.gpu_time[0].memory | .total_bytes == .reserved_bytes + .used_bytes + .free_bytes')" true \
	"reserved, used and free add up to the total"
is "$(gpu_mib 1 used_bytes)" null "a GPU without programs is not asked: unknown, not 0"
like "$("$gpusched" status)" "; memory 5 of 142 GiB" "status has a line for memory"
is "$("$gpusched" status --json | jq -c "[.gpus[0].tsgs[] | select(.pid == $big) | .memory_bytes / 1048576 | floor]")" "[4096]" \
	"status --json has the memory of each program"
bytes=$("$gpusched" stats --json | jq .gpu_time[0].memory.held_bytes)
metrics=$(curl -s --unix-socket "$GPUSCHED_SIM/run/api" http://x/metrics)
like "$metrics" "gpusched_gpu_memory_used_bytes.gpu=.0.,UUID=.GPU-[^ ]* $bytes" "metrics have the GPU's memory"
like "$metrics" "gpusched_memory_bytes.gpu=.0.[^ ]*class=..[^ ]* $bytes" "metrics have what the programs of a class hold"
is "$(grep -c 'gpusched_gpu_memory_used_bytes{gpu="1"' <<<"$metrics")" 0 "metrics have no line for what is unknown"

# ---- a program that is idle and holds much memory -------------------------------------------------

check "status notes a program that is idle and holds much" wait_for 30 eval 'note_of $big >/dev/null'
like "$(note_of $big)" "is idle and holds 4.0 GiB of GPU 0's memory, for [0-9]+ s" "status says how much, and how long"
is "$(note_of $small)" "" "status leaves out a program that holds little"
exits 0 "idle memory is a note, not wrong" "$gpusched" status
like "$(curl -s --unix-socket "$GPUSCHED_SIM/run/api" http://x/metrics)" \
	'gpusched_findings.finding="memory-idle",level="note". 1' "metrics count the finding"
load be --iterations-per-us 27.777 --seconds 100 --warmup 0 --allocate-mib 5000
busy=$LOAD_PID
wait_tsgs "pid:$busy" 1
check "list has what a busy program holds" wait_for 20 eval '[ "$(mib $busy)" = 5000 ]'
sleep 8
is "$(note_of $busy)" "" "status does not call a busy program idle"
like "$(note_of $big)" "is idle" "the idle program is still noted beside a busy one"

# ---- which users see it --------------------------------------------------------------------------

is "$(as 65534 "$gpusched" list "pid:$big" --json | jq -cs 'flatten | map([(.memory_bytes / 1048576 | floor), .idle_since_ns]) | unique')" \
	'[[4096,null]]' "another user sees what a process holds, as ps does, but not since when it is idle"
is "$(as 65534 "$gpusched" status | grep -c "is idle")" 0 "another user does not see which program is idle"

# ---- what it costs ----------------------------------------------------------------------------------

before=$(controls)
sleep 11
n=$(($(controls) - before))
le "$n" 3 "the driver is asked once in 5 s at most"
ge "$n" 1 "the driver is asked again and again"
ge "$(service memory_reads)" 3 "a counter has the readings"
ge "$(service memory_read_ns)" 1 "a counter has their time"
sum() { "$gpusched" "$@" --json | jq -s "[flatten[] | select(.pid == $big) | .memory_mib_s] | add // 0"; }
ge "$(sum stats --by process)" $((4096 * 15)) "stats has memory times time of the idle program"
for pid in $big $small $busy; do
	end_load $pid
done
check "history has memory times time of the ended program" wait_for 20 eval '[ "$(sum history)" -ge $((4096 * 15)) ]'
le "$(sum history)" $((4100 * SECONDS)) "history has no more of that than time has passed"
ge "$("$gpusched" stats --by gpu --json | jq -s '[flatten[] | select(.gpu == 0) | .memory_mib_s][0]')" $((4096 * 15)) \
	"stats by GPU has the memory in use"
like "$("$gpusched" history --wide)" "GIB HOURS" "history has a column for memory"
sleep 6
before=$(controls)
sleep 6
is "$(controls)" "$before" "without programs the driver is not asked"
is "$(gpu_mib 0 used_bytes)" null "without programs the used memory is unknown"

# ---- without the account ----------------------------------------------------------------------------

stop_daemon
config '[Daemon]
Account=no
[Status]
IdleLimit=1s
IdleMemory=1'
start_daemon
load be $idle --allocate-mib 300
wait_tsgs "pid:$LOAD_PID" 1
check "without the account list has what a process holds" wait_for 20 eval '[ "$(mib $LOAD_PID)" = 300 ]'
check "the daemon keeps no file of the driver open between two readings" wait_for 10 eval '[ "$(sim_files $DAEMON_PID)" = 0 ]'
ge "$(counter beside_ns)" 1 "the readings are charged to the budget of calls"
sleep 6
is "$(list_json "pid:$LOAD_PID" '[.[].idle_since_ns] | unique')" "[
  null
]" "without the account idle times are unknown"
done_testing
