#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 90
# needs: root bpf fuse
# A server that has read 1,500 weights, with pauses of all lengths, is told from its first requests.
. "$(dirname "$0")/lib.sh"
enter_sim
config '[Policy]
Policy = hold'
start_daemon || exit 1
run_load be training be --seconds 0
wait_tsgs pid:$training 1

mkfifo "$scratch/go"
"$gpusched" run --agent --class lc -- "$helper" cuda serve 1500 <"$scratch/go" >"$scratch/server" 2>&1 &
server=$!
at_end+=($server)
exec 7>"$scratch/go"
check "the server starts" wait_for 20 grep -q ready "$scratch/server"
wait_tsgs pid:$server 1
before=$(counter holds)
echo go >&7
check "the server has read its weights" wait_for 60 grep -q serving "$scratch/server"
loading=$(($(counter holds) - before))
sleep 3 # 12 to 15 requests
holds=$(($(counter holds) - before - loading))
diag "holds: $loading while it read weights, $holds in 3 s of requests; quiet: $(compute $server .quiet_us) us"
le $loading 150 "hardly a pause of its start is taken for a request's end"
ge $holds 5 "its requests have holds within 3 s"
done_testing
