#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 120
# needs: root bpf fuse
# A user claims that an adopted BE is a client of the user's pool. A real client shares the server's TSG
# under another handle, so gpusched removes the client's record. But this BE has a separate TSG, as the
# GPU's id of the TSG shows, so its record must stay.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/helper/pool_lib.sh"
enter_sim
pool_programs
config '[Policy]
Policy = lcbe
[Classes]
Rule = uid=65534 -> be'
"${as_attacker[@]}" /opt/gsload be --seconds 0 --warmup 0 $steady >"$scratch/be" 2>&1 &
be=$!
at_end+=($be)
check "a user's BE runs before the daemon" wait_for 30 slice_is $be 2048
start_daemon || not_ok "a daemon starts"
check "it is adopted, and has the policy's slice" wait_for 20 slice_is $be 1
users_pool
for _ in 1 2 3; do
	told=$(pool_set "\"clients\":[\"$be\"],\"members\":[\"$be\"]")
	sleep 0.5
done
like "$told" "batch" "its user calls the BE a client of the pool"
compute() {
	list_json pid:$be '[.[] | select(.kind == "compute")] | length'
}
is "$(compute)" 1 "its TSG stays in the table"
check "root's suspension reaches it" "$gpusched" suspend pid:$be
disabled() {
	[ "$(sim_state "[.tsgs[] | select(.pid == $be and .engine == 1) | .disabled_channels] | add")" -gt 0 ]
}
check "its channels are disabled" wait_for 5 disabled
kill_restores "a client that is none" $be
end_pool
done_testing
