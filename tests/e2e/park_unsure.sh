#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 60
# needs: root bpf fuse
# The RM refuses the placeholder, a trial allocation that an unparking makes to see whether memory
# is free. The RM's figure of free memory is used instead, which is counted.
. "$(dirname "$0")/lib.sh"
enter_sim --fault placeholder
park_setup
start_daemon || not_ok "a daemon starts"
hold one 4000
check "a program is parked" "$gpusched" park "pid:$one" --quiet
is "$("$gpusched" stats --json | jq .service.park_unsure)" 0 "no unparking without a placeholder is counted at first"
hold hog 141000
exits 1 "the program does not come back while the RM says that memory is short" "$gpusched" unpark "pid:$one"
like "$out" "waits: it needs 3.9 GiB and a margin" "the error says why it waits"
is "$("$gpusched" stats --json | jq .service.park_unsure)" 0 "an unparking that waits is not counted"
kill -9 "$hog"
check "the program comes back when memory is free" wait_for 30 eval '[ "$(cuda_state '"$one"')" = 0 ]'
is "$("$gpusched" stats --json | jq .service.park_unsure)" 1 "a counter has the unparking without a placeholder"
stop_daemon
done_testing
