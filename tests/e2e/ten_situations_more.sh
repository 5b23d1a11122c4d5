#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 400
# needs: root bpf fuse
# All screens say the same, second half: agent, counting refused, fair with a limit, policy died,
# parked.
. "$(dirname "$0")/lib.sh"
enter_sim
. "$top/tests/e2e/helper/screens_lib.sh"
config '[Classes]
Class=capped weight=100 limit=30'
park_setup
policy=$scratch/fails_in_tick.bpf.o
check "a policy that fails builds" "$gpusched" policy build "$top/tests/policy/fails_in_tick.bpf.c" --output "$policy"
start_daemon || exit 1
turns="lc --kernel-us 2000 --tokens 4 --period-us 100000 --arrivals closed --warmup 0 --seconds 0"

run_load be be be --seconds 0
wait_tsgs "pid:$be" 4
# shellcheck disable=SC2086
"$gpusched" run --class lc -- "$gsload" $turns --iterations-per-us 27.78 >"$scratch/told.out" 2>&1 &
told=$!
at_end+=($told)
wait_tsgs "pid:$told" 4
"$gpusched" policy start lcbe >/dev/null
same_everywhere "agent" class=lc class=be policy=lcbe requests_by=agent
end_load "$told"

# shellcheck disable=SC2086
run_load lc untold $turns
wait_tsgs "pid:$untold" 4
# users who may serve files could stop each fork() with a probe
mknod -m 666 "$scratch/fuse" c 10 229
mount --bind "$scratch/fuse" /dev/fuse
exits 3 "counting launches is refused" "$gpusched" observe launches on
same_everywhere "counting refused" class=lc class=be waits-unseen
said=$(jq -r '.findings[] | select(.finding == "waits-unseen").do' "$shots/status.json")
is "$said" "start it by 'gpusched run --class lc', so that it tells of its requests" "the remedy is none that is refused"
umount /dev/fuse
end_load "$untold"

"$gpusched" policy start fair >/dev/null
run_load capped capped be --seconds 0
wait_tsgs "pid:$capped" 4
same_everywhere "fair with a limit" moving class=capped class=be policy=fair
end_load "$capped"

"$gpusched" policy start "$policy" >/dev/null
check "the policy ends by itself" wait_for 20 eval '"$gpusched" status --json | grep -q policy-died'
same_everywhere "policy died" policy-died policy=None
"$gpusched" policy stop >/dev/null

hold parked 64
check "it is parked" "$gpusched" park "pid:$parked" --quiet
same_everywhere "parked" class=be parked
done_testing
