#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 120
# needs: root bpf fuse
# An ordinary user of a daemon may list everything and lower the settings and classes of own
# programs, but change nothing else.
. "$(dirname "$0")/lib.sh"
enter_sim
chmod 755 "$scratch"
config '[Classes]
AllowClass=lc gid=4720'
start_daemon || not_ok "a daemon starts"
load be --seconds 600
root=$LOAD_PID
setpriv --reuid 4711 --regid 4711 --clear-groups "$gsload" be --seconds 600 >"$scratch/user.out" 2>&1 &
user=$!
at_end+=($user)
check "the user's own program is listed" wait_tsgs pid:$user 4
wait_for 5 slice_is $user 2048
wait_for 5 slice_is $root 2048
is "$(as 4711 "$gpusched" list pid:$user --json | jq -s 'flatten | .[0].uid')" 4711 "the user may list the program"
check "the user may set a shorter slice" as 4711 "$gpusched" set pid:$user timeslice=500us
check "the RM has the user's slice" wait_for 5 slice_is $user 500
check "a user may set a longer slice, up to what the program asked for" as 4711 "$gpusched" set pid:$user timeslice=1ms
exits 3 "a user may not set a longer slice than that" as 4711 "$gpusched" set pid:$user timeslice=3ms
check "a user may clear own settings" as 4711 "$gpusched" set pid:$user clear
check "the cleared slice is the program's own again" wait_for 5 slice_is $user 2048
check "root sets a slice" "$gpusched" set pid:$user timeslice=1ms
check "the user may set a shorter slice than root's" as 4711 "$gpusched" set pid:$user timeslice=500us
exits 3 "a user may not clear root's setting" as 4711 "$gpusched" set pid:$user clear
exits 3 "a user may not lengthen the slice again" as 4711 "$gpusched" set pid:$user timeslice=700us
check "root may clear the settings" "$gpusched" set pid:$user clear
check "the user sets a slice once more" as 4711 "$gpusched" set pid:$user timeslice=500us
check "root sets another slice" "$gpusched" set pid:$user timeslice=400us
exits 3 "the user may not clear it then" as 4711 "$gpusched" set pid:$user clear
exits 3 "a user may not set the slice of root's program" as 4711 "$gpusched" set pid:$root timeslice=500us
check "root's program keeps its slice" slice_is $root 2048
exits 3 "a user may not suspend root's program" as 4711 "$gpusched" suspend pid:$root
is "$(sim_disabled $root)" 0 "root's program runs"
exits 3 "a user may not set another user's program" as 4712 "$gpusched" set pid:$user timeslice=600us
check "a user may lower an own program's class" as 4711 "$gpusched" class set pid:$user be
exits 4 "class set on programs of several users exits with 4" as 4711 "$gpusched" class set comm:gsload be
is "$(list_json all 'map(select(.class == "be") | .pid) | unique | length')" 1 "it lowers the user's own program alone"
own_class() { "$gpusched" class get pid:$user --json | jq -r '"\(.class) \(.source)"'; }
exits 3 "a user may not raise the class" as 4711 "$gpusched" class set pid:$user lc
is "$(own_class)" "be owner" "class get says that the owner set the class"
exits 3 "another user may not clear the class" as 4712 "$gpusched" class clear pid:$user
check "the owner may clear the class" as 4711 "$gpusched" class clear pid:$user
is "$(own_class)" "null default" "the program has no class then"
check "the owner sets a class with little weight" as 4711 "$gpusched" class set pid:$user be --weight 5
check "the owner may give it the class's weight again" as 4711 "$gpusched" class set pid:$user be
check "the owner may set a class that is no higher than the original one" as 4711 "$gpusched" class set pid:$user normal
check "root lowers the class" "$gpusched" class set pid:$user be
check "the owner may set the same class" as 4711 "$gpusched" class set pid:$user be
exits 3 "the owner may not clear root's class" as 4711 "$gpusched" class clear pid:$user
exits 3 "the owner may not raise root's class" as 4711 "$gpusched" class set pid:$user normal
is "$(own_class)" "be command" "the class is still root's"
exits 3 "a user may not start a policy" as 4711 "$gpusched" policy start lcbe
exits 3 "a user may not restore" as 4711 "$gpusched" restore
is "$(as 4711 "$gpusched" restore 2>&1 | wc -l)" 1 "a refusal is one line"
exits 0 "doctor succeeds for a user with a daemon" as 4711 "$gpusched" doctor
like "$out" "GPUs of this shell: through the daemon" "doctor says that the GPUs are reached through the daemon"
is "$(as 4711 "$gpusched" doctor --json | jq -c '[.ok, .gpu, .daemon]')" "[true,false,true]" "doctor --json says so, too"
# ---- AllowClass= of a group: the process's own groups count, in no directory of users
in_group() { # COMMAND...: as the same user, with that group
	setpriv --reuid 4711 --regid 4711 --groups 4719,4720 "$@"
}
"$gpusched" class clear pid:$user >/dev/null
check "a member of the group may raise the class" in_group "$gpusched" class set pid:$user lc
check "root clears the class" "$gpusched" class clear pid:$user
exits 3 "the same user without the group may not" as 4711 "$gpusched" class set pid:$user lc
setpriv --reuid 4711 --regid 4711 --groups 4719,4720 "$gpusched" run --no-agent --class lc -- "$gsload" be --seconds 600 >"$scratch/member.out" 2>&1 &
member=$!
at_end+=($member)
check "the member's program is listed" wait_tsgs pid:$member 4
is "$("$gpusched" class get pid:$member --json | jq -r .class)" lc "it has the group's class"
stop_daemon
exits 3 "doctor exits with 3 for a user without a daemon" as 4711 "$gpusched" doctor
exits 3 "set fails for a user without a daemon" as 4711 "$gpusched" set pid:$user timeslice=500us
like "$out" "root" "the reason names root"
done_testing
