#!/bin/bash
# SPDX-License-Identifier: MIT
# The stand-ins for MPS behave as the real programs do: all clients share one TSG, a program starts
# silently without MPS if no server runs, and a killed client harms the others.
# timeout: 60
# needs: root fuse
. "$(dirname "$0")/lib.sh"
enter_sim
export CUDA_MPS_PIPE_DIRECTORY=$scratch/pipe
mkdir "$CUDA_MPS_PIPE_DIRECTORY"
control() { # WORDS
	timeout 10 "$build/simmps/nvidia-cuda-mps-control" <<<"$*"
}
compute_of() { # PID: how many compute TSGs the RM has of it
	sim_state "[.tsgs[] | select(.pid == $1 and .engine == 1)] | length"
}
client() { # a BE that works; $LOAD_PID
	load be --seconds 60 --warmup 0 --ready --iterations-per-us 27
	wait_for 10 grep -q ready "$scratch/load.out"
}

exits 1 "without a daemon the control program fails" control get_server_list
client
is "$(compute_of "$LOAD_PID")" 1 "a program runs without MPS, silently, if nobody serves the pipe directory"
end_load "$LOAD_PID"

"$build/simmps/nvidia-cuda-mps-control" -d || not_ok "a control daemon starts"
is "$(control get_server_list)" "" "no server is there before the first client"
client
a=$LOAD_PID
server=$(control get_server_list)
client
b=$LOAD_PID
is "$(control "get_client_list $server" | sort | xargs)" "$(printf '%s\n' "$a" "$b" | sort | xargs)" "the server's list has both clients"
is "$(compute_of "$a") $(compute_of "$b") $(compute_of "$server")" "0 0 1" "the one compute TSG is the server's"
is "$(sim_state "[.tsgs[] | select(.pid == $server and .engine == 1) | .channels] | first")" 24 \
	"the server has 8 channels for itself and 8 for each of two clients"

check "a client is terminated" control "terminate_client $server $b"
check "the terminated client ends" wait_for 10 gone "$b"
end_load "$b"
check "the other client works on" kill -0 "$a"

client
end_load "$LOAD_PID" KILL
check "a client that is killed with work in flight takes the others along" wait_for 10 gone "$a"
client
check "once all clients are gone the server takes new ones" kill -0 "$LOAD_PID"
exits 1 "a bad access fails" "$build/bad_access"
like "$out" "LAUNCH_FAILED" "the failure is LAUNCH_FAILED"
check "all other clients fail, too" wait_for 10 gone "$LOAD_PID"

client
end_load "$LOAD_PID" KILL
is "$(control "get_server_status $server")" ACTIVE "after a lone client was killed the server says that it is active"
exits 124 "a new client then hangs in CUDA's initialisation" timeout 2 "$gsload" be --count 1 --iterations-per-us 27
check "the control program takes quit" control quit
check "the server ends" wait_for 10 gone "$server"
done_testing
