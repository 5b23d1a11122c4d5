#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 90
# needs: root bpf fuse
# A user runs the installed MPS server by hand, without registering it, and a BE works inside. The
# server's process must have the class that the rules give it, and the policy must act on its TSG as on
# any other.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/helper/pool_lib.sh"
enter_sim
pool_programs
config '[Policy]
Policy = lcbe
[Classes]
Rule = uid=65534 -> be'
start_daemon || not_ok "a daemon starts"
mkdir "$scratch/pipe"
chown $attacker_uid "$scratch/pipe"
export CUDA_MPS_PIPE_DIRECTORY=$scratch/pipe
"${as_attacker[@]}" nvidia-cuda-mps-control -d
"${as_attacker[@]}" gsload be --seconds 0 --warmup 0 --ready $steady >"$scratch/be" 2>&1 &
be=$!
at_end+=($be)
unset CUDA_MPS_PIPE_DIRECTORY
check "a BE works in a user's MPS server" wait_for 30 grep -q ready "$scratch/be" || diag "$(cat "$scratch/be")"
s=$(server_process)
at_end+=($(here nvidia-cuda-mps))
wait_tsgs "pid:$s" 1
is "$(list_json "pid:$s" '.[0] | "\(.mps) \(.pool)"')" "true null" "nobody has registered the server"
check "its class is what the rules give its process" wait_for 10 eval \
	'[ "$(list_json pid:'"$s"' "[.[] | .class] | unique | join(\" \")")" = be ]'
check "the policy acts on its TSG" wait_for 10 slice_is "$s" 1
check "a control of its class is a control of the server" "$gpusched" set class:be timeslice=300us
check "the server obeys it" slice_is "$s" 300
check "the server gets the policy's slice back" "$gpusched" set class:be clear
wait_for 10 slice_is "$s" 1
kill_daemon
check "after the daemon's death it has its own slice" wait_for 5 eval '[ "$(sim_slice '"$s"')" -gt 300 ]'
kill $be
wait $be 2>/dev/null
done_testing
