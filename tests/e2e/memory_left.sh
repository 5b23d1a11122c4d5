#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 180
# needs: root bpf fuse
# A process ends, and others keep its RM client: the memory is theirs, or has a row of its own.
. "$(dirname "$0")/lib.sh"
enter_sim
start_daemon
idle="--iterations-per-us 27.777 --count 1 --warmup 0 --seconds 0 --linger 200"

# bequeath NAME MIB WHAT: $MAKER and $HEIR, and a descriptor $WORD for the word
bequeath() {
	mkfifo "$scratch/in.$1"
	"$helper" bequeath "$2" "$3" <"$scratch/in.$1" >"$scratch/out.$1" 2>&1 &
	HEIR=$!
	at_end+=("$HEIR")
	exec {WORD}>"$scratch/in.$1"
	wait_for 10 grep -q '^[0-9]' "$scratch/out.$1"
	MAKER=$(head -n 1 "$scratch/out.$1")
}
mib() { list_json all "[.[] | select(.pid == $1) | .memory_bytes | if . then . / 1048576 | floor else . end] | unique | map(tostring) | join(\",\")"; }
held_mib() { "$gpusched" status --json | jq '.gpus[0].memory.held_bytes / 1048576 | floor'; }
rows_mib() { list_json all '[.[] | {pid, memory_bytes}] | unique | map(.memory_bytes // 0) | add / 1048576 | floor'; }
agree() { [ "$(rows_mib)" = "$1" ] && [ "$(held_mib)" = "$1" ]; }

load be $idle --allocate-mib 512
wait_tsgs "pid:$LOAD_PID" 1
bequeath with 2048 tsg
with_maker=$MAKER with_heir=$HEIR with_word=$WORD
bequeath bare 1024 bare
bare_maker=$MAKER bare_heir=$HEIR bare_word=$WORD
check "the makers' memory is known" wait_for 30 eval '[ "$(mib $with_maker)" = 2048 ] && [ "$(held_mib)" = 3584 ]'
is "$(list_json all '[.[] | select(.ended)] | length')" 0 "nobody has ended"
is "$("$gpusched" status --json | jq -c '.gpus[0].ended')" "[]" "status --json says so, too"
held_s() { # PID VERB...: MiB times seconds
	"$gpusched" "${@:2}" --json | jq -s "flatten | map(select(.pid == $1) | .memory_mib_s // 0) | add // 0 | floor"
}
check "what the maker holds is counted" wait_for 20 eval '[ "$(held_s $with_maker stats --by process)" -ge 8192 ]'
echo >&"$with_word"
check "the memory of a process that has ended is its heir's" wait_for 40 eval '[ "$(mib $with_heir)" = 2048 ]'
is "$(mib $with_maker)" "" "the process itself has no row"
check "from then on it is counted for the heir" wait_for 30 eval '[ "$(held_s $with_heir stats --by process)" -ge 8192 ]'
check "the history has the maker's part with the maker" wait_for 10 eval '[ "$(held_s $with_maker history)" -ge 8192 ]'
echo >&"$bare_word"
ended() { list_json all '[.[] | select(.ended) | [.pid, .comm, .id, .uid, (.memory_bytes / 1048576 | floor)]]' | jq -c .; }
check "without an heir that has a TSG the memory has a row" wait_for 40 eval '[ "$(ended)" = "[[$bare_maker,\"maker\",null,0,1024]]" ]'
check "the rows add up to what processes hold" wait_for 20 agree 3584
like "$("$gpusched" list)" "$bare_maker +[^ ]+ maker \(ended\)" "list names it"
like "$("$gpusched" list gpu:0)" "$bare_maker +[^ ]+ maker \(ended\)" "list of its GPU names it, too"
is "$("$gpusched" list "pid:$LOAD_PID" | grep -c "(ended)")" 0 "list of another process does not"
like "$("$gpusched" status)" "$bare_maker maker \(ended\) .* 1 GiB" "status names it, with its memory"
is "$("$gpusched" status --json | jq -c '[.gpus[0].ended[] | .pid]')" "[$bare_maker]" "status --json has it"

# ---- after a restart nobody knows its name ----------------------------------------------------------

stop_daemon
start_daemon
check "after a restart the memory still has a row, without a name" wait_for 40 eval \
	'[ "$(ended)" = "[[$bare_maker,null,null,null,1024]]" ]'
like "$("$gpusched" list)" "$bare_maker .*\(ended\)" "list names it by its pid"
is "$(mib $with_heir)" 2048 "after a restart the heir still has what it inherited"
is "$("$gpusched" history --json | jq -s "flatten | map(select(.pid == $with_heir) | .comm) | unique | length")" 1 \
	"the heir is one program in the history"
kill "$bare_heir" "$with_heir"
check "the history has the heir's part with the heir" wait_for 20 eval '[ "$(held_s $with_heir history)" -ge 8192 ]'
check "the row goes when the memory is free" wait_for 40 eval '[ "$(ended)" = "[]" ]'
done_testing
