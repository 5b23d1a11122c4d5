#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 90
# needs: root bpf fuse
# Ordinary users act on their own TSGs and processes. Nothing of that harms another user or evades a
# rule.
. "$(dirname "$0")/lib.sh"
enter_sim
chmod 755 "$scratch"
api=$GPUSCHED_SIM/run/api
ask() { # VERB JSON: a request of the user's
	as 4711 curl -s --max-time 10 --unix-socket "$api" -d "$2" "http://gpusched/v1/$1"
}
config '[Classes]
Class=alpha weight=10
Class=beta weight=20'
start_daemon || not_ok "a daemon starts"

mkfifo "$scratch/fifo"
exec 9<>"$scratch/fifo"
setpriv --reuid 4711 --regid 4711 --clear-groups "$helper" words <"$scratch/fifo" >"$scratch/words" 2>&1 &
user=$!
at_end+=($user)
check "the user's program is listed" wait_tsgs pid:$user 1
word() { # WORD: a command to the user's program; waits until it is done
	local n
	n=$(grep -c done "$scratch/words")
	printf '%s' "$1" >&9
	wait_for 5 eval "[ \$(grep -c done $scratch/words) -gt $n ]"
}
check "the user's TSG has two channels" wait_for 5 eval '[ "$(list_json pid:'$user' ".[0].channels")" = 2 ]'

# ---- a channel that replaces another one
check "root suspends the program" "$gpusched" suspend pid:$user
is "$(sim_disabled $user)" 2 "both channels are disabled"
check "the program frees a channel and makes another one" word s
check "the new channel is disabled, too" wait_for 5 eval "[ \$(sim_disabled $user) = 2 ]"
check "root resumes the program" "$gpusched" resume pid:$user
is "$(sim_disabled $user)" 0 "all channels are enabled"

# ---- classes: of dead processes, with a weight, with another configuration
sleep 100 >/dev/null &
other=$!
at_end+=($other)
processes() {
	"$gpusched" observe status --json | jq .processes
}
before=$(processes)
# a zombie: its parent, which goes on, does not wait for it
bash -c 'sleep 0.5 & echo $!; exec sleep 100' >"$scratch/zombie" &
at_end+=($!)
check "a process ends" wait_for 5 eval 'grep -q Z "/proc/$(cat "$scratch/zombie")/stat"'
exits 1 "a dead process is given no class" "$gpusched" class set "pid:$(cat "$scratch/zombie")" be
like "$out" "has ended" "the refusal has the reason"
is "$(processes)" "$before" "the class is not noted for a later process with that number"
check "root gives the user's program a class and little weight" \
	"$gpusched" class set pid:$user be --weight 10
exits 3 "the user does not get the class's weight by asking anew" as 4711 "$gpusched" class set pid:$user be
check "the user may lower the weight" as 4711 "$gpusched" class set pid:$user be --weight 5
is "$(list_json pid:$user '.[0] | "\(.class) \(.weight)"')" "be 5" "the program has the lower weight"
check "root gives the program a class of the configuration" "$gpusched" class set pid:$user alpha
check "root gives another process another class" "$gpusched" class set pid:$other beta

# ---- an answer whose text is cut in the middle of a character
like "$(ask list "{\"x$(printf 'é%.0s' {1..60})\":1}")" "unknown argument" "the error with the cut text is an answer"

# ---- the policy is root's: a user may not override or delay it
setpriv --reuid 4711 --regid 4711 --clear-groups "$gsload" be --seconds 80 >"$scratch/load.user" 2>&1 &
mine=$!
at_end+=($mine)
load be --seconds 80
roots=$LOAD_PID
check "two programs work" wait_tsgs pid:$mine 4
wait_tsgs pid:$roots 4
wait_for 5 slice_is $mine 2048
wait_for 5 slice_is $roots 2048
check "a policy starts" "$gpusched" policy start lcbe
check "the user's program is given the class be" "$gpusched" class set pid:$mine be
check "the user's program has the policy's slice" wait_for 5 slice_is $mine 1
exits 3 "the user cannot raise it" as 4711 "$gpusched" set pid:$mine timeslice=1000us
like "$out" "the policy wants" "the refusal says what the policy wants"
exits 3 "the user cannot set a mode that keeps the GPU for longer" as 4711 "$gpusched" set pid:$mine preempt_mode=wfi
is "$(sim_slice $mine)" 1 "the user's program still has the policy's slice"
"$gpusched" class clear pid:$mine >/dev/null # two short slices on a runlist are refused
for _ in {1..8}; do
	(end=$((SECONDS + 3))
	while [ $SECONDS -lt $end ]; do ask preempt "{\"target\":\"pid:$mine\"}"; done >/dev/null) &
	flood=$!
	at_end+=($flood)
done
sleep 3
check "meanwhile another program is given the class be" "$gpusched" class set pid:$roots be
check "the policy does not wait for the user's calls" wait_for 5 slice_is $roots 1
wait "$flood"
check "the user's preempt is still done" wait_for 10 as 4711 "$gpusched" preempt pid:$mine
end_load $mine
end_load $roots
"$gpusched" policy stop >/dev/null

# ---- many requests that wait for a call that is never made
check "root suspends the program once more" "$gpusched" suspend pid:$user
check "the program frees its subdevice" word f
exits 1 "without the subdevice it cannot be resumed" "$gpusched" resume pid:$user
for _ in {1..30}; do
	(end=$((SECONDS + 4))
	while [ $SECONDS -lt $end ]; do ask class_set "{\"target\":\"pid:$user\",\"class\":\"be\"}"; done >/dev/null) &
	at_end+=($!)
done
sleep 1
beat() {
	bpftool -j map dump pinned "$GPUSCHED_SIM/bpf/gpusched/gs_cfg" | jq '.[0].formatted.value.heartbeat_ns'
}
first=$(beat)
sleep 2
ge "$(($(beat) - first))" 1000000000 "30 clients that ask again and again do not stop the daemon's heartbeat"
sleep 2

# ---- the daemon dies: the next one starts soon, whatever the owner did; classes keep their names
config '[Classes]
Class=gamma weight=5000
Class=alpha weight=10'
check "root sets the class again" "$gpusched" class set pid:$user alpha
kill_daemon
start_daemon || not_ok "the next daemon starts"
check "the next daemon answers" daemon_ready
is "$(list_json pid:$user '.[0] | "\(.class) \(.weight)"')" "alpha 10" "a class is kept by its name, whatever its number"
is "$("$gpusched" class get pid:$other --json | jq -r '.. | .source? // empty')" default "a class that the configuration lacks is forgotten"
stop_daemon
done_testing
