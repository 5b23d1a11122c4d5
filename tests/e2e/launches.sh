#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 240
# needs: root bpf fuse
# Launches are counted exactly and on the right TSG. Where that is not possible they are unknown.
. "$(dirname "$0")/lib.sh"
enter_sim --gpus 2
iterations="--iterations-per-us 27.78"

# use MODE [LAUNCHES]: a program that is ready to launch; $USE_PID, $USE_IN to write to, output in $scratch/use.N
use_n=0
in_box=()
use() {
	use_n=$((use_n + 1))
	USE_OUT=$scratch/use.$use_n
	: >"$USE_OUT"
	mkfifo "$scratch/in.$use_n"
	"${in_box[@]}" "$helper" cuda "$@" <"$scratch/in.$use_n" >"$USE_OUT" 2>&1 &
	USE_PID=$!
	at_end+=("$USE_PID")
	exec {USE_IN}>"$scratch/in.$use_n"
	wait_for 10 grep -q ready "$USE_OUT"
}

use_go() { # lets it launch, and waits until it has
	echo >&"$USE_IN"
	wait_for 20 grep -q device "$USE_OUT"
	wait_for 5 eval '[ "$(grep -c device "$USE_OUT")" = 2 ]'
}

pins() {
	find "$GPUSCHED_SIM/bpf/gpusched-launch" -mindepth 2 2>/dev/null | wc -l
}
no_pins() { [ "$(pins)" = 0 ]; }

use_end() {
	exec {USE_IN}>&-
	wait "$USE_PID" 2>/dev/null
}

# launches PID: the launches of its compute TSGs, a number for each GPU: "N N"
launches() {
	list_json "pid:$1" 'map(select(.kind == "compute")) | sort_by(.gpu) | map(.launches | tostring) | join(" ")'
}

own_count() { # the program's own counts, from $USE_OUT
	grep -q device "$USE_OUT" || echo "it did not end: $(cat "$USE_OUT")"
	grep device "$USE_OUT" | jq -rs 'sort_by(.device) | map(.launches | tostring) | join(" ")'
}

count_is() { # PID WANTED
	[ "$(launches "$1")" = "$2" ]
}

counting() {
	"$gpusched" observe launches --json
}

# ---- off -------------------------------------------------------------------------------------------

trusting
start_daemon || not_ok "a daemon starts"
is "$(counting | jq -c '[.on, .asked, .policy]')" '[false,false,false]' "no launches are counted before somebody asks"
load be --seconds 600 $iterations
off=$LOAD_PID
check "a program runs" wait_tsgs pid:$off 4
is "$(launches $off)" null "its launches are not known"
is "$("$gpusched" list --wide pid:$off | grep -c LAUNCHES)" 0 "the table has no column for launches"

# ---- on: a program that ran before -------------------------------------------------------------

exits 0 "counting is turned on" "$gpusched" observe launches on
is "$(counting | jq -c '[.on, .asked, .policy]')" '[true,true,false]' "counting was asked for by a person"
ge "$(counting | jq '.libraries | map(.probes) | add')" 10 "libcuda is probed"
check "the only compute TSG of a process has its launches" wait_for 5 eval '[ "$(launches '$off')" -gt 100 ]'
before=$(list_json pid:$off 'map(select(.kind == "compute"))[0].created_ns')
since=$(list_json pid:$off 'map(select(.kind == "compute"))[0].launches_since_ns')
ge "$since" "$((before + 1))" "its launches are counted since a time after its start"
rate() { list_json "pid:$off" 'map(select(.kind == "compute"))[0].launch_rate_mhz // 0'; }
check "its launch rate is known" wait_for 10 eval '[ "$(rate)" -ge 100000 ]'
is "$(list_json pid:$off 'map(select(.kind != "compute") | .launches) | unique | map(tostring) | join(" ")')" null \
	"copy TSGs have no launches"
like "$("$gpusched" list --wide pid:$off)" 'MODE +LAUNCHES +GPU TIME' "the table has a column for launches"
end_load $off

# metric CLASS: its launches in /metrics
metric() {
	curl -sf --unix-socket "$GPUSCHED_SIM/run/api" http://gpusched/metrics |
		sed -n "s/^gpusched_launches_total{class=\"$1\"} //p"
}
ge "$(metric "")" 100 "/metrics has the launches of programs of no class"

# ---- exact -------------------------------------------------------------------------------------------

# exact NAME GSLOAD-ARGUMENTS...: a program's own count equals gpusched's; --linger keeps its
# contexts
exact() {
	local what=$1
	shift
	load "$@" $iterations --linger 30
	wait_for 30 grep -q launches "$scratch/load.out" || {
		not_ok "$what" "it did not end: $(cat "$scratch/load.out")"
		return
	}
	is "$(launches $LOAD_PID | tr ' ' '\n' | sort -n | tail -1)" "$(jq .launches <"$scratch/load.out")" "$what"
	end_load $LOAD_PID
}
exact "a be has as many launches as it counts itself" be --seconds 2
exact "an lc has as many launches as it counts itself" lc --seconds 2
exact "an lc with --hold and 20 kernels a request has as many as it counts itself" lc --seconds 2 --kernels 20 --kernel-us 50 --period-us 10000 --hold
exact "each launch of a graph counts once" be --seconds 2 --graph --kernels 10 --kernel-us 100
exact "an lc whose requests are graphs has as many as it counts itself" lc --seconds 2 --graph --kernels 20 --kernel-us 50 --period-us 5000
load be --seconds 1 $iterations --contexts 4 --linger 30
wait_for 20 grep -q launches "$scratch/load.out"
is "$(launches $LOAD_PID | tr ' ' '\n' | sort -n | tr '\n' ' ')" "0 0 0 $(jq .launches <"$scratch/load.out") " \
	"of four contexts the current one has the launches, the others have none"
end_load $LOAD_PID

"$gpusched" run --class be -- "$gsload" be --seconds 1 $iterations >"$scratch/be.out" 2>&1
counted=$(metric be)
is "$counted" "$(jq .launches "$scratch/be.out")" "a class has the launches of its programs, also when they have ended"
is "$("$gpusched" stats --json | jq .launches.be)" "$counted" "stats has the same number"
be_out=$scratch/beside.out
"$gsload" be --seconds 3 $iterations --linger 30 >"$be_out" 2>&1 &
be=$!
at_end+=($be)
exact "an lc has as many as it counts itself while a be runs" lc --seconds 2
wait_for 20 grep -q launches "$be_out"
is "$(launches $be)" "$(jq .launches <"$be_out")" "the be has as many as it counts itself while an lc runs"
end_load $be

# use_is NAME MODE [LAUNCHES]: gpusched's counts equal the program's own, GPU by GPU
use_is() {
	local what=$1
	shift
	use "$@"
	use_go
	is "$(launches $USE_PID)" "$(own_count)" "$what"
	use_end
}
use_is "launches of two threads on two GPUs are counted, a third thread having set a context" threads 5000
use_is "launches of one thread that pushes and pops contexts of two GPUs are counted" switch 3000
use_is "launches in primary contexts of two GPUs are counted" primary 4000
use api 1000
use_go
is "$(launches $USE_PID)" 7000 "every launch function counts once"
use_end
use exec 1000
use_go_exec() {
	echo >&"$USE_IN"
	wait_for 10 eval '[ "$(grep -c ready "$USE_OUT")" = 2 ]'
	use_go
}
use_go_exec
check "a program that executed itself counts from 0" wait_for 5 count_is $USE_PID 1000
use_end
is "$(counting | jq '.unattributed | length')" 0 "no launch is left without a TSG"

# a libcuda that only the program sees, as in a container
mkdir "$scratch/box"
cat >"$scratch/box.sh" <<-'END'
	mount -t tmpfs box "$1/box" && cp "$2" "$1/box/libcuda.so.1" || exit 1
	export HELPER_CUDA=$1/box/libcuda.so.1
	shift 2
	exec "$@"
END
libs=$(counting | jq '.libraries | length')
in_box=(unshare --mount bash "$scratch/box.sh" "$scratch" "$build/simcuda/libcuda.so.1")
use once 2000
in_box=()
is "$(ls "$scratch/box")" "" "other processes do not see the program's libcuda"
check "a second libcuda is found" wait_for 5 eval '[ "$(counting | jq ".libraries | length")" = '$((libs + 1))' ]'
use_go
is "$(launches $USE_PID)" 2000 "launches with that libcuda are counted"
like "$(counting | jq -r '.libraries | map(.path) | join(" ")')" "$scratch/box/libcuda.so.1" "the libcuda is listed by the program's path"
use_end
check "probes are removed from a libcuda that no program maps" wait_for 5 eval '[ "$(counting | jq ".libraries | length")" = '$libs' ]'

# the same on an overlay, as a container engine mounts it where the daemon sees it, too
mkdir "$scratch"/{low,up,work,overlay}
mount -t tmpfs layers "$scratch/low"
cp "$build/simcuda/libcuda.so.1" "$scratch/low"
if mount -t overlay -o "lowerdir=$scratch/low,upperdir=$scratch/up,workdir=$scratch/work" none "$scratch/overlay" \
	2>"$scratch/overlay.out" ||
	mount -t overlay -o "lowerdir=$scratch/low:$scratch/up" none "$scratch/overlay" 2>"$scratch/overlay.out"; then
	in_box=(unshare --mount env "HELPER_CUDA=$scratch/overlay/libcuda.so.1")
	use once 1500
	in_box=()
	check "a libcuda on a container's overlay is found" wait_for 5 eval \
		'[ "$(counting | jq ".libraries | length")" = '$((libs + 1))' ]'
	use_go
	is "$(launches $USE_PID)" 1500 "launches of the container's libcuda are counted"
	use_end
	umount -l "$scratch/overlay"
else
	skip_optional "overlay" "$(cat "$scratch/overlay.out")"
fi
umount -l "$scratch/low"

# ---- off again, and what can't be known ------------------------------------------------------------------

use switch 100
exits 0 "counting is turned off" "$gpusched" observe launches off
is "$(metric be)" "$counted" "a class keeps its launches"
is "$(launches $USE_PID)" "null null" "the counts of programs are unknown at once"
exits 0 "counting is on again" "$gpusched" observe launches on
use_go # its thread made the context current before counting began
like "$(launches $USE_PID)" null "launches in a context that was current before are unknown"
use_end
load be --seconds 600 $iterations
late=$LOAD_PID
wait_for 5 eval '[ "$(launches '$late')" -gt 10 ]'
kill_daemon
rm -f "$GPUSCHED_SIM/run/saved.json" # the next daemon would turn counting on again by it
start_daemon || not_ok "a daemon starts again"
is "$(launches $late)" null "counts of a daemon that died are unknown"
is "$(counting | jq .on)" false "counting is off in the next daemon"
check "the old probes are removed" wait_for 10 no_pins

# ---- a policy that asks for launches --------------------------------------------------------------

check "a policy with work_submit starts" "$gpusched" policy start "$top/tests/policy/work.bpf.c" -o after=500
is "$(counting | jq -c '[.on, .asked, .policy]')" '[true,false,true]' "counting was asked for by the policy"
end_load $late
use once 499
use_go
is "$(launches $USE_PID)" 499 "launches are counted for the policy"
is "$(list_json pid:$USE_PID 'map(.want.timeslice_us) | unique | map(tostring) | join(" ")')" null "after 499 launches the policy wants nothing yet"
use_end
use once 500
use_go
check "after the 500th launch the slice is the policy's" wait_for 5 eval '[ "$(sim_slice '$USE_PID')" = 300 ]'
use_end
load be --seconds 30 $iterations --linger 30 --count 4000 --kernel-us 200
for _ in 1 2 3 4 5 6 7 8 9 10; do
	"$gpusched" policy start "$top/tests/policy/work.bpf.c" -o after=1000000 >/dev/null ||
		not_ok "a switch of policies fails"
done
wait_for 20 grep -q launches "$scratch/load.out"
is "$(launches $LOAD_PID)" "$(jq .launches <"$scratch/load.out")" "ten switches of policies lose no launch"
end_load $LOAD_PID
check "a policy that sees each launch takes over" "$gpusched" policy start "$top/tests/policy/every.bpf.c"
load be --seconds 1 --graph --kernels 10 --kernel-us 100 $iterations --linger 30
wait_for 20 grep -q launches "$scratch/load.out"
check "another policy takes its place" "$gpusched" policy start "$top/tests/policy/work.bpf.c" -o after=1000000
is "$("$gpusched" policy get --json | jq -r .last_exit.kind)" switched "the policy that sees each launch has not failed: none was missed or seen twice"
is "$(sed -n 's/.*policy every: .* seen //p' "$scratch/daemon.log" | xargs)" \
	"$(jq -r '"\(.launches - .graph_launches) \(.graph_launches)"' <"$scratch/load.out")" \
	"the policy saw kernels and graphs apart"
end_load $LOAD_PID
# Removing probes is slow, and the kernel does it at the death of their last holder. The restore
# must not wait for that.
load be --seconds 600 $iterations
slow=$LOAD_PID
check "set changes the slice of a launching program" "$gpusched" set pid:$slow timeslice=100us
check "the setting is in force" wait_for 5 eval '[ "$(sim_slice '$slow')" = 100 ]'
grep "counting launches of" "$scratch/daemon.log" >"$scratch/attached"
began=$EPOCHREALTIME
kill_daemon
check "the guardian restores the slice" wait_for 5 eval '[ "$(sim_slice '$slow')" = 2048 ]'
le "$(awk -v a="$began" -v b="$EPOCHREALTIME" 'BEGIN { print b - a }')" 1.8 "the restore did not wait for the probes, s"
check "counts of the killed daemon are unknown until the next one starts" wait_for 5 count_is $slow null
ge "$(pins)" 3 "the killed daemon's probes stay"
start_daemon --policy "$top/tests/policy/work.bpf.c" || not_ok "a daemon starts with the policy"
is "$(counting | jq -c '[.on, .policy]')" '[true,true]' "the policy turns counting on"
is "$(grep -c "counting launches of" "$scratch/daemon.log")" "$(wc -l <"$scratch/attached")" "the next daemon takes over the probes"
check "the probes count" wait_for 5 eval '[ "$(launches '$slow')" -gt 10 ]'
since=$(list_json pid:$slow 'map(select(.kind == "compute"))[0].launches_since_ns')
ge "$since" "$(list_json pid:$slow 'map(select(.kind == "compute"))[0].created_ns + 1')" "launches count since the start of the next daemon, or later"
end_load $slow
load be --seconds 1 $iterations --linger 30
wait_for 20 grep -q launches "$scratch/load.out"
is "$(launches $LOAD_PID)" "$(jq .launches <"$scratch/load.out")" "a new program's launches are counted exactly"
end_load $LOAD_PID
check "a policy without work_submit takes over" "$gpusched" policy start none
is "$(counting | jq -c '[.on, .policy]')" '[false,false]' "nobody asks for launches any more"
check "no probe is left" wait_for 10 no_pins
stop_daemon
done_testing
