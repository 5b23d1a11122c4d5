#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 240
# needs: root bpf fuse
# Admission on the stock host without the gate (tests/vm/gate.sh tests the gate). A hold suspends a
# program: it waits, and none of its calls fails. Also the queue's order, limits by class and GPU,
# HoldLimit=, and each way in which a wait ends.
. "$(dirname "$0")/lib.sh"
enter_sim --gpus 2
exec 2>"$scratch/stderr" # bash writes a line there for each program that is killed

held() {
	[ "$(compute "$1" .held)" = true ] && [ "$(sim_disabled "$1")" != 0 ]
}
runs() {
	[ "$(compute "$1" .held)" = false ] && [ "$(sim_disabled "$1")" = 0 ] && [ "$(sim_work "$1")" != 0 ]
}
started() { # PID: its compute TSG is scheduled
	[ "$(compute "$1" .scheduled)" = true ]
}

config '[Policy]
Gate = no
HoldLimit = 300s'
start_daemon || exit 1
check "admit starts" "$gpusched" policy start admit -o max_be=1 -o max_lc=1

# ---- one place: the first runs, the others wait in their order
run_load be first be --seconds 0
check "the first runs" wait_for 10 runs $first
run_load be second be --seconds 0 --warmup 0 --count 5000
check "the second waits" wait_for 10 held $second
run_load be third be --seconds 0
check "the third waits" wait_for 10 held $third
is "$(compute $second .suspended_by)" admission "admission suspended it"
is "$(compute $second .held_by)" admit "the reason is the policy that runs"
is "$(compute $second .held_how)" suspension "the program is held by suspension"
like "$(compute $second .reason)" "waits until policy admit admits it" "list says why"
is "$("$gpusched" list pid:$second | grep -c 'not admitted by admit')" 1 "list shows the hold at exactly one TSG"
done_before=$(sim_work $second) # includes work that was done before the suspension took effect
sleep 0.5
is "$(sim_work $second)" "$done_before" "a suspended program does no work"
check "a suspended program is alive: none of its calls failed" kill -0 $second

# ---- by class and by GPU
run_load lc other lc --seconds 0
check "another class has a limit of its own" wait_for 10 runs $other
run_load be elsewhere be --seconds 0 --gpu 1
check "another GPU has a limit of its own" wait_for 10 runs $elsewhere
end_load $other
end_load $elsewhere

# ---- a place becomes free
kill -9 $first
wait $first 2>/dev/null
check "a holder's death releases its place: the next of the queue runs" wait_for 10 runs $second
check "the third still waits" held $third
wait $second
is $? 0 "the one that waited has ended well"
is "$(jq .n "$scratch/second.out")" 5000 "the one that waited has done all its work"
check "the third has its turn" wait_for 10 runs $third

# ---- a program that dies while it waits, a program that a person lets in
run_load be waits be --seconds 0
check "a fourth waits" wait_for 10 held $waits
end_load $waits KILL
run_load be person be --seconds 0
check "a fifth waits" wait_for 10 held $person
check "a person's resume lets it in" "$gpusched" resume pid:$person
check "the resumed program runs" wait_for 10 eval "[ \"\$(sim_disabled $person)\" = 0 ] && [ \"\$(sim_work $person)\" != 0 ]"
end_load $person KILL
check "the admitted program goes on" runs $third
is "$(counter released_hold)" 0 "HoldLimit has let no program in"

# ---- the end of the policy, the end of the daemon
run_load be last be --seconds 0
check "a sixth waits" wait_for 10 held $last
check "another policy takes over" "$gpusched" policy start none
check "the next policy holds nobody" wait_for 10 runs $last
check "admit takes over" "$gpusched" policy start admit -o max_be=1
sleep 0.3
check "a program that runs when admit starts goes on" runs $last
run_load be orphan be --seconds 0
check "one more waits" wait_for 10 held $orphan
kill_daemon
check "the daemon is killed: the guardian lets it run" wait_for 3 eval "[ \"\$(sim_disabled $orphan)\" = 0 ]"
run_load be free be --seconds 0
check "without a daemon nobody waits" wait_for 5 eval "[ \"\$(sim_work $free)\" != 0 ]"
is "$(list_json all 'map(select(.held)) | length')" 0 "nobody is said to wait without a daemon"
start_daemon
check "a new daemon admits" "$gpusched" policy start admit -o max_be=1
sleep 0.3
check "a program that runs when the daemon starts goes on" runs $orphan
run_load be stopped be --seconds 0
check "admit holds programs that come later" wait_for 10 held $stopped
check "the policy stops" "$gpusched" policy stop
check "policy stop lets all programs run" wait_for 10 runs $stopped
check "all have their own timeslices" restored
stop_daemon

# ---- the host's limit
config '[Policy]
Gate = no
HoldLimit = 5s'
start_daemon
check "admit starts with HoldLimit=5s" "$gpusched" policy start admit -o max_be=1
run_load be late be --seconds 0
check "a program waits for its admission" wait_for 10 held $late
check "HoldLimit ends the wait" wait_for 15 runs $late
is "$(counter released_hold)" 1 "the release is counted"
sleep 0.3
check "the program is not suspended again" runs $late
check "the policy stops" "$gpusched" policy stop

# ---- deny
exits 3 "a policy that denies is refused on this host" "$gpusched" policy start "$top/tests/policy/deny.bpf.c"
like "$out" "stock host cannot without the gate \(.+\)" "the refusal has its reason"
is "$("$gpusched" policy get --json | jq -r '.last_exit.kind')" refused "the reason is kept"
done_testing
