#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 120
# needs: root bpf fuse
# A process with more files than adoption looks at: everybody else is adopted, before and after.
. "$(dirname "$0")/lib.sh"
enter_sim
config '[Policy]
Policy = lcbe
[Classes]
Rule = comm=gsload -> be'
victim
first=$VICTIM
attack_many "$(size 1 4)" hoard files "$(size 5000 19000)"
victim
took start_daemon || not_ok "the daemon starts"
le $MS 10000 "the daemon is ready, in ms"
took wait_for 30 eval '[ "$(list_json pid:$first length)" -ge 1 ] && [ "$(list_json pid:$VICTIM length)" -ge 1 ]'
le $MS 3000 "who was there before the hoard and after it is adopted, in ms"
is "$(sim_slice $first) $(sim_slice $VICTIM)" "800 800" "and has the policy's slice"
done_testing
