#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 120
# needs: root bpf fuse
# Containers of one image have overlays over the same libcuda: it is one library, probed once. A
# container that has changed the file has a library of its own.
. "$(dirname "$0")/lib.sh"
enter_sim

counting() { "$gpusched" observe launches --json; }
libs() { counting | jq '.libraries | length'; }
launches() { list_json "pid:$1" 'map(select(.kind == "compute") | .launches) | map(tostring) | join(" ")'; }

# box N: an overlay over the image, with its upper layer on a file system of its own if N is even
box() {
	local layers=$scratch/layers.$1
	mkdir "$layers" "$scratch/box.$1"
	[ $(($1 % 2)) = 1 ] || mount -t tmpfs layers "$layers" || return
	mkdir "$layers"/{up,work}
	mount -t overlay -o "lowerdir=$scratch/image,upperdir=$layers/up,workdir=$layers/work" none "$scratch/box.$1"
}

# use N LAUNCHES: a program of box N that is ready to launch; $USE_PID, $USE_IN and $USE_OUT
use() {
	USE_OUT=$scratch/use.$1
	: >"$USE_OUT"
	mkfifo "$scratch/in.$1"
	HELPER_CUDA=$scratch/box.$1/libcuda.so.1 "$helper" cuda once "$2" <"$scratch/in.$1" >"$USE_OUT" 2>&1 &
	USE_PID=$!
	at_end+=("$USE_PID")
	exec {USE_IN}>"$scratch/in.$1"
	wait_for 20 grep -q ready "$USE_OUT"
}

use_go() { # IN OUT
	echo >&"$1"
	wait_for 20 grep -q device "$2"
}

mkdir "$scratch/image"
mount -t tmpfs image "$scratch/image"
cp "$build/simcuda/libcuda.so.1" "$scratch/image/"
if ! box 1 2>"$scratch/why" || ! box 2 2>"$scratch/why" || ! box 3 2>"$scratch/why"; then
	skip_optional "overlays" "$(cat "$scratch/why")"
	umount -l "$scratch"/box.* "$scratch"/layers.* "$scratch/image" 2>/dev/null
	done_testing
fi
trusting
start_daemon
exits 0 "counting is turned on" "$gpusched" observe launches on
before=$(libs)

use 1 1200
first=$USE_PID first_in=$USE_IN first_out=$USE_OUT
check "the image's libcuda is found" wait_for 10 eval '[ "$(libs)" = $((before + 1)) ]'
use 2 700
second=$USE_PID second_in=$USE_IN second_out=$USE_OUT
check "both programs use it" wait_for 10 eval '[ "$(counting | jq "[.libraries[].processes] | max")" -ge 2 ]'
is "$(libs)" $((before + 1)) "for another container of the image it is the same library"
use_go "$first_in" "$first_out"
use_go "$second_in" "$second_out"
check "launches of the first container are counted once" wait_for 5 eval '[ "$(launches '$first')" = 1200 ]'
check "launches of the second container are counted once" wait_for 5 eval '[ "$(launches '$second')" = 700 ]'

touch "$scratch/box.3/libcuda.so.1"
use 3 300
check "a container's own copy is another library" wait_for 10 eval '[ "$(libs)" = $((before + 2)) ]'
use_go "$USE_IN" "$USE_OUT"
check "launches of the copy are counted once" wait_for 5 eval '[ "$(launches '$USE_PID')" = 300 ]'

for pid in $first $second $USE_PID; do
	end_load "$pid"
done
check "without programs the probes are removed" wait_for 20 eval '[ "$(libs)" = '"$before"' ]'
stop_daemon
umount -l "$scratch"/box.* "$scratch"/layers.* "$scratch/image" 2>/dev/null
done_testing
