#!/bin/bash
# SPDX-License-Identifier: MIT
# Pools: an MPS server that gpusched started is one unit with a class. Its members are known from
# the server's own list and from the TSGs. Also, the death of a program, of the server and of the
# supervisor.
# timeout: 120
# needs: root bpf fuse
. "$(dirname "$0")/lib.sh"
enter_sim --gpus 2
mount -t tmpfs -o mode=755 none /opt || not_ok "a folder of root's for the programs of MPS"
cp "$build"/simmps/* /opt
export PATH=/opt:$PATH GPUSCHED_POOL_IDLE=1s
unset XDG_RUNTIME_DIR
pipe=$GPUSCHED_SIM/run/mps/0/pool-pool/pipe
be="$gsload be --seconds 60 --warmup 0 --ready --iterations-per-us 27"
config '[Policy]
Policy=lcbe'
start_daemon

# pool ARGUMENTS...: `gpusched run` in the background; $POOL_PID, its and its program's output in
# $scratch/pool.PID
pool() {
	{ "$gpusched" run "$@" & } >"$scratch/pool.out" 2>&1
	POOL_PID=$!
	mv "$scratch/pool.out" "$scratch/pool.$POOL_PID"
	at_end+=("$POOL_PID")
}
works() { # PID...: the programs of these runs have begun their load
	local p
	for p; do wait_for 20 grep -q ready "$scratch/pool.$p" || { diag "$(cat "$scratch/pool.$p")"; return 1; }; done
}
said() { # PID TEXT
	wait_for 20 grep -q -e "$2" "$scratch/pool.$1"
}
child() { # PID of `gpusched run`: its program's pid
	pgrep -P "$1" | head -1
}
server() { # the pid of the pool's server
	list_json all '[.[] | select(.pool != null) | .pid] | first // empty'
}
nothing_left() {
	[ "$(list_json all 'map(select(.mps)) | length')" = 0 ] && [ -z "$(ls "$pipe")" ] && [ -z "$(here gpusched-pool)" ]
}

# ---- two in a pool
pool --pool --class be -- $be --allocate-mib 300
a=$POOL_PID
pool --pool --class be -- $be
b=$POOL_PID
check "two programs of a pool work" works "$a" "$b"
like "$(cat "$scratch/pool.$a")" "No time slices between" "run says at the start what a pool gives up"
wait_for 10 eval '[ "$(list_json all "[.[] | select(.pool != null) | .pool.clients[].pid] | unique | length")" = 2 ]'
s=$(server)
facts() {
	list_json "pid:$s" 'map(select(.kind == "compute")) | .[0] | "\(.class) \(.class_source) \(.mps) \(.pool.name) \(.pool.share)"'
}
wait_for 10 eval '[[ $(facts) == "be command true"* ]]' # the daemon's reader process may be late with the server's name
is "$(facts)" "be command true pool false" "the server has the pool's class"
check "the policy acts on the server as on one program" slice_is "$s" 1
is "$(list_json all "map(select(.kind == \"compute\" and .known_by != \"scan\")) | length")" 2 "there is one compute TSG for each GPU"
like "$("$gpusched" list)" "\`- gsload.*client of $s" "list shows the clients under their server"
check "list shows what a client holds of the GPU's memory, in its own row" wait_for 20 eval \
	'"$gpusched" list | grep "client of $s" | grep -q " 300 MiB "'
ca=$(child "$a")
exits 0 "root may set a client's class" "$gpusched" class set "pid:$ca" be
exits 3 "a program of another class is not let in" "$gpusched" run --pool --class normal -- $be
like "$out" "is of class be" "the refusal says the pool's class"

# With NVIDIA's server a client also has the server's TSG under another handle, made by a call that
# the taps do not see.
handles_are() { # N
	[ "$("$gpusched" stats --json | jq .service.pool_handles)" = "$1" ]
}
mkfifo "$scratch/alias"
exec 8<>"$scratch/alias"
# shellcheck disable=SC2046 # two words
"$helper" alias $(list_json "pid:$s" 'map(select(.kind == "compute")) | .[0] | "\(.client) \(.tsg)"') <&8 8<&- >"$scratch/alias.out" 2>&1 &
alias=$!
at_end+=($alias)
check "a client has the server's TSG under another handle" wait_for 10 grep -q made "$scratch/alias.out" || diag "$(cat "$scratch/alias.out")"
echo >&8
check "its use is adopted, and the record is dropped by the TSG's id on the GPU" wait_for 10 handles_are 1
is "$(list_json all "map(select(.kind == \"compute\" and .pid == $alias)) | length")" 0 "no TSG of the client is left in the list"
check "the server has the policy's slice again" wait_for 10 slice_is "$s" 1
end_load $alias
check "suspend of the server succeeds" "$gpusched" suspend "pid:$s"
is "$(sim_state "[.tsgs[] | select(.pid == $s and .engine == 1) | .channels == .disabled_channels] | all")" true "all its channels are disabled"
check "resume of the server succeeds" "$gpusched" resume "pid:$s"
check "the target class:be includes the server" "$gpusched" set class:be timeslice=300us
check "the RM has the server's slice" slice_is "$s" 300
check "set class:be clear succeeds" "$gpusched" set class:be clear

# ---- a daemon that comes later
kill_daemon
start_daemon
check "the next daemon knows the pool" wait_for 10 eval '[ "$(server)" = "$s" ]'
check "the policy acts on the pool" wait_for 10 slice_is "$s" 1

# ---- a pool is bound to its GPUs
exits 3 "a program that wants other GPUs is not let in" env CUDA_VISIBLE_DEVICES=1 "$gpusched" run --pool --class be -- $be
like "$out" "has the GPUs .*give it another name" "the refusal says the pool's GPUs"
pool --pool=second --class be -- true
wait "$POOL_PID"
CUDA_VISIBLE_DEVICES=1 pool --pool=one --class be -- $be
c=$POOL_PID
check "a program on another GPU works in a pool by another name" works "$c"
is "$(list_json all '[.[] | select(.pool.name == "one" and .kind == "compute") | .gpu] | join(",")')" 1 "the server of that pool uses the right GPU"
kill "$c"

# ---- ends that harm nobody
kill "$b"
check "a client that gets SIGTERM ends" wait_for 10 gone "$b"
check "the other client works on" kill -0 "$ca"
pool --pool --class be -- $be
b=$POOL_PID
check "another client works" works "$b"
cb=$(child "$b")
check "the other client is known as one" wait_for 10 eval '[[ $(list_json all "[.[] | select(.pool != null) | .pool.clients[].pid] | unique | join(\" \")") == *$cb* ]]'
kill -9 "$b"
check "a client ends when its gpusched run is killed" wait_for 10 gone "$cb"
sleep 1
check "the other client works on, since the ended one's work was taken off the GPU first" kill -0 "$ca"

# ---- a client that is killed with work in flight takes others along; if alone, its server hangs
pool --pool --class be -- $be
b=$POOL_PID
check "a client works beside the first" works "$b"
kill -9 "$(child "$b")"
check "a killed client makes the other fail" wait_for 10 gone "$a"
pool --pool --class be -- $be
a=$POOL_PID
check "a new client works all the same" works "$a"
s=$(server)
kill -9 "$(child "$a")"
wait "$a"
is $? 137 "run's exit status is its program's"
pool --pool --class be -- $be
a=$POOL_PID
check "a new client works after a lone one was killed" works "$a"
is "$([ "$(server)" != "$s" ] && echo yes)" yes "it works in a new server, since the old one takes no client"
exits 1 "a bad access fails" "$gpusched" run --pool --class be -- "$build/bad_access"
check "the other programs of the server fail with it" wait_for 10 gone "$a"

# ---- the server, and the supervisor
pool --pool --class be -- $be
a=$POOL_PID
check "a client works in the pool again" works "$a"
wait_for 10 eval '[ -n "$(server)" ]'
kill -9 "$(server)"
check "run says that the server has ended" said "$a" "has ended: programs that were in it fail"
check "the server's programs fail" wait_for 10 gone "$a"
for _ in 2 3 4 5 6 7 8; do # eight deaths in all: a user may have that many pools
	pool --pool --class be -- $be
	wait_for 10 eval '[ -n "$(server)" ]'
	kill -9 "$(server)"
	wait_for 10 gone "$POOL_PID"
done
pool --pool --class be -- $be
a=$POOL_PID
check "the next client works in a new server" works "$a"
check "the new server is one unit, as if eight had not died before" wait_for 10 eval '[ -n "$(server)" ]'

# this server takes long to end: its contexts are freed first
late_server() { list_json all '[.[] | select(.pool.name == "late") | .pid] | first // empty'; }
GPUSCHED_SIM_MPS_FREED=2048 pool --pool=late --class be -- $be
b=$POOL_PID
check "a client of a server that will end late works" works "$b"
wait_for 10 eval '[ -n "$(late_server)" ]'
s=$(late_server)
kill -9 "$s"
wait_for 5 eval '! readlink "/proc/$s/exe"'
GPUSCHED_SIM_MPS_FREED=2048 pool --pool=late --class be -- $be
c=$POOL_PID
check "a program that comes while a server is ending works" works "$c"
check "it works in the next server" wait_for 10 eval '[ -n "$(late_server)" ] && [ "$(late_server)" != "$s" ]'
is "$(grep -c "MPS server $s\|WITHOUT" "$scratch/pool.$c")" 0 "run does not say that it is in the old server"
check "the old server's run says that the server has ended" said "$b" "server $s has ended: programs that were in it fail"
is "$(grep -c "takes no new program\|does not have" "$scratch/pool.$b")" 0 "the old server's run says nothing else"
kill "$c"
wait_for 10 gone "$c"

s=$(server)
up=$s
for _ in 1 2 3; do up=$(ps -o ppid= -p "$up" | xargs); done
like " $(here gpusched-pool | xargs) " " $up " "the supervisor is found above the server"
is "$(cat "/proc/$up/comm")" gpusched-pool "server, control daemon and keeper are below the supervisor"
kill -9 "$up"
check "run says that the supervisor has ended" said "$a" "supervisor has ended"
check "no server is left" wait_for 15 gone "$s"
wait_for 10 gone "$a"

# ---- programs that are not in the server
pool --pool --class be -- env CUDA_MPS_PIPE_DIRECTORY=/nowhere $be
a=$POOL_PID
check "a program with a wrong pipe directory works" works "$a"
check "run says that it works without the server" said "$a" "runs WITHOUT the MPS server"
kill "$a"
wait_for 10 gone "$a"
check "no server, pipe or supervisor is left after the last client" wait_for 10 nothing_left
stop_daemon
done_testing
