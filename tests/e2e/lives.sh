#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 300
# needs: root bpf fuse
# asan: yes
# Unusual processes: fork, exec, threads, several contexts, pid namespaces, descriptors that are
# passed on or renumbered, MPS. In each case the process that holds the driver's open file owns the
# TSG, and the TSG can be controlled.
. "$(dirname "$0")/lib.sh"
enter_sim
start_daemon || not_ok "a daemon starts"
mkfifo "$scratch/fifo"
exec 9<>"$scratch/fifo"

# live ARGUMENTS...: runs the helper; $owner is the process that then has the TSG
live() {
	rm -f "$scratch/ready" # left by the last helper
	"$helper" "$@" <"$scratch/fifo" >"$scratch/ready" 2>&1 &
	at_end+=($!)
	wait_for 10 grep -q ready "$scratch/ready" || {
		not_ok "$*: $(cat "$scratch/ready")"
		return 1
	}
	owner=$(awk '/^ready/ { print $2 }' "$scratch/ready")
}

# obeys NAME: the owner's TSG can be set and suspended
obeys() {
	check "$1: the TSG is listed" wait_tsgs "pid:$owner" 1
	check "$1: set succeeds" "$gpusched" set "pid:$owner" timeslice=345us
	is "$(sim_state '[.tsgs[] | select(.timeslice_us == 345)] | length')" "$(list_json "pid:$owner" length)" \
		"$1: the RM has the slice"
	check "$1: suspend succeeds" "$gpusched" suspend "pid:$owner"
	ge "$(sim_state '[.tsgs[].disabled_channels] | add')" 1 "$1: its channels are disabled"
	check "$1: restore succeeds" "$gpusched" restore
	is "$(sim_state '[.tsgs[] | select(.timeslice_us != 2048 or .disabled_channels != 0)] | length')" 0 \
		"$1: restore puts everything back"
}

ended() {
	kill -9 "$owner"
	check "$1: the TSG ends with the last process that holds it" wait_for 30 eval \
		'[ "$(list_json all length)" = 0 ] && [ "$(sim_state ".files | length")" = 0 ]'
}

live fork
parent=$(awk '/^PPid/ { print $2 }' "/proc/$owner/status")
obeys "a child with an inherited descriptor"
check "the child is given the class lc" "$gpusched" class set "pid:$owner" lc
is "$(list_json "pid:$owner" '.[0].class')" lc "its TSG is of class lc"
kill -9 "$owner"
check "after the child's death its TSG is the parent's" wait_tsgs "pid:$parent" 1
check "the TSG is of the parent's class" wait_for 5 eval '[ "$(list_json "pid:$parent" ".[0].class")" = null ]'
owner=$parent
obeys "a parent with a child's TSG"
ended "parent and child"

live pass
check "the new holder of a passed descriptor owns the TSG" wait_tsgs "pid:$owner" 1
obeys "a passed descriptor"
ended "a passed descriptor"

live pass work
load be --seconds 100 --iterations-per-us 27.78
held() { list_json "pid:$owner" 'map(select(.kind == "compute")) | first | .gpu_time_ns // 0'; }
check "turns of that TSG count for its owner, though the switch log names its maker" wait_for 10 eval '[ "$(held)" -gt 20000000 ]'
stop_daemon
start_daemon || not_ok "another daemon starts"
check "they count for its owner with the next daemon, too" wait_for 10 eval '[ "$(held)" -gt 20000000 ]'
is "$("$gpusched" stats --json | jq -s '(.[0] // .).account.log_unattributed')" 0 "no turn is left without an owner"
end_load "$LOAD_PID"
ended "a passed descriptor with work"

live renumber
obeys "a descriptor with another number"
ended "a descriptor with another number"

ln -s "$helper" "$scratch/other-name"
live exec "$scratch/other-name"
obeys "after exec"
is "$(list_json "pid:$owner" '.[0].comm')" "$(cat "/proc/$owner/comm")" "after exec the process has its new name"
ended "after exec"
live execclose "$scratch/other-name"
check "exec that closes the descriptor ends the TSG" wait_for 30 eval '[ "$(list_json all length)" = 0 ]'
kill -9 "$owner"

live leaderless
obeys "a process whose main thread has ended"
ended "a process whose main thread has ended"

# The kernel has reported its exit, but has not closed its files yet.
# On a slow machine the command may come after that; more memory takes longer to free.
for mib in 1024 2048 4096 6144; do
	live late $mib
	kill -9 "$owner"
	wait_for 5 eval '! readlink "/proc/$owner/exe"'
	"$gpusched" class set "pid:$owner" lc >/dev/null 2>&1
	code=$?
	kill -0 "$owner" 2>/dev/null && break
done
is "$code" 1 "a class for a process that is ending is refused"
if [[ $build == *asan* ]] && ! kill -0 "$owner" 2>/dev/null; then
	skip_optional "the refusal comes before its end" "sanitizers make the command too slow"
else
	check "the refusal comes before its end" kill -0 "$owner"
fi
check "the process ends" wait_for 30 gone "$owner"
is "$(bpftool map dump pinned "$GPUSCHED_SIM/bpf/gpusched/gs_procs" -j | jq length)" 0 "no entry about it is left"

live threads 16
is "$(list_json "pid:$owner" length)" 16 "TSGs of 16 threads are one process's"
obeys "TSGs of 16 threads"
ended "TSGs of 16 threads"

# ---- two contexts in one process
load be --contexts 2 --seconds 600
owner=$LOAD_PID
check "two contexts are eight TSGs" wait_tsgs "pid:$owner" 8
is "$(list_json "pid:$owner" 'map(select(.kind == "compute")) | length')" 2 "two of them are compute TSGs"
wait_for 5 eval '[ "$(sim_state "[.tsgs[] | select(.pid == $owner and .timeslice_us == 2048)] | length")" = 2 ]'
check "set of the process succeeds" "$gpusched" set "pid:$owner" timeslice=200us
is "$(sim_state "[.tsgs[] | select(.pid == $owner and .timeslice_us == 200)] | length")" 8 "the RM has the slice of all eight"
one=$(list_json "pid:$owner" 'map(select(.kind == "compute")) | .[0].id')
check "suspend of one of them succeeds" "$gpusched" suspend "tsg:$one"
is "$(sim_state "[.tsgs[] | select(.pid == $owner and .disabled_channels > 0)] | length")" 1 "no other TSG is suspended"
check "restore succeeds after two contexts" "$gpusched" restore
end_load "$owner" KILL

# ---- a program in another pid namespace
unshare --pid --fork --mount-proc "$gsload" be --seconds 600 >"$scratch/inner" 2>&1 &
unshared=$!
at_end+=($unshared)
check "a program in a pid namespace is listed" wait_for 10 eval '[ "$(list_json comm:gsload length)" -ge 4 ]'
owner=$(list_json comm:gsload '.[0].pid')
is "$(cat "/proc/$owner/task/$owner/children" 2>/dev/null; cut -d' ' -f1 <"/proc/$unshared/task/$unshared/children")" \
	"$owner" "the list has its pid as seen from outside"
wait_for 5 slice_is "$owner" 2048 || wait_for 1 true
check "set takes that pid" "$gpusched" set "pid:$owner" timeslice=210us
ge "$(sim_state '[.tsgs[] | select(.timeslice_us == 210)] | length')" 1 "the RM has the slice of the program in the namespace"
kill -9 "$owner"
check "the killed program is no longer listed" wait_for 30 eval '[ "$(list_json all length)" = 0 ]'

# ---- a program by an MPS server's name, in a folder that others than root may write
chmod 777 "$scratch"
cp "$gsload" "$scratch/nvidia-cuda-mps-server"
"$scratch/nvidia-cuda-mps-server" be --seconds 60 >"$scratch/mps" 2>&1 &
owner=$!
at_end+=($owner)
check "a program by an MPS server's name is listed" wait_tsgs "pid:$owner" 4
is "$(list_json "pid:$owner" 'map([.comm, .mps] | join(" ")) | unique | join(",")')" \
	"nvidia-cuda-mps false" "such a program is no MPS server"
wait_for 5 slice_is "$owner" 2048
check "the would-be server is given the class be" "$gpusched" class set "pid:$owner" be
check "set of class be succeeds" "$gpusched" set class:be timeslice=230us
check "the RM has the slice of that program" slice_is "$owner" 230
check "restore succeeds after a would-be MPS server" "$gpusched" restore
end_load "$owner" KILL
check "the would-be server ends" wait_for 30 eval '[ "$(list_json all length)" = 0 ]'

# ---- an MPS server: installed by root; the mount is this test's alone
mount -t tmpfs -o mode=755 none /opt || not_ok "a file system for the server"
cp "$gsload" /opt/nvidia-cuda-mps-server
/opt/nvidia-cuda-mps-server be --seconds 60 >"$scratch/mps" 2>&1 &
owner=$!
at_end+=($owner)
check "an MPS server is listed" wait_tsgs "pid:$owner" 4
check "the server is recognised" wait_for 10 eval '[ "$(list_json "pid:$owner" "map(.mps) | unique | join(\",\")")" = true ]'
wait_for 5 slice_is "$owner" 2048
check "an MPS server can be given a class" "$gpusched" class set "pid:$owner" be
check "an MPS server is set by its class" "$gpusched" set class:be timeslice=210us
check "an MPS server has that slice in the RM" slice_is "$owner" 210
check "an MPS server is suspended by its class" "$gpusched" suspend class:be
check "a suspended MPS server has no channel that runs" wait_for 5 eval '[ "$(sim_disabled "$owner")" -gt 0 ]'
check "an MPS server is resumed by its class" "$gpusched" resume class:be
check "an MPS server can be set by its pid" "$gpusched" set "pid:$owner" timeslice=220us
check "the RM has the slice that was set by pid" slice_is "$owner" 220
check "restore succeeds after an MPS server" "$gpusched" restore
check "a policy starts" "$gpusched" policy start lcbe
check "a policy acts on an MPS server of class be" wait_for 10 eval '[ "$(sim_slice "$owner")" != 2048 ]'
end_load "$owner" KILL
stop_daemon
done_testing
