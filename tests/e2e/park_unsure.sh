#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 60
# needs: root bpf fuse
# RM refuses the placeholder of an unparking: RM's figure of free memory is used instead, and that
# is counted.
. "$(dirname "$0")/lib.sh"
enter_sim --refuse placeholder
park_setup
start_daemon || not_ok "a daemon starts"
hold one 4000
check "a program is parked" "$gpusched" park "pid:$one" --quiet
is "$("$gpusched" stats --json | jq .service.park_unsure)" 0 "nothing was unsure"
hold hog 141000
exits 1 "it does not come back where RM says that there is no room" "$gpusched" unpark "pid:$one"
like "$out" "waits: it needs 3.9 GiB and a margin" "why it waits is said"
is "$("$gpusched" stats --json | jq .service.park_unsure)" 0 "what waits is not counted"
kill -9 "$hog"
check "it comes back when there is room" wait_for 30 eval '[ "$(cuda_state '"$one"')" = 0 ]'
is "$("$gpusched" stats --json | jq .service.park_unsure)" 1 "a counter has the unparking without a placeholder"
stop_daemon
done_testing
