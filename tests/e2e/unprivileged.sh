#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 120
# needs: root bpf fuse
# An ordinary user beside a daemon may look, and may lower the user's own programs, and nothing
# else.
. "$(dirname "$0")/lib.sh"
enter_sim
chmod 755 "$scratch"
start_daemon || not_ok "a daemon starts"
load be --seconds 600
root=$LOAD_PID
setpriv --reuid 4711 --regid 4711 --clear-groups "$gsload" be --seconds 600 >"$scratch/user.out" 2>&1 &
user=$!
at_end+=($user)
check "the user's own program is seen" wait_tsgs pid:$user 4
wait_for 5 slice_is $user 2048
wait_for 5 slice_is $root 2048
is "$(as 4711 "$gpusched" list pid:$user --json | jq -s 'flatten | .[0].uid')" 4711 "the user may list it"
check "the user may set its slice" as 4711 "$gpusched" set pid:$user timeslice=500us
check "the RM has it" wait_for 5 slice_is $user 500
check "a user may set a longer slice, up to what the program asked for" as 4711 "$gpusched" set pid:$user timeslice=1ms
exits 3 "not beyond" as 4711 "$gpusched" set pid:$user timeslice=3ms
check "a user may take it back" as 4711 "$gpusched" set pid:$user clear
check "all of it" wait_for 5 slice_is $user 2048
check "what root has set" "$gpusched" set pid:$user timeslice=1ms
check "it may lower" as 4711 "$gpusched" set pid:$user timeslice=500us
exits 3 "a user may not take root's setting back" as 4711 "$gpusched" set pid:$user clear
exits 3 "not in part either" as 4711 "$gpusched" set pid:$user timeslice=700us
check "root may" "$gpusched" set pid:$user clear
check "once more its own" as 4711 "$gpusched" set pid:$user timeslice=500us
check "until root has set it, too" "$gpusched" set pid:$user timeslice=400us
exits 3 "then it is root's" as 4711 "$gpusched" set pid:$user clear
exits 3 "not that of root's program" as 4711 "$gpusched" set pid:$root timeslice=500us
check "root's program is untouched" slice_is $root 2048
exits 3 "nor suspend it" as 4711 "$gpusched" suspend pid:$root
is "$(sim_disabled $root)" 0 "it runs"
exits 3 "nor another user's" as 4712 "$gpusched" set pid:$user timeslice=600us
check "lowering his own program's class is allowed" as 4711 "$gpusched" class set pid:$user be
exits 4 "of programs of several users his own alone" as 4711 "$gpusched" class set comm:gsload be
is "$(list_json all 'map(select(.class == "be") | .pid) | unique | length')" 1 "are lowered"
own_class() { "$gpusched" class get pid:$user --json | jq -r '"\(.class) \(.source)"'; }
exits 3 "raising it is not" as 4711 "$gpusched" class set pid:$user lc
is "$(own_class)" "be owner" "it is said whose word that is"
exits 3 "another user does not take it back" as 4712 "$gpusched" class clear pid:$user
check "he may take it back" as 4711 "$gpusched" class clear pid:$user
is "$(own_class)" "null default" "to what it was"
check "once more, with little weight" as 4711 "$gpusched" class set pid:$user be --weight 5
check "the weight, too" as 4711 "$gpusched" class set pid:$user be
check "to a class that is no higher than it was" as 4711 "$gpusched" class set pid:$user normal
check "what root has lowered" "$gpusched" class set pid:$user be
check "he may set anew" as 4711 "$gpusched" class set pid:$user be
exits 3 "but not take back" as 4711 "$gpusched" class clear pid:$user
exits 3 "nor raise" as 4711 "$gpusched" class set pid:$user normal
is "$(own_class)" "be command" "it is root's word"
exits 3 "starting a policy is not" as 4711 "$gpusched" policy start lcbe
exits 3 "restore is not" as 4711 "$gpusched" restore
is "$(as 4711 "$gpusched" restore 2>&1 | wc -l)" 1 "a refusal is one line"
exits 0 "doctor: the daemon serves him" as 4711 "$gpusched" doctor
like "$out" "GPUs of this shell: through the daemon" "doctor says so"
is "$(as 4711 "$gpusched" doctor --json | jq -c '[.ok, .gpu, .daemon]')" "[true,false,true]" "in JSON too"
stop_daemon
exits 3 "doctor without a daemon" as 4711 "$gpusched" doctor
exits 3 "without a daemon a user gets a reason" as 4711 "$gpusched" set pid:$user timeslice=500us
like "$out" "root" "the reason names root"
done_testing
