#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 180
# needs: root bpf fuse
# gpusched parks a program and brings it back: with a daemon and without one, for root and for its
# user, with and without free memory, and through deaths of the daemon and of the helper.
. "$(dirname "$0")/lib.sh"
enter_sim
config '[Policy]
Policy = auto
[Classes]
Rule = arg=be -> be'
park_setup

used_mib() {
	sim_state '.memory[0].used_bytes / 1048576 | floor'
}

works() { # PID: it does more work
	local before
	before=$(sim_work "$1")
	wait_for 10 eval "[ \$(sim_work $1) -gt $before ]"
}

history_of() { # PID KEY: the key's value in its row of the history
	"$gpusched" history "pid:$1" --json | jq -s -r "flatten[0] | $2"
}

the_helper() {
	here gpusched-park
}

like "$("$gpusched" doctor)" "yes parking +programs can be parked" "doctor says that parking works"
like "$(LD_LIBRARY_PATH='' "$gpusched" doctor)" "no  parking +no program can be parked" "without a libcuda that can park doctor says so"

# ---- without a daemon ------------------------------------------------------------------------------
load be --seconds 0 --warmup 0
be=$LOAD_PID
wait_tsgs "pid:$be" 4 || not_ok "a program runs"
check "root parks without a daemon" "$gpusched" park "pid:$be" --quiet
is "$(cuda_state "$be") $(used_mib)" "2 0" "its memory is off the GPU, and its state is checkpointed"
is "$(parked "$be" '"\(.state) \(.parked_by_uid)"')" "parked 0" "the next command knows that it is parked"
is "$(the_helper)" "" "no helper stays behind"
exits 3 "park --for needs a daemon" "$gpusched" park "pid:$be" --for 1s
check "root brings it back without a daemon" "$gpusched" unpark "pid:$be"
check "the program works on" works "$be"
is "$("$gpusched" parked)" "no process is parked" "parked lists no process"

# ---- with a daemon --------------------------------------------------------------------------------
start_daemon || not_ok "a daemon starts"
wait_tsgs "pid:$be" 4 || not_ok "the program is listed"
check "park succeeds with a daemon" "$gpusched" park "pid:$be" --quiet
ge "$(parked "$be" .bytes)" 4096 "the amount of moved memory is known"
check "its TSGs end" wait_for 10 eval '[ "$(list_json "pid:'"$be"'" length)" = 0 ]'
like "$("$gpusched" list; status_lines)" "parked: process $be .*note: process $be \(gsload\) is parked by root: 0.0 GiB" "list and status say that it is parked"
is "$(curl -sf --unix-socket "$GPUSCHED_SIM/run/api" http://gpusched/metrics | grep -c 'findings{finding="parked",level="note"} 1')" 1 "metrics count the parked program"
exits 1 "a parked program cannot be parked again" "$gpusched" park "pid:$be" --quiet
check "the program comes back" "$gpusched" unpark "pid:$be"
check "the program works under a policy" works "$be"
wait_tsgs "pid:$be" 4 || not_ok "its new TSGs are listed"

check "a program is suspended" "$gpusched" suspend "pid:$be"
check "a suspended program can be parked" "$gpusched" park "pid:$be" --quiet
check "a program that was suspended comes back" "$gpusched" unpark "pid:$be"
check "the program that was suspended works" works "$be"
wait_tsgs "pid:$be" 4 || not_ok "its TSGs are listed once more"

check "park --for succeeds" "$gpusched" park "pid:$be" --for 2s --quiet
check "the program comes back after that time" wait_for 20 eval '[ -z "$(parked '"$be"' .state)" ]'
check "the program works after park --for" works "$be"
ge "$(history_of "$be" .parked_ms)" 2000 "the history has how long it was parked"
is "$(history_of "$be" '"\(.ended_s) \(.parked_ms < .last_s * 1000 - .began_s * 1000 + 2000)"')" "null true" "the program has not ended, and was parked for a part of its life only"
like "$("$gpusched" history --wide "pid:$be")" " PARKED " "the history's table has the time parked"
ge "$(curl -sf --unix-socket "$GPUSCHED_SIM/run/api" http://gpusched/metrics | sed -n 's/^gpusched_parked_seconds_total{.*class="be".*} //p')" 2 "metrics have the time parked by class"

# ---- memory ----------------------------------------------------------------------------------------
hold big 10000
exits 124 "parking a large program takes more than 2 s" timeout -s INT 2 "$gpusched" park "pid:$big" --quiet
check "the program comes back when park is interrupted" wait_for 30 eval '[ -z "$(parked "$big" .state)" ] && [ "$(cuda_state "$big")" = 0 ]'
wait_tsgs "pid:$big" 4 || not_ok "its TSGs are listed"
script -qec "'$gpusched' park pid:$big" /dev/null </dev/null >"$scratch/shown" 2>&1 &
shown=$!
check "parked estimates how far the move has come" wait_for 20 eval '[ "$(parked "$big" ".state == \"parking\" and .moved_bytes > 0 and .moved_bytes < .moving_bytes and .moved_bytes_per_s > 0 and .moving_ms > 0")" = true ]'
wait "$shown"
is "$?" 0 "a large program is parked"
like "$(<"$scratch/shown")" "$big \(helper\): parking for [0-9]+ s, ~[0-9.]+ of 9.8 GiB, ~[0-9.]+ GB/s" "park shows the estimate on a terminal"
like "$(<"$scratch/shown")" "parked, 9.8 GiB in [0-9.]+ s \([0-9.]+ GB/s\)" "park says how fast the move was"
is "$(parked "$big" '"\(.moving_ms) \(.moved_bytes)"')" "null null" "parked has no estimate after the move"
hold hog 134000
exits 1 "unpark fails without free memory" "$gpusched" unpark "pid:$big"
like "$out" "no gate here keeps new programs waiting" "the error says that no gate keeps new programs waiting"
like "$out" "waits: it needs 9.8 GiB and a margin, and GPU 0 has [0-9.]* GiB free" "the error says why the program waits"
is "$(cuda_state "$big") $(parked "$big" .state)" "2 waits" "the program that waits is unharmed"
kill -9 "$hog"
check "the program comes back when memory is free" wait_for 30 eval '[ "$(cuda_state '"$big"')" = 0 ]'
kill -9 "$big"
wait "$big" 2>/dev/null

# ---- deaths ----------------------------------------------------------------------------------------
hold one 1000
hold two 2000
wait_tsgs "pid:$be" 4 || not_ok "the program has TSGs"
check "no TSG of the killed program is left" wait_tsgs "pid:$big" 0
asked_at=$(date +%s%3N)
check "two programs are parked by one command" "$gpusched" park "comm:helper" --quiet
out_by=$(date +%s%3N)
kill -9 "$(the_helper)"
check "another helper takes the dead one's place" "$gpusched" unpark "pid:$one"
wait_tsgs "pid:$one" 4
check "the program is parked once more" "$gpusched" park "pid:$one" --quiet
kill_daemon
is "$(cuda_state "$one")$(cuda_state "$two")" 22 "parked programs stay parked when the daemon is killed"
start_daemon || not_ok "a daemon starts again"
is "$(parked "$one" .state) $(parked "$two" .state)" "parked parked" "the next daemon knows both"
sleep 1
least=$(($(date +%s%3N) - out_by))
kill -9 "$two"
check "a parked program that is killed is no longer listed" wait_for 10 eval '[ -z "$(parked '"$two"' .state)" ]'
most=$(($(date +%s%3N) - asked_at))
is "$(history_of "$two" ".parked_ms >= $least and .parked_ms <= $most and .ended_s != null")" true "its time parked counts through the daemon's death, until its own end"
stop_daemon
is "$(cuda_state "$one")" 2 "a program stays parked when the daemon ends"
"$helper" park "$be" lock >/dev/null
"$helper" park "$be" unlock >/dev/null
check "restore brings back parked programs" "$gpusched" restore
is "$(cuda_state "$one")" 0 "the restored program runs"
is "$(ls "$GPUSCHED_SIM/run/parked.json" 2>&1 | grep -c 'No such')" 1 "no note of parked programs is left"

# ---- users -----------------------------------------------------------------------------------------
start_daemon || not_ok "a daemon starts for users"
hold his 1000 setpriv --reuid 4321 --regid 4321 --clear-groups
exits 3 "a user may not park another's program" as 4321 "$gpusched" park "pid:$one" --quiet
check "users may park their own programs" as 4321 "$gpusched" park "pid:$his" --quiet
exits 3 "another user may not bring it back" as 4322 "$gpusched" unpark "pid:$his"
check "its user may bring it back" as 4321 "$gpusched" unpark "pid:$his"
wait_tsgs "pid:$his" 4
check "root parks the user's program" "$gpusched" park "pid:$his" --quiet
exits 3 "its user may not bring back a program that root parked" as 4321 "$gpusched" unpark "pid:$his"
like "$out" "root has parked it" "the error says that root has parked it"
kill -STOP "$one"
exits 3 "a stopped program is not parked" "$gpusched" park "pid:$one" --quiet
like "$out" "it is stopped" "the error says that it is stopped"
kill -CONT "$one"
check "root brings the user's program back" "$gpusched" unpark "pid:$his"
stop_daemon
done_testing
