#!/bin/bash
# SPDX-License-Identifier: MIT
# Pools: where they are refused and why, which users own them, servers that lc and be share
# (--share), and old versions of NVIDIA's programs.
# timeout: 240
# needs: root bpf fuse
. "$(dirname "$0")/lib.sh"
enter_sim
mount -t tmpfs -o mode=755 none /opt || not_ok "a folder of root's for the programs of MPS"
cp "$build"/simmps/* "$gsload" "$gpusched" /opt
cp -r "$build/simcuda" /opt
export LD_LIBRARY_PATH=/opt/simcuda
mkdir -m 777 /opt/users
plain=$PATH
export PATH=/opt:$PATH GPUSCHED_POOL_IDLE=1s
unset XDG_RUNTIME_DIR
chmod 755 "$GPUSCHED_SIM"
be="gsload be --seconds 150 --warmup 0 --ready --iterations-per-us 27"
once="gsload be --count 1 --warmup 0 --iterations-per-us 27"
config '[Policy]
Policy=lcbe'

exits 3 "without a daemon there are no pools" "$gpusched" run --pool --class be -- $once
start_daemon
exits 2 "a pool needs a class" "$gpusched" run --pool -- true
exits 2 "--pool and --share do not go together" "$gpusched" run --pool --share --class be -- true
exits 2 "--sm goes with --share" "$gpusched" run --pool --class be --sm 50 -- true
exits 2 "--sm is a percentage" "$gpusched" run --share --class be --sm 101 -- true
exits 2 "sharing is for lc and be" "$gpusched" run --share --class normal -- true
exits 2 "a pool's name may not be a path" "$gpusched" run --pool=../x --class be -- true
exits 127 "run --pool of a missing command exits with 127" "$gpusched" run --pool --class be -- /nowhere/command
exits 3 "run --pool is refused without NVIDIA's programs" env PATH="$plain" GPUSCHED_POOL_IDLE=1h "$gpusched" run --pool=none --class be -- $gsload be --count 1
like "$out" "nvidia-cuda-mps-control is not installed" "the error names NVIDIA's programs"
check "a pool that could not start leaves no supervisor" wait_for 20 eval '[ -z "$(here gpusched-pool)" ]'

# ---- the GPU
smi() { # COMPUTE_MODE MIG
	printf '#!/bin/sh\necho "%s, %s, %s"\n' "$uuid" "$1" "$2" >/opt/nvidia-smi
	chmod 755 /opt/nvidia-smi
}
load be --seconds 60
wait_tsgs "pid:$LOAD_PID" 1
uuid=$(list_json all '.[0].gpu_uuid')
end_load "$LOAD_PID"
smi Exclusive_Process Disabled
exits 3 "a pool is refused on a GPU in an exclusive compute mode" "$gpusched" run --pool=mode --class be -- $once
like "$out" "nvidia-smi -c DEFAULT" "the error has the remedy"
smi Default Enabled
exits 3 "a pool is refused on a GPU in MIG mode" "$gpusched" run --pool=mig --class be -- $once
like "$out" "MIG" "the error names MIG"
smi Default Disabled
exits 0 "a pool starts on a GPU in neither mode" "$gpusched" run --pool --class be -- $once
exits 3 "a pool is refused in a container" unshare --pid --fork --mount-proc "$gpusched" run --pool --class be -- $once
like "$out" "container" "the error says that it is a container"

# ---- users
user_is="setpriv --reuid 65534 --regid 65534 --clear-groups"
as_user() { # COMMAND...
	$user_is "$@"
}
{ $user_is gpusched run --pool --class be -- $be & } >"$scratch/user" 2>&1
user=$!
at_end+=($user)
check "a user's pool starts, in a directory that the daemon has made" wait_for 20 grep -q ready "$scratch/user" ||
	diag "$(cat "$scratch/user")"
dir=$GPUSCHED_SIM/run/mps/users/65534
is "$(stat -c '%u %a' "$dir") $(stat -c '%u %a' "$dir/pool-pool")" "65534 700 65534 700" "the pool's folder is that user's alone"
wait_for 10 eval '[ "$(list_json uid:65534 "[.[] | select(.pool != null)] | length")" -ge 1 ]'
s=$(list_json uid:65534 '[.[] | select(.pool != null) | .pid] | first')
is "$(stat -c %u "/proc/$s")" 65534 "the server has that user's rights"
is "$(list_json "pid:$s" '.[0].class')" be "the server has the pool's class"
like "$(setpriv --reuid 65533 --clear-groups curl -s --unix-socket "$GPUSCHED_SIM/run/api" \
	-d "{\"server\":$s,\"name\":\"x\",\"class\":\"be\"}" http://g/v1/pool_set)" "belongs to another user" "another user cannot register it"
wait_for 10 eval '[ "$(list_json "pid:$s" ".[0].pool.clients | length")" = 1 ]' # the supervisor reads the list of clients only from time to time
client=$(list_json "pid:$s" '.[0].pool.clients[0].pid')
exits 3 "a user cannot set the class of a client" as_user gpusched class set "pid:$client" be
like "$out" "pool has one class" "the refusal gives the reason"
exits 0 "root can set the class of a client" "$gpusched" class set "pid:$client" be
mkdir /opt/users/own
chown 65534 /opt/users/own
cp /opt/nvidia-cuda-mps-* /opt/users/own
chown 65534 /opt/users/own/*
out=$(as_user env PATH="/opt/users/own:$PATH" gpusched run --pool=own --class be -- $once 2>&1)
like "$out" "does not run an nvidia-cuda-mps-server that root has installed" "a pool with a server that is not root's is refused"
out=$(as_user gpusched run --pool=lc --class lc -- $once 2>&1)
like "$out" "raising" "a user's pool of a higher class is refused"
more=()
for i in 2 3 4 5 6 7 8; do
	{ $user_is gpusched run --pool=p$i --class be -- $be & } >"$scratch/user.$i" 2>&1
	more+=($!)
	at_end+=($!)
	wait_for 20 grep -q ready "$scratch/user.$i" # one after the other: the daemon has few reader processes for one user
done
pools_of_user() {
	list_json uid:65534 "map(select(.pool != null) | .pid) | unique | length"
}
check "a user may have eight pools" wait_for 10 eval '[ "$(pools_of_user)" = 8 ]'
out=$(as_user timeout 60 gpusched run --pool=p9 --class be -- $once 2>&1)
like "$out" "8 pools of one user" "a user's ninth pool is refused"
check "the log names the user" grep -q "user 65534 past the limit 'pools'" "$scratch/daemon.log"
kill "$user" "${more[@]}"
wait_for 10 gone "$user"
check "the user's pools end" wait_for 90 eval '[ "$(pools_of_user)" = 0 ]'
umount -l "$GPUSCHED_SIM/run/mps/users"
exits 3 "a user's pool is refused if the folder for users is not mounted" as_user gpusched run --pool=none --class be -- $once
like "$out" "run-gpusched-mps-users.mount.*XDG_RUNTIME_DIR" "the error has the remedy"
mkdir -p -m 700 /opt/users/runtime && chown 65534 /opt/users/runtime
exits 0 "a user with a runtime directory may have a pool" as_user env XDG_RUNTIME_DIR=/opt/users/runtime gpusched run --pool=own-dir --class be -- $once
mount -t tmpfs -o mode=711 none "$GPUSCHED_SIM/run/mps/users"
mkdir -m 700 "$scratch/roots"
out=$(as_user env XDG_RUNTIME_DIR="$scratch/roots" gpusched run --pool --class be -- $once 2>&1)
is $? 0 "a runtime directory that the user cannot enter is not used" || diag "$out"

# ---- shared use
share() { # FILE CLASS ARGUMENTS...
	{ "$gpusched" run --share --class "$2" "${@:3}" -- bash -c 'env | grep CUDA_MPS; exec "$@"' - $be & } >"$scratch/$1" 2>&1
	at_end+=($!)
	PID=$!
}
share lc lc
lc=$PID
share be be --sm 50
b=$PID
check "an lc and a be share a server" wait_for 20 grep -q ready "$scratch/lc"
check "both programs work" wait_for 20 grep -q ready "$scratch/be"
like "$(cat "$scratch/be")" "CLIENT_PRIORITY=1" "the be has priority 1"
like "$(cat "$scratch/be")" "THREAD_PERCENTAGE=50" "the be has 50 % of the SMs"
like "$(cat "$scratch/lc")" "CLIENT_PRIORITY=0" "the lc has priority 0"
wait_for 10 eval '[ "$(list_json uid:0 "[.[] | select(.pool != null) | .pool.clients[].class] | unique | join(\" \")")" = "be lc" ]'
is "$(list_json uid:0 '[.[] | select(.pool != null) | "\(.class) \(.pool.share) \([.pool.clients[].class] | sort | join(" "))"] | first')" \
	"lc true be lc" "the server has class lc if its user may raise programs to lc"
kill "$lc" "$b"
wait_for 10 gone "$lc"
out=$(as_user gpusched run --share --class be -- $once 2>&1)
like "$out" "class normal" "the server has class normal for a user without that right"

# ---- a program's child is killed alone: gpusched run does not see its end
# Its kernels are long: one must be in flight when it is killed, also on a busy machine.
{ "$gpusched" run --pool=child --class be -- bash -c "$be --kernel-us 300000 & echo \$! >$scratch/child; wait; sleep 60" & } >"$scratch/parent" 2>&1
parent=$!
at_end+=($parent)
wait_for 20 grep -q ready "$scratch/parent"
wait_for 10 eval '[ "$(list_json uid:0 "[.[] | select(.pool.name == \"child\") | .pool.clients[].pid] | unique | length")" = 1 ]'
sleep 1
kill -9 "$(cat "$scratch/child")"
from=$SECONDS
exits 0 "a program that comes then works all the same" timeout 40 "$gpusched" run --pool=child --class be -- $once
le $((SECONDS - from)) 20 "it does not first hang in the old server, in s"
check "the first run says that its server takes no new program" wait_for 10 grep -q "takes no new program" "$scratch/parent"
kill "$parent"

# ---- versions of MPS with fewer control commands
{ GPUSCHED_SIM_MPS=old "$gpusched" run --pool=old --class be -- $be & } >"$scratch/old" 2>&1
old=$!
at_end+=($old)
check "a pool works with an old version" wait_for 20 grep -q ready "$scratch/old"
check "the old version's client is known" wait_for 10 eval \
	'[ "$(list_json uid:0 "[.[] | select(.pool.name == \"old\" and .class == \"be\") | .pool.clients[].pid] | unique | length")" = 1 ]'
kill "$old"
wait_for 10 gone "$old"

for version in wide crowd; do
	{ GPUSCHED_SIM_MPS=$version "$gpusched" run --pool=$version --class be -- $be & } >"$scratch/$version" 2>&1
	at_end+=($!)
	wait_for 20 grep -q ready "$scratch/$version"
	check "$version: the client is known" wait_for 10 eval \
		'[[ $(list_json uid:0 "[.[] | select(.pool.name == \"'$version'\") | .pool.clients[].pid] | unique | join(\" \")") == "'"$(pgrep -P $!)"'" ]]'
done
exits 3 "more programs than a server takes are not let in" "$gpusched" run --pool=crowd --class be -- $once
like "$out" "an MPS server takes 60 contexts" "the refusal says how many a server takes"
kill "${at_end[@]: -2}"

# ---- a server with more channels than one call can suspend
pids=()
for i in 1 2 3 4 5 6 7 8; do
	{ "$gpusched" run --pool=many --class be -- $be & } >"$scratch/many.$i" 2>&1
	pids+=($!)
done
at_end+=("${pids[@]}")
check "from eight programs on run says that the pool cannot be suspended" wait_for 20 grep -q "gets time slices only" "$scratch/many.1"
kill "${pids[@]}"
check "no server is left after the last client" wait_for 15 eval '[ "$(list_json all "map(select(.mps)) | length")" = 0 ]'
stop_daemon
done_testing
